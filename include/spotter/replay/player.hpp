// SPDX-License-Identifier: Apache-2.0
// Replay (L5): one worker's record as a source of events.
#pragma once

#include <spotter/replay/recorded_stream.hpp>
#include <spotter/trial/step_list.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Reads the rows of one worker's record in the order of writing, and calls the rules as a hook would.
template <class Judges>
class player {
public:
    player(worker_index const& run, Judges& judges) : run_{run}, events_{run}, at_{judges}, stream_{run, at_} {}
    player(player const&) = delete;
    player& operator=(player const&) = delete;

    // Continues after what was played, up to the last closed step; with `to_the_end`, for a run that has ended, also
    // the step that was left open. `admit(step)`: whether the rules see that step. Calls `deliver(finding)` for each
    // finding, `closed(step, alarm)` after each judged step, `left(step, alarm)` after each step in which an attempt
    // ended, and `restart()` where a further attempt begins and the rules start afresh.
    template <class Admit, class Deliver, class Closed, class Left, class Restart>
    error play(bool to_the_end, Admit const& admit, Deliver&& deliver, Closed&& closed, Left&& left,
               Restart&& restart) {
        auto const leave = [&] {
            stream_.close();
            if (!at_.is_open()) { return; }
            step_id const step = at_.step();
            step_alarm found;
            at_.close(step, time_, found, deliver);
            left(step, found);
        };
        events_.advance([&] { return to_the_end || played_ < run_.steps().size(); },
                        recorded_sink{[&](recorded_attempt) {
                                          leave();
                                          restart();
                                          stream_.restart();
                                          at_.restart();
                                      },
                                      [&](rows::close const& end) {
                                          stream_.close();
                                          ++played_;
                                          time_ = end.time;
                                          if (!admit(end.step)) { return; }
                                          stream_.time(end.step, end.ordinal, admit);
                                          step_alarm found;
                                          at_.close(end.step, end.time, found, deliver);
                                          closed(end.step, found);
                                      },
                                      stream_.sink(admit)});
        if (to_the_end) {
            time_ = (std::max)(time_, run_.ended_at());
            leave();
        }
        return stream_.trouble();
    }
    // What rules needed and was not recorded: how often, and where first.
    [[nodiscard]] error lacking() const noexcept { return stream_.lacking(); }

private:
    worker_index const& run_;
    recorded_events events_;
    judged_step<Judges> at_;
    recorded_stream<Judges> stream_;
    std::uint64_t played_ = 0;  // closes
    double time_ = 0;           // of the last close
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
