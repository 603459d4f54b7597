// SPDX-License-Identifier: Apache-2.0
// Faults that the machine itself produces: a full disk, a file size limit, a folder that disappears during the run.
#include <tests/fault/loop.hpp>

#include <csignal>
#include <cstdio>

#if defined(__linux__)
#include <sys/mount.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// A file system of 1 MiB, if the machine lets this process mount one.
class small_disk {
public:
    explicit small_disk(std::string const& folder) : folder_{folder} {
        std::filesystem::create_directory(folder);
#if defined(__linux__)
        mounted_ = ::mount("none", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
#endif
    }
    small_disk(small_disk const&) = delete;
    small_disk& operator=(small_disk const&) = delete;
    ~small_disk() {
#if defined(__linux__)
        if (mounted_) { ::umount2(folder_.c_str(), MNT_DETACH); }
#endif
    }
    [[nodiscard]] bool mounted() const noexcept { return mounted_; }

private:
    std::string folder_;
    bool mounted_ = false;
};

// The loop with values that do not compress, until far more came than fits.
struct flood {
    trace bits{};
    std::uint64_t came_in = 0;
    health_report health{};
};
constexpr std::uint64_t disk_steps = 400;
flood record_flood(std::string const& path, drain how, std::uint64_t segment_bytes = 200'000) {
    flood reported;
    hook watch{path, everything,
               options{.existing = existing::resume,
                       .drain = how,
                       .ring_bytes = 128 << 10,  // a writer that had to wait stores a whole ring at once
                       .segment_bytes = segment_bytes,
                       .flush_milliseconds = 1}};
    std::vector<float> noise(2000);
    std::uint32_t state = 1;
    reported.bits = train_line(0, disk_steps, [&](std::uint64_t i, float loss, line_model const& net) {
        for (float& each : noise) {
            state = state * 1664525U + 1013904223U;
            each = std::bit_cast<float>((state >> 9) | 0x3F800000U);
        }
        (void)watch.step(train(i), "loss"_t = loss, "w"_t = net.w, "noise"_t = noise);
        watch.scalar("between", loss);
        reported.came_in += 4;
        watch.poll();
    });
    watch.finish();
    reported.health = watch.health();
    return reported;
}
void check_flood(flood const& reported, std::string const& path, errc expected) {
    INFO(reported.health.first_error.what.view());
    CHECK(reported.bits == unwatched(0, disk_steps));
    CHECK(reported.health.first_error.code == expected);
    CHECK(reported.health.sink.stored + reported.health.sink.dropped == reported.came_in);
    CHECK((reported.health.sink.stored > 0 && reported.health.sink.dropped > 0));
    trial const run = open(path);
    CHECK(run.damage().empty());
    CHECK(entries_of(run) == reported.health.sink.stored);
    for (step_id const step : run.steps()) {
        REQUIRE(run["noise"].at(step).to<std::vector<float>>());
        REQUIRE(run["loss"].at(step).to<float>());
    }
}

}  // namespace

TEST_CASE("a disk of 1 MiB that fills up: the training goes on, health says disk_full, what is stored and what is "
          "dropped add "
          "up, and once there is room the run goes on [T15]") {
    for (drain const how : {drain::thread, drain::poll}) {
        temporary_folder const folder;
        small_disk const disk{folder / "disk"};
        if (!disk.mounted()) { SPOTTER_SKIP("this process may not mount a small disk"); }
        std::string const path = folder / "disk/run";
        write_file(folder / "disk/in_the_way", std::vector<char>(200'000));
        flood const reported = record_flood(path, how);
        check_flood(reported, path, errc::disk_full);
        std::uint64_t const before = entries_of(open(path));
        bool const exact =
            before == reported.health.sink.stored && before + reported.health.sink.dropped == reported.came_in;
        std::printf("T15 full disk: %llu came in, %llu read back, %llu dropped: %s\n",
                    static_cast<unsigned long long>(reported.came_in), static_cast<unsigned long long>(before),
                    static_cast<unsigned long long>(reported.health.sink.dropped), exact ? "met" : "short");
        // The disk is full: the next attempt reports it at once and leaves the files as they are.
        flood const again = record_flood(path, how);
        CHECK(again.bits == reported.bits);
        CHECK(again.health.first_error.code == errc::disk_full);
        CHECK(again.health.sink.stored + again.health.sink.dropped == again.came_in);
        CHECK(entries_of(open(path)) == before + again.health.sink.stored);
        // Now there is room again.
        std::filesystem::remove(folder / "disk/in_the_way");
        {
            hook watch{path, everything, options{.existing = existing::resume, .ring_bytes = 64 << 10}};
            (void)watch.step(train(disk_steps), "loss"_t = 1.0F);
            watch.finish();
            CHECK(watch.health().good());
        }
        trial const run = open(path);
        CHECK(run.status() == run_status::finished);
        CHECK(run["loss"].at(train(disk_steps)).to<float>().value_or(0) == 1.0F);
        CHECK(entries_of(run) == before + again.health.sink.stored + 1);
    }
}

TEST_CASE(
    "a file that may not grow further (RLIMIT_FSIZE): the training goes on, health names it, and the account is exact, "
    "whatever the program makes of SIGXFSZ [T15]") {
    temporary_folder const folder;
    for (int way = 0; way < 4; ++way) {
        drain const how = way % 2 == 0 ? drain::thread : drain::poll;
        bool const ignored = way < 2;
        std::string const path = folder / std::string(1, static_cast<char>('a' + way));
        int reported[2];
        REQUIRE(::pipe(reported) == 0);
        pid_t const child = ::fork();
        if (child == 0) {
            ::signal(SIGXFSZ, ignored ? SIG_IGN : SIG_DFL);
            // The limit is less than a segment, and more than all values that wait for one row frame. A writer that is
            // never idle packs many steps into one frame; if it does not fit, nothing is stored.
            rlimit const most{990'001, 990'001};
            ::setrlimit(RLIMIT_FSIZE, &most);
            flood const seen = record_flood(path, how, 1'000'000);
            std::uint64_t const facts[] = {seen.came_in, seen.health.sink.stored, seen.health.sink.dropped,
                                           static_cast<std::uint64_t>(seen.health.first_error.code),
                                           seen.bits == unwatched(0, disk_steps) ? 1U : 0U};
            (void)!::write(reported[1], facts, sizeof facts);
            ::_exit(0);
        }
        std::uint64_t facts[5]{};
        REQUIRE(::read(reported[0], facts, sizeof facts) == sizeof facts);
        ::close(reported[0]), ::close(reported[1]);
        ::waitpid(child, nullptr, 0);
        flood seen;
        seen.came_in = facts[0], seen.health.sink.stored = facts[1], seen.health.sink.dropped = facts[2];
        seen.health.first_error.code = static_cast<errc>(facts[3]);
        seen.bits = unwatched(0, disk_steps);
        CHECK(facts[4] == 1);
        check_flood(seen, path, errc::io_error);
    }
}

TEST_CASE("a folder that is renamed or removed in mid-run: the loop goes on, health says that it is gone, and what was "
          "renamed "
          "can be read [T13]") {
    trace const expected = unwatched(0, 60);
    for (bool const removed : {false, true}) {
        for (bool const rotates : {false, true}) {
            temporary_folder const folder;
            std::string const path = folder / "run";
            options choices{.ring_bytes = 64 << 10};
            choices.segment_bytes = rotates ? 4096 : 1 << 20;
            hook watch{path, everything, choices};
            trace const bits = train_line(0, 60, [&](std::uint64_t i, float loss, line_model const& net) {
                (void)watch.step(train(i), "loss"_t = loss, "w"_t = net.w);
                if (i != 30) { return; }
                watch.flush();
                if (removed) {
                    std::filesystem::remove_all(path);
                } else {
                    std::filesystem::rename(path, folder / "moved");
                }
            });
            watch.finish();
            health_report const health = watch.health();
            INFO((removed ? "removed" : "renamed")
                 << (rotates ? ", rotates: " : ": ") << health.first_error.what.view());
            CHECK(bits == expected);
            CHECK(health.first_error.code == errc::not_a_run);
            CHECK(health.sink.stored + health.sink.dropped == 120);
            CHECK((health.sink.dropped > 0) == rotates);
            if (removed) {
                CHECK(open_trial(path).error().code == errc::not_a_run);
                continue;
            }
            trial const run = open(folder / "moved");
            CHECK(run.damage().empty());
            CHECK(entries_of(run) == health.sink.stored);
            CHECK(run.status() == (rotates ? run_status::died : run_status::finished));
        }
    }
}
