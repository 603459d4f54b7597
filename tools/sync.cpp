// SPDX-License-Identifier: Apache-2.0
// Command line, `sync`: copies a run's folder to an object store, or back. This file includes the header that lets
// every verb read s3:// places.
#include "folders.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#if defined(SPOTTER_WITH_S3)
#include <spotter/ext/s3.hpp>
#endif

namespace spotter_tool {

using namespace spotter;

int sync(sync_options const& wanted) {
    std::string const from = tidy(wanted.from), to = tidy(wanted.to);
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "sync", from); };
#if defined(SPOTTER_WITH_S3)
    bool const down = s3::is_place(from), up = s3::is_place(to);
    if (down == up) {
        return refuse({errc::bad_config, "one of both is a folder, the other a place as s3://bucket/run"});
    }
    json document = document_of("sync", from);
    document["to"] = to;
    if (down) {
        if (wanted.remove) {
            return refuse({errc::bad_config, "--remove is for the folder of a run that goes to a store"});
        }
        auto const done = [&] {
            progress bar{"sync", {}};
            return s3::fetch_run(from, to, &bar.count());
        }();
        if (!done) { return refuse(done.error()); }
        document["files"] = done->files, document["bytes"] = done->bytes, document["longer"] = done->longer;
        if (wanted.json) {
            say_document(document);
        } else {
            say(fmt::format("{}, {} fetched into {}\n", plural(done->files, "file"), plural(done->bytes, "byte"),
                            plain(to)));
            if (done->longer > 0) {
                say(fmt::format("kept: {} that the store has less of\n", plural(done->longer, "file")));
            }
        }
        return fine;
    }
    std::vector<recording> all;
    if (error const why = find_recordings(from, all)) { return refuse(why); }
    auto const done = [&] {
        progress bar{"sync", {bytes_of(all)}};
        return s3::sync(from, to, {.remove_local = wanted.remove, .come_by = &bar.count()});
    }();
    if (!done) { return refuse(done.error()); }
    document["files"] = done->done, document["bytes"] = done->done_bytes, document["removed"] = done->removed,
    document["requests"] = done->requests;
    if (wanted.json) {
        say_document(document);
    } else {
        say(fmt::format("{}, {} sent to {} by {}\n", plural(done->done, "file"), plural(done->done_bytes, "byte"),
                        plain(to), plural(done->requests, "request")));
        if (done->removed > 0) {
            say(fmt::format("{} removed: the store has a copy\n", plural(done->removed, "local file")));
        }
    }
    return fine;
#else
    return refuse({errc::bad_config,
                   "this tool was built without libcurl and OpenSSL, which reach an object store (libcurl4-openssl-dev "
                   "and libssl-dev on Debian and Ubuntu)"});
#endif
}

}  // namespace spotter_tool
