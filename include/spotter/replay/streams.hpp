// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the records that are compared side by side.
#pragma once

#include <spotter/trial/trial.hpp>

#include <functional>
#include <initializer_list>

namespace spotter::inline SPOTTER_ABI {

// Several runs, `{a, b}`, or the workers of one, `run`. In runs with several workers each worker is a stream. The
// trials must outlive it.
class streams {
public:
    // A stream's number in observations and findings: for one run its worker's number, for several its index in the
    // list.
    struct one {
        worker_reader const* record = nullptr;  // owned by the trial
        std::uint32_t number = 0;               // as above
    };

    streams(trial const& run) : runs_{&run} { take_records(); }
    streams(std::initializer_list<std::reference_wrapper<trial const>> runs) { take(runs); }
    streams(std::vector<trial> const& runs) { take(runs); }

    // In the order given.
    [[nodiscard]] std::vector<trial const*> const& runs() const noexcept { return runs_; }
    // In the order of runs, then of workers.
    [[nodiscard]] std::vector<one> const& all() const noexcept { return all_; }

private:
    template <class Runs>
    void take(Runs const& runs) {
        for (trial const& each : runs) { runs_.push_back(&each); }
        take_records();
    }
    void take_records() {
        for (trial const* run : runs_) {
            for (auto const& each : run->readers()) {
                auto const place = static_cast<std::uint32_t>(all_.size());
                all_.push_back({each.get(), runs_.size() == 1 ? each->number() : place});
            }
        }
    }

    std::vector<trial const*> runs_{};
    std::vector<one> all_{};
};

}  // namespace spotter::inline SPOTTER_ABI
