// SPDX-License-Identifier: Apache-2.0
// Command line, `twin`: runs a training twice at once, and finds where the two diverge.

#include "output.hpp"
#include "verbs.hpp"

#include <spotter/file/replacing_file.hpp>
#include <spotter/supervisor.hpp>
#include <spotter/trial/environment_lines.hpp>
#include <spotter/workbench/parting.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace spotter_tool {

using namespace spotter;

namespace {

constexpr std::string_view same_text = "the two are the same, bit for bit, in all that was recorded";

// The two records, once both exist.
struct two_records {
    std::optional<trial> a{}, b{};
    std::optional<parting> apart{};

    void look(std::string const& folder) {
        if (!a) { open(folder + "/a", a); }
        if (!b) { open(folder + "/b", b); }
        if (a && b && !apart) { apart.emplace(*a, *b); }
        if (apart) { (void)apart->look(); }
    }
    [[nodiscard]] std::optional<parting_point> found() { return apart ? apart->look() : std::nullopt; }

private:
    static void open(std::string const& path, std::optional<trial>& into) {
        auto opened = open_trial(path);
        if (opened) { into.emplace(std::move(*opened)); }
    }
};

// Possible reasons why two runs of one program differ: its build, and the number of threads.
[[nodiscard]] std::string built_text(trial const& run) {
    std::string text;
    spotter::detail::each_environment_line(run.environment(), [&](std::string_view key, std::string_view value) {
        if (key == "compiler" || key == "flags" || key == "target" || key == "cores" || key == "threads") {
            text += fmt::format("{}{} {}", text.empty() ? "the program: " : "; ", key, value);
        }
    });
    return text.empty() ? text : text + "\n";
}

[[nodiscard]] std::string words_of(parting_point const& it) {
    std::string text = fmt::format("they part at {}", step_text(it.step));
    if (it.tensor.empty()) { return text + ": " + it.what; }
    text += fmt::format(", {}: {}", it.tensor, it.what);
    if (it.elements > 0) {
        text += fmt::format(", {} elements, {} bits, the first is element {}", it.elements, it.bits, it.element);
    }
    return text;
}

}  // namespace

int twin(twin_options const& wanted) {
    std::string const program = wanted.command.front();
    file_system& files = system_files();
    for (char const* const each : {"/a", "/b"}) {
        std::string const path = wanted.folder + each;
        if (files.kind_of(path).value_or(path_kind::missing) == path_kind::missing) { continue; }
        error why{errc::exists, "there is something already: remove it, or choose --folder: "};
        why.what << path;
        return fail(why, wanted.json, "twin", program);
    }
    std::chrono::milliseconds const patience{static_cast<std::int64_t>(wanted.patience * 1000)};
    launched ends[2];
    std::atomic<int> running{2};
    std::thread both[2];
    for (std::size_t i = 0; i < 2; ++i) {
        both[i] = std::thread{[&, i] {
            std::string const run = wanted.folder + (i == 0 ? "/a" : "/b");
            child_process child{wanted.command, patience, {"SPOTTER_RUN=" + std::string{files.absolute(run).view()}}};
            ends[i] = child({.number = 1, .run = run});
            --running;
        }};
    }
    two_records records;
    bool asked_to_stop = false;
    while (running > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        records.look(wanted.folder);
        if (!records.found() || asked_to_stop) { continue; }
        asked_to_stop = true;  // nothing more can be found
        constexpr std::string_view why = "its twin is another one by now";
        for (char const* const each : {"/a/stop", "/b/stop"}) {
            (void)spotter::detail::replace_file(files, wanted.folder + each, std::as_bytes(std::span{why}), true);
        }
    }
    for (std::thread& each : both) { each.join(); }
    for (launched const& each : ends) {
        if (each.how == departure::never_started) {
            return fail({errc::io_error, std::string_view{each.why}}, wanted.json, "twin", program);
        }
    }
    records.look(wanted.folder);
    auto const found_at = records.found();
    std::uint64_t const steps = records.apart ? records.apart->steps() : 0;
    std::string const how = found_at     ? words_of(*found_at)
                            : steps == 0 ? "no step was recorded by both: does the program record with spotter?"
                                         : std::string{same_text};
    exit_code code = found_at ? found : steps == 0 ? not_judged : fine;
    std::string ended;
    for (std::size_t i = 0; i < 2; ++i) {
        if (ends[i].how == departure::by_itself) { continue; }
        ended += fmt::format("{} {}\n", i == 0 ? "the first" : "the second", ends[i].why);
        if (code == fine) { code = ended_badly; }
    }
    if (wanted.json) {
        json document = document_of("twin", program);
        document["steps"] = steps;
        document["same"] = code == fine || code == ended_badly;
        document["parting"] =
            !found_at
                ? json()
                : json{{"step", step_json(found_at->step)}, {"tensor", found_at->tensor},     {"what", found_at->what},
                       {"element", found_at->element},      {"elements", found_at->elements}, {"bits", found_at->bits}};
        document["environment"] = records.a ? records.a->environment() : std::string{};
        document["ended"] = {ends[0].why, ends[1].why};
        say_document(document);
    } else {
        std::string const built = found_at && records.a ? built_text(*records.a) : std::string{};
        say(plain_lines(fmt::format("{} steps are the same\n{}\n{}{}", steps, how, built, ended)));
    }
    return code;
}

}  // namespace spotter_tool
