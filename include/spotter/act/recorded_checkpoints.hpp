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
    // For a bad one: the first warning or error after its step. For a refused one: what is wrong.
    std::string why{};
    double time = 0;  // when it was saved or refused; seconds since 1970
};

// In the order in which they were saved. If a step was saved again, the last one counts.
[[nodiscard]] std::vector<recorded_checkpoint> checkpoints_of(trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <algorithm>
#include <charconv>

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

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::vector<recorded_checkpoint> checkpoints_of(trial const& run) {
    std::vector<recorded_checkpoint> all;
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
        auto const known =
            std::find_if(all.rbegin(), all.rend(), [&](recorded_checkpoint const& it) { return it.step == step; });
        bool const judged = state == "good" || state == "bad";
        if (judged && known != all.rend()) {
            known->state = state;
            known->why = why;
        } else {
            all.push_back({step, state, why, each.time});
        }
    }
    for (recorded_checkpoint& it : all) {
        if (it.state != "bad") { continue; }
        for (finding const& each : run.findings()) {
            bool const behind = each.step.mode == it.step.mode && each.step.index >= it.step.index;
            if (each.severity < severity::warning || !behind) { continue; }
            it.why = std::string{each.rule} + " at " + std::string{name_of(each.step.mode)} + '(' +
                     std::to_string(each.step.index) + ')';
            break;
        }
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
