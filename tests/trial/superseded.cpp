// SPDX-License-Identifier: Apache-2.0
// A value is corrupt if an unreadable one may have superseded it: where bytes are missing, a write was unfinished, or a
// segment or a whole worker is lost. Another worker's value is not returned in its place.
#include <tests/fault/frames.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/trial/losses.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t steps_each = 12;

double x_of(std::uint64_t number, std::uint64_t step) {
    return 100.0 * static_cast<double>(number) + static_cast<double>(step);
}
// x is 100 times the number (of the attempt or worker) plus the step.
void record_attempt(std::string const& path, std::uint64_t number, std::uint64_t first, std::uint64_t end,
                    options choices = {.existing = existing::resume}) {
    choices.flush_milliseconds = only_when_asked;
    hook watch{path, everything, choices};
    for (std::uint64_t i = first; i < end; ++i) {
        (void)watch.step(train(i), "x"_t = x_of(number, i), "v"_t = std::vector<float>(5, 1.0F));
        if (i % 3 == 1) { watch.flush(); }
    }
    watch.scalar("lr", x_of(number, 0));
    watch.finish();
}
void record_attempts(std::string const& path) {
    fs::remove_all(path);
    record_attempt(path, 0, 0, steps_each);
    record_attempt(path, 1, 0, steps_each);
}
void record_pair(std::string const& path) {
    fs::remove_all(path);
    for (std::uint32_t const number : {0U, 1U}) {
        record_attempt(path, number, 0, steps_each, {.worker = number, .workers = 2});
    }
}
void remove_sidecars(std::string const& path) {
    for (auto const& each : fs::recursive_directory_iterator{path}) {
        if (each.path().extension() == ".spotx") { fs::remove(each.path()); }
    }
}
std::vector<char> without(std::vector<char> bytes, std::size_t at, std::size_t count) {
    auto const from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    bytes.erase(from, from + static_cast<std::ptrdiff_t>(count));
    return bytes;
}
// Counts over all steps: right values, corrupt ones, and any other answers.
struct read_back {
    std::uint64_t right = 0, corrupt = 0, other = 0;

    read_back(trial const& run, std::uint64_t number) {
        for (std::uint64_t i = 0; i < steps_each; ++i) {
            recorded_value const value = run["x"].at(train(i));
            auto const stat = run["x"].stat(train(i), mean);
            CHECK(static_cast<bool>(value) == static_cast<bool>(stat));
            if (value && value.to<double>().value() == x_of(number, i)) {
                ++right;
            } else {
                ++(value.error().code == errc::corrupt ? corrupt : other);
            }
        }
    }
};

}  // namespace

TEST_CASE(
    "bytes that are gone from a segment never give the value of the attempt before, with its sidecar or without") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000001.spot";
    for (bool const with_sidecars : {true, false}) {
        record_attempts(path);
        if (!with_sidecars) { remove_sidecars(path); }
        std::vector<char> const whole = read_file(file);
        std::size_t const last = static_cast<std::size_t>(frames_of(std::as_bytes(std::span{whole})).back().offset);
        std::uint64_t refused = 0;
        for (std::size_t const count : {1UL, 31UL, 150UL, 193UL}) {
            for (std::size_t at = 4; at + count < whole.size(); at += 7) {
                // Without the head of its last row frame it looks like an earlier state of the record; only a sidecar
                // knows more.
                if (!with_sidecars && at < last + 48 && at + count > last) { continue; }
                write_file(file, without(whole, at, count));
                trial const run = open(path);
                read_back const found{run, 1};
                INFO(count << " bytes from " << at << " on" << (with_sidecars ? "" : ", without sidecars"));
                REQUIRE(found.other == 0);
                if (with_sidecars) { REQUIRE_FALSE(run.damage().empty()); }
                refused += found.corrupt;
            }
        }
        CHECK(refused > 1000);
    }
}

TEST_CASE(
    "a row frame that stands elsewhere than it says tells that bytes are gone: the rest is damage and no torn tail") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000001.spot";
    record_attempts(path);
    remove_sidecars(path);
    std::vector<char> const whole = read_file(file);
    auto const frames = frames_of(std::as_bytes(std::span{whole}));
    REQUIRE(frames.size() > 3);
    // Inside a payload, so that its length points beyond the end.
    std::size_t const at = static_cast<std::size_t>(frames[1].end()) + 8;
    write_file(file, without(whole, at, 31));
    trial const run = open(path);
    REQUIRE(run.damage().size() == 1);
    CHECK(run.damage()[0].offset == frames[1].end());
    CHECK(run.damage()[0].bytes == whole.size() - 31 - frames[1].end());
}

TEST_CASE("the cut row frame that closed a segment may have superseded what is there, which is corrupt once the writer "
          "has ended") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000001.spot";
    record_attempts(path);
    remove_sidecars(path);
    std::vector<char> const whole = read_file(file);
    auto const frames = frames_of(std::as_bytes(std::span{whole}));
    row_frame const& last = frames.back();
    REQUIRE((last.flags & layout::last_of_segment) != 0);
    std::size_t const first = static_cast<std::size_t>(last.offset);
    auto const cut_at = [&](std::size_t size) {
        write_file(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    };
    for (std::size_t const size : {first + 48, first + 60, whole.size() - 1}) {
        cut_at(size);
        trial const run = open(path);
        INFO(size);
        CHECK(run.steps(worker{0}).size() == steps_each);
        CHECK(run.damage().empty());
        read_back const found{run, 1};
        CHECK(found.other == 0);
        CHECK(found.right > steps_each / 2);
        CHECK(found.corrupt > 0);
        CHECK(run["x"].at(train(steps_each - 1), attempt{0}).to<double>().value() == x_of(0, steps_each - 1));
        CHECK(run["x"].at(train(500)).error().code == errc::no_such_step);  // later lost steps give no error
        // A record that is being written hides no older values.
        auto const held = system_files().lock(path + "/lock");
        REQUIRE(held);
        CHECK(read_back{open(path), 1}.corrupt == 0);
        system_files().unlock(*held);
    }
    // Cut anywhere else it is an earlier state of the record, and all its content holds.
    for (std::size_t const size : {first + 20, first, static_cast<std::size_t>(frames[frames.size() - 2].end()) - 9}) {
        cut_at(size);
        read_back const earlier{open(path), 1};
        INFO(size);
        CHECK(earlier.corrupt == 0);
        CHECK(earlier.right > steps_each / 2);
    }
}

TEST_CASE("the beginning of a row frame that does not belong where it is makes damage of a torn tail") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000001.spot";
    record_attempts(path);
    remove_sidecars(path);
    std::vector<char> const whole = read_file(file);
    auto const frames = frames_of(std::as_bytes(std::span{whole}));
    std::size_t const last = static_cast<std::size_t>(frames.back().offset);
    for (std::size_t const field : {8UL, 16UL}) {  // its own offset, and the end of the frame before
        std::vector<char> bytes{whole.begin(), whole.end() - 5};
        bytes[last + field] ^= 1;
        write_file(file, bytes);
        trial const run = open(path);
        INFO(field);
        CHECK(run.damage().size() == 1);
        read_back const found{run, 1};
        CHECK(found.other == 0);
        CHECK(found.corrupt > 0);
    }
}

TEST_CASE("a run that is gone on with behind a write that was not finished says of those steps what it says itself") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000001.spot";
    record_attempts(path);
    remove_sidecars(path);
    std::vector<char> const whole = read_file(file);
    write_file(file, {whole.begin(), whole.end() - 10});
    trial run = open(path);
    CHECK(read_back{run, 1}.corrupt > 0);
    record_attempt(path, 2, 0, steps_each);
    CHECK(read_back{open(path), 2}.right == steps_each);
    REQUIRE_FALSE(run.refresh());
    CHECK(read_back{run, 2}.right == steps_each);
    CHECK_FALSE(run["x"].at(train(steps_each - 1), attempt{1}));
}

TEST_CASE("a segment that left only its sidecar, or a line in the file `lost`, may have superseded what is there") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000001.spot";
    record_attempts(path);
    std::vector<char> const whole = read_file(file);
    for (std::size_t const left : {0UL, 1UL, 30UL}) {  // nothing, an empty file, half a head
        fs::remove(file);
        if (left > 0) { write_file(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left - 1)}); }
        trial const run = open(path);
        read_back const found{run, 1};
        INFO(left);
        CHECK(found.corrupt == steps_each);
        REQUIRE(run.damage().size() == 1);
        CHECK(run.damage()[0].file == file);
        CHECK(run.losses().ends.size() == 1);
        CHECK(run.losses().places == (left == 30 ? 1 : 0));  // half a head is damage; otherwise it counts as an end
        CHECK(run["x"].at(train(3), attempt{0}).to<double>().value() == x_of(0, 3));
    }
    // A segment that was cut and whose sidecar was rebuilt since: the folder's file `lost` records the loss.
    auto const frames = frames_of(std::as_bytes(std::span{whole}));
    std::size_t const good = static_cast<std::size_t>(frames[frames.size() - 3].end());
    write_file(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(good)});
    auto const known = detail::look_for_losses(system_files(), path);
    REQUIRE(known.ends.size() == 1);
    remove_sidecars(path);
    CHECK(read_back{open(path), 1}.corrupt == 0);
    std::string const line = detail::lost_line(known.ends[0], known.run_id);
    write_file(path + "/lost", {line.begin(), line.end()});
    read_back const remembered{open(path), 1};
    CHECK(remembered.other == 0);
    CHECK(remembered.corrupt > 0);
    std::string const foreign = detail::lost_line(known.ends[0], known.run_id + 1);
    write_file(path + "/lost", {foreign.begin(), foreign.end()});
    CHECK(read_back{open(path), 1}.corrupt == 0);
}

TEST_CASE("a sidecar that knows more than its segment is reported as damage") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/worker-1/000001.spot";
    for (std::uint32_t const number : {0U, 1U}) {
        for (std::uint64_t const times : {0U, 1U}) {
            record_attempt(path, times, 0, steps_each, {.existing = existing::resume, .worker = number, .workers = 2});
        }
    }
    std::vector<char> const whole = read_file(file);
    write_file(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() / 2)});
    trial const run = open(path);
    REQUIRE(run.damage().size() == 1);
    CHECK(run.damage()[0].file == file);
    std::uint64_t corrupt = 0;
    for (std::uint64_t i = 0; i < steps_each; ++i) {
        recorded_value const value = run["x"].at(train(i), worker{1});
        if (!value) { ++corrupt; }
        CHECK((value ? value.to<double>().value() == x_of(1, i) : value.error().code == errc::corrupt));
    }
    CHECK(corrupt > 2);
}

TEST_CASE("what a lower worker may have recorded, and cannot be read, is corrupt and not another worker's") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000000.spot";
    record_pair(path);
    std::vector<char> const whole = read_file(file);
    auto const frames = frames_of(std::as_bytes(std::span{whole}));
    trial const sound = open(path);
    auto const damaged = [&](std::vector<char> const& bytes, bool with_sidecars) {
        if (!with_sidecars) { remove_sidecars(path); }
        write_file(file, bytes);
        return open(path);
    };
    SECTION("nothing of it") {
        std::vector<char> bytes = whole;
        std::fill(bytes.begin(), bytes.begin() + 200, 'x');
        trial const run = damaged(bytes, true);
        CHECK(read_back{run, 0}.corrupt == steps_each);
        CHECK(read_back{run, 1}.other == 0);
        CHECK(run["x"].at(train(1), worker{1}).to<double>().value() == x_of(1, 1));
        CHECK(run["x"].shape(train(1)).error().code == errc::corrupt);
        CHECK(run["x"].time(train(1)).error().code == errc::corrupt);
        CHECK(run["x"].distribution(train(1)).error().code == errc::corrupt);
        CHECK(run["nobody's"].at(train(1)).error().code == errc::corrupt);
        for (point const& each : run["x"].history(mean)) {
            CHECK((!each.known && each.unreadable && !is_finite(each.value)));
        }
        CHECK(run["x"].of(worker{1}).history(mean)[2].value == x_of(1, 2));
        CHECK(run["lr"].loose().empty());
        CHECK(run["lr"].of(worker{1}).loose().size() == 1);
    }
    SECTION("only a sidecar") {
        fs::remove(file);
        CHECK(read_back{open(path), 0}.corrupt == steps_each);
    }
    SECTION("a write that was not finished") {
        trial const run = damaged({whole.begin(), whole.end() - 9}, false);
        read_back const found{run, 0};
        CHECK(found.other == 0);
        CHECK(found.right > steps_each / 2);
        CHECK(found.corrupt > 0);
    }
    SECTION("its only declarations: names that nobody has left") {
        std::vector<char> bytes = whole;
        for (row_frame const& each : frames) {
            if ((each.flags & layout::has_declares) != 0) { bytes[static_cast<std::size_t>(each.offset) + 60] ^= 1; }
        }
        trial const run = damaged(bytes, false);
        read_back const found{run, 0};
        CHECK(found.other == 0);
        CHECK(found.corrupt > steps_each / 2);
        std::uint64_t unreadable = 0;
        for (point const& each : run["x"].history(mean)) {
            CHECK((each.unreadable || each.value == x_of(0, each.step.index)));
            unreadable += each.unreadable ? 1 : 0;
        }
        CHECK(unreadable > 0);
    }
}
