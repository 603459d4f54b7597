// SPDX-License-Identifier: Apache-2.0
// Replay (L5): one worker's record as a source of events.
#pragma once

#include <spotter/replay/fwd.hpp>
#include <spotter/replay/recorded_stream.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Walks the rows of one worker's record in the order of writing and plays hook.
template <class Judges>
class player {
public:
    player(run_index const& run, Judges& judges) : run_{run}, at_{judges}, events_{run, at_} {}
    player(player const&) = delete;
    player& operator=(player const&) = delete;

    // Goes on behind what was played already, up to the last step that is closed. `admit(step)`: whether the rules see that step.
    // `deliver(finding)` for each as it is found, `closed(step, alarm)` after each step that was judged. `restart()` where a further
    // attempt begins: there the rules started afresh.
    template <class Admit, class Deliver, class Closed, class Restart>
    error play(Admit const& admit, Deliver&& deliver, Closed&& closed, Restart&& restart) {
        run_.walk(place_, [&](std::uint32_t segment, row_view row) {
            if (played_ == run_.steps().size()) { return false; }  // rows of a step that was not closed are not judged
            // Each attempt begins with a segment, whose head says so too: its run_begin may be lost.
            if (std::uint32_t const its = run_.attempt_of(segment); its != attempt_ && its != unknown_attempt) {
                if (std::exchange(begun_, true)) {
                    restart();
                    events_.restart();
                    at_.restart();
                }
                attempt_ = its;
            }
            switch (row.kind) {
                case row_kind::close: {
                    events_.close();
                    rows::close end;
                    if (decode(row, end)) { break; }
                    ++played_;
                    if (!admit(end.step)) { break; }
                    alarm found;
                    at_.close(end.step, end.time, found, deliver);
                    closed(end.step, found);
                    break;
                }
                default:
                    events_.take(segment, row, admit);
                    break;
            }
            return true;
        });
        return events_.trouble();
    }
    // What rules asked for and was not recorded: how often, and where first.
    [[nodiscard]] error lacking() const noexcept { return events_.lacking(); }

private:
    run_index const& run_;
    judged_step<Judges> at_;
    recorded_stream<Judges> events_;
    walk_place place_{};
    std::uint64_t played_ = 0;  // closings
    std::uint32_t attempt_ = unknown_attempt;
    bool begun_ = false;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
