// SPDX-License-Identifier: Apache-2.0
// Rules over a run that another run replaces, and over attempts whose first rows are damaged.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr auto above_ten = any("x", maximum > 10.0) | named{"large"};

// Takes steps with a large value at every third step from `first` on.
template <class Hook>
void train_steps(Hook& watch, std::uint64_t begin, std::uint64_t end, std::uint64_t first) {
    for (std::uint64_t i = begin; i < end; ++i) {
        (void)watch.step(train(i), "x"_t = i % 3 == first ? 11.0 + static_cast<double>(i) : 1.0);
    }
    watch.flush();
}
constexpr options anew{.existing = existing::replace};

// What a follower reports: the step of each finding, and -1 at a replacement.
struct listener {
    std::vector<std::int64_t>* heard;
    void operator()(finding const& found) const { heard->push_back(static_cast<std::int64_t>(found.step.index)); }
    void run_replaced() const { heard->push_back(-1); }
};

}  // namespace

TEST_CASE("a follower begins anew with the run that replaces the one it followed, whichever trial notices it") {
    for (bool const notices : {true, false}) {
        for (std::uint64_t const count : {6ULL, 30ULL, 120ULL}) {
            temporary_folder const folder;
            std::vector<std::int64_t> heard;
            {
                hook first{folder / "run", everything, anew};
                train_steps(first, 0, 30, 0);
            }
            trial run = open(folder / "run");
            listener const to{&heard};
            follower watching{run, above_ten, to};
            CHECK(!watching.advance());
            CHECK(heard == std::vector<std::int64_t>{0, 3, 6, 9, 12, 15, 18, 21, 24, 27});
            heard.clear();
            hook second{folder / "run", everything, anew};
            train_steps(second, 0, count, 1);
            if (!notices) { CHECK(run.refresh().code == errc::replaced); }
            CHECK(!watching.advance());
            REQUIRE(heard.size() == 1 + count / 3);
            CHECK(heard.front() == -1);
            for (std::size_t i = 1; i < heard.size(); ++i) { CHECK(heard[i] == static_cast<std::int64_t>(3 * i - 2)); }
            train_steps(second, count, count + 3, 1);
            CHECK(!watching.advance());
            CHECK(heard.back() == static_cast<std::int64_t>(count + 1));
            second.finish();
            CHECK(!watching.advance());
            replay_report const& report = watching.conclude();
            CHECK(report.replaced == 1);
            CHECK(report.steps == count + 3);
            CHECK(report.fired == count / 3 + 1);
            CHECK(report.findings.size() == count / 3 + 1);
            CHECK(report.whole);
            CHECK(!report.trouble);
            REQUIRE(report.coverages.size() == 1);
            CHECK(report.coverages[0].judged == count + 3);
            CHECK(replay(run, above_ten).findings.size() == report.findings.size());
        }
    }
}

TEST_CASE("rules start afresh with an attempt whose first rows are damaged, and with a run that died in it") {
    temporary_folder const folder;
    options again;
    again.existing = existing::resume;
    auto const rule = above_ten | for_steps{3};
    {
        hook watch{folder / "run", everything, again};
        for (std::uint64_t i = 0; i < 8; ++i) { (void)watch.step(train(i), "x"_t = i < 6 ? 1.0 : 11.0); }
    }
    in_killed_child([&] {
        hook watch{folder / "run", everything, again};
        for (std::uint64_t i = 8; i < 16; ++i) {
            (void)watch.step(train(i), "x"_t = i < 9 || i > 11 ? 11.0 : 1.0);
            watch.flush();
        }
        ::raise(SIGKILL);
    });
    auto const steps_of = [&](trial const& run) {
        std::vector<std::uint64_t> found;
        for (finding const& each : replay(run, rule).findings) { found.push_back(each.step.index); }
        return found;
    };
    trial const sound = open(folder / "run");
    CHECK(steps_of(sound) == std::vector<std::uint64_t>{14, 15});
    CHECK(sound.status() == run_status::died);
    // Damages only the frame that holds run_begin: at byte 64, behind the head.
    std::vector<char> bytes = read_file(folder / "run/000001.spot");
    bytes[64 + 60] ^= 1;
    write_file(folder / "run/000001.spot", bytes);
    trial const damaged = open(folder / "run");
    CHECK(damaged.attempts() == 2);
    CHECK(damaged.status() == run_status::died);  // not finished, although its first attempt is
    CHECK(steps_of(damaged) == std::vector<std::uint64_t>{14, 15});
    CHECK(replay_side_by_side(damaged, rule).findings.size() == 2);
    CHECK(!replay(damaged, rule).whole);
}
