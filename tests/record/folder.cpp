// SPDX-License-Identifier: Apache-2.0
// Which folder a run uses, what happens to a run already there, and what a killed process leaves.
#include <spotter/format/checksum.hpp>
#include <spotter/format/frame.hpp>
#include <spotter/trial.hpp>

#include <tests/record/read_back.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>

using namespace spotter;
using namespace spotter_test;

namespace {

options when(existing what) {
    options choices{};
    choices.existing = what;
    choices.ring_bytes = 64 << 10;
    return choices;
}
void record_loss(recorder& sink, std::uint64_t step, double value) {
    step_id const at = train(step);
    sink.scalar(tensor_named(0, "s"), &at, view_of(&value, extents{}), nullptr);
}
void record(recorder& sink, int steps) {
    sink.start({});
    sink.declare(tensor_named(0, "s"));
    for (int step = 0; step < steps; ++step) {
        record_loss(sink, static_cast<std::uint64_t>(step), 0.5);
        sink.close(train(static_cast<std::uint64_t>(step)), {});
    }
}
void record_whole(std::string const& path, existing what, int steps) {
    recorder sink{path, when(what)};
    record(sink, steps);
    sink.finish({});
    CHECK_FALSE(sink.health().first_error);
}
// A process that records `steps`, flushes, continues and is killed.
void record_and_die(std::string const& path, int steps) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
        recorder sink{path, when(existing::next)};
        record(sink, steps);
        sink.flush();
        (void)!::write(ready[1], "x", 1);
        for (std::uint64_t step = static_cast<std::uint64_t>(steps);; ++step) {
            record_loss(sink, step, 0.5);
            if (step % 3 == 0) { sink.close(train(step), {}); }
        }
    }
    char letter = 0;
    REQUIRE(::read(ready[0], &letter, 1) == 1);
    std::this_thread::sleep_for(std::chrono::milliseconds{3});
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
}

}  // namespace

TEST_CASE("next: a finished run is left as it is and the new one goes beside it") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_whole(path, existing::next, 1);
    {
        recorder sink{path + "/", when(existing::next)};
        CHECK(sink.path() == path + "-2");
        record(sink, 2);
        sink.finish({});
    }
    record_whole(path, existing::next, 3);
    CHECK(read_run(path).closes.size() == 1);
    CHECK(read_run(path + "-2").closes.size() == 2);
    CHECK(read_run(path + "-3").closes.size() == 3);
}

TEST_CASE("refuse: a finished run is an error, nothing is written, every event is counted [D23]") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_whole(path, existing::refuse, 2);
    recorder sink{path, when(existing::refuse)};
    CHECK(sink.health().first_error.code == errc::exists);
    CHECK(sink.path().empty());
    record(sink, 5);
    sink.flush();
    sink.poll();
    sink.finish({});
    CHECK((sink.health().stored == 0 && sink.health().dropped == 5));
    CHECK(read_run(path).closes.size() == 2);
}

TEST_CASE("replace: the old run's files are gone, all of them") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    {
        options choices = when(existing::next);
        choices.segment_bytes = 4096;
        recorder sink{path, choices};
        record(sink, 5000);
        sink.finish({});
    }
    CHECK(read_run(path).segments > 2);
    record_whole(path, existing::replace, 1);
    CHECK(read_run(path).segments == 1);
    machine_file_system files;
    CHECK(*files.kind_of(path + "/000001.spotx") == path_kind::missing);
}

TEST_CASE("resume: a further attempt in the same folder, counting on") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_whole(path, existing::resume, 4);
    record_whole(path, existing::resume, 3);
    run_on_disk const run = read_run(path);
    CHECK(run.segments == 2);
    CHECK(run.attempts == std::vector<std::uint32_t>{0, 1});
    REQUIRE(run.closes.size() == 7);
    for (std::size_t i = 0; i < 7; ++i) { CHECK(run.closes[i].ordinal == i); }
}

TEST_CASE("a run that is resumed is the one that readers see: its first head says which, whatever else is there") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_whole(path, existing::next, 4);
    std::string const first = path + "/000000.spot", second = path + "/000001.spot";
    auto const change = [](std::string const& name, auto&& how) {
        std::fstream file{name, std::ios::binary | std::ios::in | std::ios::out};
        std::string bytes{std::istreambuf_iterator<char>{file}, {}};
        how(reinterpret_cast<std::byte*>(bytes.data()));
        file.seekp(0).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    };
    auto const check_whole = [](std::byte* begin, std::size_t size) { store(begin + size, checksum({begin, size})); };
    std::size_t const frame = layout::head_bytes;
    SECTION("a run_begin of another run and attempt, its checksum right") {
        change(first, [&](std::byte* bytes) {
            std::size_t const size = load<std::uint32_t>(bytes + frame + 4) + layout::skippable_bytes;
            store(bytes + frame + layout::row_head_bytes + 2, std::uint64_t{12});      // run_id
            store(bytes + frame + layout::row_head_bytes + 2 + 8, std::uint32_t{77});  // attempt
            check_whole(bytes + frame, size - layout::row_tail_bytes);
        });
    }
    SECTION("a segment of another run with a number behind it") {
        record_whole(folder / "other", existing::next, 2);
        std::filesystem::copy_file(folder / "other/000000.spot", second);
        change(second, [&](std::byte* bytes) {
            store(bytes + 20, std::uint32_t{1});
            check_whole(bytes, layout::head_bytes - 8);
        });
    }
    SECTION("a copy of a segment under a later number") { std::filesystem::copy_file(first, second); }
    SECTION("its only head is damaged: then its run_begin says which") {
        change(first, [&](std::byte* bytes) { bytes[30] ^= std::byte{1}; });
    }
    {
        recorder sink{path, when(existing::resume)};
        sink.start({});
        sink.declare(tensor_named(0, "s"));
        record_loss(sink, 9, 0.25);
        sink.close(train(9), {});
        sink.finish({});
        CHECK_FALSE(sink.health().first_error);
    }
    auto run = open_trial(path);
    REQUIRE(run);
    CHECK(run->attempts() == 2);
    CHECK((*run)["s"].at(train(9)).to<double>().value_or(0) == 0.25);
    CHECK((*run)["s"].at(train(1), attempt{0}).to<double>().value_or(0) == 0.5);
}

TEST_CASE("a run that someone is writing is busy, and is not touched") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    recorder first{path, when(existing::next)};
    record(first, 2);
    for (existing what : {existing::next, existing::refuse, existing::replace, existing::resume}) {
        recorder second{path, when(what)};
        CHECK(second.health().first_error.code == errc::busy);
        record(second, 2);
        second.finish({});
        CHECK(second.health().dropped == 2);
    }
    first.finish({});
    run_on_disk const run = read_run(path);
    CHECK((run.ended && run.closes.size() == 2 && run.segments == 1));
}

TEST_CASE("after SIGKILL all that was flushed is readable, the lock is free, and the run is resumed with what is new "
          "behind it") {
    temporary_folder const folder;
    machine_file_system files;
    for (int round = 0; round < 10; ++round) {
        std::string const path = folder / ("run" + std::to_string(round));
        record_and_die(path, 50);
        run_on_disk const died = read_run(path);
        CHECK_FALSE(died.ended);
        CHECK(died.closes.size() >= 50);
        CHECK(died.damaged == 0);
        for (std::size_t i = 0; i < died.closes.size(); ++i) { REQUIRE(died.closes[i].ordinal == i); }
        CHECK_FALSE(*files.is_locked(path + "/lock"));
        record_whole(path, existing::next, 3);
        run_on_disk const run = read_run(path);
        CHECK(run.ended);
        CHECK(run.attempts == std::vector<std::uint32_t>{0, 1});
        REQUIRE(run.closes.size() == died.closes.size() + 3);
        CHECK(run.closes.back().ordinal >= run.closes.size() - 1);
        CHECK(run.closes.back().ordinal <= run.closes.size());  // one more for the step that was cut
    }
}

TEST_CASE("a path that is a file, or below one, or read-only: nothing is recorded, with the reason [D13]") {
    temporary_folder const folder;
    machine_file_system files;
    REQUIRE_FALSE(files.make_folder(folder / "locked"));
    CHECK_FALSE(files.close(*files.create(folder / "file")));
    std::vector<std::string> paths{folder / "file", folder / "file/run", ""};
    std::string const locked = folder / "locked";
    ::chmod(locked.c_str(), 0500);
    if (::geteuid() != 0) { paths.push_back(locked + "/run"); }
    paths.push_back("/proc/no/run");
    for (std::string const& path : paths) {
        recorder sink{path, when(existing::next)};
        INFO(path << ": " << sink.health().first_error.what.view());
        errc const code = sink.health().first_error.code;
        CHECK((code == errc::unwritable || code == errc::bad_config || code == errc::not_a_run));
        record(sink, 2);
        sink.flush();
        sink.finish({});
        CHECK(sink.health().dropped == 2);
    }
    ::chmod(locked.c_str(), 0700);
}

TEST_CASE("whichever file operation fails: no crash, the error is kept, the counts are exact, the prefix is readable") {
    for (bool for_good : {false, true}) {
        std::uint64_t last = 0;
        for (std::uint64_t fail_at = 1; last == 0; ++fail_at) {
            temporary_folder const folder;
            faulty_file_system files{fail_at, for_good};
            std::string const path = folder / "run";
            constexpr std::uint64_t steps = 300;
            options choices = when(existing::next);
            choices.segment_bytes = 4096;
            choices.drain = fail_at % 2 == 0 ? drain::poll : drain::thread;
            sink_health health{};
            {
                recorder sink{path, choices, files};
                sink.start({});
                sink.declare(tensor_named(0, "w"));
                for (std::uint64_t step = 0; step < steps; ++step) {
                    std::vector<float> const values(200, static_cast<float>(step));
                    tensor_info const info = tensor_named(0, "w");
                    summary const stats = summary_of(200, 1);
                    sink.observe({info, train(step), stats, view_of(values.data(), {200}), {}},
                                 stats_mask::sum | stats_mask::payload);
                    record_loss(sink, step, 1);
                    sink.close(train(step), {});
                    if (step % 100 == 0) { sink.flush(); }
                }
                sink.finish({});
                health = sink.health();
            }
            INFO("operation " << fail_at << ": " << health.first_error.what.view());
            REQUIRE(health.stored + health.dropped == 2 * steps);
            run_on_disk const run = read_run(path);
            REQUIRE(run.damaged == 0);
            REQUIRE(run.values.size() + run.scalars.size() >= health.stored);
            if (health.dropped > 0) { REQUIRE(health.first_error.code == errc::disk_full); }
            if (files.operations() < fail_at) {
                CHECK_FALSE(health.first_error);
                CHECK((health.dropped == 0 && run.ended && run.values.size() == steps && run.scalars.size() == steps));
                last = fail_at;
            } else {
                REQUIRE(health.first_error.code == errc::disk_full);
            }
        }
        CHECK(last > 20);
    }
}
