// SPDX-License-Identifier: Apache-2.0
// Replay (L5): which records stand side by side.
#pragma once

#include <spotter/trial/trial.hpp>

#include <initializer_list>

namespace spotter::inline SPOTTER_ABI {

// Several runs, `{a, b}`, or the workers of one, `run`. Of runs with several workers each worker is a stream of its
// own. The trials must outlive it.
class streams {
public:
    // What observations and findings call a stream: of one run its worker's number, of several its place in the list,
    // from 0.
    struct one {
        worker_reader const* record = nullptr;  // the trial's
        std::uint32_t number = 0;               // as above
    };

    streams(trial const& run) : runs_{&run} { take_records(); }
    streams(std::initializer_list<std::reference_wrapper<trial const>> runs);
    streams(std::vector<trial> const& runs);

    // In the order given.
    [[nodiscard]] std::vector<trial const*> const& runs() const noexcept { return runs_; }
    // Run by run, worker by worker.
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
