// SPDX-License-Identifier: Apache-2.0
// Trial (L4): merges the closes of one or several workers into one list of steps.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/step_ranges.hpp>

#include <algorithm>
#include <bit>

namespace spotter::inline SPOTTER_ABI {

// Every step once, in the order of its first close by any worker. For one worker that is the order of the record; for
// several, the order of their clocks' times.
class step_merge {
public:
    explicit step_merge(bool of_several) noexcept : of_several_{of_several} {}

    // Adds a close; those of each worker in order, one worker after the other.
    void add(closed_step const& closed) {
        if (of_several_) {
            all_.push_back({key_of(closed.time), all_.size(), closed.step});
        } else {
            take_new(closed.step);
        }
    }
    // The merged list. Call it once, at the end.
    [[nodiscard]] std::vector<step_id> take() {
        std::sort(all_.begin(), all_.end(), [](closing const& a, closing const& b) {
            return a.key != b.key ? a.key < b.key : a.place < b.place;
        });
        for (closing const& each : all_) { take_new(each.step); }
        return std::move(found_);
    }

private:
    struct closing {
        std::int64_t key = 0;
        std::size_t place = 0;  // number in the order of add()
        step_id step{};
    };
    // The bits of a time: a total order for any double, and the order of time after 1970.
    [[nodiscard]] static std::int64_t key_of(double time) noexcept { return std::bit_cast<std::int64_t>(time); }
    void take_new(step_id step) {
        if (known_.contains(step)) { return; }
        known_.add(step);
        found_.push_back(step);
    }

    bool of_several_;
    std::vector<closing> all_{};
    std::vector<step_id> found_{};
    step_ranges known_{};
};

}  // namespace spotter::inline SPOTTER_ABI
