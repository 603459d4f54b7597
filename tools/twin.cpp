// SPDX-License-Identifier: Apache-2.0
// Command line, `twin`: runs a training twice at once, and finds where the two diverge.

#include "output.hpp"
#include "patience.hpp"
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
        text += fmt::format(", {}, {}, the first is element {}", plural(it.elements, "element"), plural(it.bits, "bit"),
                            it.element);
    }
    return text;
}

// Starts both and waits for their ends; asks both to stop once they part.
class twins {
public:
    explicit twins(twin_options const& wanted) : wanted_{wanted} {}

    void run() {
        std::thread both[2];
        for (std::size_t i = 0; i < 2; ++i) {
            both[i] = std::thread{[this, i] { launch(i); }};
        }
        bool asked_to_stop = false;
        while (running_ > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds{100});
            records.look(wanted_.folder);
            if (!records.found() || std::exchange(asked_to_stop, true)) { continue; }
            ask_to_stop();  // nothing more can be found
        }
        for (std::thread& each : both) { each.join(); }
        records.look(wanted_.folder);
    }

    // Why one of them did not start.
    [[nodiscard]] error trouble() const {
        for (launched const& each : ends) {
            if (each.how == departure::never_started) { return {errc::io_error, std::string_view{each.why}}; }
        }
        return {};
    }
    // Which of them did not end by itself.
    [[nodiscard]] std::string ended_text() const {
        std::string text;
        for (std::size_t i = 0; i < 2; ++i) {
            if (ends[i].how == departure::by_itself) { continue; }
            text += fmt::format("{} {}\n", i == 0 ? "the first" : "the second", ends[i].why);
        }
        return text;
    }

    two_records records{};
    launched ends[2]{};

private:
    void launch(std::size_t i) {
        std::string const run = wanted_.folder + (i == 0 ? "/a" : "/b");
        child_process child{wanted_.command,
                            patience_of(wanted_.patience),
                            {"SPOTTER_RUN=" + std::string{system_files().absolute(run).view()}}};
        ends[i] = child({.number = 1, .run = run});
        --running_;
    }
    void ask_to_stop() const {
        constexpr std::string_view why = "its twin is another one by now";
        for (char const* const each : {"/a/stop", "/b/stop"}) {
            (void)spotter::detail::replace_file(system_files(), wanted_.folder + each, std::as_bytes(std::span{why}),
                                                true);
        }
    }

    twin_options const& wanted_;
    std::atomic<int> running_{2};
};

[[nodiscard]] json parting_json(std::optional<parting_point> const& it) {
    if (!it) { return {}; }
    return {{"step", step_json(it->step)}, {"tensor", it->tensor},     {"what", it->what},
            {"element", it->element},      {"elements", it->elements}, {"bits", it->bits}};
}

[[nodiscard]] error look_at_folder(std::string const& folder) {
    for (char const* const each : {"/a", "/b"}) {
        std::string const path = folder + each;
        if (system_files().kind_of(path).value_or(path_kind::missing) == path_kind::missing) { continue; }
        return error_of(errc::exists, "there is something already: remove it, or choose --folder: ", path);
    }
    return {};
}

}  // namespace

int twin(twin_options const& wanted) {
    std::string const program = wanted.command.front();
    if (error const why = look_at_folder(wanted.folder)) { return fail(why, wanted.json, "twin", program); }
    twins both{wanted};
    both.run();
    if (error const why = both.trouble()) { return fail(why, wanted.json, "twin", program); }
    two_records& records = both.records;
    auto const found_at = records.found();
    std::uint64_t const steps = records.apart ? records.apart->steps() : 0;
    std::string const ended = both.ended_text();
    exit_code code = found_at ? found : steps == 0 ? not_judged : fine;
    if (code == fine && !ended.empty()) { code = ended_badly; }
    if (wanted.json) {
        json document = document_of("twin", program);
        document["steps"] = steps;
        document["same"] = code == fine || code == ended_badly;
        document["parting"] = parting_json(found_at);
        document["environment"] = records.a ? records.a->environment() : std::string{};
        document["ended"] = {both.ends[0].why, both.ends[1].why};
        say_document(document);
    } else {
        std::string const how = found_at     ? words_of(*found_at)
                                : steps == 0 ? "no step was recorded by both: does the program record with spotter?"
                                             : std::string{same_text};
        std::string const built = found_at && records.a ? built_text(*records.a) : std::string{};
        say(plain_lines(fmt::format("the same: {}\n{}\n{}{}", plural(steps, "step"), how, built, ended)));
    }
    return code;
}

}  // namespace spotter_tool
