// SPDX-License-Identifier: Apache-2.0
// Command line, `compact`: the sidecars of a run's workers merged into one file.
#include "folders.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/workbench/compact.hpp>

namespace spotter_tool {

using namespace spotter;

int compact(run_and_json const& wanted) {
    std::string const path = tidy(wanted.path);
    if (error const why = not_in_a_store(path)) { return fail(why, wanted.json, "compact", path); }
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return fail(why, wanted.json, "compact", path); }
    for (recording const& each : all) {
        if (each.why) { return fail(each.why, wanted.json, "compact", path); }
    }
    auto const done = [&] {
        progress bar{"compact", {all.size(), "workers", 2}};
        return compact_run(path, system_files(), &bar.count());
    }();
    if (!done) { return fail(done.error(), wanted.json, "compact", path); }
    if (wanted.json) {
        json document = document_of("compact", path);
        document["workers"] = done->workers;
        document["left_out"] = done->left_out;
        document["bytes"] = done->bytes;
        say_document(document);
        return fine;
    }
    say(fmt::format("{} of {} in {}/{}, {}\n", done->workers, plural(done->workers + done->left_out, "worker"),
                    plain(path), layout::set_name, plural(done->bytes, "byte")));
    if (done->left_out > 0) {
        say(fmt::format("{} are being written, or cannot be read: they open as before\n", done->left_out));
    }
    return fine;
}

}  // namespace spotter_tool
