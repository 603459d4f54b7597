// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: shows the runs of a folder in a browser, while they are written.
#include "output.hpp"
#include "verbs.hpp"

#ifndef SPOTTER_SERVE_OFF
#include "folders.hpp"
#include "serve/server.hpp"

#include <filesystem>
#endif

namespace spotter_tool {

#ifdef SPOTTER_SERVE_OFF

int serve(serve_options const& wanted) {
    return fail({spotter::errc::io_error, "this `spotter` was built without it: " SPOTTER_SERVE_OFF}, wanted.json,
                "serve", wanted.folder);
}

#else

int serve(serve_options const& wanted) {
    using namespace spotter;
    std::error_code why;
    std::string const folder = std::filesystem::canonical(tidy(wanted.folder), why).string();
    if (why || !std::filesystem::is_directory(folder, why)) {
        return fail(spotter_tool::detail::no_run(wanted.folder, "is no folder that can be read"), wanted.json, "serve",
                    wanted.folder);
    }
    live::hold_end_signals();
    live::run_list runs{folder};
    error const trouble = live::listen(runs, {wanted.host, wanted.port, wanted.token}, [&](std::string const& address) {
        if (wanted.json) {
            json line = document_of("serve", folder);
            line["url"] = address;
            say_as_is(document_text(line, -1) + '\n');
        } else {
            say(fmt::format("{}\nshows the runs in {}; Ctrl-C ends it\n", address, folder));
        }
        std::fflush(stdout);
    });
    return trouble ? fail(trouble, wanted.json, "serve", wanted.folder) : fine;
}

#endif

}  // namespace spotter_tool
