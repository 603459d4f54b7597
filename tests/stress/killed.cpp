// SPDX-License-Identifier: Apache-2.0
// SIGKILL at a random instant: flushed steps can be read, what a reader saw stays, and the run can be resumed.
// SPOTTER_KILLS is the number of kills of each kind (30), SPOTTER_SEED the start of the random numbers.
#include <spotter/stat/summarize.hpp>

#include <tests/stress/workers.hpp>

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>

#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

std::uint64_t number_from(char const* name, std::uint64_t otherwise) {
    char const* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}
std::uint64_t mixed(std::uint64_t state) {
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBULL;
    return state ^ (state >> 31);
}
struct random_numbers {
    std::uint64_t state;
    std::uint64_t below(std::uint64_t end) { return mixed(state += 0x9E3779B97F4A7C15ULL) % end; }
};

// The values observed at a step follow from its number.
constexpr std::size_t values_each = 300;
double loss_at(std::uint64_t step) { return 1.0 / static_cast<double>(step + 1); }
std::vector<float> weights_at(std::uint64_t step) {
    std::vector<float> values(values_each);
    std::uint64_t state = mixed(step + 1);
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<float>(state >> 40) * 0x1p-24F;
    }
    return values;
}
constexpr plan killed_plan{collection{"w", "w", every{4}, payload}, collection{"loss", "loss", always{}, payload},
                           collection{"sums", "g", always{}, stats(l2)}};

// One step of the recorded loop.
template <class Watch>
void step(Watch& watch, std::uint64_t i) {
    std::vector<float> const w = weights_at(i);
    (void)watch.step(train(i), "loss"_t = loss_at(i), "w"_t = w, "g"_t = std::span{w.data(), 5});
    watch.scalar("between", loss_at(i));
}
[[noreturn]] void record_until_killed(std::string const& path, options const& choices, int reported,
                                      std::uint64_t flush_every) {
    hook watch{path, killed_plan, choices};
    for (std::uint64_t i = 0;; ++i) {
        step(watch, i);
        if (i % flush_every == flush_every - 1) {
            watch.flush();
            (void)!::write(reported, &i, sizeof i);
        }
    }
}

// Which values of a step are there; `sound` is false if one differs from what was recorded.
struct seen_step {
    bool sound = true, has_loss = false, has_weights = false, has_sums = false;
};
seen_step look(trial const& run, std::uint64_t i) {
    seen_step found;
    auto const loss = run["loss"].at(train(i)).to<double>();
    found.has_loss = static_cast<bool>(loss);
    if (loss) { found.sound = same_bits(*loss, loss_at(i)); }
    auto const w = run["w"].at(train(i)).to<std::vector<float>>();
    found.has_weights = static_cast<bool>(w);
    std::vector<float> const expected = weights_at(i);
    if (w) { found.sound = found.sound && *w == expected; }
    auto const norm = run["g"].stat(train(i), l2);
    found.has_sums = static_cast<bool>(norm);
    if (norm) {
        summary const again = summarize(view_of(expected.data(), {5}), l2.needs());
        found.sound = found.sound && same_bits(*norm, l2(again).value);
    }
    return found;
}
bool is_whole(trial const& run, std::uint64_t i) {
    seen_step const found = look(run, i);
    return found.sound && found.has_loss && found.has_sums && found.has_weights == (i % 4 == 0);
}

struct reported_steps {
    std::uint64_t count = 0;  // all steps before this one were flushed
    void read(int from, int patience) {
        pollfd waiting{from, POLLIN, 0};
        std::uint64_t step = 0;
        while (::poll(&waiting, 1, patience) == 1 && ::read(from, &step, sizeof step) == sizeof step) {
            count = step + 1;
            patience = 0;
        }
    }
};

struct kill_result {
    std::uint64_t flushed = 0, found = 0, looks = 0, segments = 0;
    bool opened = false;
};

enum class moment { starting, running, rotating };

kill_result kill_once(moment when, random_numbers& random) {
    using clock = std::chrono::steady_clock;
    temporary_folder const folder;
    std::string const path = folder / "run";
    options choices{.ring_bytes = 256 << 10, .flush_milliseconds = 1 + static_cast<std::uint32_t>(random.below(10))};
    choices.segment_bytes = when == moment::rotating ? 4096 : 256 << 10;
    std::uint64_t const flush_every = 1 + random.below(50);
    auto const delay = std::chrono::microseconds{when == moment::starting ? random.below(6000) : random.below(15'000)};
    kill_result result;

    int pipes[2];
    REQUIRE(::pipe(pipes) == 0);
    auto begin = clock::now();
    pid_t const child = ::fork();
    if (child == 0) {
        ::close(pipes[0]);
        record_until_killed(path, choices, pipes[1], flush_every);
    }
    ::close(pipes[1]);
    reported_steps reported;
    std::map<std::uint64_t, double> live;  // what a reader saw during the recording
    if (when != moment::starting) {
        reported.read(pipes[0], 20'000);
        begin = clock::now();
        auto reader = open_trial(path);
        CHECK(reader);
        while (reader && clock::now() - begin < delay) {
            error const why = reader->refresh();
            CHECK_FALSE(why);
            CHECK(reader->status() == run_status::running);
            CHECK(reader->damage().empty());
            auto const steps = reader->steps();
            if (steps.empty()) { continue; }
            std::uint64_t const i = steps[random.below(steps.size())].index;
            for (std::uint64_t each : {i, steps.back().index}) {
                CHECK(is_whole(*reader, each));
                live[each] = reader->operator[]("loss").time(train(each)).value_or(-1);
                ++result.looks;
            }
        }
    } else {
        while (clock::now() - begin < delay) {}
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    reported.read(pipes[0], 0);
    ::close(pipes[0]);
    result.flushed = reported.count;

    std::uint64_t steps = 0;
    auto const opened = open_trial(path);
    result.opened = static_cast<bool>(opened);
    CHECK((opened || (opened.error().code == errc::not_a_run && reported.count == 0)));
    if (opened) {
        CHECK(opened->status() == run_status::died);
        CHECK(opened->damage().empty());
        steps = opened->steps().size();
        CHECK(opened->steps() == trains(0, steps));
        CHECK(steps >= reported.count);
        std::uint64_t const stride = 1 + steps / 200;
        for (std::uint64_t i = 0; i < steps; i += (steps - i < 40 || i < 20 ? 1 : stride)) {
            CHECK(is_whole(*opened, i));
        }
        CHECK(look(*opened, steps).sound);  // the step that was open
        for (auto const& [i, time] : live) {
            CHECK(is_whole(*opened, i));
            CHECK(same_bits((*opened)["loss"].time(train(i)).value_or(-2), time));
        }
    }
    result.found = steps;

    {
        hook watch{path, killed_plan, choices};
        for (std::uint64_t i = steps; i < steps + 8; ++i) { step(watch, i); }
        watch.finish();
        CHECK(watch.health().good());
        CHECK(watch.path() == path);
    }
    trial const run = open(path);
    CHECK(run.status() == run_status::finished);
    CHECK(run.damage().empty());
    CHECK(run.steps() == trains(0, steps + 8));
    for (std::uint64_t i = steps > 20 ? steps - 20 : 0; i < steps + 8; ++i) { CHECK(is_whole(run, i)); }
    for (auto const& each : std::filesystem::directory_iterator(path)) {
        result.segments += each.path().extension() == ".spot" ? 1 : 0;
    }
    return result;
}

void kill_often(moment when, char const* what) {
    std::uint64_t const kills = number_from("SPOTTER_KILLS", 30) / slowness;
    std::uint64_t const seed = number_from("SPOTTER_SEED", static_cast<std::uint64_t>(::time(nullptr)));
    kill_result all;
    std::uint64_t opened = 0;
    for (std::uint64_t i = 0; i < kills; ++i) {
        INFO("kill " << i << " of seed " << seed);
        random_numbers random{mixed(seed + i) + static_cast<std::uint64_t>(when)};
        kill_result const one = kill_once(when, random);
        all.flushed += one.flushed, all.found += one.found, all.looks += one.looks, all.segments += one.segments;
        opened += one.opened ? 1 : 0;
    }
    std::printf("T13 SIGKILL %s, seed %llu: %llu kills, %llu steps flushed, %llu there, %llu looks while written, %llu "
                "segments, "
                "%llu left something to open\n",
                what, static_cast<unsigned long long>(seed), static_cast<unsigned long long>(kills),
                static_cast<unsigned long long>(all.flushed), static_cast<unsigned long long>(all.found),
                static_cast<unsigned long long>(all.looks), static_cast<unsigned long long>(all.segments),
                static_cast<unsigned long long>(opened));
    CHECK(all.found >= all.flushed);
}

}  // namespace

TEST_CASE(
    "killed at a random instant while it records flat out: every step that was flushed reads back, what a reader saw "
    "stays so, and a resumed run goes on [T13][D09][S51][S59]") {
    kill_often(moment::running, "while recording");
}

TEST_CASE("killed while segments of 4 KiB are begun and closed all the time: the same holds [T13][D09][S51]") {
    kill_often(moment::rotating, "amid rotation");
}

TEST_CASE("killed within the first milliseconds: there is no run yet, or one that opens, and the next one records "
          "into the folder [T13][D09]") {
    kill_often(moment::starting, "at the start");
}
