// SPDX-License-Identifier: Apache-2.0
// A run killed while it begins leaves nothing that hinders the next one.
#include <tests/record/killed.hpp>
#include <tests/words.hpp>

#include <random>
#include <set>

#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// The next attempt records in shared memory, without an error.
void check_next_attempt(std::string const& path) {
    recorder sink{path, shared()};
    INFO(sink.health().first_error.what.view());
    CHECK_FALSE(sink.health().first_error);
    CHECK(in_memory(ring_of(path)));
    declare(sink);
    tally ignored;
    train_steps(sink, 1000, 1003, ignored);
    sink.finish({});
    CHECK_FALSE(sink.health().first_error);
}

}  // namespace

TEST_CASE("killed at any moment of its first 200 ms: the next attempt has its ring in shared memory, and what was "
          "committed is "
          "there [T13]") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    std::mt19937 random{std::random_device{}()};
    std::set<std::string> rings;
    for (int round = 0; round < 40; ++round) {
        // Most kills fall into the allocation of 64 MiB, which takes some milliseconds.
        auto const life = static_cast<unsigned>(random() % (round % 8 == 0 ? 200'000U : 25'000U));
        INFO("killed after " << life << " us");
        temporary_folder const folder;
        shared_tally const done;
        std::string const path = folder / "run";
        pid_t const child = ::fork();
        if (child == 0) {
            options choices = shared();
            choices.ring_bytes = 64ULL << 20;
            recorder sink{path, choices};
            declare(sink);
            for (std::uint64_t step = 0;; ++step) {
                train_steps(sink, step, step + 1, *done);
                ::usleep(500);
            }
        }
        ::usleep(life);
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        std::string const ring = ring_of(path);
        if (!ring.empty()) { rings.insert(ring); }
        machine_file_system files;
        if (*files.kind_of(path) == path_kind::folder) {
            auto const recovery = recover(path);
            REQUIRE(recovery);
            INFO(recovery->first_error.what.view());
            CHECK_FALSE(recovery->first_error);
        }
        CHECK(ring_of(path).empty());
        check_record(read_run(path), *done);
        check_next_attempt(path);
    }
    for (std::string const& each : rings) { CHECK_FALSE((in_memory(each) || in_memory(each + "-part"))); }
}

TEST_CASE("a ring's memory without a byte in it is one that never began") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    for (bool const by_recover : {true, false}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        record_and_die(path, 0, 10);
        std::string const ring = ring_of(path);
        REQUIRE(::truncate(("/dev/shm/" + ring).c_str(), 0) == 0);
        if (by_recover) {
            auto const recovery = recover(path);
            REQUIRE(recovery);
            CHECK((!recovery->first_error && recovery->rings == 0));
            CHECK(ring_of(path).empty());
        }
        check_next_attempt(path);
        CHECK_FALSE(in_memory(ring));
    }
}

TEST_CASE("what is in the way of a recovery is named: the file `ring`, and the memory that it leads to") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_and_die(path, 0, 10);
    std::string const ring = ring_of(path), memory = "/dev/shm/" + ring;
    SECTION("a part of it was cut off") {
        REQUIRE(::truncate(memory.c_str(), 100) == 0);
        error const why = recover(path)->first_error;
        CHECK(why.code == errc::corrupt);
        CHECK((says(why, "run/ring ") && says(why, memory)));
        CHECK(in_memory(ring));
    }
    SECTION("its segments are gone") {
        (void)!std::system(("rm '" + path + "'/0*").c_str());
        error const why = recover(path)->first_error;
        CHECK((says(why, "run/ring ") && says(why, memory)));
    }
    SECTION("the file leads elsewhere") {
        { std::ofstream{path + "/ring"} << "nothing of ours"; }
        CHECK(says(recover(path)->first_error, "run/ring "));
    }
    SECTION("the file is none") {
        (void)!std::system(("rm '" + path + "/ring' && mkfifo '" + path + "/ring'").c_str());
        ::alarm(20);
        error const why = recover(path)->first_error;
        CHECK((why.code == errc::unwritable && says(why, "run/ring") && says(why, "pipe")));
        recorder sink{path, shared()};  // records nevertheless, and reports it
        CHECK(says(sink.health().first_error, "run/ring"));
        declare(sink);
        tally done;
        train_steps(sink, 50, 60, done);
        sink.finish({});
        CHECK(sink.health().dropped == 0);
        options choices = shared();
        choices.existing = existing::replace;
        recorder other{path, choices};
        CHECK_FALSE(other.health().first_error);
        CHECK(in_memory(ring_of(path)));
        ::alarm(0);
    }
    CHECK(::unlink(memory.c_str()) == 0);
}
