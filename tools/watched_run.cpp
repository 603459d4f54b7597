// SPDX-License-Identifier: Apache-2.0
// Command line, `watch`: follows one run and acts on its findings.
#include "watched_run.hpp"

#include "folders.hpp"
#include "rules_argument.hpp"

#include <spotter/file/replacing_file.hpp>

#include <spotter/core/clock.hpp>

#include <algorithm>

namespace spotter_tool {

using namespace spotter;

namespace {

constexpr std::size_t curve_points = 400;

// All workers obey the control file of the run: for `runs/a/worker-2` the one in `runs/a`.
[[nodiscard]] std::string folder_of_run(std::string const& path) {
    std::size_t const cut = path.rfind('/');
    std::string_view const name = std::string_view{path}.substr(cut == path.npos ? 0 : cut + 1);
    if (spotter::worker_of_folder(name) == 0) { return path; }
    return cut == path.npos ? std::string{"."} : path.substr(0, cut);
}

}  // namespace

void watched_run::advance(double now) {
    if (!run_) {
        auto opened = open_trial(path_);
        if (!opened) {
            // Before the training begins the folder is missing or empty.
            if (opened.error().code != errc::not_a_run) { note_trouble(opened.error()); }
            return;
        }
        // Its own rules are known once it has begun.
        bool const is_beginning =
            wanted_.rules.empty() && opened->environment().empty() && !opened->over() && opened->closed_steps() == 0;
        if (is_beginning) { return; }
        run_.emplace(std::move(*opened));
        rules_ = rules_for(*run_, wanted_.rules, rules_);
        following_ = std::make_unique<follower<dynamic_rule, listener>>(*run_, rules_, listener_);
    }
    note_trouble(following_->advance());
    act();
    hear_of_commands(false);
    watch_for_stalls();
    tell_status();
    measure_rate(now);
}

void watched_run::hear(finding const& found) {
    out_(event_of(found));
    pending_.push_back(found);
}

// Findings of an earlier attempt are reported, but not acted on: the run was resumed anyway.
void watched_run::begin_attempt(std::uint32_t worker) noexcept {
    std::erase_if(pending_, [=](finding const& each) { return each.worker == worker; });
    warnings_.erase(worker);
}

// Another run has taken its place: earlier findings are not about it, and it was not asked to stop.
void watched_run::begin_anew() {
    pending_.clear();
    warnings_.clear();
    reported_status_.reset();
    trouble_ = {};
    stalled_ = false;
    asked_in_attempt_ = 0;
    closed_.clear();
    rate_ = 0;
    out_(event("replaced"));
}

void watched_run::note_trouble(error const& why) {
    bool const is_news = why && why.what.view() != trouble_.what.view();
    trouble_ = why;
    if (!is_news) { return; }
    json line = event("trouble");
    line["text"] = std::string{why.what.view()};
    out_(line);
}

// Reads the results of started commands that have ended.
void watched_run::hear_of_commands(bool at_the_end) {
    failure_list failed;
    at_the_end ? desk_.begun.ask_patiently(failed) : desk_.begun.ask(failed);
    for (repeated_failure const& each : failed) { note_trouble(each.what); }
}

void watched_run::act() {
    for (finding const& each : pending_) {
        warnings_[each.worker] += each.severity >= severity::warning ? 1 : 0;
        respond(each);
    }
    pending_.clear();
}

bool watched_run::ill() const noexcept {
    if (!run_) { return unreadable(); }
    bool const bad_end = run_->status() == run_status::died || run_->status() == run_status::failed;
    bool const damaged = !run_->damage().empty() || trouble_.code == errc::corrupt;
    return bad_end || damaged ||
           std::any_of(warnings_.begin(), warnings_.end(), [](auto const& each) { return each.second > 0; });
}

void watched_run::judge_end(outcome& how) const {
    if (unreadable()) { how.note(exit_of(trouble_.code)); }
    if (!run_) { return; }
    (void)how.look_at(*run_);
    if (trouble_.code == errc::corrupt) { how.note(something_lost); }
    if (run_->status() == run_status::died || run_->status() == run_status::failed) { how.note(ended_badly); }
    if (std::any_of(warnings_.begin(), warnings_.end(), [](auto const& each) { return each.second > 0; })) {
        how.note(found);
    }
}

void watched_run::conclude() {
    if (!run_) { return; }
    replay_report const& report = following_->conclude();
    act();  // for findings in the step that the run left open
    hear_of_commands(true);
    note_trouble(report.trouble);
    json line = event("rules");
    line["whole"] = report.whole;
    line["rules"] = coverages_json(report.coverages);
    out_(line);
}

void watched_run::respond(finding const& found) {
    desk_.from = {path_, attempt_of(found.worker), time_of(found)};
    auto const note = [&](error const& why) {
        if (why) { note_trouble(why); }
    };
    following_->respond(found, desk_, note);
    if (found.severity >= severity::warning) {
        if (!wanted_.alerts.empty()) { note(append_lines{wanted_.alerts}(found, desk_)); }
        if (!wanted_.command.empty()) { note(run_command{wanted_.command}(found, desk_)); }
    }
    // An update cannot be skipped from outside: a request for that becomes a request to stop.
    bool const stops = found.decision == decision::stop || found.severity == severity::error;
    if (wanted_.stop && stops && !run_->over()) { ask_to_stop(found); }
}

std::uint32_t watched_run::attempt_of(std::uint32_t worker) const {
    for (auto const& each : run_->readers()) {
        if (each->number() == worker) { return each->index().attempts() - 1; }
    }
    return run_->attempts() - 1;
}

double watched_run::time_of(finding const& found) const {
    if (!found.tensor.empty()) {
        auto const closed = (*run_)[found.tensor].of(worker{found.worker}).time(found.step);
        if (closed) { return *closed; }
    }
    return spotter::detail::seconds_now();
}

json watched_run::event_of(finding const& found) const {
    json line = event("finding");
    line.update(finding_json(found));
    line["attempt"] = attempt_of(found.worker);
    line["time"] = number(time_of(found));
    return line;
}

void watched_run::ask_to_stop(finding const& found) {
    if (stopping()) { return; }
    std::string const why = finding_text(found) + '\n';
    error const failed = spotter::detail::replace_file(system_files(), folder_of_run(path_) + '/' + layout::stop_name,
                                                       std::as_bytes(std::span{why}), true);
    if (!failed) { asked_in_attempt_ = run_->attempts(); }
    json line = event("stop");
    line["why"] = failed ? std::string{failed.what.view()} : finding_text(found);
    line["asked"] = !failed;
    out_(line);
}

// A hanging loop closes no step, so rules are not judged: checks the time since the last step here.
void watched_run::watch_for_stalls() {
    bool const now = run_->status() == run_status::running && run_->age() > wanted_.stalled;
    if (now && !stalled_) {
        finding found;
        found.attribute_to(rule_id::stalled_training);
        found.reason = "no step is closed any more";
        found.measure = "seconds since the last close";
        found.measured = run_->age();
        found.threshold = wanted_.stalled;
        found.how = relation::greater;
        found.severity = severity::warning;
        if (std::vector<step_id> const steps = run_->steps(); !steps.empty()) { found.step = steps.back(); }
        out_(event_of(found));
        ++warnings_[found.worker];
        respond(found);
    }
    stalled_ = now;
}

void watched_run::tell_status() {
    run_status const now = run_->status();
    if (reported_status_ == now) { return; }
    reported_status_ = now;
    json line = event("status");
    line["status"] = std::string{name_of(now)};
    line["why"] = std::string{run_->why_ended()};
    line["steps"] = run_->closed_steps();
    line["attempts"] = run_->attempts();
    out_(line);
}

// Over about the last five seconds.
void watched_run::measure_rate(double now) {
    closed_.emplace_back(now, run_->closed_steps());
    while (closed_.size() > 2 && now - closed_.front().first > 5) { closed_.pop_front(); }
    double const time = now - closed_.front().first;
    if (time > 0) { rate_ = static_cast<double>(closed_.back().second - closed_.front().second) / time; }
}

watched_run::curve watched_run::loss() const {
    curve found;
    std::vector<step_id> const steps = run_->steps(mode::train);
    if (steps.empty()) { return found; }
    for (std::string const& name : run_->names(filter{.mode = mode::train})) {
        if ((*run_)[name].info().role == role::loss) {
            found.name = name;
            break;
        }
    }
    if (found.name.empty()) { return found; }
    std::uint64_t const first = steps.size() > curve_points ? steps[steps.size() - curve_points].index : 0;
    for (point const& each : (*run_)[found.name].history(mean, from{first} && during{mode::train})) {
        found.values.push_back(each.value);
        found.known.push_back(each.known);
    }
    return found;
}

}  // namespace spotter_tool
