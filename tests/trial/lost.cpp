// SPDX-License-Identifier: Apache-2.0
// Lost rows: an older value is not returned where a lost row may have superseded it, and rows behind the damage are
// read.
#include <tests/trial/runs.hpp>

#include <spotter/format/walker.hpp>
#include <spotter/replay.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t count = 24;

// Attempts of a run, each over all steps; x at step i is 100 * attempt + i. Flushed every third step, so that there are
// many row frames.
void record(std::string const& path, std::uint32_t attempts, bool with_vector = true) {
    fs::remove_all(path);
    options again;
    again.existing = existing::resume;
    for (std::uint32_t k = 0; k < attempts; ++k) {
        hook watch{path, everything, again};
        for (std::uint64_t i = 0; i < count; ++i) {
            double const x = 100.0 * k + static_cast<double>(i);
            if (with_vector) {
                (void)watch.step(train(i), "x"_t = x, "v"_t = std::vector<float>(8, static_cast<float>(x)));
            } else {
                (void)watch.step(train(i), "x"_t = x);
            }
            if (i % 3 == 2) { watch.flush(); }
        }
        watch.finish();
    }
}
// Counts the values at step i: right if they belong to the expected attempt.
struct verdict {
    std::uint64_t wrong = 0, right = 0, corrupt = 0, absent = 0;

    void take(recorded_value const& value, double wanted) {
        if (!value) {
            ++(value.error().code == errc::corrupt ? corrupt : absent);
            return;
        }
        double const got =
            value.type() == dtype::f32 ? value.to<std::vector<float>>().value().front() : value.to<double>().value();
        ++(got == wanted ? right : wrong);
    }
};
verdict latest(trial const& run, std::uint32_t attempts) {
    verdict found;
    for (std::uint64_t i = 0; i < count; ++i) {
        double const wanted = 100.0 * (attempts - 1) + static_cast<double>(i);
        for (char const* name : {"x", "v"}) {
            if (run[name]) { found.take(run[name].at(train(i)), wanted); }
        }
        auto const stat = run["x"].stat(train(i), mean);
        if (stat && *stat != wanted) { ++found.wrong; }
    }
    return found;
}
verdict of_attempt(trial const& run, std::uint32_t number) {
    verdict found;
    for (std::uint64_t i = 0; i < count; ++i) {
        found.take(run["x"].at(train(i), attempt{number}), 100.0 * number + static_cast<double>(i));
    }
    return found;
}
std::vector<frame_place> frames_of(std::vector<char> const& bytes) {
    std::vector<frame_place> found;
    frame_walker walk{std::as_bytes(std::span{bytes})};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::rows) { found.push_back({walk.frame().offset, walk.frame().bytes}); }
    }
    return found;
}
std::string segment(std::string const& folder, std::uint32_t number, char const* suffix = ".spot") {
    char name[24];
    return folder + "/" + std::string{name, name_segment(number, suffix, name)};
}

}  // namespace

TEST_CASE("a flipped bit never gives the value of another attempt, with a sidecar and without, asked first or last") {
    for (bool const with_vector : {true, false}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        record(path, 2, with_vector);
        for (std::uint32_t const number : {0U, 1U}) {
            std::vector<char> const whole = read_file(segment(path, number));
            verdict of_last;
            for (bool const with_side : {true, false}) {
                if (!with_side) { fs::remove(segment(path, number, ".spotx")); }
                for (std::size_t place = 64; place < whole.size(); place += with_vector ? 37 : 17) {
                    std::vector<char> bytes = whole;
                    bytes[place] = static_cast<char>(bytes[place] ^ (1 << (place % 8)));
                    write_file(segment(path, number), bytes);
                    INFO("segment " << number << " byte " << place);
                    trial const fresh = open(path);
                    verdict const few = latest(fresh, 2);  // reads only the few rows that may hold it
                    REQUIRE(few.wrong == 0);
                    REQUIRE(of_attempt(fresh, 0).wrong == 0);
                    REQUIRE(of_attempt(fresh, 1).wrong == 0);
                    trial const read = open(path);
                    (void)read.steps();
                    verdict const all = latest(read, 2);
                    REQUIRE(all.wrong == 0);
                    // Damage in the first attempt does not affect the second.
                    if (number == 0) { REQUIRE(all.right == (with_vector ? 2 : 1) * count); }
                    of_last.right += all.right, of_last.corrupt += all.corrupt;
                }
            }
            write_file(segment(path, number), whole);
            CHECK(of_last.right > 300);
            if (number == 1) { CHECK(of_last.corrupt > 3); }
        }
    }
}

TEST_CASE("damage takes the steps that it held, and says nothing of those around it") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    for (bool const with_side : {true, false}) {
        record(path, 2, false);
        std::vector<char> bytes = read_file(segment(path, 1));
        std::vector<frame_place> const frames = frames_of(bytes);
        REQUIRE(frames.size() > 6);
        bytes[static_cast<std::size_t>(frames[4].offset + frames[4].bytes - 3)] ^= 1;
        write_file(segment(path, 1), bytes);
        if (!with_side) { fs::remove(segment(path, 1, ".spotx")); }
        trial const run = open(path);
        REQUIRE(run.damage().size() == 1);
        verdict const found = latest(run, 2);
        INFO(with_side);
        CHECK(found.wrong == 0);
        CHECK(found.absent == 0);
        CHECK(found.right + found.corrupt == count);
        if (!with_side) { CHECK(found.corrupt <= 4); }  // three steps, and the open one
        CHECK(of_attempt(run, 0).right == count);       // the older attempt can be read by its number
        CHECK(run["x"].history(mean).size() >= 2 * count - 4);
    }
}

TEST_CASE("a step whose rows are lost is corrupt, and not said never to have been") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record(path, 1, false);
    std::vector<char> bytes = read_file(segment(path, 0));
    std::vector<frame_place> const frames = frames_of(bytes);
    bytes[static_cast<std::size_t>(frames[3].offset + frames[3].bytes - 3)] ^= 1;
    write_file(segment(path, 0), bytes);
    fs::remove(segment(path, 0, ".spotx"));
    trial const run = open(path);
    verdict const found = latest(run, 1);
    CHECK(found.corrupt >= 3);
    CHECK(found.absent == 0);
    CHECK(found.right + found.corrupt == count);
    CHECK(run["x"].at(train(5 * count)).error().code == errc::no_such_step);
}

TEST_CASE("a segment that was cut while its sidecar knows more has lost that: what it held may have superseded what is "
          "there") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record(path, 2, false);
    std::vector<char> const whole = read_file(segment(path, 1));
    std::vector<frame_place> const frames = frames_of(whole);
    auto const cut = static_cast<std::ptrdiff_t>(frames[5].offset);
    write_file(segment(path, 1), {whole.begin(), whole.begin() + cut});
    trial const run = open(path);
    CHECK(run.status() == run_status::died);
    verdict const found = latest(run, 2);
    CHECK(found.wrong == 0);
    CHECK(found.corrupt > 3);
    // The order of queries does not matter.
    trial const read = open(path);
    (void)read.steps();
    CHECK(latest(read, 2).corrupt == found.corrupt);
}

#if !defined(_WIN32)  // Windows removes a file only once it is no longer mapped
TEST_CASE("segments behind several missing ones are read, and each missing one is reported") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    constexpr std::uint64_t steps = 60;
    std::uint32_t last = 0;
    {
        hook watch{path, everything, options{.segment_bytes = 4096}};
        for (std::uint64_t i = 0; i < steps; ++i) {
            std::vector<double> values(400);
            for (std::size_t k = 0; k < values.size(); ++k) { values[k] = 1.0 / static_cast<double>(1 + k + 7 * i); }
            (void)watch.step(train(i), "x"_t = static_cast<double>(i), "v"_t = values);
            watch.flush();
        }
    }
    while (fs::exists(segment(path, last + 1))) { ++last; }
    REQUIRE(last > 8);
    trial const whole = open(path);
    auto const check = [&](std::uint32_t from, std::uint32_t end) {
        trial const run = open(path);
        std::vector<std::string> missing;
        for (damaged_place const& each : run.damage()) {
            CHECK(each.bytes == 0);
            missing.push_back(each.file);
        }
        std::vector<std::string> wanted;
        for (std::uint32_t i = from; i < end; ++i) { wanted.push_back(segment(path, i)); }
        CHECK(missing == wanted);
        CHECK(run.status() == run_status::finished);
        std::uint64_t there = 0, corrupt = 0;
        for (std::uint64_t i = 0; i < steps; ++i) {
            auto const value = run["x"].at(train(i));
            if (value) {
                CHECK(value.to<double>().value() == static_cast<double>(i));
                ++there;
            } else {
                CHECK(value.error().code == errc::corrupt);
                ++corrupt;
            }
        }
        CHECK(run["x"].at(train(steps - 1)));
        CHECK(there >= run.steps().size());
        CHECK(there + corrupt == steps);
        CHECK(there > steps / 3);
        CHECK(!replay(run, any("x", maximum > 1e9)).whole);
        for (std::uint64_t i = 0; i < steps; i += 9) {  // a complete index gives the same
            CHECK(static_cast<bool>(run["x"].at(train(i))) == static_cast<bool>(open(path)["x"].at(train(i))));
        }
    };
    for (std::uint32_t i = 2; i < 5; ++i) {
        fs::remove(segment(path, i));
        check(2, i + 1);
    }
    for (std::uint32_t i : {0U, 1U}) { fs::remove(segment(path, i)); }
    check(0, 5);
}
#endif
