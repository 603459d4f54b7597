// SPDX-License-Identifier: Apache-2.0
// Workbench, profile: the bodies of spotter/workbench/ranks.hpp.
#include "profile/times.hpp"

#include <spotter/workbench/ranks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

constexpr std::size_t steps_of_a_stretch = 50;
constexpr double early_sign = 0.005;  // seconds; a writer gives a sign of life every 2 ms

[[nodiscard]] static double median_of(std::vector<double> values) {
    if (values.empty()) { return 0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// The speed of a rank's last steps, and its best speed.
static void note_speed(trial const& run, rank_state& it) {
    std::vector<double> inside;
    for (timed_step const& each : run.times(worker{it.worker})) {
        if (each.step.mode == mode::train && !each.first && each.inside > 0) { inside.push_back(each.inside); }
    }
    if (inside.size() < steps_of_a_stretch / 5) { return; }
    double best = 0;
    for (std::size_t from = 0; from < inside.size(); from += steps_of_a_stretch) {
        std::size_t const to = (std::min)(from + steps_of_a_stretch, inside.size());
        if (to - from < steps_of_a_stretch && from > 0) { break; }
        double const median = median_of(
            {inside.begin() + static_cast<std::ptrdiff_t>(from), inside.begin() + static_cast<std::ptrdiff_t>(to)});
        if (best == 0 || median < best) { best = median; }
    }
    std::size_t const last = (std::min)(steps_of_a_stretch, inside.size());
    it.step_seconds = median_of({inside.end() - static_cast<std::ptrdiff_t>(last), inside.end()});
    it.own = it.step_seconds > 0 ? (std::min)(best / it.step_seconds, 1.0) : 1;
}

// The tensor that was observed last in an open step.
[[nodiscard]] static std::string reached_in(worker_index const& its, open_step const& open) {
    std::string found;
    std::tuple<std::uint32_t, std::uint64_t, std::uint32_t> place{};
    for (auto const& tensor : its.tensors()) {
        for (track_entry const& entry : tensor->entries) {
            if (entry.loose || entry.ordinal != open.ordinal || its.attempt_of(entry.place.segment) != open.attempt) {
                continue;
            }
            std::tuple const here{entry.place.segment, entry.place.offset, entry.place.part};
            if (!found.empty() && here < place) { continue; }
            found = tensor->name, place = here;
        }
    }
    return found;
}

[[nodiscard]] static rank_state rank_of(trial const& run, worker_reader const& from) {
    rank_state it;
    it.worker = from.number();
    it.status = from.status();
    worker_index const& its = from.index();
    if (it.status == run_status::failed) { it.why = its.ended_why(); }
    for (closed_step const& each : its.steps()) {
        if (each.step.mode != mode::train) { continue; }
        it.has_closed = true, it.last = each.step, it.closed_at = each.time;
    }
    for (open_step const& each : its.open_steps()) {
        if (each.attempt + 1 != its.attempts()) { continue; }
        it.is_open = true, it.open = each.step, it.reached = reached_in(its, each);
    }
    it.last_sign = it.closed_at;
    if (stayed_in const& stayed = its.stayed(); it.status != run_status::finished && stayed.time >= it.closed_at) {
        it.section = stayed.section, it.in_section = stayed.seconds, it.last_sign = stayed.time;
    }
    it.silent = from.age();
    note_speed(run, it);
    return it;
}

[[nodiscard]] static std::string name_list(std::vector<std::uint32_t> const& all) {
    std::string text = all.size() == 1 ? "rank " : "ranks ";
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < all.size() && i < most; ++i) {
        text += i == 0 ? "" : i + 1 == all.size() ? " and " : ", ";
        text += std::to_string(all[i]);
    }
    return all.size() > most ? fmt::format("{} and {} more", text, all.size() - most) : text;
}
[[nodiscard]] static std::string place_text(rank_state const& it) {
    std::string text = it.has_closed ? fmt::format("behind {}({})", name_of(it.last.mode), it.last.index)
                                     : "before its first step was closed";
    if (it.is_open) {
        text +=
            fmt::format(", in {}({}), where it had shown {} last", name_of(it.open.mode), it.open.index, it.reached);
    }
    if (!it.section.empty()) { text += fmt::format(", in section {}", it.section); }
    return text;
}

// The section of all but a few of the ranks that are as far as the furthest: there they wait for the others. Empty
// where there is none.
[[nodiscard]] static std::string common_section(std::vector<rank_state> const& all, rank_state const* furthest) {
    std::map<std::string, std::size_t> count;
    std::size_t ranks = 0;
    for (rank_state const& each : all) {
        if (furthest == nullptr || !each.has_closed || each.last.index != furthest->last.index) { continue; }
        ++ranks;
        if (!each.section.empty()) { ++count[each.section]; }
    }
    for (auto const& [section, times] : count) {
        if (times >= 2 && 2 * times > ranks) { return section; }
    }
    return {};
}
// 0: behind the others; 1: as far, but in another section than the one where they wait; 2: as far.
[[nodiscard]] static int suspicion(rank_state const& it, rank_state const* furthest, std::string const& waiting) {
    if (furthest == nullptr || !it.has_closed || it.last.index < furthest->last.index) { return 0; }
    return !waiting.empty() && !it.section.empty() && it.section != waiting ? 1 : 2;
}
[[nodiscard]] static bool is_bad(rank_state const& it) {
    return it.status == run_status::died || it.status == run_status::failed;
}
// The ranks that ended badly, the likeliest first: by suspicion, then those whose last sign came well before the
// others', then those in no section.
[[nodiscard]] static std::vector<rank_state const*>
ended_badly(std::vector<rank_state> const& all, rank_state const* furthest, std::string const& waiting) {
    std::vector<rank_state const*> found;
    double first_sign = 0;
    for (rank_state const& each : all) {
        if (!is_bad(each)) { continue; }
        found.push_back(&each);
        bool const counts = suspicion(each, furthest, waiting) == 2;
        if (counts && (first_sign == 0 || each.last_sign < first_sign)) { first_sign = each.last_sign; }
    }
    auto const rank_of = [&](rank_state const& it) {
        bool const early = it.last_sign - first_sign < early_sign;
        return std::tuple{suspicion(it, furthest, waiting), early ? 0 : 1, it.section == waiting ? 1 : 0, it.last_sign};
    };
    std::sort(found.begin(), found.end(), [&](rank_state const* a, rank_state const* b) {
        return std::tuple{rank_of(*a), a} < std::tuple{rank_of(*b), b};  // both point into `all`: the earlier one first
    });
    return found;
}

// Reports ranks that ended badly.
static void tell_bad(ranks_report& all, rank_state const* furthest, std::string const& waiting,
                     std::string const& others) {
    std::vector<rank_state const*> const bad = ended_badly(all.ranks, furthest, waiting);
    for (rank_state const* const each : bad) {
        bool const early = each == bad.front() && bad.size() > 1 && bad[1]->last_sign - each->last_sign >= early_sign;
        all.sentences.push_back(fmt::format(
            "rank {} {} {}{}{}{}{}", each->worker, name_of(each->status), place_text(*each),
            each->why.empty() ? "" : ": ", each->why,
            early ? fmt::format(", {} before the next", duration_text(bad[1]->last_sign - each->last_sign)) : "",
            suspicion(*each, furthest, waiting) == 0 ? others : ""));
    }
}

// Reports those that others wait for, or that are elsewhere.
static void tell_behind(ranks_report& all, rank_state const* furthest, std::string const& waiting,
                        std::string const& others) {
    for (rank_state const& each : all.ranks) {
        int const level = suspicion(each, furthest, waiting);
        if (furthest == nullptr || level == 2 || is_bad(each)) { continue; }
        std::string const silence =
            each.status == run_status::running ? fmt::format(", silent for {}", duration_text(each.silent)) : "";
        std::string const where = level == 1 ? fmt::format(", while the others are in section {}", waiting) : others;
        all.sentences.push_back(fmt::format("rank {} is {}{}{}", each.worker, place_text(each), silence, where));
    }
}

// Reports ranks that ended badly, that are behind, that never started, and that are slow.
static void tell_ranks(ranks_report& all) {
    rank_state const* furthest = nullptr;
    for (rank_state const& each : all.ranks) {
        if (each.has_closed && (furthest == nullptr || each.last.index > furthest->last.index)) { furthest = &each; }
    }
    std::string const waiting = common_section(all.ranks, furthest);
    std::string const others = furthest == nullptr ? std::string{}
                                                   : fmt::format("; the furthest is behind {}({})",
                                                                 name_of(furthest->last.mode), furthest->last.index);
    tell_bad(all, furthest, waiting, others);
    if (!all.never_came.empty()) { all.sentences.push_back(name_list(all.never_came) + " never began"); }
    tell_behind(all, furthest, waiting, others);
    for (rank_state const& each : all.ranks) {
        if (!is_slow(each)) { continue; }
        bool const always = each.relative < slow_rank;
        all.sentences.push_back(fmt::format("rank {} {} slow: a step of its own takes {}, {:.1f} times {}", each.worker,
                                            always ? "is" : "has become", duration_text(each.step_seconds),
                                            1 / (always ? each.relative : each.own),
                                            always ? "the best rank's" : "what it took"));
    }
}

}  // namespace detail

ranks_report ranks_of(trial const& run) {
    ranks_report all;
    double best = 0;
    for (auto const& each : run.readers()) {
        all.ranks.push_back(detail::rank_of(run, *each));
        double const its = all.ranks.back().step_seconds;
        if (its > 0 && (best == 0 || its < best)) { best = its; }
    }
    for (rank_state& each : all.ranks) { each.relative = each.step_seconds > 0 ? best / each.step_seconds : 1; }
    for (std::uint32_t number = 0; number < run.expected_workers(); ++number) {
        bool const came = std::any_of(all.ranks.begin(), all.ranks.end(),
                                      [&](rank_state const& each) { return each.worker == number; });
        if (!came) { all.never_came.push_back(number); }
    }
    detail::tell_ranks(all);
    return all;
}

std::string describe(ranks_report const& it) {
    std::string text;
    for (rank_state const& each : it.ranks) {
        text += fmt::format("rank {:<4} {:<9} {}", each.worker, name_of(each.status),
                            each.has_closed ? fmt::format("{}({}) closed", name_of(each.last.mode), each.last.index)
                                            : "no step closed");
        if (each.is_open) { text += fmt::format(", {}({}) open", name_of(each.open.mode), each.open.index); }
        if (!each.section.empty()) {
            text += fmt::format(", in section {}", each.section);
            if (each.in_section > 0) { text += fmt::format(" for {}", detail::duration_text(each.in_section)); }
        }
        if (each.step_seconds > 0) {
            text += fmt::format(", a step of its own {}, {:.2f} of the best rank, {:.2f} of its own best",
                                detail::duration_text(each.step_seconds), each.relative, each.own);
        }
        text += '\n';
    }
    for (std::uint32_t const each : it.never_came) { text += fmt::format("rank {:<4} never began\n", each); }
    for (std::string const& each : it.sentences) { text += each + '\n'; }
    if (it.sentences.empty()) { text += "no rank is behind or slow\n"; }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI
