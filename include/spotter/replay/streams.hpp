// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the records that are compared side by side.
#pragma once

#include <spotter/trial/trial.hpp>

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
    streams(std::initializer_list<std::reference_wrapper<trial const>> runs);
    streams(std::vector<trial> const& runs);

    // In the order given.
    [[nodiscard]] std::vector<trial const*> const& runs() const noexcept { return runs_; }
    // In the order of runs, then of workers.
    [[nodiscard]] std::vector<one> const& all() const noexcept { return all_; }

private:
    void take_records();

    std::vector<trial const*> runs_{};
    std::vector<one> all_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/streams.ipp>
#endif
