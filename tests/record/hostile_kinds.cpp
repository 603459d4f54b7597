// SPDX-License-Identifier: Apache-2.0
// Other things than files among a run's files: pipes, folders, devices, dangling links, huge numbers. Nothing waits,
// nothing is followed, and health names the obstacle.
#include <tests/record/killed.hpp>
#include <tests/trial/runs.hpp>
#include <tests/words.hpp>

#include <chrono>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// Ends the process if something waits after all.
class time_limit {
public:
    time_limit() { ::alarm(60); }
    time_limit(time_limit const&) = delete;
    time_limit& operator=(time_limit const&) = delete;
    ~time_limit() { ::alarm(0); }
};

constexpr char const* kinds[] = {"pipe", "folder", "device", "dangling"};
void make(std::string const& path, std::string_view kind) {
    if (kind == "pipe") { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }
    if (kind == "folder") { std::filesystem::create_directory(path); }
    if (kind == "device") { std::filesystem::create_symlink("/dev/zero", path); }
    if (kind == "dangling") { std::filesystem::create_symlink(path + "-nowhere", path); }
}
// Records a run with one closed segment.
void record_before(std::string const& path) {
    recorder sink{path, options{.ring_bytes = 64 << 10}};
    declare(sink);
    tally ignored;
    train_steps(sink, 0, 5, ignored);
    sink.finish({});
    REQUIRE_FALSE(sink.health().first_error);
}
sink_health record_more(std::string const& path, options choices) {
    choices.ring_bytes = 64 << 10;
    recorder sink{path, choices};
    declare(sink);
    tally ignored;
    train_steps(sink, 5, 15, ignored);
    sink.finish({});
    return sink.health();
}
options resume() {
    options choices{};
    choices.existing = existing::resume;
    return choices;
}

}  // namespace

TEST_CASE("in the place of the lock: nothing is recorded, nothing waits, and health names it") {
    time_limit const limit;
    for (char const* kind : kinds) {
        INFO(kind);
        temporary_folder const folder;
        std::string const path = folder / "run";
        record_before(path);
        std::filesystem::remove(path + "/lock");
        make(path + "/lock", kind);
        sink_health const health = record_more(path, resume());
        CHECK(health.first_error.code == errc::unwritable);
        CHECK(says(health.first_error, "run/lock"));
        CHECK((health.stored == 0 && health.dropped == 20));
        CHECK_FALSE(std::filesystem::exists(path + "/lock-nowhere"));
        CHECK(read_run(path).segments == 1);
        auto const run = open_trial(path);  // its lock cannot be asked, but the run can be read
        if (run) { CHECK(run->steps().size() == 5); }
        if (*machine_file_system{}.kind_of(path + "/ring") == path_kind::missing) { CHECK(recover(path)); }
    }
}

TEST_CASE("in the place of a segment: it is passed over and named, and the run goes on behind it") {
    time_limit const limit;
    for (char const* kind : kinds) {
        INFO(kind);
        temporary_folder const folder;
        std::string const path = folder / "run";
        record_before(path);
        make(path + "/000001.spot", kind);
        sink_health const health = record_more(path, resume());
        CHECK((says(health.first_error, "000001.spot") && health.stored == 20 && health.dropped == 0));
        CHECK_FALSE(std::filesystem::exists(path + "/000001.spot-nowhere"));
        CHECK(std::filesystem::is_regular_file(path + "/000002.spot"));
        (void)open_trial(path);
        options limited = resume();
        limited.run_bytes = 20'000;  // visits all segments
        CHECK(record_more(path, limited).stored == 20);
        // Replacing removes what it can, or reports why it cannot.
        options again{};
        again.existing = existing::replace;
        sink_health const replaced = record_more(path, again);
        bool const is_folder = kind == std::string_view{"folder"};
        CHECK((is_folder ? says(replaced.first_error, "000001.spot") && replaced.stored == 0
                         : !replaced.first_error && replaced.stored == 20));
    }
}

TEST_CASE("in the place of the first segment, of a sidecar, of a half of one: the same") {
    time_limit const limit;
    for (char const* file : {"000000.spot", "000000.spotx", "000003.spot.part"}) {
        for (char const* kind : kinds) {
            INFO(file << " is a " << kind);
            temporary_folder const folder;
            std::string const path = folder / "run";
            std::filesystem::create_directory(path);
            make(path + "/" + file, kind);
            sink_health const health = record_more(path, options{});
            bool const is_part = std::string_view{file}.ends_with("part");
            bool const is_folder = kind == std::string_view{"folder"};
            if (!is_part || is_folder) { CHECK(says(health.first_error, file)); }
            CHECK((health.stored == 20 && health.dropped == 0));
            CHECK_FALSE(std::filesystem::exists(path + "/" + file + "-nowhere"));
            (void)open_trial(path);
        }
    }
}

TEST_CASE("in the place of the ring's file: the ring is in plain memory, and health names it") {
    time_limit const limit;
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    for (char const* kind : kinds) {
        INFO(kind);
        temporary_folder const folder;
        std::string const path = folder / "run";
        record_before(path);
        make(path + "/ring", kind);
        CHECK(says(recover(path)->first_error, "run/ring"));
        options choices = resume();
        choices.ring_in = ring_in::shared_memory;
        sink_health const health = record_more(path, choices);
        CHECK((says(health.first_error, "run/ring") && health.stored == 20 && health.dropped == 0));
        CHECK_FALSE(std::filesystem::exists(path + "/ring-nowhere"));
        REQUIRE(open_trial(path));
    }
}

TEST_CASE("in the place of the run's folder: nothing is recorded, and health names it") {
    time_limit const limit;
    for (char const* kind : {"pipe", "device", "dangling"}) {
        INFO(kind);
        temporary_folder const folder;
        make(folder / "run", kind);
        sink_health const health = record_more(folder / "run", options{});
        CHECK((health.first_error.code == errc::unwritable && says(health.first_error, "run") && health.dropped == 20));
        CHECK_FALSE(std::filesystem::exists(folder / "run-nowhere"));
        CHECK_FALSE(open_trial(folder / "run"));
    }
}

TEST_CASE("a stray file with a number far off takes no time and no number, empty or not") {
    time_limit const limit;
    for (bool const empty : {true, false}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        record_before(path);
        write_file(path + "/999999999.spot", empty ? std::vector<char>{} : std::vector<char>{'x'});
        options choices = resume();
        choices.run_bytes = 1 << 20;
        auto const begun = std::chrono::steady_clock::now();
        sink_health const health = record_more(path, choices);
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{5});
        CHECK((!health.first_error && health.stored == 20));
        CHECK(std::filesystem::exists(path + (empty ? "/000001.spot" : "/1000000000.spot")));
        CHECK(record_more(path, choices).stored == 20);
        CHECK(std::filesystem::exists(path + (empty ? "/000002.spot" : "/1000000001.spot")));
        if (has_shared_memory()) {
            options shares = shared();
            shares.existing = existing::resume;
            record_and_die(path, 100, 10, shares);
            auto const recovery = recover(path);
            REQUIRE(recovery);
            CHECK((recovery->closes == 10 && !recovery->first_error));
        }
    }
}

TEST_CASE("behind the last number there is nothing is recorded, and health says so") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_before(path);
    write_file(path + "/4294967295.spot", {'x'});
    sink_health const health = record_more(path, resume());
    CHECK((health.first_error.code == errc::exists && health.stored == 0 && health.dropped == 20));
}

TEST_CASE("a worker's number may be any of 32 bits when recording, recovering, replacing and reading") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    options choices = shared();
    choices.worker = 4'000'000'000U;
    std::string const own = path + "/worker-4000000000";
    record_and_die(path, 0, 1, shared());
    record_and_die(path, 0, 10, choices);
    if (has_shared_memory()) { CHECK(recover(path)->rings == 2); }
    CHECK(read_run(own).closes.size() == (has_shared_memory() ? 10 : 0));
    CHECK(open_trial(path)->workers() == std::vector<std::uint32_t>{0, 4'000'000'000U});
    write_file(path + "/worker-7", {'x'});  // not a worker's folder, and no obstacle
    options replace{};
    replace.existing = existing::replace;
    recorder sink{path, replace};
    CHECK_FALSE(sink.health().first_error);
    CHECK_FALSE(std::filesystem::exists(own + "/000000.spot"));
    static_assert(worker_of_folder("worker-4294967295") == 0xFFFFFFFFU && worker_of_folder("worker-4294967296") == 0);
    static_assert(worker_of_folder("worker-0") == 0 && worker_of_folder("worker-05") == 0 &&
                  worker_of_folder("worker-") == 0 && worker_of_folder("worker-5x") == 0 &&
                  worker_of_folder("xworker-5") == 0 && worker_of_folder("worker-5") == 5);
    static_assert(segment_number("000042.spot", ".spot") == 42 &&
                  segment_number("4294967295.spot", ".spot") == 4294967295 &&
                  segment_number("42.spot", ".spot") == -1 && segment_number("0000042.spot", ".spot") == -1 &&
                  segment_number("4294967296.spot", ".spot") == -1 && segment_number("000042.spotx", ".spot") == -1);
}
