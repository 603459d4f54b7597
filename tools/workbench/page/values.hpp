// SPDX-License-Identifier: Apache-2.0
// Workbench, page: recorded values for a page, read at a few steps and within a budget.
#pragma once

#include "page/numbers.hpp"
#include "page/story.hpp"
#include "read_at_once.hpp"

namespace spotter::inline SPOTTER_ABI::html {

using spotter::detail::row_major_values;

// Reads values up to a budget of bytes; beyond it the result is errc::no_payload. Damaged values are left out.
class value_source {
public:
    explicit value_source(trial const& run) : run_{run}, whole_{run} {}

    [[nodiscard]] recorded_value read(tensor_story const& tensor,
                                      step_id step);              // the budget counts bytes before compression
    [[nodiscard]] bool spent() const noexcept { return spent_; }  // something was left out because of the budget

private:
    trial const& run_;
    spotter::detail::read_at_once whole_;
    std::uint64_t left_ = 256U << 20;
    bool spent_ = false;
};

// Computes, from the values of a few steps, what was not recorded as statistics.
void read_values(run_story& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
