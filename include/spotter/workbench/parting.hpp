// SPDX-License-Identifier: Apache-2.0
// Workbench: where two trainings that should be equal diverge: the first step, tensor and bit, also while both run.
// Link spotter::workbench.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/trial/trial.hpp>

#include <memory>
#include <optional>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// The first difference of two records, bit by bit: the first tensor, in program order, whose recorded data differ.
struct parting_point {
    step_id step{};              // the first that differs
    std::string tensor{};        // empty: they closed different steps
    std::string what{};          // in words
    std::uint64_t element = 0;   // the first that differs, in storage order; only if both recorded values
    std::uint64_t elements = 0;  // number of elements that differ
    std::uint64_t bits = 0;      // number of bits that differ
};

namespace detail {
class parting_walk;
}

// Compares the lowest workers of two records, as far as both have been written; texts and times are ignored. The
// records must outlive it.
class parting {
public:
    parting(trial& a, trial& b);
    ~parting();
    parting(parting const&) = delete;
    parting& operator=(parting const&) = delete;

    // Compares what both wrote since the last call. Once they diverge, it always returns that point.
    [[nodiscard]] std::optional<parting_point> const& look();
    // The number of steps that are equal in both.
    [[nodiscard]] std::uint64_t steps() const noexcept;

private:
    std::unique_ptr<detail::parting_walk> its_;
};

}  // namespace spotter::inline SPOTTER_ABI
