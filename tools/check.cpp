// SPDX-License-Identifier: Apache-2.0
// Command line, `check`: applies rules to existing records of many runs and workers at once; the exit code is for CI.
#include "arguments.hpp"
#include "findings.hpp"
#include "folders.hpp"
#include "lacking.hpp"
#include "new_file.hpp"
#include "open_step.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "rules_argument.hpp"
#include "shard.hpp"
#include "verbs.hpp"

#include <spotter/replay.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/page.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <optional>
#include <set>
#include <thread>

namespace spotter_tool {

namespace {

using namespace spotter;
using spotter::detail::describe_times;
using spotter::detail::repeated_finding;

// The results for the records of one run, or of one worker. Findings refer to the trial.
struct judged {
    std::string const& path;
    std::optional<std::uint32_t> worker{};
    std::optional<trial> run{};
    error why{};  // it could not be opened
    replay_report report{};
    run_losses lost{};
    json loss{};             // null: nothing is missing
    std::string bad_end{};   // it died or failed
    std::string unjudged{};  // why no rule could judge
    std::string packs{};     // that judged it, where they are its own
    std::string by{};        // which rules judged it, unless the caller named them or it is the run's `supervised`
    std::string beside{};    // names of rules that judged the run itself, and not here
    std::vector<std::string> unknown{};  // tensors without statistics in the healthy runs
};

// The results without references to the trial, so that each record can be closed after it was judged.
struct judged_record {
    std::string path{};
    std::optional<std::uint32_t> worker{};
    std::uint64_t bytes = 0;  // of its segments
    error why{};              // of a worker without a record: it never began (errc::no_such_worker), or cannot be read
    std::string text{}, suite{};
    std::string loss_line{};
    json document{};
    exit_code code = fine;
    bool ill = false;
};

// What judges: `given` if rules were named, otherwise each run's own packs; and an envelope, if there is one.
struct judges {
    std::vector<std::string> const& words;
    dynamic_rule given;
    std::shared_ptr<envelope const> healthy{};

    [[nodiscard]] dynamic_rule of(trial const& run) const {
        dynamic_rule const its = rules_for(run, words, given);
        return healthy == nullptr ? its : against_envelope(its, healthy);
    }
};

[[nodiscard]] std::string judges_text(std::string const& packs) {
    if (packs.empty()) { return ", by supervised: the run names no pack"; }
    if (packs == "supervised") { return {}; }
    return fmt::format(", by the {} of the run: {}", packs.find(' ') == packs.npos ? "pack" : "packs", plain(packs));
}

// Rules of a program's own are not in its record, except for their names.
[[nodiscard]] std::string rules_beside(trial const& run, std::vector<coverage> const& replayed) {
    std::vector<std::string> names;
    for (recorded_coverage const& each : spotter::detail::distinct_rules(run.coverages())) {
        bool const here =
            std::any_of(replayed.begin(), replayed.end(), [&](coverage const& its) { return its.rule == each.rule; });
        if (!here) { names.push_back(each.rule); }
    }
    return joined(names);
}

void judge(judged& it, judges const& by, bool side_by_side, progress& bar) {
    auto opened = it.worker ? open_trial(it.path, worker{*it.worker}) : open_trial(it.path);
    if (!opened) {
        it.why = opened.error();  // of a worker: its segments are there
        if (it.why.code == errc::no_such_worker) { it.why = {errc::corrupt, "none of its segments can be read"}; }
        return;
    }
    it.run.emplace(std::move(*opened));
    counted_reading const counting{*it.run, bar};
    dynamic_rule const rules = by.of(*it.run);
    it.packs = by.words.empty() ? packs_of_run(*it.run) : std::string{};
    it.report = side_by_side ? replay_report{replay_side_by_side(*it.run, rules)} : replay(*it.run, rules);
    if (by.words.empty()) {
        it.by = judges_text(it.packs);
        it.beside = rules_beside(*it.run, it.report.coverages);
    }
    std::vector<finding> const examined = examinations_of(*it.run).findings;
    it.report.findings.insert(it.report.findings.begin(), examined.begin(), examined.end());
    it.lost = it.run->losses();
    it.loss = loss_json(it.lost);
    it.bad_end = bad_end_text(*it.run);
    it.unjudged = unjudged_text(*it.run, it.report.coverages);
    if (by.healthy == nullptr) { return; }
    it.unknown = unknown_to(*by.healthy, *it.run);
    std::erase_if(it.unknown, [&](std::string const& each) { return (*it.run)[each].steps().empty(); });
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
[[nodiscard]] exit_code code_of(judged const& it, severity least) {
    if (it.why) { return !it.bad_end.empty() ? ended_badly : it.worker ? something_lost : exit_of(it.why.code); }
    exit_code code = it.lost.any() || it.report.trouble.code == errc::corrupt ? something_lost : fine;
    if (is_ill(it, least)) { code = stronger(code, found); }
    if (!it.bad_end.empty()) { code = stronger(code, ended_badly); }
    return it.unjudged.empty() ? code : stronger(code, not_judged);
}

// The first line for a record: its result.
[[nodiscard]] std::string_view verdict_of(judged const& it) {
    if (!it.report.findings.empty()) { return "findings"; }
    if (!it.unjudged.empty()) { return "nothing could be judged"; }
    return it.bad_end.empty() ? "nothing found" : "no finding before its bad end,";
}

[[nodiscard]] std::string to_text(judged const& it) {
    if (it.why) { return fmt::format("{}: {}\n", plain(title_of(it)), plain(it.why.what.view())); }
    auto const repeated = gathered(it.report.findings);
    std::string lines = fmt::format("{}: {} in {} ({}){}\n", plain(title_of(it)), verdict_of(it),
                                    plural(it.report.steps, "step"), name_of(it.run->status()), it.by);
    if (!it.beside.empty()) {
        lines +=
            fmt::format("  the run's other rules are not applied here: {}. Give them by --rules\n", plain(it.beside));
    }
    for (repeated_finding const& each : repeated) {
        lines += "  " + finding_text(each.strongest);
        if (each.times > 1) { lines += "; " + describe_times(each, ""); }
        if (!each.strongest.remedy.empty()) { lines += "\n    " + plain(each.strongest.remedy); }
        lines += '\n';
    }
    if (!it.bad_end.empty()) { lines += fmt::format("  {}\n", it.bad_end); }
    if (!it.unjudged.empty()) { lines += fmt::format("  nothing could be judged: {}\n", it.unjudged); }
    for (damaged_place const& each : it.run->damage()) {
        lines += fmt::format("  damaged: {}:{}: {}\n", plain(each.file), each.offset, plural(each.bytes, "byte"));
    }
    if (!it.report.lacking.empty()) { lines += lacking_lines(it.report); }
    if (!it.unknown.empty()) {
        lines += fmt::format("  not compared with the healthy runs, which have no statistics of them: {}\n",
                             some_of(it.unknown, quoted, 3));
    }
    if (it.report.trouble && (it.report.trouble.code != errc::no_payload || it.report.lacking.empty())) {
        lines += fmt::format("  trouble: {}\n", plain(it.report.trouble.what.view()));
    }
    return lines + plain_lines(spotter::detail::describe_coverage(it.report.coverages));
}

[[nodiscard]] json to_json(judged const& it, severity least) {
    json one = {{"path", it.path}};
    if (it.worker) { one["worker"] = *it.worker; }
    one["code"] = static_cast<int>(code_of(it, least));
    one["text"] = to_text(it);
    if (it.why) {
        one["error"] = {{"code", std::string{name_of(it.why.code)}}, {"text", std::string{it.why.what.view()}}};
        return one;
    }
    one["status"] = std::string{name_of(it.run->status())};
    one["steps"] = it.report.steps;
    one["packs"] = it.packs;
    one["not_applied"] = it.beside;
    one["whole"] = it.report.whole;
    one["trouble"] = std::string{it.report.trouble.what.view()};
    one["damaged_places"] = it.run->damage().size();
    one["loss"] = it.loss;
    one["bad_end"] = it.bad_end.empty() ? json() : json(it.bad_end);
    one["open_steps"] = open_steps_json(open_steps_of(*it.run));
    one["not_in_healthy"] = it.unknown;
    one["lacking"] = json_list(it.report.lacking, lacking_json);
    one["unjudged"] = it.unjudged.empty() ? json() : json(it.unjudged);
    one["findings"] = json_list(it.report.findings, finding_json);
    one["rules"] = coverages_json(it.report.coverages);
    return one;
}

// JUnit: a suite for each record, a case for each rule.

// As xs:dateTime, in UTC.
[[nodiscard]] std::string iso_time(double seconds) {
    auto const whole = static_cast<std::time_t>(seconds);
    std::tm parts{};
    if (::gmtime_r(&whole, &parts) == nullptr) { return "1970-01-01T00:00:00"; }
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// The cases of a suite, as they are put.
class junit_cases {
public:
    explicit junit_cases(judged const& it) : title_{html::escape(title_of(it))} {}

    void pass(std::string_view name) { put(name, {}); }
    void fail(std::string_view name, std::string const& failure) { ++failures_, put(name, failure); }
    void skip(std::string_view name, std::string_view why) {
        ++skipped_, put(name, fmt::format("<skipped message=\"{}\"/>", html::escape(why)));
    }
    // The element after `<testsuite package id`. Ant's schema also requires: errors of the test itself, here none; and
    // a time, here the beginning of the run.
    [[nodiscard]] std::string suite(double began) const {
        return fmt::format(
            " name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\" timestamp=\"{}\" "
            "hostname=\"localhost\">\n    <properties/>\n{}    <system-out/>\n    <system-err/>\n  </testsuite>\n",
            title_, count_, failures_, skipped_, iso_time(began), text_);
    }

private:
    void put(std::string_view name, std::string const& inside) {
        ++count_;
        text_ += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", title_, html::escape(name));
        text_ += inside.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", inside);
    }
    std::string title_, text_{};
    std::size_t count_ = 0, failures_ = 0, skipped_ = 0;
};

// Several rules may have one name, and a negation's finding has a name that no leaf has.
[[nodiscard]] std::vector<std::string_view> rule_names_of(judged const& it,
                                                          std::vector<repeated_finding> const& repeated) {
    std::vector<std::string_view> names;
    auto const add = [&](std::string_view name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) { names.push_back(name); }
    };
    for (coverage const& each : it.report.coverages) { add(each.rule); }
    for (repeated_finding const& each : repeated) { add(each.strongest.rule); }
    return names;
}

// A case fails once: its message is the strongest finding, its text all of them. Empty: no finding counts.
[[nodiscard]] std::string failure_of(std::string_view rule, std::vector<repeated_finding> const& repeated,
                                     severity least) {
    std::string text;
    finding const* strongest = nullptr;
    for (repeated_finding const& each : repeated) {
        finding const& found = each.strongest;
        if (found.rule != rule || !counts(found, least)) { continue; }
        if (strongest == nullptr || found.severity > strongest->severity) { strongest = &found; }
        text += fmt::format("{}\n{}{}", finding_text(found), found.remedy, found.remedy.empty() ? "" : "\n");
    }
    if (strongest == nullptr) { return {}; }
    return fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", html::escape(finding_text(*strongest)),
                       name_of(strongest->severity), html::escape_lines(text));
}

// Why no rule of that name could judge; empty where one did.
[[nodiscard]] std::optional<std::string_view> silence_of(std::string_view rule, judged const& it) {
    std::optional<std::string_view> why;
    for (coverage const& each : it.report.coverages) {
        if (each.rule != rule) { continue; }
        if (each.judged > 0) { return {}; }
        why = each.reason;
    }
    return why;
}

// What is wrong with the record itself is a case of its own.
void add_record_case(judged const& it, junit_cases& to) {
    error const& trouble = it.why ? it.why : it.report.trouble;
    bool const broken = is_broken(it) || !it.bad_end.empty() || !it.unjudged.empty();
    if (!trouble && !broken) { return; }
    std::string_view const why = trouble               ? trouble.what.view()
                                 : !it.loss.is_null()  ? "the record is not whole: `spotter verify` says where"
                                 : !it.bad_end.empty() ? std::string_view{it.bad_end}
                                                       : std::string_view{it.unjudged};
    if (!broken) { return to.skip("record", why); }
    to.fail("record", fmt::format("<failure message=\"{}\" type=\"record\"/>", html::escape(why)));
}

[[nodiscard]] std::string junit_suite(judged const& it, severity least) {
    junit_cases cases{it};
    auto const repeated = gathered(it.report.findings);
    for (std::string_view const name : rule_names_of(it, repeated)) {
        std::string const failure = failure_of(name, repeated, least);
        auto const silent = silence_of(name, it);
        if (!failure.empty()) {
            cases.fail(name, failure);
        } else if (silent) {
            cases.skip(name, *silent);
        } else {
            cases.pass(name);
        }
    }
    add_record_case(it, cases);
    double began = 0;
    if (it.run) {
        for (auto const& each : it.run->readers()) {
            double const first = each->index().begun_at();
            began = began > 0 ? (std::min)(began, first) : first;
        }
    }
    return cases.suite(began);
}
[[nodiscard]] error write_junit(std::vector<judged_record> const& all, std::string const& path) {
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].suite.empty()) {
            text += fmt::format("  <testsuite package=\"spotter\" id=\"{}\"{}", i, all[i].suite);
        }
    }
    text += "</testsuites>\n";
    if (std::string const folder = folder_above(path);
        system_files().kind_of(folder).value_or(path_kind::other) == path_kind::missing) {
        return error_of(errc::unwritable, "there is no folder \"", std::string_view{folder}.substr(0, 150),
                        "\": make it first");
    }
    return write_file(path, text, true);
}

// All records.

void judge(judged_record& into, check_options const& wanted, judges const& by, severity least, progress& bar) {
    judged it{into.path};
    it.worker = into.worker;
    it.why = into.why;
    if (!it.why) { judge(it, by, wanted.side_by_side, bar); }
    if (into.why.code == errc::no_such_worker) { it.bad_end = into.why.what.view(); }
    into.code = code_of(it, least);
    into.ill = is_ill(it, least);
    if (it.run && it.lost.any()) { into.loss_line = outcome::loss_line("check", *it.run, it.lost); }
    if (!wanted.junit.empty()) { into.suite = junit_suite(it, least); }
    if (wanted.json) {
        into.document = to_json(it, least);
    } else {
        into.text = to_text(it);
    }
}

// Judges records on as many threads as the machine has cores; records are independent.
void judge_all(std::vector<judged_record>& all, check_options const& wanted, judges const& by, severity least) {
    std::uint64_t bytes = 0;
    for (judged_record const& each : all) { bytes += each.bytes; }
    progress bar{"check", {bytes}};
    std::atomic<std::size_t> next{0};
    auto const work = [&] {
        for (std::size_t i = next++; i < all.size(); i = next++) { judge(all[i], wanted, by, least, bar); }
    };
    std::vector<std::thread> others;
    std::size_t const cores = (std::max)(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < (std::min)(all.size(), cores); ++i) { others.emplace_back(work); }
    work();
    for (std::thread& each : others) { each.join(); }
}

// What is judged, and by which rules.

[[nodiscard]] result<judges> judges_of(check_options const& wanted) {
    auto rules = read_rules(wanted.rules);
    if (!rules) { return rules.error(); }
    judges by{wanted.rules, *rules};
    if (wanted.against.empty()) { return by; }
    std::vector<trial> healthy;
    std::uint64_t bytes = 0;
    for (std::string const& each : wanted.against) {
        std::vector<recording> parts;
        (void)find_recordings(tidy(each), parts);
        bytes += bytes_of(parts);
        auto run = open_trial(tidy(each));
        if (!run) { return run.error(); }
        healthy.push_back(std::move(*run));
    }
    progress bar{"check: learns from healthy runs", {bytes}};
    std::deque<counted_reading> counting;
    for (trial const& each : healthy) { counting.emplace_back(each, bar); }
    by.healthy =
        std::make_shared<envelope const>(learn_envelope(healthy, {mean, l2, mean_abs, maximum, zero_fraction}));
    return by;
}

// The workers that the others expect, and that never began. Only a run that lacks some is opened as a whole.
void add_missing_workers(std::string const& path, std::vector<recording> const& parts,
                         std::vector<judged_record>& all) {
    std::uint32_t expected = 0;
    for (auto part = parts.begin(); part != parts.end() && expected == 0; ++part) {
        auto const run = open_trial(path, worker{part->worker});
        if (run) { expected = run->readers().front()->index().expected_workers(); }
    }
    std::set<std::uint32_t> missing;
    for (std::uint32_t i = 0; i < expected; ++i) { missing.insert(i); }
    for (recording const& part : parts) { missing.erase(part.worker); }
    if (missing.empty()) { return; }
    auto const whole = open_trial(path);
    if (!whole || whole->status() == run_status::running) { return; }
    for (std::uint32_t const number : missing) {
        error const why{errc::no_such_worker, "it never began: the run has no record of it"};
        all.push_back({.path = path, .worker = number, .why = why});
    }
}

[[nodiscard]] error records_of(check_options const& wanted, std::vector<judged_record>& all) {
    for (std::string const& each : wanted.paths) {
        std::string const path = tidy(each);
        std::vector<recording> parts;
        if (error const why = find_recordings(path, parts)) { return why; }
        if (parts.size() == 1 || wanted.side_by_side) {
            all.push_back({.path = path, .bytes = bytes_of(parts)});
            continue;
        }
        for (recording const& part : parts) {
            error const why = part.why ? error_of(errc::corrupt, part.why.what.view()) : error{};
            all.push_back({.path = path, .worker = part.worker, .bytes = bytes_of({part}), .why = why});
        }
        add_missing_workers(path, parts, all);
    }
    return {};
}

[[nodiscard]] json document_of_runs(std::vector<judged_record>& all, std::string const& path) {
    json document = document_of("check", path);
    document["runs"] = json::array();
    for (judged_record& each : all) { document["runs"].push_back(std::move(each.document)); }
    return document;
}

void print(std::vector<judged_record> const& all) {
    for (judged_record const& each : all) { say(each.text); }
    auto const ill = std::count_if(all.begin(), all.end(), [](judged_record const& each) { return each.ill; });
    if (all.size() > 1) { say(records_line(all.size(), static_cast<std::size_t>(ill))); }
}

}  // namespace

int check(check_options const& wanted) {
    std::string const path = wanted.paths.empty() ? std::string{} : wanted.paths.front();
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "check", path); };
    if (wanted.list) {
        wanted.json ? say_document(rules_json()) : say(rules_text());
        return fine;
    }
    if (wanted.paths.empty()) { return refuse({errc::bad_config, "which run? spotter check runs/a"}); }
    if (wanted.self_test) { return self_test_runs(wanted); }
    auto const by = judges_of(wanted);
    if (!by) { return refuse(by.error()); }
    auto const least = read_severity(wanted.fail_on);
    if (!least) { return refuse(least.error()); }
    auto const part = read_shard(wanted.shard);
    if (!part) { return refuse(part.error()); }
    std::vector<judged_record> all;
    if (error const why = records_of(wanted, all)) { return refuse(why); }
    std::size_t place = 0;
    std::erase_if(all, [&](judged_record const&) { return place++ % part->parts != part->part; });
    judge_all(all, wanted, *by, *least);

    exit_code code = fine;
    for (judged_record const& each : all) {
        code = stronger(code, each.code);
        if (!each.loss_line.empty()) { say(each.loss_line, stderr); }
    }
    if (error const why = wanted.junit.empty() ? error{} : write_junit(all, wanted.junit)) { return refuse(why); }
    wanted.json ? say_document(document_of_runs(all, path)) : print(all);
    return code;
}

}  // namespace spotter_tool
