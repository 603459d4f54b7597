// SPDX-License-Identifier: Apache-2.0
// Command line, `watch`: many running trainings at once, on a terminal screen or as lines of JSON.
#include "draw.hpp"
#include "folders.hpp"
#include "progress.hpp"
#include "rules_argument.hpp"
#include "watched_run.hpp"
#include "workbench/profile/times.hpp"

#include <spotter/core/clock.hpp>

#include <chrono>
#include <ctime>
#include <list>
#include <thread>

namespace spotter_tool {

namespace {

using namespace spotter;

// The requested runs, as they appear.
class watched_runs {
public:
    watched_runs(watch_options const& wanted, dynamic_rule const& rules, watched_run::tell const& out)
        : wanted_{wanted}, rules_{rules}, out_{out} {}

    // A path is a run, will be a run, or contains runs.
    void look() {
        waiting_for_.clear();
        for (std::string const& each : wanted_.paths) {
            std::string const path = tidy(each);
            std::vector<recording> parts;
            if (!find_recordings(path, parts)) {
                add(path);
                continue;
            }
            bool holds_runs = false;
            for (std::string const& name : detail::names_in(path)) {
                std::string const below = path + '/' + name;
                parts.clear();
                if (name == layout::flight_name || name == layout::system_name || find_recordings(below, parts)) {
                    continue;
                }
                holds_runs = true;
                add(below);
            }
            if (!holds_runs) { waiting_for_ = path; }
        }
    }
    [[nodiscard]] std::list<watched_run>& all() noexcept { return all_; }
    [[nodiscard]] std::string const& waiting_for() const noexcept { return waiting_for_; }
    [[nodiscard]] bool all_over() const {
        return !all_.empty() && waiting_for_.empty() &&
               std::all_of(all_.begin(), all_.end(), [](watched_run const& each) { return each.over(); });
    }

private:
    void add(std::string const& path) {
        bool const known = std::any_of(all_.begin(), all_.end(), [&](auto const& it) { return it.path() == path; });
        if (!known) { all_.emplace_back(path, rules_, wanted_, out_); }
    }

    watch_options const& wanted_;
    dynamic_rule const& rules_;
    watched_run::tell const& out_;
    std::list<watched_run> all_{};
    std::string waiting_for_{};
};

// The screen.

// Redrawn twice a second; stays when the watch ends.
class screen {
public:
    explicit screen(bool ascii) : ascii_{ascii} {}

    void draw(std::list<watched_run>& runs, std::string const& waiting_for) {
        auto const columns = static_cast<std::size_t>((std::max)(40, columns_of(STDOUT_FILENO, 80)));
        std::string text;
        std::size_t lines = 0;
        bool const coloured = has_colours(stdout);
        // `from`: position of a finding's severity.
        auto const put = [&](std::string_view line, std::size_t from = 0) {
            std::string const safe = plain(line);
            text += fmt::format("\x1b[2K{}\n", coloured && from > 0 ? coloured_line(safe, from) : safe);
            ++lines;
        };
        for (watched_run& each : runs) {
            if (!each.begun()) { continue; }
            put(head_of(each, columns));
            if (std::string const curve = curve_of(each, columns); !curve.empty()) { put(curve); }
            auto const found = gathered(each.findings());
            std::size_t const shown = (std::min)(found.size(), std::size_t{3});
            for (std::size_t i = found.size() - shown; i < found.size(); ++i) {
                finding const& strongest = found[i].strongest;
                std::string const head =
                    fmt::format("  {} {}", clock_text(each.time_of(strongest)), worker_text(each, strongest));
                put(cut(head + finding_text(strongest) +
                            (found[i].times > 1 ? fmt::format("; {} times", found[i].times) : ""),
                        columns),
                    head.size());
            }
            if (found.size() > shown) { put(fmt::format("  and {} earlier ones", found.size() - shown)); }
        }
        if (!waiting_for.empty()) { put(cut("waiting for " + plain(waiting_for), columns)); }
        say_as_is((drawn_ > 0 ? fmt::format("\x1b[{}A", drawn_) : std::string{}) + text + "\x1b[J");
        std::fflush(stdout);
        drawn_ = lines;
    }

private:
    [[nodiscard]] static std::string cut(std::string line, std::size_t columns) {
        if (line.size() >= columns) {
            line.resize(columns - 4);
            line += "...";
        }
        return line;
    }
    // The local time of day.
    [[nodiscard]] static std::string clock_text(double seconds) {
        auto const whole = static_cast<std::time_t>(seconds);
        std::tm parts{};
        if (::localtime_r(&whole, &parts) == nullptr) { return {}; }
        return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
    }
    // A finding's sentence names every worker except the first.
    [[nodiscard]] static std::string worker_text(watched_run const& it, finding const& found) {
        return found.worker == 0 && it.record().readers().size() > 1 ? "worker 0: " : "";
    }
    [[nodiscard]] static std::string head_of(watched_run const& it, std::size_t columns) {
        std::string line = fmt::format("{}  {}  {}", plain(it.path()), name_of(it.status()),
                                       plural(it.record().closed_steps(), "step"));
        if (!it.over()) { line += fmt::format("  {:.1f}/s", it.steps_per_second()); }
        if (it.stalled()) { line += fmt::format("  silent for {}", spotter::detail::duration_text(it.record().age())); }
        if (it.stopping()) { line += "  asked to stop"; }
        if (it.findings().empty()) { line += "  no finding"; }
        if (it.trouble()) { line += "  " + plain(it.trouble().what.view()); }
        return cut(line, columns);
    }
    [[nodiscard]] std::string curve_of(watched_run const& it, std::size_t columns) const {
        auto const loss = it.loss();
        if (loss.values.empty()) { return {}; }
        std::string const head = "  " + plain(loss.name).substr(0, 20) + ' ';
        return head + sparkline(loss.values, loss.known, columns - head.size() - 16, ascii_) + ' ' +
               detail::float_text(loss.values.back(), false);
    }

    bool ascii_;
    std::size_t drawn_ = 0;  // lines
};

// Nobody looks at a picture: events go out, a line each.
[[nodiscard]] bool wants_lines(watch_options const& wanted) { return wanted.json || !is_terminal(STDOUT_FILENO); }

void tell_progress(watched_runs& runs, watched_run::tell const& out) {
    for (watched_run const& each : runs.all()) {
        if (!each.begun() || each.over()) { continue; }
        json line = {{"event", "progress"}, {"path", each.path()}};
        line["steps"] = each.record().closed_steps();
        line["steps_per_second"] = number(each.steps_per_second());
        auto const loss = each.loss();
        line["loss"] = loss.values.empty() ? json() : number(loss.values.back());
        out(line);
    }
}

// Until all are over, or the time is.
void follow_runs(watched_runs& runs, watch_options const& wanted, bool lines, watched_run::tell const& out) {
    screen picture{wanted.ascii};
    double const begin = spotter::detail::steady_seconds();
    double next_look = 0, next_picture = 0, next_progress = begin + 10;
    auto const is_due = [](double& next, double now, double interval) {
        if (now < next) { return false; }
        next = now + interval;
        return true;
    };
    bool waiting_reported = false;
    for (bool last = false; !last;) {
        double const now = spotter::detail::steady_seconds();
        if (is_due(next_look, now, 0.25)) {
            runs.look();
            if (!runs.waiting_for().empty() && !std::exchange(waiting_reported, true)) {
                out({{"event", "waiting"}, {"path", runs.waiting_for()}});
            }
        }
        for (watched_run& each : runs.all()) { each.advance(now); }
        last = (runs.all_over() && !wanted.keep) || (wanted.time > 0 && now - begin >= wanted.time);
        if (!lines && (is_due(next_picture, now, 0.5) || last)) { picture.draw(runs.all(), runs.waiting_for()); }
        if (is_due(next_progress, now, 10)) { tell_progress(runs, out); }
        if (!last) { std::this_thread::sleep_for(std::chrono::milliseconds{20}); }
    }
}

}  // namespace

int watch(watch_options const& wanted) {
    auto const rules = read_rules(wanted.rules);
    std::string const first = wanted.paths.front();
    if (!rules) { return fail(rules.error(), false, "watch", first); }
    bool const lines = wants_lines(wanted);
    watched_run::tell const out = [&](json const& event) {
        if (!lines) { return; }
        say_as_is(document_text(event, -1) + '\n');
        std::fflush(stdout);
    };
    watched_runs runs{wanted, *rules, out};
    follow_runs(runs, wanted, lines, out);
    std::size_t ill = 0, begun = 0;
    outcome how{"watch"};
    for (watched_run& each : runs.all()) {
        each.conclude();
        each.judge_end(how);
        ill += each.ill() ? 1 : 0;
        begun += each.begun() || each.ill() ? 1 : 0;
    }
    out({{"event", "end"}, {"runs", begun}, {"ill", ill}});
    if (begun == 0) { return fail({errc::not_a_run, "no run began there in time"}, false, "watch", first); }
    return how.code();
}

}  // namespace spotter_tool
