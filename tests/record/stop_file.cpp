// SPDX-License-Identifier: Apache-2.0
// The file `stop`: creating it in a run's folder stops the loop at one of its next steps.
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>
#include <tests/file/faulty_files.hpp>
#include <tests/temporary_folder.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>

using namespace spotter;
using spotter_test::temporary_folder;

namespace {

using namespace std::chrono_literals;

void ask(std::string const& run, std::string_view why) { std::ofstream{run + "/stop"} << why; }

// Takes steps until the hook decides to stop, at most `most`; returns the step that stopped.
template <class Hook>
std::uint64_t loop(Hook& watch, std::uint64_t most, spotter::step_alarm& last) {
    for (std::uint64_t i = 0; i < most; ++i) {
        last = watch.step(train(i), "loss"_t = 1.0);
        watch.poll();
        if (last.decision() == decision::stop) { return i; }
        std::this_thread::sleep_for(1ms);
    }
    return most;
}

}  // namespace

TEST_CASE("a stop file ends the loop, and says why") {
    for (drain how : {drain::thread, drain::poll}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        options choices{};
        choices.drain = how;
        hook watch{path, choices};
        spotter::step_alarm found;
        REQUIRE(loop(watch, 5, found) == 5);
        CHECK(found.empty());
        ask(path, "the loss is flat\nsecond line");
        CHECK(loop(watch, 5000, found) < 5000);
        REQUIRE(found.size() == 1);
        CHECK(found);
        CHECK(found[0].rule == "stop_file");
        CHECK(found[0].severity == severity::warning);
        CHECK(found[0].detail.view() == "the loss is flat");
        CHECK(watch.healthy_since(train(0)));
        std::filesystem::remove(path + "/stop");  // the request is withdrawn
        std::this_thread::sleep_for(150ms);
        watch.poll();
        CHECK(watch.step(train(6000), "loss"_t = 1.0).empty());
    }
}

TEST_CASE("all workers of a run obey one stop file") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook first{path, options{.workers = 2}};
    auto second = first.worker(1);
    spotter::step_alarm found;
    REQUIRE(loop(second, 3, found) == 3);
    ask(path, "");
    CHECK(loop(first, 5000, found) < 5000);
    CHECK(loop(second, 5000, found) < 5000);
    CHECK(found[0].detail.view().empty());
}

TEST_CASE("a stop file that was left does not stop the next attempt") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    for (int attempt = 0; attempt < 2; ++attempt) {
        options choices{};
        choices.existing = existing::resume;
        hook watch{path, choices};
        spotter::step_alarm found;
        CHECK(loop(watch, 250, found) == 250);
        ask(path, "too late");
    }
}

TEST_CASE(
    "of a stop file of two gigabytes the first line is read, and no more; what is cut off meanwhile is no signal") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, options{.drain = drain::poll}};
    spotter::step_alarm found;
    REQUIRE(loop(watch, 3, found) == 3);
    ask(path, "enough" + std::string(500, '.'));
    std::filesystem::resize_file(path + "/stop", 2ULL << 30);  // a sparse file
    std::this_thread::sleep_for(120ms);
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    auto const begun = std::chrono::steady_clock::now();
    REQUIRE(loop(watch, 5, found) < 5);
    CHECK(std::chrono::steady_clock::now() - begun < 1s);
    ::getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_minflt - before.ru_minflt < 2000);  // it is not read page by page
    CHECK(found[0].detail.view().starts_with("enough......"));
}

TEST_CASE("a stop file is never mapped: cutting it meanwhile would kill the training") {
    struct watched_files : spotter_test::faulty_file_system {
        watched_files() : faulty_file_system{~0ULL} {}
        result<file_mapping> map(std::string_view path) noexcept override {
            mapped += path.ends_with("/stop") ? 1 : 0;
            return faulty_file_system::map(path);
        }
        result<std::size_t> read(std::string_view path, std::uint64_t from,
                                 std::span<std::byte> into) noexcept override {
            largest = (std::max)(largest, path.ends_with("/stop") ? into.size() : 0);
            return faulty_file_system::read(path, from, into);
        }
        int mapped = 0;
        std::size_t largest = 0;
    } files;
    temporary_folder const folder;
    std::string const path = folder / "run";
    recorder record{path, options{.drain = drain::poll}, files};
    hook watch{record, plan{collection{"all", "*", always{}, payload}}};
    spotter::step_alarm found;
    REQUIRE(loop(watch, 2, found) == 2);
    ask(path, "enough");
    std::this_thread::sleep_for(120ms);
    CHECK(loop(watch, 5, found) < 5);
    CHECK(files.mapped == 0);
    CHECK(files.largest == 160);
}

TEST_CASE("something else in the place of the stop file stops nothing, and health names it") {
    for (int kind = 0; kind < 3; ++kind) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        hook watch{path, options{.drain = drain::poll}};
        spotter::step_alarm found;
        REQUIRE(loop(watch, 2, found) == 2);
        std::string const file = path + "/stop";
        if (kind == 0) { REQUIRE(::mkfifo(file.c_str(), 0600) == 0); }
        if (kind == 1) { std::filesystem::create_directory(file); }
        if (kind == 2) { std::filesystem::create_symlink("nowhere", file); }
        std::this_thread::sleep_for(120ms);
        CHECK(loop(watch, 5, found) == 5);
        auto const health = watch.health();
        CHECK(health.first_error.code == errc::unwritable);
        CHECK(health.first_error.what.view().find("run/stop") != std::string_view::npos);
        CHECK(health.sink.dropped == 0);
    }
}

TEST_CASE("without a record there is no stop file") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    options choices{};
    choices.dry_run = true;
    hook watch{path, choices};
    spotter::step_alarm found;
    CHECK(loop(watch, 3, found) == 3);
    CHECK(!std::filesystem::exists(path));
}
