// SPDX-License-Identifier: Apache-2.0
// Command line, `new`: creates a CMake project with a watched training loop that builds and runs unchanged.
#include "folders.hpp"
#include "new_file.hpp"
#include "new_texts.hpp"
#include "output.hpp"
#include "verbs.hpp"

#include <span>

namespace spotter_tool {

using namespace spotter;

namespace {

// With each `mark` replaced.
[[nodiscard]] std::string with(std::string text, std::string_view mark, std::string_view by) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + by.size())) {
        text.replace(at, mark.size(), by);
    }
    return text;
}

// As one word of a shell.
[[nodiscard]] std::string word_of(std::string_view path) {
    bool const is_usual = std::all_of(path.begin(), path.end(), [](char letter) {
        return is_usual_letter(letter) || std::string_view{"/.+,:@%="}.find(letter) != std::string_view::npos;
    });
    return is_usual ? std::string{path} : shell_text(path);
}

// A valid name for CMake and C++.
[[nodiscard]] std::string project_name(std::string_view path) {
    std::string name;
    for (char const letter : path.substr(path.rfind('/') + 1)) { name += is_usual_letter(letter) ? letter : '_'; }
    return name.empty() ? "training" : name;
}

}  // namespace

int new_project(new_options const& wanted) {
    std::string const folder = tidy(wanted.folder), name = project_name(folder);
    auto const refuse = [&](error const& why) { return fail(why, false, "new", folder); };
    if (!detail::names_in(folder).empty()) {
        return refuse(error_of(errc::exists, "\"", std::string_view{folder}.substr(0, 150),
                               "\" is there already, and not empty: give a new folder"));
    }
    bool const is_c = wanted.kind == "c", is_torch = wanted.kind == "torch";
    std::span<project_file const> const files = is_c       ? std::span<project_file const>{c_project}
                                                : is_torch ? std::span<project_file const>{torch_project}
                                                           : std::span<project_file const>{plain_project};
    auto const write = [&](std::string_view file, std::string text) {
        text = with(with(std::move(text), "@NAME@", name), "@LANGUAGES@", is_c ? "C CXX" : "CXX");
        return write_file(folder + '/' + std::string{file}, text, false);
    };
    for (project_file const& each : files) {
        std::string const beginning{each.name == "CMakeLists.txt" ? project_beginning : std::string_view{}};
        if (error const why = write(each.name, beginning + std::string{each.text})) { return refuse(why); }
    }
    if (error const why = write("README.md", std::string{project_read_me})) { return refuse(why); }
    say(fmt::format("{0}: a project with a watched loop. Build and run it:\n"
                    "  cmake -S {1} -B {2} && cmake --build {2} && (cd {1} && build/train)\n",
                    folder, word_of(folder), word_of(folder + "/build")));
    return fine;
}

}  // namespace spotter_tool
