// SPDX-License-Identifier: Apache-2.0
// Command line, `capture`, `pause`, `resume`, `flush`, `plan` and `rules`: sends a request to a running training.
#include "folders.hpp"
#include "output.hpp"
#include "patience.hpp"
#include "verbs.hpp"

#include <spotter/control.hpp>

#include <fstream>
#include <iterator>
#include <optional>

namespace spotter_tool {

using namespace spotter;

namespace {

[[nodiscard]] std::optional<std::string> whole_file(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) { return {}; }
    std::string all{std::istreambuf_iterator<char>{file}, {}};
    return file.bad() ? std::nullopt : std::optional{std::move(all)};
}
[[nodiscard]] exit_code exit_of_answer(answer_state state) noexcept {
    return state == answer_state::done ? fine : state == answer_state::refused ? bad_usage : not_judged;
}
[[nodiscard]] std::string_view in_words(run_answer const& it) noexcept {
    if (it.state == answer_state::taken) {
        return "; not done yet: the loop has closed no step since, and does it when it closes one";
    }
    return it.state == answer_state::silent ? "no answer: its writer is stuck, or of a version that cannot be asked"
                                            : "";
}

}  // namespace

int control(control_options const& wanted, control_verb what) {
    std::string_view const verb = name_of(what);
    std::string const path = tidy(wanted.path);
    if (error const why = not_in_a_store(path)) { return fail(why, wanted.json, verb, path); }
    run_request request{.what = what, .names = wanted.names, .steps = wanted.steps, .by = wanted.by};
    if (!wanted.file.empty()) {
        auto document = whole_file(wanted.file);
        if (!document) { return fail(error_of(errc::io_error, "cannot read ", wanted.file), wanted.json, verb, path); }
        request.document = std::move(*document);
    }
    auto const answers = ask_run(path, request, patience_of(wanted.wait));
    if (!answers) { return fail(answers.error(), wanted.json, verb, path); }
    int code = fine;
    json list = json::array();
    std::string text;
    for (run_answer const& each : *answers) {
        code = (std::max)(code, static_cast<int>(exit_of_answer(each.state)));
        list.push_back({{"worker", each.worker}, {"state", std::string{name_of(each.state)}}, {"what", each.what}});
        std::string const who = answers->size() > 1 ? fmt::format("worker {}: ", each.worker) : std::string{};
        text += fmt::format("{}{}{}{}\n", who, each.state == answer_state::refused ? "refused: " : "", each.what,
                            in_words(each));
    }
    if (wanted.json) {
        json document = document_of(std::string{verb}, path);
        document["answers"] = list;
        say_document(document);
    } else {
        say(plain_lines(text), code == fine ? stdout : stderr);
    }
    return code;
}

}  // namespace spotter_tool
