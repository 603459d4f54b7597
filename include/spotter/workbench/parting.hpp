// SPDX-License-Identifier: Apache-2.0
// Workbench: where two trainings that should be the same part: the first step, tensor and bit, while both run. Link
// spotter::workbench.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/trial/trial.hpp>

#include <memory>
#include <optional>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// Bit for bit: what was recorded of the first tensor, in the order of the program, in which the two differ.
struct parting_point {
    step_id step{};              // the first that is not the same
    std::string tensor{};        // empty: they closed different steps
    std::string what{};          // in words
    std::uint64_t element = 0;   // the first that differs, in the order of memory, where both recorded values:
    std::uint64_t elements = 0;  // so many differ,
    std::uint64_t bits = 0;      // in so many bits
};

namespace detail {
class parting_walk;
}

// Compares the lowest workers of two records, as far as both have come; texts and times are no part of it. The records
// outlive it.
class parting {
public:
    parting(trial& a, trial& b);
    ~parting();
    parting(parting const&) = delete;
    parting& operator=(parting const&) = delete;

    // Takes in what both wrote since. Once they part, always that.
    [[nodiscard]] std::optional<parting_point> const& look();
    // Steps that are the same in both.
    [[nodiscard]] std::uint64_t steps() const noexcept;

private:
    std::unique_ptr<detail::parting_walk> its_;
};

}  // namespace spotter::inline SPOTTER_ABI
