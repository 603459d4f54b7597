// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a loop that repeatedly goes back: the process is killed at each operation of the file system, and
// another process continues.
#include <spotter/checkpoints.hpp>
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>
#include <tests/file/faulty_files.hpp>
#include <tests/temporary_folder.hpp>

#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

// The common value of all elements of the file; -1 if the file is incomplete or its elements differ.
float value_of(std::string const& path) {
    std::string const bytes = bytes_at(path);
    constexpr std::size_t count = 64;
    if (bytes.size() < 8 + count * sizeof(float) || !bytes.substr(8).starts_with("{\"w\"")) { return -1; }
    float values[count];
    std::memcpy(values, bytes.data() + bytes.size() - sizeof values, sizeof values);
    for (float const each : values) {
        if (each != values[0]) { return -1; }
    }
    return values[0];
}

// The hooks of all these processes belong to one run.
struct one_run : null_sink {
    [[nodiscard]] std::uint64_t run_id() const noexcept { return 7; }
};

// Trains in this process at random: saves, alarms, going back. A saved value is odd if an alarm comes before it is
// judged, and even otherwise: the reader of a file sees which of the two it was.
void train_until_killed(std::string const& folder, std::uint64_t seed, std::uint64_t kill_at) {
    faulty_file_system files{kill_at, true};
    files.instead = [] { (void)std::raise(SIGKILL); };
    one_run sink;
    hook watch{sink, plan{}, any("x", maximum > 5.0)};
    checkpoints kept{folder, {.keep = 1 + static_cast<std::uint32_t>(seed % 2), .sync = false}, files};
    std::mt19937_64 random{seed};
    std::uint64_t step = 0;
    for (int i = 0; i < 12; ++i) {
        bool const alarm = random() % 3 == 0;
        std::vector<float> const w(64, static_cast<float>(2 * (1 + random() % 100'000) + (alarm ? 1 : 0)));
        (void)watch.step(++step, "x"_t = 1.0F);
        (void)kept.save(watch, train(step), "w"_t = w);
        step += random() % 3;
        (void)watch.step(++step, "x"_t = alarm ? 9.0F : 1.0F);
        if (alarm || random() % 4 == 0) { step -= random() % (step + 1); }
        (void)watch.step(++step, "x"_t = 1.0F);
    }
    kept.review(watch);
    ::_exit(0);
}

}  // namespace

TEST_CASE("checkpoints of a loop that goes back: killed at each operation of the file system, a good one is there and "
          "no bad one is good") {
    unsigned killed = 0, ended = 0;
    one_run sink;
    hook watch{sink, plan{}};
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        temporary_folder const folder;  // one folder for all: each process continues from what the one before left
        std::filesystem::create_directories(folder / "kept");
        std::ofstream{folder / "kept/train-3.optimizer.pt"} << "mine";
        bool any = false;
        for (std::uint64_t at = 1;; ++at) {
            pid_t const child = ::fork();
            if (child == 0) { train_until_killed(folder / "kept", seed + 100 * at, at); }
            int how = 0;
            REQUIRE(::waitpid(child, &how, 0) == child);
            INFO("seed " << seed << ", operation " << at);
            checkpoints const later{folder / "kept"};
            REQUIRE(!later.trouble());
            checkpoint_file const good = later.last_good(watch);
            REQUIRE((!any || !good.path.empty()));  // there was one before
            any = any || !good.path.empty();
            for (checkpoint_file const& each : later.all()) {
                float const value = value_of(each.path);
                REQUIRE(value > 0);
                if (each.state == checkpoint_state::good) { REQUIRE(static_cast<std::uint64_t>(value) % 2 == 0); }
            }
            REQUIRE(bytes_at(folder / "kept/train-3.optimizer.pt") == "mine");
            if (WIFEXITED(how)) {
                ++ended;
                break;
            }
            REQUIRE(WTERMSIG(how) == SIGKILL);
            ++killed;
        }
        CHECK(any);
    }
    CHECK(ended == 4);
    CHECK(killed > 400);
}

TEST_CASE("a fork of a process that saves is busy, and changes nothing; a fork before the first save may save itself") {
    temporary_folder const folder;
    one_run sink;
    hook watch{sink, plan{}};
    checkpoints kept{folder / "kept"};
    std::vector<float> const w(64, 2.0F);
    auto const save = [&](std::uint64_t step) {
        (void)watch.step(step, "x"_t = 1.0F);
        return kept.save(watch, train(step), "w"_t = w).code;
    };
    auto const code_in_fork = [&](auto const& work) {
        pid_t const child = ::fork();
        if (child == 0) { ::_exit(static_cast<int>(work())); }
        int how = 0;
        REQUIRE(::waitpid(child, &how, 0) == child);
        REQUIRE(WIFEXITED(how));
        return static_cast<errc>(WEXITSTATUS(how));
    };
    SECTION("a fork of a process that saves") {
        REQUIRE(save(0) == errc::none);
        REQUIRE(save(1) == errc::none);
        std::string const before = bytes_at(folder / "kept/checkpoints.list");
        CHECK(code_in_fork([&] { return save(7); }) == errc::busy);
        CHECK(code_in_fork([&] {
                  (void)watch.step(8, "x"_t = 1.0F);
                  std::ofstream{folder / "mine.pt"} << "mine";
                  return kept.adopt(watch, train(8), folder / "mine.pt").code;
              }) == errc::busy);
        CHECK(code_in_fork([&] { return kept.review(watch), kept.trouble().code; }) == errc::busy);
        CHECK(bytes_at(folder / "kept/checkpoints.list") == before);
        CHECK(value_of(folder / "kept/train-0.safetensors") == 2);
        CHECK(value_of(folder / "kept/train-1.unproven.safetensors") == 2);
        CHECK(bytes_at(folder / "mine.pt") == "mine");
        CHECK(save(2) == errc::none);
        CHECK(kept.last_good(watch).step == train(1));
        CHECK(!kept.trouble());
    }
    SECTION("a fork before the first save") {
        CHECK(code_in_fork([&] { return save(0); }) == errc::none);
        CHECK(value_of(folder / "kept/train-0.unproven.safetensors") == 2);
        CHECK(save(1) == errc::none);
        CHECK(kept.all().size() == 2);
    }
}
