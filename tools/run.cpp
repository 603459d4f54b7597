// SPDX-License-Identifier: Apache-2.0
// Command line, `run`: runs a training as attempts, with a further setting after each failure; for a sweep, many
// trainings.
#include "output.hpp"
#include "patience.hpp"
#include "rules_argument.hpp"
#include "verbs.hpp"
#include "watched_run.hpp"
#include "workbench/profile/times.hpp"

#include <spotter/supervisor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

namespace spotter_tool {

using namespace spotter;

namespace {

[[nodiscard]] std::vector<std::string> words_of(std::string const& line) {
    std::istringstream from{line};
    std::vector<std::string> words;
    for (std::string each; from >> each;) { words.push_back(each); }
    return words;
}

// "gradient*:clip=--clip=1": the cure `clip` for causes of that name, which adds `--clip=1`. "warmup": for any cause,
// adds `--warmup`.
[[nodiscard]] cure cure_of(std::string const& text) {
    std::size_t const equals = text.find('='), colon = text.find(':');
    bool const has_cause = colon != text.npos && colon < equals;
    std::size_t const begin = has_cause ? colon + 1 : 0;
    cure it;
    it.cause = has_cause ? text.substr(0, colon) : "*";
    it.name = text.substr(begin, equals == text.npos ? text.npos : equals - begin);
    it.settings = equals == text.npos ? std::vector<std::string>{"--" + it.name} : words_of(text.substr(equals + 1));
    return it;
}

// With rules, it judges the record during the training, and stops it.
class launcher {
public:
    launcher(run_options const& wanted, std::vector<std::string> const& settings, dynamic_rule const* rules)
        : rules_{rules} {
        child_.command = wanted.command;
        child_.command.insert(child_.command.end(), settings.begin(), settings.end());
        child_.patience = patience_of(wanted.patience);
    }
    launched operator()(supervised_attempt const& now) const {
        child_process child = child_;
        // the program may change its working folder
        child.environment = {"SPOTTER_RUN=" + std::string{system_files().absolute(now.run).view()}};
        if (rules_ == nullptr) { return child(now); }
        watch_options const stopping{.stop = true};
        watched_run::tell const silent = [](json const&) {};
        watched_run beside{now.run, *rules_, stopping, silent};
        std::atomic<bool> over{false};
        std::thread eye{[&] {
            while (!over) {
                beside.advance(spotter::detail::steady_seconds());
                std::this_thread::sleep_for(std::chrono::milliseconds{100});
            }
        }};
        launched launch = child(now);
        over = true;
        eye.join();
        beside.advance(spotter::detail::steady_seconds());
        if (beside.begun() && launch.how != departure::never_started) { launch.judged = verdict_by(beside, launch); }
        return launch;
    }

private:
    [[nodiscard]] static run_verdict verdict_by(watched_run const& beside, launched const& launch) {
        run_verdict it = verdict_of(launch);
        it.closed_steps = beside.record().closed_steps();
        for (finding const& each : beside.findings()) {
            if (each.severity < severity::error && each.decision != decision::stop) { continue; }
            it.cause = each.rule;
            it.said = finding_text(each);
            it.at = each.step;
            return it;
        }
        auto const own = verdict_of(beside.record(), launch);  // the program's own rules may have stopped it
        return own && !own->stable() ? *own : it;
    }

    dynamic_rule const* rules_;
    child_process child_{};
};

struct supervised {
    std::string folder{};
    std::string settings{};
    healing outcome{};
};

[[nodiscard]] std::string text_of(supervised const& it) {
    std::string text;
    for (past_attempt const& each : it.outcome.attempts) {
        text +=
            fmt::format("{}  {}  {}  {}\n", each.launch.run,
                        each.asked.cure.empty() ? it.settings.empty() ? "as it is" : it.settings : each.asked.cure,
                        each.verdict.stable() && it.outcome.how != healed::no_verdict ? "stable" : each.verdict.line(),
                        spotter::detail::duration_text(each.seconds));
    }
    if (!it.outcome.stable()) { return text + fmt::format("{}: {}\n", name_of(it.outcome.how), it.outcome.why); }
    std::string const& cure = it.outcome.attempts.back().asked.cure;
    return text + (cure.empty() ? std::string{"stable at once\n"}
                                : fmt::format("stable after {}, with {}\n",
                                              plural(it.outcome.attempts.size(), "attempt"), cure));
}
[[nodiscard]] json to_json(supervised const& it) {
    json one = {{"folder", it.folder},
                {"settings", it.settings},
                {"how", std::string{name_of(it.outcome.how)}},
                {"why", it.outcome.why}};
    one["attempts"] = json_list(it.outcome.attempts, [](past_attempt const& each) -> json {
        return {{"run", each.launch.run},
                {"cure", each.asked.cure},
                {"because", each.asked.because},
                {"settings", each.asked.settings},
                {"cause", each.verdict.cause},
                {"said", each.verdict.line()},
                {"steps", each.verdict.closed_steps},
                {"seconds", each.seconds}};
    });
    return one;
}

[[nodiscard]] result<std::vector<std::string>> lines_of_sweep(std::string const& path) {
    if (path.empty()) { return std::vector<std::string>{""}; }
    std::ifstream file{path};
    if (!file) { return error_of(errc::io_error, "cannot read ", path); }
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (!words_of(line).empty()) { lines.push_back(line); }
    }
    if (lines.empty()) { return error_of(errc::bad_config, "no line of settings in ", path); }
    return lines;
}

// A training for each line of settings; so many at once as there are slots.
[[nodiscard]] std::vector<supervised> run_lines(run_options const& wanted, std::vector<std::string> const& lines,
                                                dynamic_rule const* rules) {
    std::vector<cure> cures;
    for (std::string const& each : wanted.retries) { cures.push_back(cure_of(each)); }
    std::vector<supervised> all(lines.size());
    std::atomic<std::size_t> next{0};
    std::mutex saying;
    auto const work = [&] {
        for (std::size_t i = next++; i < all.size(); i = next++) {  // a free slot takes the next one
            supervised& it = all[i];
            it.settings = lines[i];
            it.folder = wanted.sweep.empty() ? wanted.folder : fmt::format("{}/{:03}", wanted.folder, i + 1);
            it.outcome = supervise(launcher{wanted, words_of(it.settings), rules}, cures,
                                   {.attempts = wanted.attempts, .folder = it.folder});
            std::lock_guard const one_at_a_time{saying};
            if (!wanted.json) { say(plain_lines(text_of(it))); }
        }
    };
    std::vector<std::thread> slots;
    for (std::size_t i = 1; i < (std::min)(std::size_t{wanted.slots}, all.size()); ++i) { slots.emplace_back(work); }
    work();
    for (std::thread& each : slots) { each.join(); }
    return all;
}

}  // namespace

int run_training(run_options const& wanted) {
    std::string const program = wanted.command.front();
    std::optional<dynamic_rule> rules;
    if (!wanted.rules.empty()) {
        auto read = read_rules(wanted.rules);
        if (!read) { return fail(read.error(), wanted.json, "run", program); }
        rules = std::move(*read);
    }
    auto const lines = lines_of_sweep(wanted.sweep);
    if (!lines) { return fail(lines.error(), wanted.json, "run", program); }
    std::vector<supervised> const all = run_lines(wanted, *lines, rules ? &*rules : nullptr);
    auto const stable = static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](supervised const& each) { return each.outcome.stable(); }));
    bool const started = std::none_of(all.begin(), all.end(),
                                      [](supervised const& each) { return each.outcome.how == healed::cannot_start; });
    if (wanted.json) {
        json document = document_of("run", program);
        document["trainings"] = json_list(all, [](supervised const& each) { return to_json(each); });
        say_document(document);
    } else if (all.size() > 1) {
        say(fmt::format("{} trainings: {} stable\n", all.size(), stable));
    }
    return !started ? failed : stable < all.size() ? found : fine;
}

}  // namespace spotter_tool
