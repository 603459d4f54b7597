// SPDX-License-Identifier: Apache-2.0
// Another program replaces a run's files during recording (rsync, an editor, a restore); and the recording process
// forks.
#include <tests/record/killed.hpp>
#include <tests/trial/runs.hpp>
#include <tests/words.hpp>

#include <chrono>
#include <filesystem>
#include <thread>

#include <sys/stat.h>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Replaces a file by a copy with the same name and bytes, as rsync, editors and restores do.
void replace_by_copy(std::string const& path) {
    fs::copy_file(path, path + ".other");
    fs::rename(path + ".other", path);
}
template <class Hook>
void train_steps(Hook& watch, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
        std::vector<float> const values(100, static_cast<float>(i));
        (void)watch.step(train(i), "loss"_t = static_cast<double>(i), "w"_t = values);
        watch.poll();
    }
}
std::size_t entries_of(trial const& run) {
    std::size_t count = 0;
    for (auto const& tensor : run.index().tensors()) { count += tensor->entries.size(); }
    return count;
}

}  // namespace

TEST_CASE(
    "a live segment that is replaced under its name: the writer notices, says what is lost, and goes on in another") {
    for (drain const how : {drain::thread, drain::poll}) {
        for (ring_in const where : {ring_in::memory, ring_in::shared_memory}) {
            temporary_folder const folder;
            std::string const path = folder / "run";
            hook watch{path, everything, options{.drain = how, .ring_bytes = 64 << 10, .ring_in = where}};
            train_steps(watch, 0, 50);
            watch.flush();
            replace_by_copy(path + "/000000.spot");
            train_steps(watch, 50, 60);  // into a file that has lost its name
            std::this_thread::sleep_for(150ms);
            train_steps(watch, 60, 61);
            watch.flush();  // the replacement has been noticed by now
            train_steps(watch, 61, 150);
            watch.finish();
            auto const health = watch.health();
            INFO(health.first_error.what.view());
            CHECK(health.first_error.code == errc::io_error);
            CHECK(
                (says(health.first_error, "000000.spot was replaced") && says(health.first_error, "another segment")));
            CHECK(health.sink.stored + health.sink.dropped == 300);
            CHECK((health.sink.dropped > 0 && health.sink.dropped <= 22));
            CHECK(fs::exists(path + "/000001.spot"));
            trial const run = open(path);
            CHECK(run.status() == run_status::finished);
            CHECK(entries_of(run) == health.sink.stored);
            CHECK(run["loss"].at(train(149)).to<double>().value() == 149.0);
            for (step_id const step : run.steps()) {
                REQUIRE(run["w"].at(step).to<std::vector<float>>().value() ==
                        std::vector<float>(100, static_cast<float>(step.index)));
            }
        }
    }
}

TEST_CASE("replaced by what is no segment of the run, or removed: the same, and all of it is lost") {
    for (char const* how : {"noise", "removed", "pipe", "empty"}) {
        INFO(how);
        temporary_folder const folder;
        std::string const path = folder / "run", file = path + "/000000.spot";
        hook watch{path, everything, options{.drain = drain::poll, .ring_bytes = 64 << 10}};
        train_steps(watch, 0, 50);
        watch.flush();
        fs::remove(file);
        if (how == std::string_view{"noise"}) { write_file(file, std::vector<char>(5000, 'x')); }
        if (how == std::string_view{"empty"}) { write_file(file, {}); }
        if (how == std::string_view{"pipe"}) { REQUIRE(::mkfifo(file.c_str(), 0600) == 0); }
        watch.flush();
        train_steps(watch, 50, 70);
        watch.finish();
        auto const health = watch.health();
        CHECK((says(health.first_error, "000000.spot was replaced or removed") &&
               says(health.first_error, "100 values")));
        CHECK((health.sink.dropped == 100 && health.sink.stored == 40));
        run_on_disk rest;
        machine_file_system files;
        auto const mapped = files.map(path + "/000001.spot");
        REQUIRE(mapped);
        frame_walker walk{mapped->bytes};
        std::uint64_t values = 0;
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            values += what == walked::rows ? walk.frame().values : 0;
        }
        CHECK((values == 40 && walk.torn() == 0));
        files.unmap(*mapped);
    }
}

TEST_CASE("a run with a limit goes on thinning behind a segment that was replaced") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, everything,
               options{.drain = drain::poll, .ring_bytes = 64 << 10, .segment_bytes = 16 << 10, .run_bytes = 64 << 10}};
    train_steps(watch, 0, 10);
    watch.flush();
    write_file(path + "/other", std::vector<char>(3000, 'x'));
    fs::rename(path + "/other", path + "/000000.spot");
    watch.flush();
    train_steps(watch, 10, 2000);
    watch.finish();
    auto const health = watch.health();
    CHECK((says(health.first_error, "000000.spot was replaced") && health.sink.dropped == 20 &&
           health.sink.stored == 3980));
    CHECK(read_file(path + "/000000.spot") == std::vector<char>(3000, 'x'));  // a foreign file is not thinned
    std::size_t thinned = 0;
    machine_file_system files;
    for (char const* name : {"1", "2", "3", "4", "5"}) {
        spotter::detail::segment_image segment;
        REQUIRE_FALSE(segment.open(files, path + "/00000" + name + ".spot"));
        thinned += spotter::detail::thinned_copy{files, segment}.is_thinned() ? 1 : 0;
    }
    CHECK(thinned > 2);
}

TEST_CASE("the last moment counts, too: a segment that was replaced just before the end, or before it is closed") {
    for (std::uint64_t const segment_bytes : {std::uint64_t{1} << 20, std::uint64_t{16} << 10}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        hook watch{path, everything,
                   options{.drain = drain::poll,
                           .ring_bytes = 64 << 10,
                           .segment_bytes = segment_bytes,
                           .flush_milliseconds = only_when_asked}};
        train_steps(watch, 0, 10);
        watch.flush();
        replace_by_copy(path + "/000000.spot");
        train_steps(watch, 10, 60);
        watch.finish();
        auto const health = watch.health();
        CHECK(says(health.first_error, "000000.spot was replaced"));
        CHECK((health.sink.stored + health.sink.dropped == 120 && health.sink.stored >= 20));
        trial const run = open(path);
        CHECK(run.status() == run_status::finished);  // the end is recorded although the segment is lost
        CHECK(entries_of(run) == health.sink.stored);
    }
}

TEST_CASE("a whole folder restored over a live run, its lock too: the run goes on, and no other writer gets in") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, everything, options{.drain = drain::poll, .ring_bytes = 64 << 10}};
    train_steps(watch, 0, 50);
    watch.flush();
    std::vector<std::string> files;
    for (auto const& each : fs::directory_iterator{path}) { files.push_back(each.path().string()); }
    for (std::string const& each : files) { replace_by_copy(each); }
    write_file(path + "/000001.spot", read_file(path + "/000000.spot"));  // another file of the restored folder
    watch.flush();
    train_steps(watch, 50, 100);
    CHECK(hook{path, options{.existing = existing::resume}}.health().first_error.code == errc::busy);
    watch.finish();
    auto const health = watch.health();
    CHECK(says(health.first_error, "000000.spot was replaced"));
    CHECK((health.sink.stored == 200 && health.sink.dropped == 0));  // the copy holds all that had been written
    CHECK(fs::exists(path + "/000002.spot"));
    CHECK_FALSE(machine_file_system{}.is_locked(path + "/lock").value());
}

TEST_CASE("a lock that is removed from a live run is taken again, or its new owner is reported") {
    for (bool const too_late : {false, true}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        hook watch{path, everything, options{.drain = drain::poll, .ring_bytes = 64 << 10}};
        train_steps(watch, 0, 10);
        fs::remove(path + "/lock");
        if (!too_late) { watch.flush(); }
        hook other{path, everything, options{.existing = existing::resume, .ring_bytes = 64 << 10}};
        CHECK((other.health().first_error.code == errc::busy) == !too_late);
        train_steps(other, 10, 20);
        train_steps(watch, 10, 20);
        other.flush(), watch.flush();
        CHECK((watch.health().first_error.code == errc::busy) == too_late);
        if (too_late) { CHECK(says(watch.health().first_error, "has it locked")); }
        other.finish(), watch.finish();
        CHECK((watch.health().sink.stored == 40 && watch.health().sink.dropped == 0));
        CHECK(entries_of(open(path)) == (too_late ? 60 : 40));
    }
}

TEST_CASE("a folder that is moved away while another run begins in its place: neither writes into the other's") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    options choices{.drain = drain::poll, .ring_bytes = 64 << 10, .segment_bytes = 16 << 10};
    hook first{path, everything, choices};
    train_steps(first, 0, 10);
    first.flush();
    fs::rename(path, folder / "moved");
    hook second{path, everything, choices};
    train_steps(second, 0, 10);
    train_steps(first, 10, 200);  // several segments
    train_steps(second, 10, 20);
    first.finish();
    second.finish();
    CHECK((first.health().first_error.code == errc::not_a_run && says(first.health().first_error, "moved")));
    CHECK(first.health().sink.stored + first.health().sink.dropped == 400);
    CHECK(second.health().good());
    CHECK((entries_of(open(path)) == 40 && open(path).damage().empty()));
    CHECK(entries_of(open(folder / "moved")) == first.health().sink.stored);
}

TEST_CASE("a forked child leaves the run to its parent as soon as its hook is called: it ends with the parent, however "
          "long the child "
          "lives") {
    for (bool const calls : {true, false}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        int reported[2];
        REQUIRE(::pipe(reported) == 0);
        pid_t const parent = ::fork();
        if (parent == 0) {
            hook watch{path, everything, options{.ring_bytes = 64 << 10, .ring_in = ring_in::shared_memory}};
            train_steps(watch, 0, 20);
            pid_t const child = ::fork();
            if (child == 0) {
                if (calls) {
                    train_steps(watch, 20, 22);
                    if (watch.health().first_error.code != errc::busy) { ::_exit(1); }
                }
                pid_t const own = ::getpid();
                (void)!::write(reported[1], &own, sizeof own);
                for (;;) { ::pause(); }
            }
            (void)!::write(reported[1], &child, sizeof child);
            for (;;) { ::pause(); }
        }
        pid_t child = 0, again = 0;
        REQUIRE(::read(reported[0], &child, sizeof child) == sizeof child);
        REQUIRE(::read(reported[0], &again, sizeof again) == sizeof again);
        REQUIRE(child == again);
        CHECK(machine_file_system{}.is_locked(path + "/lock").value());  // the parent is alive
        ::kill(parent, SIGKILL);
        ::waitpid(parent, nullptr, 0);
        {
            hook next{path, everything, options{.existing = existing::resume, .ring_bytes = 64 << 10}};
            if (calls) {
                CHECK(next.health().good());
                CHECK(open(path).steps().size() == 20);  // what the killed parent left in its ring
                train_steps(next, 20, 30);
                next.finish();
                CHECK((next.health().sink.stored == 20 && next.health().good()));
            } else {
                auto const health = next.health();
                CHECK(health.first_error.code == errc::busy);
                CHECK(says(health.first_error, "process " + std::to_string(child) + " has it locked"));
                CHECK(open(path).status() == run_status::running);
            }
        }
        ::kill(child, SIGKILL);
        // It is not a child of this process: poll until its lock is free.
        while (machine_file_system{}.is_locked(path + "/lock").value()) { ::usleep(1000); }
        (void)recover(path);
        ::close(reported[0]), ::close(reported[1]);
    }
}
