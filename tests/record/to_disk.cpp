// SPDX-License-Identifier: Apache-2.0
// What is synced to disk, and in which order: files before the names that lead to them. Also errors of closing a file.
#include <tests/record/killed.hpp>
#include <tests/trial/runs.hpp>
#include <tests/words.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

// The system's files; it notes sync, close and rename by name, in order.
class noting_files : public faulty_file_system {
public:
    noting_files() noexcept : faulty_file_system{~0ULL} {}

    result<spotter::opened_file> create(std::string_view path) noexcept override {
        auto file = faulty_file_system::create(path);
        if (file) { names[file->native] = path.substr(path.rfind('/') + 1); }
        return file;
    }
    error sync(spotter::opened_file file) noexcept override {
        done.push_back("sync " + names[file.native]);
        return faulty_file_system::sync(file);
    }
    error sync_folder(std::string_view path) noexcept override {
        while (path.size() > 1 && path.back() == '/') { path.remove_suffix(1); }
        done.push_back("folder " + std::string{path.substr(path.rfind('/') + 1)});
        return faulty_file_system::sync_folder(path);
    }
    error close(spotter::opened_file file) noexcept override {
        done.push_back("close " + names[file.native]);
        error const why = faulty_file_system::close(file);
        if (!fail_to_close.empty() && names[file.native].ends_with(fail_to_close)) {
            return {errc::disk_full, "the test let this file not be closed"};
        }
        return why;
    }
    error rename(std::string_view from, std::string_view to) noexcept override {
        done.push_back("rename " + std::string{from.substr(from.rfind('/') + 1)});
        return faulty_file_system::rename(from, to);
    }
    // The index of the first such operation; `done.size()` if there is none.
    std::size_t at(std::string_view what) const {
        return static_cast<std::size_t>(std::find(done.begin(), done.end(), what) - done.begin());
    }
    std::size_t count(std::string_view begin) const {
        std::size_t found = 0;
        for (std::string const& each : done) { found += each.starts_with(begin) ? 1 : 0; }
        return found;
    }

    std::vector<std::string> done;
    std::map<std::int64_t, std::string> names;
    std::string fail_to_close;
};

sink_health record(file_system& files, std::string const& path, options choices, std::uint64_t steps = 40) {
    choices.drain = drain::poll;
    choices.ring_bytes = 64 << 10;
    choices.flush_milliseconds = only_when_asked;
    recorder sink{path, choices, files};
    declare(sink);
    for (std::uint64_t step = 0; step < steps; ++step) {
        observe(sink, 1, step, 1000);
        sink.close(train(step), {});
        if (step % 10 == 9) { sink.flush(); }
    }
    sink.finish({});
    return sink.health();
}

}  // namespace

TEST_CASE("where power cuts are promised against, a segment is on the disk before its name, and the folders above the "
          "run with it") {
    for (disk_sync const when : {disk_sync::never, disk_sync::segments, disk_sync::flushes}) {
        temporary_folder const folder;
        noting_files files;
        sink_health const health =
            record(files, folder / "all/of/run", {.disk_sync = when, .segment_bytes = 64 << 10}, 80);
        CHECK((!health.first_error && health.stored == 80));
        std::size_t const segments = read_run(folder / "all/of/run").segments;
        REQUIRE(segments > 2);
        if (when == disk_sync::never) {
            CHECK((files.count("sync") == 0 && files.count("folder") == 0));
            continue;
        }
        CHECK(files.count("folder run") == segments);  // each new name once
        CHECK(files.at("sync 000000.spot") < files.at("folder run"));
        for (std::size_t i = 1; i < segments; ++i) {
            std::string const own = "sync 00000" + std::to_string(i) + ".spot";
            REQUIRE(files.at(own) + 1 < files.done.size());
            CHECK(files.done[files.at(own) + 1] == "folder run");
        }
        for (char const* made : {"folder of", "folder all"}) { CHECK(files.count(made) == 1); }
        CHECK(files.count("folder spotter-") == 1);  // the folder in which `all` was created, and none above it
        CHECK(files.at("folder tmp") == files.done.size());
    }
}

TEST_CASE("a thinned segment is on the disk, and closed, before it takes the place of the whole one, whatever "
          "disk_sync says") {
    for (disk_sync const when : {disk_sync::never, disk_sync::segments}) {
        temporary_folder const folder;
        noting_files files;
        options const choices{.disk_sync = when, .segment_bytes = 32 << 10, .run_bytes = 128 << 10};
        sink_health const health = record(files, folder / "run", choices, 200);
        CHECK((!health.first_error && health.stored == 200));
        std::size_t thinned = 0;
        for (std::size_t i = 0; i < files.done.size(); ++i) {
            if (!files.done[i].starts_with("rename ")) { continue; }
            ++thinned;
            std::string const name = files.done[i].substr(7);
            REQUIRE(name.ends_with(".spot.part"));
            CHECK(files.at("sync " + name) < files.at("close " + name));
            CHECK(files.at("close " + name) < i);
        }
        CHECK(thinned > 3);
        CHECK((files.count("folder") > 0) == (when != disk_sync::never));
    }
}

TEST_CASE("a thinned segment that cannot be closed or synced leaves the whole one where it is") {
    for (bool const closing : {true, false}) {
        temporary_folder const folder;
        struct unsyncing_files : noting_files {
            error sync(spotter::opened_file file) noexcept override {
                return names[file.native].ends_with("part") && !works
                           ? error{errc::io_error, "the test let this file not be synced"}
                           : noting_files::sync(file);
            }
            bool works = true;
        } files;
        files.works = closing;
        if (closing) { files.fail_to_close = ".part"; }
        sink_health const health =
            record(files, folder / "run", {.segment_bytes = 32 << 10, .run_bytes = 128 << 10}, 200);
        CHECK(health.first_error.code == (closing ? errc::disk_full : errc::io_error));
        CHECK((health.stored == 200 && health.dropped == 0));
        CHECK(files.count("rename") == 0);
        run_on_disk const run = read_run(folder / "run");
        CHECK(run.values.size() == 200);
        for (stored_value const& each : run.values) { CHECK(each.row.has_values); }
        CHECK_FALSE(std::filesystem::exists(folder / "run/000000.spot.part"));
    }
}

TEST_CASE("a file that fails only when it is closed is reported: a segment, its sidecar, the ring's") {
    for (char const* file : {"000000.spot", "000001.spot", "000000.spotx", "ring"}) {
        INFO(file);
        temporary_folder const folder;
        noting_files files;
        files.fail_to_close = file;
        options choices{.segment_bytes = 64 << 10};
        if (file == std::string_view{"ring"}) {
            if (!has_shared_memory()) { continue; }
            choices.ring_in = ring_in::shared_memory;
        }
        sink_health const health = record(files, folder / "run", choices);
        CHECK((health.first_error.code == errc::disk_full && says(health.first_error, "not be closed")));
        CHECK((health.stored == 40 && health.dropped == 0));  // as far as known, all was written
        CHECK(read_run(folder / "run").values.size() == 40);
        CHECK(ring_of(folder / "run").empty());
    }
}

TEST_CASE("a folder that cannot be synced is reported, and the run goes on") {
    struct unsyncing_files : noting_files {
        error sync_folder(std::string_view) noexcept override {
            return {errc::io_error, "the test let this folder not be synced"};
        }
    } files;
    temporary_folder const folder;
    sink_health const health = record(files, folder / "run", {.disk_sync = disk_sync::segments});
    CHECK((says(health.first_error, "folder not be synced") && health.stored == 40));
    CHECK(read_run(folder / "run").ended);
}
