// SPDX-License-Identifier: Apache-2.0
// The bodies of supervise.hpp.
#pragma once

#include <spotter/core/pattern.hpp>
#include <spotter/supervise/supervise.hpp>

#include <filesystem>
#include <system_error>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY supervision::supervision(std::span<cure const> cures, supervise_options within)
    : cures_{cures}, used_(cures.size()), within_{std::move(within)} {
    if (std::string why = trouble_in_plan(); !why.empty()) {
        end(healed::bad_plan, std::move(why));
    } else {
        prepare();
    }
}

SPOTTER_BODY std::string supervision::trouble_in_plan() const {
    if (within_.attempts == 0) { return "supervise_options::attempts is 0: nothing would ever be run"; }
    if (within_.folder.empty()) { return "supervise_options::folder is empty: say where the records are to go"; }
    for (std::size_t i = 0; i < cures_.size(); ++i) {
        cure const& it = cures_[i];
        if (it.name.empty()) { return "the cure for \"" + it.cause + "\" has no name"; }
        if (it.cause.empty()) { return "the cure \"" + it.name + "\" has no cause; \"*\" is any"; }
        if (!glob{std::string_view{it.cause}}.well_formed()) {
            return "the cause of the cure \"" + it.name + "\" is no glob: " + it.cause;
        }
        for (std::size_t k = 0; k < i; ++k) {
            bool const twice = cures_[k].name == it.name && cures_[k].cause == it.cause && !it.settings.empty();
            if (twice) { return "the cure \"" + it.name + "\" is there twice for \"" + it.cause + "\""; }
        }
    }
    return {};
}

SPOTTER_BODY void supervision::end(healed how, std::string why) {
    outcome_.how = how;
    outcome_.why = std::move(why);
    over_ = true;
}

SPOTTER_BODY void supervision::prepare() {
    ++now_.number;
    std::string const digits = std::to_string(now_.number);
    now_.run = within_.folder + (digits.size() < 2 ? "/0" : "/") + digits;
    result<trial> const there = open_trial(now_.run);
    if (there) {
        end(healed::run_exists, now_.run + " holds a run already: name another folder, or move that away");
    } else if (there.error().code != errc::not_a_run) {
        end(healed::run_exists, now_.run + " is no place for a run: " + std::string{there.error().what.view()});
    }
}

SPOTTER_BODY bool supervision::was_run_before(std::string const& run) const {
    for (past_attempt const& each : outcome_.attempts) {
        std::error_code no_such_file;
        if (each.launch.run == run || std::filesystem::equivalent(each.launch.run, run, no_such_file)) { return true; }
    }
    return false;
}

SPOTTER_BODY void supervision::judge(launched launch, double seconds) {
    if (launch.how == departure::never_started) { return end(healed::cannot_start, std::move(launch.why)); }
    bool const before = was_run_before(launch.run);
    outcome_.attempts.push_back({now_, std::move(launch), {}, seconds});
    past_attempt& it = outcome_.attempts.back();
    if (before) { return end(healed::same_run, it.launch.run + " is the record of an earlier attempt"); }

    if (it.launch.judged) {
        it.verdict = *it.launch.judged;
        return it.verdict.stable() ? end(healed::stable, {}) : choose_cure();
    }
    result<trial> const run = open_trial(it.launch.run);
    if (!run && it.launch.how == departure::by_itself) {
        return end(healed::no_verdict, it.launch.run + ": " + std::string{run.error().what.view()});
    }
    result<run_verdict> verdict = run ? verdict_of(*run, it.launch) : result<run_verdict>{verdict_of(it.launch)};
    if (!verdict) { return end(healed::no_verdict, it.launch.run + ": " + std::string{verdict.error().what.view()}); }
    it.verdict = std::move(*verdict);
    if (it.verdict.stable()) { return end(healed::stable, {}); }
    choose_cure();
}

SPOTTER_BODY void supervision::choose_cure() {
    run_verdict const& last = outcome_.attempts.back().verdict;
    std::size_t which = 0;
    while (which < cures_.size() && (used_[which] || !glob{std::string_view{cures_[which].cause}}(last.cause))) {
        ++which;
    }
    if (which == cures_.size()) { return end(healed::no_cure_left, "no cure is left for " + last.line()); }
    cure const& next = cures_[which];
    if (now_.number == within_.attempts) {
        return end(healed::out_of_attempts, "the cure \"" + next.name + "\" was not tried any more for " + last.line());
    }
    used_[which] = true;
    now_.cure = next.name;
    now_.because = last.line();
    now_.settings.insert(now_.settings.end(), next.settings.begin(), next.settings.end());
    prepare();
}

}  // namespace spotter::inline SPOTTER_ABI::detail
