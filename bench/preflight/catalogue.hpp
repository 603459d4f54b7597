// SPDX-License-Identifier: Apache-2.0
// The nets of the bench, each as functions; those for development and those that were left out.
#pragma once

#include "arm.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace preflight_bench {

enum class half { development, left_out, last, deep };

// What came of one examination, or of one training that was watched.
struct outcome {
    std::string first{};             // the cause in the first line; empty: silent
    bool is_error = false;           // of that line
    std::string place{};             // the tensor in the first line
    std::vector<std::string> all{};  // every cause reported as a warning or an error
    std::string words{};             // the findings as they are printed
    std::uint32_t passes = 0;        // of a training: its steps
    std::size_t gradients = 0, not_proven = 0, wrong = 0;
};

struct net_entry {
    char const* name;
    half of;
    bool (*can_fault)(fault);
    bool (*can_habit)(habit);
    outcome (*examine)(arm const&, std::uint64_t seed, bool handles);
    outcome (*train)(arm const&, std::uint64_t seed);  // without an examination
    // The tensor that a fault of one tensor is planted in; empty where the fault has no such place.
    std::string (*place)(arm const&, std::uint64_t seed);
    // The largest relative error of any element of the gradient against central differences, in double: that the net
    // itself is right.
    double (*own_error)(arm const&, std::uint64_t seed);
};

std::vector<net_entry> nets_for_development();
std::vector<net_entry> nets_left_out();
std::vector<net_entry> nets_last();
std::vector<net_entry> nets_deep();

}  // namespace preflight_bench
