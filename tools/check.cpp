// SPDX-License-Identifier: Apache-2.0
// Command line, `check`: rules over records that are there, of many runs and workers at once; the exit code is for CI.
#include "arguments.hpp"
#include "findings.hpp"
#include "folders.hpp"
#include "open_step.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "replace_file.hpp"
#include "rules_argument.hpp"
#include "verbs.hpp"

#include <spotter/replay.hpp>
#include <spotter/report/html/text.hpp>
#include <spotter/trial.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace spotter_tool {

namespace {

using namespace spotter;
using spotter::detail::describe_times;
using spotter::detail::repeated_finding;

// What came of the records of one run, or of one worker of it. Findings refer to the trial.
struct judged {
    std::string path{};
    std::optional<std::uint32_t> worker{};
    std::optional<trial> run{};
    error why{};  // it could not be opened
    replay_report report{};
    // Told once all are judged: a word each where it is so.
    json loss{};             // null: it is whole
    std::string bad_end{};   // it died or failed
    std::string unjudged{};  // why no rule could judge
};

void judge(judged& it, dynamic_rule const& rules, bool side_by_side) {
    auto opened = it.worker ? open_trial(it.path, worker{*it.worker}) : open_trial(it.path);
    if (!opened) {
        it.why = opened.error();
        return;
    }
    it.run.emplace(std::move(*opened));
    it.report = side_by_side ? replay_report{replay_side_by_side(*it.run, rules)} : replay(*it.run, rules);
    it.bad_end = bad_end_text(*it.run);
    it.unjudged = unjudged_text(*it.run, it.report.coverages);
}

// One after the other on as many threads as the machine has cores: each record is judged for itself.
void judge_all(std::vector<judged>& all, dynamic_rule const& rules, bool side_by_side) {
    std::atomic<std::size_t> next{0};
    auto const work = [&] {
        for (std::size_t i = next++; i < all.size(); i = next++) { judge(all[i], rules, side_by_side); }
    };
    std::vector<std::thread> others;
    std::size_t const cores = (std::max)(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < (std::min)(all.size(), cores); ++i) { others.emplace_back(work); }
    work();
    for (std::thread& each : others) { each.join(); }
}

[[nodiscard]] std::string title_of(judged const& it) {
    return it.worker ? fmt::format("{} worker {}", it.path, *it.worker) : it.path;
}
[[nodiscard]] bool counts(finding const& it, severity least) { return it.severity >= least; }
[[nodiscard]] bool is_ill(judged const& it, severity least) {
    return std::any_of(it.report.findings.begin(), it.report.findings.end(),
                       [=](finding const& each) { return counts(each, least); });
}
[[nodiscard]] bool is_broken(judged const& it) {
    return it.why || !it.loss.is_null() || it.report.trouble.code == errc::corrupt;
}
void conclude(judged& it, severity least, outcome& end) {
    if (it.why) { return end.note(exit_of(it.why.code)); }
    it.loss = end.look_at(*it.run);
    if (is_ill(it, least)) { end.note(found); }
    if (it.report.trouble.code == errc::corrupt) { end.note(something_lost); }
    if (!it.bad_end.empty()) { end.note(ended_badly); }
    if (!it.unjudged.empty()) { end.note(not_judged); }
}

// The first line of a record: what came of it.
[[nodiscard]] std::string_view verdict_of(judged const& it) {
    if (!it.report.findings.empty()) { return "findings"; }
    if (!it.unjudged.empty()) { return "nothing could be judged"; }
    return it.bad_end.empty() ? "nothing found" : "no finding before its bad end,";
}

void print(judged const& it) {
    if (it.why) { return say(fmt::format("{}: {}\n", plain(title_of(it)), plain(it.why.what.view()))); }
    auto const repeated = gathered(it.report.findings);
    std::string lines = fmt::format("{}: {} in {} steps ({})\n", plain(title_of(it)), verdict_of(it), it.report.steps,
                                    name_of(it.run->status()));
    for (repeated_finding const& each : repeated) {
        lines += "  " + finding_text(each.strongest);
        if (each.times > 1) { lines += "; " + describe_times(each, ""); }
        if (!each.strongest.remedy.empty()) { lines += "\n    " + plain(each.strongest.remedy); }
        lines += '\n';
    }
    if (!it.bad_end.empty()) { lines += fmt::format("  {}\n", it.bad_end); }
    if (!it.unjudged.empty()) { lines += fmt::format("  nothing could be judged: {}\n", it.unjudged); }
    for (damaged_place const& each : it.run->damage()) {
        lines += fmt::format("  damaged: {}:{}: {} bytes\n", plain(each.file), each.offset, each.bytes);
    }
    if (it.report.trouble) { lines += fmt::format("  trouble: {}\n", plain(it.report.trouble.what.view())); }
    say(lines + plain_lines(spotter::detail::describe_coverage(it.report.coverages)));
}

[[nodiscard]] json to_json(judged const& it) {
    json one = {{"path", it.path}};
    if (it.worker) { one["worker"] = *it.worker; }
    if (it.why) {
        one["error"] = {{"code", std::string{name_of(it.why.code)}}, {"text", std::string{it.why.what.view()}}};
        return one;
    }
    one["status"] = std::string{name_of(it.run->status())};
    one["steps"] = it.report.steps;
    one["whole"] = it.report.whole;
    one["trouble"] = std::string{it.report.trouble.what.view()};
    one["damaged_places"] = it.run->damage().size();
    one["loss"] = it.loss;
    one["bad_end"] = it.bad_end.empty() ? json() : json(it.bad_end);
    one["open_steps"] = open_steps_json(open_steps_of(*it.run));
    one["unjudged"] = it.unjudged.empty() ? json() : json(it.unjudged);
    one["findings"] = json::array();
    for (finding const& each : it.report.findings) { one["findings"].push_back(finding_json(each)); }
    one["rules"] = coverages_json(it.report.coverages);
    return one;
}

// --- JUnit: a suite a record, a case a rule ------------------------------------------------------------------------------------

[[nodiscard]] std::string junit_suite(judged const& it, severity least) {
    std::string cases;
    std::size_t count = 0, failures = 0, skipped = 0;
    auto const put = [&](std::string_view name, std::string_view inside) {
        ++count;
        cases +=
            fmt::format("    <testcase classname=\"{}\" name=\"{}\"", html::escape(title_of(it)), html::escape(name));
        cases += inside.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", inside);
    };
    // Several rules may go by one name, and a negation's finding by one that no leaf has.
    std::vector<std::string_view> names;
    auto const add = [&](std::string_view name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) { names.push_back(name); }
    };
    for (coverage const& each : it.report.coverages) { add(each.rule); }
    auto const repeated = gathered(it.report.findings);
    for (repeated_finding const& each : repeated) { add(each.strongest.rule); }
    for (std::string_view const name : names) {
        std::string inside;
        for (repeated_finding const& found : repeated) {
            if (found.strongest.rule != name || !counts(found.strongest, least)) { continue; }
            inside += fmt::format("<failure message=\"{}\">{}</failure>", html::escape(finding_text(found.strongest)),
                                  html::escape(found.strongest.remedy));
        }
        failures += inside.empty() ? 0 : 1;
        coverage const* silent = nullptr;
        bool judged_some = !inside.empty();
        for (coverage const& each : it.report.coverages) {
            if (each.rule != name) { continue; }
            judged_some = judged_some || each.judged > 0;
            silent = &each;
        }
        if (!judged_some && silent != nullptr) {
            ++skipped;
            inside = fmt::format("<skipped message=\"{}\"/>", html::escape(silent->reason));
        }
        put(name, inside);
    }
    error const& trouble = it.why ? it.why : it.report.trouble;
    bool const broken = is_broken(it) || !it.bad_end.empty() || !it.unjudged.empty();
    if (trouble || broken) {
        ++(broken ? failures : skipped);
        std::string_view const why = trouble               ? trouble.what.view()
                                     : !it.loss.is_null()  ? "the record is not whole: `spotter verify` says where"
                                     : !it.bad_end.empty() ? std::string_view{it.bad_end}
                                                           : std::string_view{it.unjudged};
        put("record", fmt::format("<{} message=\"{}\"/>", broken ? "failure" : "skipped", html::escape(why)));
    }
    return fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
                       html::escape(title_of(it)), count, failures, skipped, cases);
}
[[nodiscard]] error write_junit(std::vector<judged> const& all, severity least, std::string const& path) {
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"spotter check\">\n";
    for (judged const& each : all) { text += junit_suite(each, least); }
    text += "</testsuites>\n";
    error why = replace_file(system_files(), path, std::as_bytes(std::span{text}));
    if (why.code == errc::not_a_run) { why.code = errc::unwritable; }  // its folder is missing
    return why;
}

// --- what is judged, and by what -----------------------------------------------------------------------------------------------

[[nodiscard]] result<dynamic_rule> rules_of(check_options const& wanted) {
    auto rules = read_rules(wanted.rules);
    if (!rules || wanted.against.empty()) { return rules; }
    std::vector<trial> healthy;
    for (std::string const& each : wanted.against) {
        auto run = open_trial(tidy(each));
        if (!run) { return run.error(); }
        healthy.push_back(std::move(*run));
    }
    auto const learnt =
        std::make_shared<envelope const>(learn_envelope(healthy, {mean, l2, mean_abs, maximum, zero_fraction}));
    return against_envelope(*rules, learnt);
}

[[nodiscard]] error records_of(check_options const& wanted, std::vector<judged>& all) {
    for (std::string const& each : wanted.paths) {
        std::string const path = tidy(each);
        std::vector<recording> parts;
        if (error const why = find_recordings(path, parts)) { return why; }
        if (parts.size() == 1 || wanted.side_by_side) {
            all.emplace_back().path = path;
            continue;
        }
        for (recording const& part : parts) {
            judged& it = all.emplace_back();
            it.path = path;
            it.worker = part.worker;
        }
    }
    return {};
}

}  // namespace

int check(check_options const& wanted) {
    std::string const path = wanted.paths.empty() ? std::string{} : wanted.paths.front();
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "check", path); };
    if (wanted.list) {
        if (wanted.json) {
            say_document(rules_json());
        } else {
            say(rules_text());
        }
        return fine;
    }
    if (wanted.paths.empty()) { return refuse({errc::bad_config, "which run? spotter check runs/a"}); }
    if (wanted.self_test) { return self_test_runs(wanted); }
    auto const rules = rules_of(wanted);
    if (!rules) { return refuse(rules.error()); }
    auto const least = read_severity(wanted.fail_on);
    if (!least) { return refuse(least.error()); }
    std::vector<judged> all;
    if (error const why = records_of(wanted, all)) { return refuse(why); }
    judge_all(all, *rules, wanted.side_by_side);

    std::size_t ill = 0;
    outcome end{"check"};
    for (judged& each : all) {
        ill += is_ill(each, *least) ? 1 : 0;
        conclude(each, *least, end);
    }
    if (!wanted.junit.empty()) {
        if (error const why = write_junit(all, *least, wanted.junit)) { return refuse(why); }
    }
    if (wanted.json) {
        json document = document_of("check", path);
        document["runs"] = json::array();
        for (judged const& each : all) { document["runs"].push_back(to_json(each)); }
        say_document(document);
    } else {
        for (judged const& each : all) { print(each); }
        if (all.size() > 1) { say(fmt::format("{} records: {} with findings\n", all.size(), ill)); }
    }
    return end.code();
}

}  // namespace spotter_tool
