// SPDX-License-Identifier: Apache-2.0
// SIGKILL at a random instant of a program that receives alarms: each received alarm is in its record, with the values
// of its step. Variants: a daemon that prints on streams it has closed, and a program that changes its folder.
// SPOTTER_KILLS is the number of kills (30), SPOTTER_SEED the start of the random numbers.
#include <spotter/record/recover.hpp>

#include <tests/stress/workers.hpp>

#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

std::uint64_t reported_number_from(char const* name, std::uint64_t otherwise) {
    char const* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}
std::uint64_t reported_mixed(std::uint64_t state) {
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBULL;
    return state ^ (state >> 31);
}

// A step's number determines whether it has an alarm, and its values.
bool has_alarm(std::uint64_t step) { return reported_mixed(step + 7) % 10 == 0; }
std::vector<float> reported_weights(std::uint64_t step) {
    std::vector<float> w(400);
    for (std::size_t i = 0; i < w.size(); ++i) { w[i] = static_cast<float>(reported_mixed(step * 400 + i) >> 40); }
    return w;
}

constexpr std::string_view chatter = "printed by the program\n";

// Writes the step of each received alarm to `reported`.
[[noreturn]] void be_reported_until_killed(std::string const& folder, options const& choices, int reported,
                                           bool daemon) {
    (void)!::chdir(folder.c_str());
    if (daemon) {
        for (int const each : {0, 1, 2}) { ::close(each); }
        std::thread{[] {
            for (;;) {
                for (int const each : {1, 2}) { (void)!::write(each, chatter.data(), chatter.size()); }
            }
        }}.detach();
    }
    hook watch{"run", everything, any("alarm", mean > 0.5) | severity::error, choices};
    for (std::uint64_t i = 0;; ++i) {
        (void)!::chdir(i % 2 == 0 ? "/" : "/tmp");
        if (watch.step(train(i), "alarm"_t = has_alarm(i) ? 1.0F : 0.0F, "w"_t = reported_weights(i))) {
            (void)!::write(reported, &i, sizeof i);
        }
    }
}

bool says_chatter(std::string const& folder) {
    for (auto const& each : std::filesystem::recursive_directory_iterator{folder}) {
        if (!each.is_regular_file()) { continue; }
        std::ifstream file{each.path(), std::ios::binary};
        std::string const all{std::istreambuf_iterator<char>{file}, {}};
        if (all.find(chatter.substr(0, chatter.size() - 1)) != all.npos) { return true; }
    }
    return false;
}

struct reported_result {
    std::uint64_t heard = 0, found = 0, segments = 0;
};

reported_result kill_a_listener(std::uint64_t random) {
    temporary_folder const folder;
    options choices{
        .ring_bytes = 256 << 10, .segment_bytes = random % 3 == 0 ? 16U << 10 : 1U << 20, .flush_milliseconds = 60'000};
    choices.ring_in = random % 5 == 4 ? ring_in::shared_memory : ring_in::memory;
    choices.compressors = random % 7 == 6 ? 3 : 1;
    bool const daemon = random % 2 == 0;
    int pipes[2];
    REQUIRE(::pipe(pipes) == 0);
    std::fflush(nullptr);
    pid_t const child = ::fork();
    if (child == 0) {
        ::close(pipes[0]);
        be_reported_until_killed(folder / "", choices, pipes[1], daemon);
    }
    ::close(pipes[1]);
    std::vector<std::uint64_t> heard;
    auto const read = [&](int patience) {
        pollfd waiting{pipes[0], POLLIN, 0};
        std::uint64_t step = 0;
        while (::poll(&waiting, 1, patience) == 1 && ::read(pipes[0], &step, sizeof step) == sizeof step) {
            heard.push_back(step), patience = 0;
        }
    };
    read(20'000);
    ::usleep(static_cast<useconds_t>(reported_mixed(random) % 15'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    read(0);
    ::close(pipes[0]);

    reported_result result;
    result.heard = heard.size();
    CHECK_FALSE(says_chatter(folder / ""));
    trial const run = open(folder / "run");
    CHECK(run.status() == run_status::died);
    CHECK(run.damage().empty());
    std::vector<std::uint64_t> found;
    for (finding const& each : run.findings()) { found.push_back(each.step.index); }
    result.found = found.size();
    REQUIRE(found.size() >= heard.size());
    for (std::size_t i = 0; i < heard.size(); ++i) { REQUIRE(found[i] == heard[i]); }
    for (std::uint64_t const each : heard) {
        auto const w = run["w"].at(train(each)).to<std::vector<float>>();
        REQUIRE(w);
        CHECK(*w == reported_weights(each));
    }
    if (!heard.empty()) { CHECK(run.closed_steps() > heard.back()); }
    (void)recover(folder / "run");
    for (auto const& each : std::filesystem::directory_iterator(folder / "run")) {
        result.segments += each.path().extension() == ".spot" ? 1 : 0;
    }
    return result;
}

}  // namespace

TEST_CASE("killed at a random instant: every alarm that the loop had received is in the record, with its step; also of "
          "daemons and of programs that change their folder [D09][S51]") {
    std::uint64_t const kills = reported_number_from("SPOTTER_KILLS", 30) / slowness;
    std::uint64_t const seed = reported_number_from("SPOTTER_SEED", static_cast<std::uint64_t>(::time(nullptr)));
    reported_result all;
    for (std::uint64_t i = 0; i < kills; ++i) {
        INFO("kill " << i << " of seed " << seed);
        reported_result const one = kill_a_listener(reported_mixed(seed + i));
        all.heard += one.heard, all.found += one.found, all.segments += one.segments;
    }
    std::printf("SIGKILL of loops that hear of alarms, seed %llu: %llu kills, %llu alarms heard of, %llu there, %llu "
                "segments\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(kills),
                static_cast<unsigned long long>(all.heard), static_cast<unsigned long long>(all.found),
                static_cast<unsigned long long>(all.segments));
    CHECK(all.found >= all.heard);
    CHECK(all.heard > kills);
}
