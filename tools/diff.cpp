// SPDX-License-Identifier: Apache-2.0
// Command line, `diff`: compares two trainings and shows where they diverge.

#include "arguments.hpp"
#include "diff_json.hpp"
#include "diff_text.hpp"
#include "folders.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/workbench/diff.hpp>
#if SPOTTER_WITH_ZLIB
#endif

#include <optional>

namespace spotter_tool {

namespace {

using namespace spotter;

// A file {"name in A": "name in B"}.
[[nodiscard]] error read_map(std::string const& path, name_pairs& into) {
    mapped_file const file{path};
    if (file.error()) { return file.error(); }
    auto const* const letters = reinterpret_cast<char const*>(file.bytes().data());
    json const names = json::parse(letters, letters + file.bytes().size(), nullptr, false);
    error const why = error_of(errc::bad_config, std::string_view{path}.substr(path.size() > 80 ? path.size() - 80 : 0),
                               R"( is no map of names: write {"name in A": "name in B", ...})");
    if (!names.is_object()) { return why; }
    for (auto const& [name, other] : names.items()) {
        if (!other.is_string()) { return why; }
        into.emplace_back(name, other.get<std::string>());
    }
    return {};
}

[[nodiscard]] result<diff_options> read_options(diff_arguments const& given) {
    diff_options wanted;
    if (!(given.relative >= 0) || !(given.absolute >= 0)) {
        return {errc::bad_config, "a tolerance is a number from 0 on"};
    }
    wanted.tolerance = {given.ulp, given.relative, given.absolute, false};
    wanted.strict = given.strict;
    wanted.only = given.names;
    wanted.transposed = given.transposed;
    for (auto const* const globs : {&given.names, &given.transposed}) {
        for (std::string const& each : *globs) {
            if (error const why = check_glob(each)) { return why; }
        }
    }
    for (std::string const& each : given.maps) {
        std::size_t const cut = each.find('=');
        if (cut != each.npos) {
            wanted.names.emplace_back(each.substr(0, cut), each.substr(cut + 1));
        } else if (error const why = read_map(each, wanted.names)) {
            return why;
        }
    }
    if (error const why = read_given(given.mode, read_mode, wanted.mode)) { return why; }
    if (error const why = read_given(given.step, read_step, wanted.step)) { return why; }
    return wanted;
}

[[nodiscard]] result<diff_side> open_with_bar(std::string const& path) {
    std::vector<recording> all;
    (void)find_recordings(path, all);  // of dumped files there are none
    progress bar{"diff: opens " + path, {bytes_of(all), "bytes", 2}};
    return open_side(path, system_files(), &bar.count());
}

[[nodiscard]] std::string heading(char which, diff_side const& side) {
    std::string_view const what = side.run() != nullptr ? name_of(side.run()->status()) : "files";
    return fmt::format("{}: {} ({})\n", which, plain(side.path()), what);
}

}  // namespace

int diff(diff_arguments const& given) {
    std::string const path = tidy(given.path), other = tidy(given.other), reference = tidy(given.reference);
    auto const wanted = read_options(given);
    if (!wanted) { return fail(wanted.error(), given.json, "diff", path); }
    auto const a = open_with_bar(path);
    if (!a) { return fail(a.error(), given.json, "diff", path); }
    auto const b = open_with_bar(other);
    if (!b) { return fail(b.error(), given.json, "diff", other); }
    std::optional<diff_side> truth;
    if (!reference.empty()) {
        auto found = open_with_bar(reference);
        if (!found) { return fail(found.error(), given.json, "diff", reference); }
        truth.emplace(std::move(*found));
    }
    progress bar{"diff", {a->steps(), "steps"}};
    auto const report = spotter::diff(*a, *b, *wanted, truth ? &*truth : nullptr,
                                      [&](std::uint64_t, std::uint64_t) { bar.advance(1); });
    outcome end{"diff"};
    auto const look_at = [&](diff_side const* side) {
        return side != nullptr && side->run() != nullptr ? end.look_at(*side->run()) : json();
    };
    json const loss_a = look_at(&*a), loss_b = look_at(&*b), loss_reference = look_at(truth ? &*truth : nullptr);
    if (!report) { return end.code(fail(report.error(), given.json, "diff", path)); }
    if (report->has_difference()) { end.note(found); }
    if (report->has_losses()) { end.note(something_lost); }
    if (!report->is_complete()) { end.note(not_judged); }
    if (given.json) {
        json document = document_of("diff", path);
        document["other"] = other;
        document["reference"] = reference.empty() ? json() : json(reference);
        document["loss_a"] = loss_a;
        document["loss_b"] = loss_b;
        document["loss_reference"] = loss_reference;
        put_diff(document, *report);
        say_document(document);
    } else {
        say(heading('A', *a) + heading('B', *b) + diff_text(*report, truth.has_value()));
    }
    return end.code();
}

}  // namespace spotter_tool
