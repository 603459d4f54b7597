// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the closings of one worker or of several as one list of steps.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/step_ranges.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI {

// Every step once, in the order of its first closing, whoever closed it. Of one worker that is the order of the record;
// of several it is told by their clocks.
class step_merge {
public:
    explicit step_merge(bool of_several) noexcept : of_several_{of_several} {}

    // A closing; of one worker in their order, one worker after the other.
    void add(closed_step const& closed);
    // What came of it. Once, at the end.
    [[nodiscard]] std::vector<step_id> take();

private:
    struct closing {
        std::int64_t key = 0;
        std::size_t place = 0;  // as it came
        step_id step{};
    };
    // By its bits: a total order whatever a time is, and that of time for times after 1970.
    [[nodiscard]] static std::int64_t key_of(double time) noexcept { return std::bit_cast<std::int64_t>(time); }
    void take_new(step_id step);

    bool of_several_;
    std::vector<closing> all_{};
    std::vector<step_id> found_{};
    step_ranges known_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/step_merge.ipp>
#endif
