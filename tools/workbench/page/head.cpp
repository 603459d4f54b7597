// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of head.hpp.
#include "page/head.hpp"

#include "page/runs_table.hpp"
#include "page/workers.hpp"
#include "profile/times.hpp"
#include <spotter/core/casts.hpp>
#include <spotter/report/describe.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html::detail {

// How the run ended, where that is not well; else empty.
[[nodiscard]] static std::string status_note(trial const& run) {
    switch (run.status()) {
        case run_status::running:
            return fmt::format("This run is still being written, silent for {}: the page shows what had been read.",
                               spotter::detail::duration_text(run.age()));
        case run_status::died:
            return "The process that wrote this run ended without closing it: what it had not written yet is lost. "
                   "`spotter recover` repairs the record as far as possible.";
        case run_status::failed:
            return fmt::format("This run ended by a failure{}{}.", run.why_ended().empty() ? "" : ": ",
                               run.why_ended());
        case run_status::finished:
            break;
    }
    return run.why_ended().empty() ? std::string{} : fmt::format("The recording had a failure: {}.", run.why_ended());
}

[[nodiscard]] static std::string damage_note(trial const& run) {
    constexpr std::size_t most = 5;
    std::size_t const damaged = run.damage().size();
    std::string text =
        fmt::format("The record is damaged in {}: that data is missing below, and everything else is sound.",
                    plural(damaged, "place"));
    for (std::size_t i = 0; i < damaged && i < most; ++i) {
        damaged_place const& it = run.damage()[i];
        text += fmt::format(" {}:{} ({}).", it.file, it.offset, plural(it.bytes, "byte"));
    }
    return text + (damaged > most ? " `spotter verify` lists the others." : "");
}

std::string notes_of(run_story const& story) {
    trial const& run = *story.run;
    std::string notes;
    auto const note = [&](std::string const& text) {
        notes += fmt::format("<p class=\"notice\">{}</p>\n", escape(text));
    };
    if (std::string const text = status_note(run); !text.empty()) { note(text); }
    if (!run.damage().empty()) { note(damage_note(run)); }
    std::uint64_t unreadable = 0;
    for (tensor_story const& each : story.tensors) {
        for (std::size_t i = 0; i < mode_count; ++i) { unreadable += each.modes[i].unreadable; }
    }
    if (unreadable > 0) {
        note(fmt::format("{} that the page looked at cannot be read: {} missing in what is drawn of them.",
                         plural(as_size(unreadable), "value"), unreadable == 1 ? "it is" : "they are"));
    }
    if (run_losses const lost = run.losses(); lost.any()) {
        note(fmt::format("The record is not whole: {}.", spotter::describe(lost)));
    }
    if (story.anew != nullptr) {
        note("Findings are of rules that judged the record anew, not of the rules of the training.");
    }
    if (story.tensors.empty()) { note("Nothing was recorded: no tensor and no scalar was kept at any step."); }
    return notes;
}

std::string steps_text(run_story const& story) {
    std::string text;
    for (mode const each : {mode::train, mode::eval, mode::predict}) {
        std::uint64_t const count = story.closes[index_of(each)];
        if (count == 0) { continue; }
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(each));
        text += fmt::format(" (last {})", story.last_step[index_of(each)]);
    }
    return text.empty() ? "none" : text;
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

std::string verdict(run_story const& story) {
    trial const& run = *story.run;
    if (story.findings.empty()) {
        bool const ended = run.status() == run_status::finished || run.status() == run_status::failed;
        if (!ended && story.anew == nullptr) { return "No finding so far."; }
        std::string text = spotter::detail::describe_verdict(story.found(), story.coverages());
        while (text.ends_with('\n')) { text.pop_back(); }
        text.front() = text.front() >= 'a' ? static_cast<char>(text.front() - 'a' + 'A') : text.front();
        return text + '.';
    }
    std::array<std::size_t, 3> counts{};
    for (evidence const& each : story.findings) { ++counts[static_cast<std::size_t>(each.what.strongest.severity)]; }
    std::string text;
    for (std::size_t level = counts.size(); level-- > 0;) {
        if (counts[level] == 0) { continue; }
        std::string_view const what = name_of(static_cast<severity>(level));
        text += (text.empty() ? "" : ", ") + plural(counts[level], what);
    }
    finding const& first = story.findings.front().what.strongest;
    text += fmt::format(": {} at {}", first.rule, step_text(first.step));
    if (!first.tensor.empty()) { text += fmt::format(" in {}", first.tensor); }
    if (!first.reason.empty()) { text += fmt::format(", {}", first.reason); }
    return text + '.';
}

std::string_view mood(run_story const& story) {
    bool bad = story.run->status() == run_status::died || story.run->status() == run_status::failed, warned = false;
    for (evidence const& each : story.findings) {
        bad = bad || each.what.strongest.severity == severity::error;
        warned = warned || each.what.strongest.severity == severity::warning;
    }
    bool const judged = std::any_of(story.coverages().begin(), story.coverages().end(),
                                    [](recorded_coverage const& each) { return each.judged > 0; });
    return bad ? "bad" : warned ? "warned" : judged ? "good" : "open";
}

std::string head_of(run_story const& story) {
    trial const& run = *story.run;
    std::string facts;
    auto const fact = [&](std::string_view what, std::string const& is) {
        facts += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", what, escape(is));
    };
    std::string status{ended_as(story)};
    if (run.status() == run_status::running) { status += ", silent for " + spotter::detail::duration_text(run.age()); }
    fact("status", status);
    fact("steps closed", detail::steps_text(story));
    if (story.began > 0) { fact("began", spotter::detail::time_text(story.began)); }
    if (double const took = story.last_close - story.began; story.began > 0 && took > 0) {
        fact("last step", spotter::detail::duration_text(took) + " later");
        fact("steps a second", fmt::format("{:.4g}", static_cast<double>(run.closed_steps()) / took));
    }
    std::vector<std::uint32_t> const workers = run.workers();
    if (workers.size() > 1 || run.expected_workers() > 1) {
        std::string text = fmt::format("{}", workers.size());
        if (run.expected_workers() > workers.size()) { text += fmt::format(" of {}", run.expected_workers()); }
        for (auto const& each : run.readers()) {
            if (each->status() != run.status()) {
                text += fmt::format("; {} {}", each->number(), name_of(each->status()));
            }
        }
        if (std::size_t const slow = slow_workers(story.ranks); slow > 0) { text += fmt::format("; {} slow", slow); }
        fact("workers", text);
    }
    if (run.attempts() > 1) { fact("attempts", fmt::format("{}", run.attempts())); }
    fact("record", fmt::format("{} of {}", spotter::detail::bytes_text(run.totals().bytes),
                               plural(story.tensors.size(), "tensor")));
    fact("written by", "spotter " + story.version);
    return fmt::format("<div class=\"head\"><h1>{}</h1>\n<p class=\"path\">{}</p>\n<p class=\"verdict "
                       "{}\">{}</p>\n{}<dl>{}</dl></div>\n",
                       escape(story.name), escape(run.path()), mood(story), escape(verdict(story)),
                       detail::notes_of(story), facts);
}

}  // namespace spotter::inline SPOTTER_ABI::html
