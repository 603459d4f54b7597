// SPDX-License-Identifier: Apache-2.0
// Act (L6): sends a request to a running training, in another process or in this one.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/hook/control.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A request to a running training: docs/act.md#control-while-it-runs.
struct run_request {
    control_verb what = control_verb::flush;
    std::string names{};        // for capture: a glob of tensor names
    std::uint64_t steps = 100;  // for capture: number of steps, from the next one on
    std::string document{};     // for plan and rules: the text that load_plan and load_rules read
    std::string by{};           // the requester, for the record; empty: the user in the environment
};

//   done      it was carried out; the text says how, and the record has the step
//   refused   the text says why
//   taken     the writer received it; the loop carries it out when it closes the next step
//   silent    no answer: the writer is blocked, or of a version without control
enum class answer_state : std::uint8_t { done, refused, taken, silent };
// As in the file.
[[nodiscard]] constexpr std::string_view name_of(answer_state what) noexcept {
    constexpr std::string_view names[] = {"done", "refused", "taken", "silent"};
    return names[static_cast<std::size_t>(what)];
}
// A worker's answer.
struct run_answer {
    std::uint32_t worker = 0;  // its number
    answer_state state = answer_state::silent;
    std::string what{};  // in words
};

// Sends the request to every worker that currently records into the run's folder, and waits for the answers for at most
// `patience`. Concurrent requests wait for each other. Write permission in the folder suffices. errc::not_a_run;
// errc::no_more_data where no worker records there; errc::busy where other requests block the folder all the time;
// errc::bad_config where a name contains a line break; errc::unwritable and others of the file system.
[[nodiscard]] result<std::vector<run_answer>> ask_run(std::string const& path, run_request const& request,
                                                      std::chrono::milliseconds patience = std::chrono::seconds{10});

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/deadline.hpp>
#include <spotter/file/replacing_file.hpp>
#include <spotter/file/system.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/record/segment_files.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

namespace spotter::inline SPOTTER_ABI::detail {

using ask_clock = std::chrono::steady_clock;

[[nodiscard]] SPOTTER_BODY std::string asking_user() {
    for (char const* const each : {"USER", "LOGNAME", "USERNAME"}) {
        if (char const* const name = std::getenv(each); name != nullptr && *name != '\0') { return name; }
    }
    return "somebody";
}
[[nodiscard]] SPOTTER_BODY std::string fresh_request_id() {
    std::random_device source;
    return std::to_string(source()) + '-' + std::to_string(source());
}
[[nodiscard]] SPOTTER_BODY std::string lines_of(run_request const& it, std::string const& id) {
    std::string text = "spotter control 1\nid " + id + "\nby " + (it.by.empty() ? asking_user() : it.by) + "\nask " +
                       std::string{name_of(it.what)} + '\n';
    if (it.what == control_verb::capture) {
        text += "names " + it.names + "\nsteps " + std::to_string(it.steps) + '\n';
    }
    bool const more = it.what == control_verb::plan || it.what == control_verb::rules;
    if (more) { text += "bytes " + std::to_string(it.document.size()) + '\n'; }
    return text + "end\n" + (more ? it.document : std::string{});
}
// The folders of the workers that currently record.
[[nodiscard]] SPOTTER_BODY error find_workers_at_work(file_system& files, std::string const& path,
                                                      std::vector<run_answer>& into) {
    number_list found;
    if (error const why = found.read_workers(files, path)) { return why; }
    std::vector<std::uint32_t> numbers{0};
    for (std::size_t i = 0; i < found.size(); ++i) { numbers.push_back(found[i]); }
    std::sort(numbers.begin(), numbers.end());
    bool any = false;
    for (std::uint32_t const each : numbers) {
        std::string const folder = each == 0 ? path : path + "/worker-" + std::to_string(each);
        std::string const lock = folder + '/' + layout::lock_name;
        auto const kind = files.kind_of(lock);
        if (!kind || *kind != path_kind::file) { continue; }
        any = true;
        if (files.is_locked(lock).value_or(false)) { into.push_back({each, answer_state::silent, {}}); }
    }
    if (!any) {
        error why{errc::not_a_run, "no run there: "};
        why.what << std::string_view{path}.substr(path.size() > 160 ? path.size() - 160 : 0);
        return why;
    }
    return {};
}
// A worker's answer to the request, if there is one.
SPOTTER_BODY void read_answer(file_system& files, std::string const& path, std::string const& id, run_answer& into) {
    std::string const folder = into.worker == 0 ? path : path + "/worker-" + std::to_string(into.worker);
    char letters[1024];
    auto const size = files.read(folder + '/' + layout::answer_name, 0, std::as_writable_bytes(std::span{letters}));
    if (!size) { return; }
    std::string_view rest{letters, *size};
    if (rest.find("\nid " + id + '\n') == rest.npos) { return; }
    auto const value = [&](std::string_view key) {
        std::size_t const at = rest.find(key);
        return at == rest.npos ? std::string_view{}
                               : rest.substr(at + key.size(), rest.find('\n', at + 1) - at - key.size());
    };
    for (answer_state const each : {answer_state::done, answer_state::refused, answer_state::taken}) {
        if (value("\nstate ") == name_of(each)) { into.state = each; }
    }
    into.what = value("\nwhat ");
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY result<std::vector<run_answer>> ask_run(std::string const& path, run_request const& request,
                                                     std::chrono::milliseconds patience) {
    if ((request.names + request.by).find_first_of("\r\n") != std::string::npos) {
        return error{errc::bad_config, "names and requester must each be one line"};
    }
    file_system& files = system_files();
    std::vector<run_answer> answers;
    if (error const why = detail::find_workers_at_work(files, path, answers)) { return why; }
    if (answers.empty()) {
        return error{errc::no_more_data, "no process records into this run now: it has ended, or its process is gone"};
    }
    auto const until = detail::deadline_in(patience);
    auto const nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds{10}); };
    std::string const place = path + '/' + layout::control_name;
    // Released automatically if the process is killed. The file stays: another request may wait for this very file.
    result<opened_file> turn = files.lock(place + ".lock");
    while (!turn && turn.error().code == errc::busy && detail::ask_clock::now() < until) {
        nap();
        turn = files.lock(place + ".lock");
    }
    if (!turn) { return turn.error(); }
    std::string const id = detail::fresh_request_id(), lines = detail::lines_of(request, id);
    error const why = detail::replace_file(files, place, std::as_bytes(std::span{lines}), false);
    for (bool all = false; !why && !all && detail::ask_clock::now() < until;) {
        nap();
        all = true;
        for (run_answer& each : answers) {
            detail::read_answer(files, path, id, each);
            all = all && (each.state == answer_state::done || each.state == answer_state::refused);
        }
    }
    (void)files.remove(place);
    files.unlock(*turn);
    if (why) { return why; }
    return answers;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
