// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of workers.hpp.
#include "page/workers.hpp"

#include "profile/times.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html::detail {

// A worker's fault in a word; empty where there is none.
[[nodiscard]] static std::string_view mark_of(ranks_report const& all, rank_state const& it) {
    if (it.status == run_status::died || it.status == run_status::failed) { return name_of(it.status); }
    bool const behind = std::any_of(all.ranks.begin(), all.ranks.end(), [&](rank_state const& each) {
        return each.has_closed && (!it.has_closed || each.last.index > it.last.index);
    });
    return behind ? "behind" : is_slow(it) ? "slow" : "";
}

// A row for each worker, marked ones first.
[[nodiscard]] static std::string worker_rows(ranks_report const& all) {
    std::string marked, others;
    for (rank_state const& each : all.ranks) {
        std::string_view const mark = mark_of(all, each);
        bool const timed = each.step_seconds > 0;
        std::string const times = each.relative > 0 ? fmt::format("{:.2f}", 1 / each.relative) : "";
        (mark.empty() ? others : marked) +=
            fmt::format("<tr{}><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        mark.empty() ? "" : " class=\"marked\"", each.worker,
                        mark.empty() ? name_of(each.status) : mark, each.has_closed ? step_text(each.last) : "none",
                        timed ? spotter::detail::duration_text(each.step_seconds) : "—", timed ? times : "—");
    }
    for (std::uint32_t const each : all.never_came) {
        marked += fmt::format("<tr class=\"marked\"><th>{}</th><td>never began</td><td>none</td><td>—</td>"
                              "<td>—</td></tr>\n",
                              each);
    }
    return marked + others;
}

std::string workers_left_out(run_story const& story) {
    std::size_t const all = story.ranks.ranks.size(), drawn = story.drawn.size();
    if (drawn == all) { return {}; }
    return fmt::format("<p class=\"note\">Curves of {} of {} workers: those that are slow, behind or gone, and some of "
                       "the others.</p>\n",
                       drawn, all);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

std::vector<worker_times> drawn_workers(ranks_report const& of) {
    std::vector<rank_state const*> marked, others;
    for (rank_state const& each : of.ranks) { (detail::mark_of(of, each).empty() ? others : marked).push_back(&each); }
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < marked.size() && i < most_drawn_workers - 1; ++i) {
        numbers.push_back(marked[i]->worker);
    }
    std::size_t const room = (std::min)(most_drawn_workers - numbers.size(), others.size());
    for (std::size_t i = 0; i < room; ++i) { numbers.push_back(others[i * others.size() / room]->worker); }
    std::sort(numbers.begin(), numbers.end());
    std::vector<worker_times> drawn(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) { drawn[i].worker = numbers[i]; }
    return drawn;
}

worker_look look_of(run_story const& story, std::uint32_t worker) {
    constexpr unsigned colours = 6;
    worker_look look{fmt::format("worker {}", worker)};
    for (std::size_t i = 0; i < story.drawn.size(); ++i) {
        if (story.drawn[i].worker != worker) { continue; }
        look.colour = static_cast<unsigned>(i) % colours, look.dash = i < colours ? 0 : 2;
    }
    for (rank_state const& each : story.ranks.ranks) {
        std::string_view const mark = each.worker == worker ? detail::mark_of(story.ranks, each) : "";
        if (!mark.empty()) { look.label += fmt::format(", {}", mark), look.marked = true; }
    }
    return look;
}

std::size_t slow_workers(ranks_report const& of) {
    return static_cast<std::size_t>(std::count_if(of.ranks.begin(), of.ranks.end(), is_slow));
}

section workers_section(run_story const& story) {
    if (story.ranks.ranks.size() < 2) { return {"workers", "Workers", {}}; }
    std::string items;
    for (std::string const& each : story.ranks.sentences) { items += fmt::format("<li>{}</li>\n", escape(each)); }
    std::string body = items.empty() ? paragraph("No worker is behind or slow.") : "<ul>\n" + items + "</ul>\n";
    chart picture{.title = "Seconds of own work in each train step",
                  .note = "from begin to close, without the wait between steps",
                  .step_name = "train step"};
    for (worker_times const& each : story.drawn) {
        if (each.own.empty()) { continue; }
        worker_look const look = look_of(story, each.worker);
        line one{&each.own, look.label, look.colour, look.dash, fmt::format("{}", each.worker)};
        one.strong = look.marked, one.band = false;
        picture.lines.push_back(one);
    }
    body += draw_alone(picture);
    body += fmt::format("<div class=\"wide\"><table class=\"plain\"><thead><tr><th>worker</th><td>is</td><td>last "
                        "step</td><td>own work, a step</td><td>times the fastest</td></tr></thead><tbody>\n{}"
                        "</tbody></table></div>\n",
                        detail::worker_rows(story.ranks));
    return {"workers", "Workers", body + detail::workers_left_out(story)};
}

}  // namespace spotter::inline SPOTTER_ABI::html
