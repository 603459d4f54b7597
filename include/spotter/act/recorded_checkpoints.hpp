// SPDX-License-Identifier: Apache-2.0
// Act (L6): the checkpoints of a run, from its record.
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A checkpoint as recorded, whether its file exists or not.
struct recorded_checkpoint {
    step_id step{};       // the step of the checkpoint
    std::string state{};  // its latest state: unproven, good, bad or refused
    // For a bad one: the first warning or error from the close of its step on, until it was judged, in any mode. For a
    // refused one: what is wrong.
    std::string why{};
    double time = 0;  // when it was saved or refused; seconds since 1970
};

// In the order in which they were saved. If a step was saved again, the last one counts; a refused one replaces none.
[[nodiscard]] std::vector<recorded_checkpoint> checkpoints_of(trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/recorded_events.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

// Reads "train(500)"; false for other texts.
[[nodiscard]] SPOTTER_BODY bool read_step(std::string_view words, step_id& into) noexcept {
    for (mode const which : {mode::train, mode::eval, mode::predict}) {
        std::size_t const begin = name_of(which).size() + 1;
        if (words.size() < begin + 2 || !words.starts_with(name_of(which)) || words[begin - 1] != '(' ||
            words.back() != ')') {
            continue;
        }
        into.mode = which;
        char const* const last = words.data() + words.size() - 1;
        auto const number = std::from_chars(words.data() + begin, last, into.index);
        return number.ec == std::errc{} && number.ptr == last;
    }
    return false;
}

// A warning or an error.
struct recorded_alarm {
    std::uint64_t ordinal = 0;  // of the close that recorded it
    std::string words{};
};
// In the order of recording, which the loop's indices do not show where it went back.
[[nodiscard]] SPOTTER_BODY std::vector<recorded_alarm> alarms_of(worker_index const& run) {
    std::vector<recorded_alarm> all;
    std::size_t closed = 0;
    recorded_events{run}.advance(recorded_sink{[&](rows::finding const& it) {
                                                   if (it.severity < static_cast<std::uint8_t>(severity::warning)) {
                                                       return;
                                                   }
                                                   all.push_back({0, std::string{it.rule} + " at " +
                                                                         std::string{name_of(it.step.mode)} + '(' +
                                                                         std::to_string(it.step.index) + ')'});
                                               },
                                               [&](rows::close const& it) {
                                                   for (; closed < all.size(); ++closed) {
                                                       all[closed].ordinal = it.ordinal;
                                                   }
                                               }});
    all.resize(closed);
    return all;
}

// A checkpoint, and the closes that decided about it.
struct noted_checkpoint {
    recorded_checkpoint told{};
    std::uint64_t saved = 0, judged = 0;  // number of closes before
};
// The first of these closes: that of its step if it is the mode's last one, otherwise the next.
[[nodiscard]] SPOTTER_BODY std::uint64_t first_close_of(worker_index const& run, noted_checkpoint const& it) {
    for (std::uint64_t i = it.saved; i > 0; --i) {
        auto const closed = run.step_of(i - 1);
        if (closed && closed->step == it.told.step) { return i - 1; }
        if (!closed || closed->step.mode == it.told.step.mode) { break; }
    }
    return it.saved;
}
SPOTTER_BODY void name_causes(worker_index const& run, std::vector<noted_checkpoint>& all) {
    auto const is_bad = [](noted_checkpoint const& each) { return each.told.state == "bad"; };
    if (std::none_of(all.begin(), all.end(), is_bad)) { return; }
    std::vector<recorded_alarm> const alarms = alarms_of(run);
    for (noted_checkpoint& each : all) {
        if (!is_bad(each)) { continue; }
        std::uint64_t const first = first_close_of(run, each);
        auto const cause = std::find_if(alarms.begin(), alarms.end(),
                                        [&](recorded_alarm const& alarm) { return alarm.ordinal >= first; });
        if (cause != alarms.end() && cause->ordinal < each.judged) { each.told.why = cause->words; }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::vector<recorded_checkpoint> checkpoints_of(trial const& run) {
    std::vector<detail::noted_checkpoint> all;
    for (loose_scalar const& each : run["checkpoint"].loose()) {
        std::string_view const line = each.bytes;  // "train(500) refused: fc1/w: 2 of 16 values are not finite as f16"
        std::size_t const blank = line.find(' '), end = (std::min)(line.find_first_of(": ", blank + 1), line.size());
        step_id step;
        if (each.type != dtype::text || blank == std::string_view::npos ||
            !detail::read_step(line.substr(0, blank), step)) {
            continue;
        }
        std::string const state{line.substr(blank + 1, end - blank - 1)};
        std::string const why{line.substr((std::min)(end + 2, line.size()))};
        auto const is_file = [&](detail::noted_checkpoint const& it) {
            return it.told.step == step && it.told.state != "refused";
        };
        auto const known = std::find_if(all.begin(), all.end(), is_file);
        bool const is_judged = state == "good" || state == "bad";
        if (is_judged && known != all.end()) {
            known->told.state = state;
            known->told.why = why;
            known->judged = each.before_ordinal;
            continue;
        }
        std::erase_if(all, [&](detail::noted_checkpoint const& it) {
            return it.told.step == step && (state != "refused" || it.told.state == "refused");
        });
        all.push_back({{step, state, why, each.time}, each.before_ordinal, each.before_ordinal});
    }
    for (auto const& each : run.readers()) {
        if (run["checkpoint"].of(worker{each->number()}).loose().empty()) { continue; }
        detail::name_causes(each->index(), all);
        break;
    }
    std::vector<recorded_checkpoint> told;
    for (detail::noted_checkpoint& each : all) { told.push_back(std::move(each.told)); }
    return told;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
