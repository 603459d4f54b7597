// SPDX-License-Identifier: Apache-2.0
// A relative path means the place that it named when it was given, wherever the program goes afterwards.
#include <spotter/checkpoints.hpp>
#include <spotter/export/tensorboard.hpp>
#include <spotter/supervisor.hpp>

#include <tests/catch.hpp>
#include <tests/record/train_steps.hpp>
#include <tests/trial/runs.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

// Changes the working folder from `here` to `here/there`; the destructor restores it.
class traveller {
public:
    traveller() {
        std::filesystem::create_directories(folder_ / "here/there");
        go("here");
    }
    traveller(traveller const&) = delete;
    traveller& operator=(traveller const&) = delete;
    ~traveller() { std::filesystem::current_path(before_); }
    void go(std::string_view inside) { std::filesystem::current_path(folder_ / inside); }
    void go_on() { go("here/there"); }
    [[nodiscard]] std::string operator/(std::string_view name) const { return folder_ / name; }
    [[nodiscard]] bool is_empty(std::string_view inside) const { return std::filesystem::is_empty(folder_ / inside); }

private:
    std::filesystem::path before_ = std::filesystem::current_path();
    temporary_folder folder_;
};

constexpr std::uint64_t travelled_steps = 40;
[[nodiscard]] std::vector<float> values_at(std::uint64_t step) { return values_of(step, 3000); }
template <class Watch>
void record(Watch& watch, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) { (void)watch.step(train(i), "w"_t = values_at(i)); }
}
void check_whole(std::string const& path) {
    trial const run = open(path);
    CHECK(run.status() == run_status::finished);
    CHECK(run.damage().empty());
    CHECK(run.steps() == trains(0, travelled_steps));
    for (std::uint64_t i = 0; i < travelled_steps; ++i) {
        CHECK(run["w"].at(train(i)).to<std::vector<float>>().value() == values_at(i));
    }
}

}  // namespace

TEST_CASE("a run with a relative path stays where it was begun when the program goes to another folder [D09]") {
    traveller program;
    options choices{.segment_bytes = 32 << 10, .flush_milliseconds = 1};
    SECTION("by a thread") {}
    SECTION("by poll") { choices.drain = drain::poll; }
    SECTION("brought to the disk") { choices.disk_sync = disk_sync::flushes; }
    SECTION("with a flight recorder") { choices.flight_bytes = 1 << 20; }
    {
        hook watch{"runs/a", everything, choices};
        record(watch, 0, travelled_steps / 4);
        program.go_on();
        record(watch, travelled_steps / 4, travelled_steps);
        watch.finish();
        INFO(watch.health().first_error.what.view());
        CHECK(watch.health().good());
        CHECK(std::filesystem::equivalent(std::string{watch.path()}, program / "here/runs/a"));
    }
    CHECK(program.is_empty("here/there"));
    check_whole(program / "here/runs/a");
}

TEST_CASE("so do its workers, its stop file, its checkpoints [D09]") {
    traveller program;
    hook watch{"runs/a", everything, options{.segment_bytes = 32 << 10, .flush_milliseconds = 1}};
    checkpoints saved{"models"};
    record(watch, 0, travelled_steps / 4);
    program.go_on();
    {
        auto mine = watch.worker(1);
        record(mine, 0, travelled_steps);
    }
    CHECK_FALSE(saved.save(watch, train(9), "w"_t = values_at(9)));
    write_file(program / "here/runs/a/stop", {'n', 'o', 'w'});
    bool stopped = false;
    std::uint64_t i = travelled_steps / 4;
    for (; i < 4000 && !stopped; ++i) {
        stopped = watch.step(train(i), "w"_t = values_at(i)).decision() == decision::stop;
        if (!stopped) { detail::nap(1000); }
    }
    CHECK(stopped);
    watch.finish();
    CHECK(watch.health().good());
    CHECK(program.is_empty("here/there"));
    CHECK(open(program / "here/runs/a/worker-1").steps() == trains(0, travelled_steps));
    CHECK(open(program / "here/runs/a").workers().size() == 2);
    CHECK_FALSE(program.is_empty("here/models"));
}

TEST_CASE("a run opened by a relative path can be read on from another folder [D09]") {
    traveller program;
    {
        hook watch{"runs/a", everything, options{.segment_bytes = 32 << 10}};
        auto mine = watch.worker(1);
        record(watch, 0, travelled_steps);
        record(mine, 0, travelled_steps);
    }
    trial run = open("runs/a");
    tensorboard_writer board{"board"};
    program.go_on();
    CHECK(run.path() == "runs/a");
    CHECK(std::filesystem::equivalent(std::string{run.folder()}, program / "here/runs/a"));
    for (std::uint64_t i = 0; i < travelled_steps; ++i) {
        CHECK(run["w"].at(train(i)).to<std::vector<float>>().value() == values_at(i));
    }
    CHECK_FALSE(run.refresh());
    CHECK_FALSE(run.losses().any());
    CHECK_FALSE(board.advance(run));
    CHECK(program.is_empty("here/there"));
    CHECK(std::filesystem::exists(program / "here/board"));
}

TEST_CASE("an attempt that changes its folder first still records at the given path [D09]") {
    traveller program;
    supervised_attempt const now{.number = 1, .run = "runs/heal/01"};
    std::string reported;
    for (std::string const& each : now.as_environment()) {
        if (each.starts_with("SPOTTER_ATTEMPT_RUN=")) { reported = each.substr(each.find('=') + 1); }
    }
    program.go_on();
    { hook watch{reported, everything}; }
    CHECK(open(program / "here/runs/heal/01").status() == run_status::finished);
}

#if !defined(_WIN32)
TEST_CASE("where the working folder was removed a hook names it, judges and records nothing, and an absolute path "
          "works [D09]") {
    traveller program;
    program.go_on();
    std::filesystem::remove(program / "here/there");
    hook watch{"runs/a", everything, any("w", maximum > 1e9)};
    CHECK_FALSE(watch.step(train(0), "w"_t = values_at(0)));
    error const why = watch.health().first_error;
    INFO(why.what.view());
    CHECK(why.code == errc::not_a_run);
    CHECK(why.what.view().find("the working directory was removed") != why.what.view().npos);
    CHECK(open_trial("runs/a").error().code == errc::not_a_run);
    {
        hook other{program / "runs/b", everything};
        record(other, 0, travelled_steps);
    }
    check_whole(program / "runs/b");
}

TEST_CASE("a working folder whose name leads elsewhere, or is too long, leaves a relative path as it is [D09]") {
    traveller program;
    std::filesystem::rename(program / "here", program / "gone");  // the system reports the new name
    { hook watch{"runs/a", everything}; }
    CHECK(open(program / "gone/runs/a").status() == run_status::finished);
    std::string const name(250, 'n');
    for (int i = 0; i < 20; ++i) {
        std::filesystem::create_directory(name);
        std::filesystem::current_path(name);
    }
    hook watch{"runs/b", everything, options{.flush_milliseconds = 1}};
    record(watch, 0, 5);
    watch.finish();
    CHECK(watch.health().good());
    CHECK(watch.path() == "runs/b");
    CHECK(open("runs/b").steps() == trains(0, 5));
}
#endif
