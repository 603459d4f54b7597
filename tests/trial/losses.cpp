// SPDX-License-Identifier: Apache-2.0
// What a damaged record has lost: counted in steps where the rest of the record tells, and none in a whole record.
#include <tests/file/faulty_files.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/file/memory.hpp>

#include <numeric>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr options small_segments{.segment_bytes = 4096};

// 40 steps, each flushed, so that there are many frames.
void record_losses(std::string const& path, options choices = {}) {
    hook watch{path, everything, choices};
    std::vector<float> values(600);
    for (std::uint64_t i = 0; i < 40; ++i) {
        std::iota(values.begin(), values.end(), static_cast<float>(i * i) * 0.37F);
        (void)watch.step(train(i), "x"_t = values, "loss"_t = 1.0 / static_cast<double>(i + 1));
        watch.flush();
    }
    watch.finish();
}
std::vector<std::uint64_t> frame_offsets(std::vector<char> const& segment, bool with_closes) {
    std::vector<std::uint64_t> all;
    frame_walker walker{std::as_bytes(std::span{segment})};
    for (walked what = walker.next(); what != walked::end; what = walker.next()) {
        if (what == walked::rows && (!with_closes || walker.frame().closes > 0)) {
            all.push_back(walker.frame().offset);
        }
    }
    return all;
}
void cut(std::string const& file, std::uint64_t size) { std::filesystem::resize_file(file, size); }
std::uint64_t steps_in(std::string const& path) { return open(path).closed_steps(); }

}  // namespace

TEST_CASE(
    "losses: a record_losses that is whole has none: in one segment or many, resumed, killed, open steps left behind") {
    temporary_folder const folder;
    record_losses(folder / "one");
    record_losses(folder / "many", small_segments);
    CHECK_FALSE(open(folder / "one").losses().any());
    CHECK_FALSE(open(folder / "many").losses().any());
    for (int attempt = 0; attempt < 3; ++attempt) {
        in_killed_child([&] {
            hook watch{folder / "killed", everything, options{.existing = existing::resume}};
            std::uint64_t const first = static_cast<std::uint64_t>(attempt) * 5;
            for (std::uint64_t i = first; i < first + 5; ++i) { (void)watch.step(train(i), "x"_t = 1.0); }
            watch.begin(train(first + 5));
            watch.observe("x", 2.0);
            watch.flush();
            ::raise(SIGKILL);
        });
    }
    trial const killed = open(folder / "killed");
    CHECK(killed.attempts() == 3);
    CHECK(killed.closed_steps() == 15);
    CHECK(killed.losses().steps == 0);
    CHECK_FALSE(killed.losses().any());
    hook live{folder / "live", everything, small_segments};
    for (std::uint64_t i = 0; i < 30; ++i) {
        (void)live.step(train(i), "x"_t = std::vector<float>(300, static_cast<float>(i)));
        live.flush();
        CHECK_FALSE(open(folder / "live").losses().any());
    }
}

TEST_CASE("losses: steps between others, in a row frame that is damaged") {
    temporary_folder const folder;
    record_losses(folder / "run");
    std::string const file = folder / "run/000000.spot";
    std::vector<char> bytes = read_file(file);
    std::uint64_t const place = frame_offsets(bytes, true).at(7);
    bytes[place + 70] = static_cast<char>(bytes[place + 70] ^ 4);
    write_file(file, bytes);
    trial const run = open(folder / "run");
    run_losses const lost = run.losses();
    CHECK(lost.any());
    CHECK(lost.places == 1);
    CHECK(lost.steps == 40 - run.closed_steps());
    CHECK(lost.steps > 0);
    CHECK(lost.ends.empty());
}

TEST_CASE("losses: the end of a segment that was cut off, which its sidecar knows of, at any place") {
    temporary_folder const folder;
    record_losses(folder / "run");
    std::string const file = folder / "run/000000.spot";
    std::vector<char> const whole = read_file(file);
    for (std::size_t size = 64; size < whole.size(); size += whole.size() / 13) {
        cut(file, size);
        INFO(size);
        trial const run = open(folder / "run");
        run_losses const lost = run.losses();
        CHECK(lost.steps == 40 - run.closed_steps());
        REQUIRE(lost.ends.size() == 1);
        CHECK(lost.ends[0].file == file);
        CHECK(lost.ends[0].offset == size);
        CHECK(lost.ends[0].bytes == whole.size() - size);
        CHECK(lost.ends[0].end_ordinal == 40);
        CHECK_FALSE(lost.ends[0].remembered);
        write_file(file, whole);
    }
    CHECK_FALSE(open(folder / "run").losses().any());
}

TEST_CASE("losses: whole segments, one in the middle, the last ones, and the end of one that others follow") {
    temporary_folder const folder;
    record_losses(folder / "run", small_segments);
    std::vector<std::string> segments;
    for (auto const& each : std::filesystem::directory_iterator{folder / "run"}) {
        if (each.path().extension() == ".spot") { segments.push_back(each.path()); }
    }
    std::sort(segments.begin(), segments.end());
    REQUIRE(segments.size() > 5);
    SECTION("in the middle") { std::filesystem::remove(segments[2]); }
    SECTION("in the middle, with its sidecar") {
        std::filesystem::remove(segments[2]);
        std::filesystem::remove(segments[2] + 'x');
    }
    SECTION("the last two, whose sidecars are there") {
        std::filesystem::remove(segments.back());
        std::filesystem::remove(segments[segments.size() - 2]);
    }
    SECTION("the end of one") { cut(segments[3], std::filesystem::file_size(segments[3]) / 2); }
    SECTION("the ends of all") {
        for (std::string const& each : segments) { cut(each, (std::filesystem::file_size(each) + 64) / 2); }
    }
    CHECK(steps_in(folder / "run") < 40);
    CHECK(open(folder / "run").losses().steps == 40 - steps_in(folder / "run"));
    CHECK(open(folder / "run").losses().any());
}

TEST_CASE("losses: what a cut took is not made up for by the attempt that goes on from there") {
    temporary_folder const folder;
    record_losses(folder / "run");
    std::string const file = folder / "run/000000.spot";
    cut(file, std::filesystem::file_size(file) / 2);
    std::uint64_t const left = steps_in(folder / "run");
    {
        hook watch{folder / "run", everything, options{.existing = existing::resume}};
        for (std::uint64_t i = 0; i < 60; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
    }
    CHECK(steps_in(folder / "run") == left + 60);
    CHECK(open(folder / "run").losses().steps == 40 - left);
}

TEST_CASE("losses: closes at the end of an attempt, behind which the next one counts on") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000000.spot";
    bool const open_step = GENERATE(false, true), closes_again = GENERATE(true, false);
    for (std::uint64_t first : {0U, 30U}) {
        in_killed_child([&] {
            hook watch{path, everything, options{.existing = existing::resume}};
            std::vector<float> values(60);
            for (std::uint64_t i = first; i < first + (first == 0 || closes_again ? 30 : 0); ++i) {
                std::iota(values.begin(), values.end(), static_cast<float>(i * i) * 0.37F);
                (void)watch.step(train(i), "x"_t = values);
                watch.flush();
            }
            if (open_step) {
                watch.begin(train(first + 30));
                watch.observe("x", 2.0F);
            }
            watch.flush();
            ::raise(SIGKILL);
        });
    }
    std::uint64_t const closed = closes_again ? 60 : 30;
    CHECK(steps_in(path) == closed);
    CHECK_FALSE(open(path).losses().any());
    std::vector<char> const whole = read_file(file);
    auto const frames = frame_offsets(whole, true);
    for (std::size_t size = whole.size() - 1; size > frames.at(20); size -= 37) {
        cut(file, size);
        trial const run = open(path);
        std::uint64_t const left = closed - steps_in(path);
        INFO(size);
        if (left > 0) {  // without any of its values, nothing tells an open step from a closed one
            CHECK(run.losses().steps == left + (open_step ? 1 : 0));
            CHECK(run.losses().any());
            CHECK(run["x"].at(train(29)).error().code != errc::no_such_step);
            CHECK(run["x"].at(train(3)));
        } else if (!open_step) {
            CHECK(run.losses().steps == 0);
        }
    }
}

TEST_CASE("losses: the last close, in a damaged frame with only the end of the run behind it") {
    temporary_folder const folder;
    record_losses(folder / "run");
    std::string const file = folder / "run/000000.spot";
    std::vector<char> bytes = read_file(file);
    std::uint64_t const place = frame_offsets(bytes, true).back();
    bytes[place + 70] = static_cast<char>(bytes[place + 70] ^ 4);
    write_file(file, bytes);
    CHECK(steps_in(folder / "run") == 39);
    CHECK(open(folder / "run").losses().steps == 1);
}

TEST_CASE("losses: what was dropped while recording") {
    temporary_folder const folder;
    options const choices{.overflow = overflow::drop, .drain = drain::thread, .ring_bytes = 1 << 16};
    {
        hook watch{folder / "run", everything, choices};
        for (std::uint64_t i = 0; i < 100; ++i) {
            (void)watch.step(train(i), "x"_t = std::vector<float>(1000, static_cast<float>(i)));
        }
    }
    run_losses const lost = open(folder / "run").losses();
    CHECK(lost.dropped > 0);
    CHECK(lost.dropped == open(folder / "run").totals().dropped);
    CHECK(lost.steps == 0);
    CHECK_FALSE(lost.damaged());
    CHECK(lost.any());
}

TEST_CASE("losses: a file operation that fails while the folder is examined is reported, or changes nothing") {
    memory_file_system files;
    {
        recorder writer{"run", small_segments, files};
        hook watch{writer, everything};
        for (std::uint64_t i = 0; i < 40; ++i) {
            std::vector<float> values(600);
            std::iota(values.begin(), values.end(), static_cast<float>(i * i) * 0.37F);
            (void)watch.step(train(i), "x"_t = values);
            watch.flush();
        }
        watch.finish();
    }
    REQUIRE_FALSE(files.remove("run/000002.spot"));
    run_losses const whole = open_trial("run", files)->losses();
    REQUIRE(whole.steps > 0);
    bool passed = false;
    std::uint64_t reported = 0;
    for (std::uint64_t fail_at = 1; !passed; ++fail_at) {
        auto const opened = open_trial("run", files);
        REQUIRE(opened);
        (void)opened->damage();
        faulty_file_system faulty{files, fail_at, false, errc::io_error};
        INFO(fail_at);
        detail::folder_losses const found = detail::look_for_losses(faulty, "run");
        passed = faulty.operations() < fail_at;
        CHECK((found.trouble || detail::count_lost_steps(opened->index(), found) == whole.steps));
        reported += found.trouble ? 1 : 0;
    }
    CHECK(reported > 5);
}

TEST_CASE("losses: a segment that is there and cannot be opened is reported with the reason") {
    temporary_folder const folder;
    record_losses(folder / "run", small_segments);
    CHECK_FALSE(open_trial(folder / "run")->losses().trouble);
    std::string const second = folder / "run/000001.spot";
    std::filesystem::remove(second);
    CHECK_FALSE(open_trial(folder / "run")->losses().trouble);  // missing, which is a loss of its own
    std::filesystem::create_directory(second);
    run_losses const lost = open_trial(folder / "run")->losses();
    CHECK(lost.trouble.code == errc::unwritable);
    CHECK(lost.trouble.what.view().find("000001.spot") != std::string_view::npos);
}

TEST_CASE("losses: the file `lost` records what was cut off earlier, of this run and of no other") {
    temporary_folder const folder;
    record_losses(folder / "run");
    std::string const file = folder / "run/000000.spot";
    std::vector<char> const bytes = read_file(file);
    auto const head = decode_head(std::as_bytes(std::span{bytes}));
    REQUIRE(head);
    lost_end const gone{file, 0, std::filesystem::file_size(file), 5000, 47, true};
    std::string const line = detail::lost_line(gone, head->run_id);
    std::string const other = detail::lost_line(gone, head->run_id + 1);
    auto const write = [&](std::string const& text) { write_file(folder / "run/lost", {text.begin(), text.end()}); };
    write(other + "\nnoise\n000000.spot 3\n\xFF.spot\n");
    CHECK_FALSE(open(folder / "run").losses().any());
    write(line + line);
    run_losses const lost = open(folder / "run").losses();
    CHECK(lost.steps == 7);
    REQUIRE(lost.ends.size() == 1);
    CHECK(lost.ends[0].bytes == 5000);
    CHECK(lost.ends[0].remembered);
}
