// SPDX-License-Identifier: Apache-2.0
// Another run replaces a run while it is being read: the reader reports it, and never mixes the two.
// Needs POSIX: a file that somebody has open is replaced.
#include <tests/trial/runs.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/replay.hpp>

#include <chrono>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A run of `count` steps: x at step i is `base + i`, and another tensor's name identifies the run.
void record_line(std::string const& path, std::uint64_t count, double base, options choices = {}) {
    choices.existing = existing::replace;
    hook watch{path, everything, choices};
    for (std::uint64_t i = 0; i < count; ++i) {
        watch.begin(train(i));
        watch.observe("x", base + static_cast<double>(i));
        watch.observe("mine/" + std::to_string(base), base);
        (void)watch.end();
        if (i % 100 == 99) { watch.flush(); }
    }
    watch.finish();
}
// Checks that the trial has exactly that run's content.
void check_is(trial const& run, std::uint64_t count, double base) {
    CHECK(run.steps() == trains(0, count));
    CHECK(run.closed_steps() == count);
    CHECK(run.names() == names_list{"mine/" + std::to_string(base), "x"});
    CHECK(run.damage().empty());
    for (std::uint64_t i = 0; i < count; ++i) {
        REQUIRE(run["x"].at(train(i)).to<double>().value() == base + static_cast<double>(i));
    }
    auto const curve = run["x"].history(mean);
    REQUIRE(curve.size() == count);
    for (std::uint64_t i = 0; i < count; ++i) { REQUIRE(curve[i].value == base + static_cast<double>(i)); }
    CHECK(run["x"].at(train(count)).error().code == errc::no_such_step);
}
void copy_in_place(std::string const& from, std::string const& to) {
    for (auto const& each : fs::directory_iterator{to}) {
        if (each.path().filename() != "lock") { fs::resize_file(each.path(), 0); }
    }
    for (auto const& each : fs::directory_iterator{from}) {
        write_file(to + "/" + each.path().filename().string(), read_file(each.path().string()));
    }
}

}  // namespace

TEST_CASE("a run replaced by a shorter, a longer or an equally long one is reported, and read from its beginning") {
    for (std::uint64_t const before : {200ULL, 3ULL, 40ULL}) {
        for (bool const looked : {true, false}) {
            temporary_folder const folder;
            record_line(folder / "run", before, 100);
            trial run = open(folder / "run");
            if (looked) { check_is(run, before, 100); }
            track const old = run["x"];
            record_line(folder / "run", 40, 5000);
            CHECK(run.replaced() == 0);
            error const why = run.refresh();
            CHECK(why.code == errc::replaced);
            CHECK(why.what.view().find("another run") != std::string_view::npos);
            CHECK(run.replaced() == 1);
            check_is(run, 40, 5000);
            // Objects obtained before still answer from the old run.
            CHECK(old.at(train(before - 1)).to<double>().value() == 99 + static_cast<double>(before));
            CHECK(old.history(mean).size() == before);
            CHECK(!run.refresh());
            CHECK(run.replaced() == 1);
            record_line(folder / "run", 7, 9);
            CHECK(run.wait(train(3), 1h).code == errc::replaced);
            CHECK(run.wait(train(3), 1h).code == errc::none);
            check_is(run, 7, 9);
        }
    }
}

TEST_CASE(
    "a run that another was copied over, file by file and in place, is reported as replaced and kills no reader") {
    for (std::uint64_t const before : {200ULL, 40ULL, 5ULL}) {
        temporary_folder const folder;
        options const small{.segment_bytes = 4096, .flush_milliseconds = only_when_asked};
        record_line(folder / "run", before, 100, small);
        record_line(folder / "other", 40, 5000, small);
        trial run = open(folder / "run");
        (void)run.steps();
        copy_in_place(folder / "other", folder / "run");
        (void)run["x"].at(train(before - 1));
        (void)run["x"].history(mean);
        CHECK(run.refresh().code == errc::replaced);
        CHECK(run.steps() == trains(0, 40));
        for (std::uint64_t i = 0; i < 40; ++i) {
            REQUIRE(run["x"].at(train(i)).to<double>().value() == 5000 + static_cast<double>(i));
        }
        // Segments that only the older run had are not part of the new one, and are reported.
        CHECK(run.damage().empty() == !fs::exists(folder / "run/000001.spot"));
    }
}

TEST_CASE("a copy of the same run, made again as it grows, is the same run") {
    temporary_folder const folder;
    hook watch{folder / "run", everything, options{.segment_bytes = 4096}};
    fs::create_directory(folder / "copy");
    auto const copy = [&] {
        for (auto const& each : fs::directory_iterator{folder / "run"}) {
            std::string const to = folder / "copy/" + each.path().filename().string();
            write_file(to + ".new", read_file(each.path().string()));
            fs::rename(to + ".new", to);
        }
    };
    (void)watch.step(train(0), "x"_t = 0.0);
    watch.flush();
    copy();
    trial run = open(folder / "copy");
    for (std::uint64_t i = 1; i < 600; ++i) {
        (void)watch.step(train(i), "x"_t = static_cast<double>(i));
        if (i % 50 != 0) { continue; }
        watch.flush();
        copy();
        REQUIRE(!run.refresh());
        REQUIRE(run.steps() == trains(0, i + 1));
        REQUIRE(run["x"].at(train(i)).to<double>().value() == static_cast<double>(i));
    }
    CHECK(run.damage().empty());
    CHECK(run.replaced() == 0);
}

TEST_CASE("workers of a run that is replaced are those of the new one, and a run that is just beginning has no steps") {
    temporary_folder const folder;
    record_line(folder / "run", 30, 1);
    {
        hook other{folder / "run", everything, options{.existing = existing::resume, .worker = 2}};
        (void)other.step(train(77), "x"_t = 2.0, "theirs"_t = 1.0);
    }
    trial run = open(folder / "run");
    CHECK(run.workers() == std::vector<std::uint32_t>{0, 2});
    CHECK(run.steps().size() == 31);
    hook watch{folder / "run", everything, options{.existing = existing::replace}};
    watch.flush();
    CHECK(run.refresh().code == errc::replaced);
    CHECK(run.workers() == std::vector<std::uint32_t>{0});
    CHECK(run.steps().empty());
    CHECK(run.names().empty());
    CHECK(run.status() == run_status::running);
    (void)watch.step(train(0), "x"_t = 3.0);
    watch.flush();
    CHECK(!run.refresh());
    CHECK(run["x"].at(train(0)).to<double>().value() == 3);
    CHECK(run["theirs"].at(train(77)).error().code == errc::no_such_name);
}

TEST_CASE("while no run is there the old one can still be read, and the next one counts as another") {
    temporary_folder const folder;
    record_line(folder / "run", 20, 1);
    trial run = open(folder / "run");
    (void)run.steps();
    fs::remove_all(folder / "run");
    CHECK(run.refresh().code == errc::not_a_run);
    CHECK(run["x"].at(train(19)).to<double>().value() == 20);
    fs::create_directory(folder / "run");
    CHECK(run.refresh().code == errc::not_a_run);
    write_file(folder / "run/000000.spot", {});
    CHECK(run.refresh().code == errc::replaced);
    CHECK(run.steps().empty());
    fs::remove_all(folder / "run");
    record_line(folder / "run", 9, 4);
    CHECK(!run.refresh());  // nothing of the earlier runs had been read
    check_is(run, 9, 4);
}

TEST_CASE("a replaced run is noticed in a file system in memory, too") {
    memory_file_system files;
    for (double const base : {1.0, 2.0, 3.0}) {
        recorder sink{"run", {.existing = existing::replace}, files};
        hook watch{sink, everything};
        for (std::uint64_t i = 0; i < 10; ++i) { (void)watch.step(train(i), "x"_t = base); }
        watch.finish();
        static std::optional<trial> run;
        if (!run) { run.emplace(open_trial("run", files).value()); }
        CHECK(run->refresh().code == (base > 1 ? errc::replaced : errc::none));
        CHECK(run->steps() == trains(0, 10));
        CHECK(run->operator[]("x").at(train(9)).to<double>().value() == base);
        if (base == 3) { run.reset(); }
    }
}

TEST_CASE("segments of another run, or of another place, are no part of a run") {
    temporary_folder const folder;
    options const small{.segment_bytes = 4096};
    record_line(folder / "run", 150, 100, small);
    record_line(folder / "other", 2500, 5000, small);
    REQUIRE(!fs::exists(folder / "run/000004.spot"));
    REQUIRE(fs::exists(folder / "other/000004.spot"));
    auto const last = [&] {
        std::uint32_t number = 0;
        while (fs::exists(folder / ("run/00000" + std::to_string(number + 1) + ".spot"))) { ++number; }
        return folder / ("run/00000" + std::to_string(number + 1) + ".spot");
    }();
    for (std::string const& from : {folder / "other/000004.spot", folder / "run/000000.spot"}) {
        fs::copy_file(from, last, fs::copy_options::overwrite_existing);
        trial const run = open(folder / "run");
        CHECK(run.steps() == trains(0, 150));
        CHECK(run["x"].history(mean).size() == 150);
        REQUIRE(run.damage().size() == 1);
        CHECK(run.damage()[0].file == last);
        CHECK(run.damage()[0].bytes == fs::file_size(last));
    }
    fs::remove(last);
    write_file(folder / "run/999999999.spot", {});
    trial const run = open(folder / "run");
    CHECK(run.steps() == trains(0, 150));
    CHECK(run["x"].at(train(100)).to<double>().value() == 200);
    REQUIRE(run.damage().size() == 1);
    CHECK(run.damage()[0].file == folder / "run/999999999.spot");
}

TEST_CASE("a segment that is cut in place while it is read kills no reader: what is gone is corrupt or absent") {
    for (std::uint64_t const left : {20'000ULL, 4096ULL, 100ULL, 64ULL, 10ULL, 0ULL}) {
        for (bool const looked : {true, false}) {
            temporary_folder const folder;
            {
                hook watch{folder / "run", everything};
                for (std::uint64_t i = 0; i < 60; ++i) {
                    std::vector<float> values(500);
                    for (std::size_t k = 0; k < values.size(); ++k) {
                        values[k] = 1.0F / static_cast<float>(1 + k + 31 * i);
                    }
                    (void)watch.step(train(i), "w"_t = values, "x"_t = static_cast<double>(i));
                    watch.scalar("loose", 1.0);
                    if (i % 5 == 4) { watch.flush(); }
                }
            }
            trial run = open(folder / "run");
            if (looked) {
                (void)run.steps();
                (void)run.damage();
            }
            track const w = run["w"];
            REQUIRE(fs::file_size(folder / "run/000000.spot") > 40'000);
            fs::resize_file(folder / "run/000000.spot", left);
            std::uint64_t there = 0, gone = 0;
            for (std::uint64_t i = 0; i < 60; ++i) {
                auto const value = w.at(train(i)).to<std::vector<float>>();
                if (value) {
                    REQUIRE(value->at(7) == 1.0F / static_cast<float>(8 + 31 * i));
                    ++there;
                } else {
                    CHECK((value.error().code == errc::corrupt || value.error().code == errc::no_such_step));
                    ++gone;
                }
                (void)run["x"].at(train(i), attempt{0});
                (void)w.stat(train(i), l2);
                (void)w.distribution(train(i));
                (void)w.time(train(i));
                (void)w.shape(train(i));
                (void)w.at(train(i), elements{3, 4});
            }
            CHECK(gone > 20);
            CHECK((there > 0) == (left > 4096));
            (void)w.history(l2);
            (void)run["loose"].loose();
            (void)run.names("*");
            (void)run.damage();
            (void)replay(run, any("w", product > 1e9) || any("*", l2 > 1e9));
            CHECK(run.refresh().code == errc::replaced);  // what was already read of it is gone
            CHECK(run.steps().size() < 60);
            CHECK(!run.refresh());
        }
    }
}
