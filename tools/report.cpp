// SPDX-License-Identifier: Apache-2.0
// Command line, `report`: a run, or several side by side, as one page of HTML.
#include "folders.hpp"
#include "output.hpp"
#include "replace_file.hpp"
#include "verbs.hpp"

#include <spotter/report/html.hpp>

namespace spotter_tool {

namespace {

using namespace spotter;

// Nothing where the page may be written.
[[nodiscard]] error prepare(report_options const& wanted) {
    file_system& files = system_files();
    auto const kind = files.kind_of(wanted.out);
    if (!kind) { return kind.error(); }
    if (*kind == path_kind::folder || (*kind == path_kind::file && !wanted.force)) {
        error why{*kind == path_kind::folder ? errc::io_error : errc::exists, {}};
        why.what << std::string_view{wanted.out}.substr(wanted.out.size() > 150 ? wanted.out.size() - 150 : 0)
                 << (*kind == path_kind::folder ? " is a folder: give a file with -o"
                                                : " is there already: choose another name with -o, or --force");
        return why;
    }
    std::size_t const cut = wanted.out.rfind('/');
    return cut != wanted.out.npos && cut > 0 ? files.make_folder(std::string_view{wanted.out}.substr(0, cut)) : error{};
}

}  // namespace

int report(report_options const& wanted) {
    std::vector<trial> runs;
    std::string paths;
    for (std::string const& each : wanted.paths) {
        std::string const path = tidy(each);
        paths += (paths.empty() ? "" : ", ") + path;
        std::vector<recording> all;
        if (error const why = find_recordings(path, all)) { return fail(why, wanted.json, "report", path); }
        auto run = open_trial(path);
        if (!run) { return fail(run.error(), wanted.json, "report", path); }
        runs.push_back(std::move(*run));
    }
    bool const to_output = wanted.out == "-";
    if (to_output && wanted.json) {
        return fail({errc::bad_config, "the page and --json cannot both go to standard output: give a file with -o"},
                    true, "report", paths);
    }
    if (error const why = to_output ? error{} : prepare(wanted)) { return fail(why, wanted.json, "report", paths); }
    std::string const page = to_html(std::span<trial const>{runs});
    if (to_output) {
        say(page);
        return fine;
    }
    if (error const why =
            replace_file(system_files(), wanted.out, std::as_bytes(std::span{page.data(), page.size()}))) {
        return fail(why, wanted.json, "report", paths);
    }
    if (wanted.json) {
        json document = document_of("report", tidy(wanted.paths.front()));
        document["runs"] = json::array();
        for (trial const& each : runs) { document["runs"].push_back(std::string{each.path()}); }
        document["file"] = wanted.out;
        document["bytes"] = page.size();
        say_document(document);
    } else {
        say(fmt::format("{}: {} of {}\n", plain(wanted.out), spotter::detail::bytes_text(page.size()), plain(paths)));
    }
    return fine;
}

}  // namespace spotter_tool
