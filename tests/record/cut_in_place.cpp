// SPDX-License-Identifier: Apache-2.0
// A recorder maps no file, because other programs can cut its segments: the system kills a process that touches mapped
// memory beyond the end of a file. Here segments are cut while a run is resumed, thinned, recovered.
#include <spotter/record/recover.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/file/faulty_files.hpp>
#include <tests/temporary_folder.hpp>

#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan keep{collection{"w", "w", always{}, payload}};

template <class Hook>
void record_steps(Hook& watch, std::uint64_t from, std::uint64_t to, std::size_t width = 2000) {
    std::mt19937 random{static_cast<unsigned>(from)};
    std::vector<float> w(width);
    for (std::uint64_t i = from; i < to; ++i) {
        for (float& each : w) { each = static_cast<float>(random()); }
        if (i % 7 == 0) { w[0] = std::bit_cast<float>(0x7FC00000U); }  // a finding, so that its values stay
        (void)watch.step(i, "w"_t = w);
    }
}
constexpr auto is_odd = any("w", nonfinite > 0.0);

}  // namespace

TEST_CASE(
    "a recorder maps no file: not where it goes on, thins what is old, or finds another file in its segment's place") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    faulty_file_system files{~std::uint64_t{0}};
    options how{.existing = existing::resume, .segment_bytes = 60'000};
    SECTION("goes on, four times") {
        for (std::uint64_t i = 0; i < 4; ++i) {
            recorder record{path, how, files};
            hook watch{record, keep, is_odd};
            record_steps(watch, i * 20, i * 20 + 20);
        }
        CHECK(open_trial(path).value().steps().size() == 80);
    }
    SECTION("thins") {
        how.run_bytes = 400'000;
        recorder record{path, how, files};
        {
            hook watch{record, keep, is_odd};
            record_steps(watch, 0, 200);
        }
        CHECK(open_trial(path).value().steps().size() == 200);
    }
    SECTION("replaced") {
        recorder record{path, how, files};
        hook watch{record, keep, is_odd};
        record_steps(watch, 0, 3);
        watch.flush();
        std::filesystem::copy_file(path + "/000000.spot", path + "/copy");
        std::filesystem::rename(path + "/copy", path + "/000000.spot");
        record_steps(watch, 3, 40);
        watch.finish();
        CHECK(watch.health().first_error);
    }
    CHECK(files.maps == 0);
}

TEST_CASE("a ring that a kill left is brought into the record without mapping its segments") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{path, keep, is_odd, options{.segment_bytes = 60'000, .ring_in = ring_in::shared_memory}};
        record_steps(watch, 0, 50);
        if (watch.health().first_error) { ::_exit(1); }
        ::_exit(0);
    }
    int how = 0;
    REQUIRE(::waitpid(child, &how, 0) == child);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) { SPOTTER_SKIP("there is no shared memory here"); }
    faulty_file_system files{~std::uint64_t{0}};
    auto const recovery = recover(path, files);
    REQUIRE(recovery);
    CHECK(files.maps == 0);
    CHECK(open_trial(path).value().steps().size() == 50);
}

TEST_CASE("a run whose old segments are cut in place, again and again, while it thins them, goes on to its end") {
    temporary_folder const folder;
    std::string const path = folder / "run", over = folder / "over";
    int const cuts = std::getenv("SPOTTER_KILLS") != nullptr ? std::atoi(std::getenv("SPOTTER_KILLS")) : 50;
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{path, keep, is_odd, options{.segment_bytes = 1'000'000, .run_bytes = 8'000'000}};
        for (std::uint64_t i = 0; !std::filesystem::exists(over); ++i) { record_steps(watch, i, i + 1, 40'000); }
        watch.finish();
        ::_exit(0);
    }
    std::mt19937 random{5};
    int done = 0;
    for (int tries = 0; done < cuts && tries < 100'000; ++tries) {
        std::error_code ignored;
        std::vector<std::string> segments;
        for (std::filesystem::directory_iterator it{path, ignored}, end; !ignored && it != end; it.increment(ignored)) {
            if (it->path().extension() == ".spot") { segments.push_back(it->path().string()); }
        }
        std::sort(segments.begin(), segments.end());
        std::uint64_t size = 0;
        for (std::string const& each : segments) {  // the oldest that is not thinned is next
            size = std::filesystem::file_size(each, ignored);
            if (ignored || size < 500'000 || each == segments.back()) { continue; }
            std::filesystem::resize_file(each, size * (1 + random() % 2) / 4, ignored);
            done += ignored ? 0 : 1;
            break;
        }
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 2000});
    }
    std::filesystem::create_directories(over);
    int how = 0;
    REQUIRE(::waitpid(child, &how, 0) == child);
    CHECK(WIFEXITED(how));
    CHECK(done == cuts);
    CHECK(open_trial(path).value().status() == run_status::finished);
}
