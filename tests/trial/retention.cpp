// SPDX-License-Identifier: Apache-2.0
// Retention: a run with a size limit keeps its newest values, all statistics of the older ones, and the values that
// findings cite.
#include <tests/file/faulty_files.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/replay.hpp>
#include <spotter/stat/summarize.hpp>

#include <cstring>
#include <memory>
#include <numeric>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t values_a_step = 4096;  // 16 KiB a step, hardly compressible
constexpr std::uint64_t steps = 400;
constexpr options limited{.drain = drain::poll, .segment_bytes = 256 << 10, .run_bytes = 2 << 20};

std::vector<float> kept_weights(std::uint64_t step) {
    std::vector<float> values(values_a_step);
    std::uint64_t state = step + 1;
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<float>(state >> 40) * 0x1p-24F - 0.5F;
    }
    return values;
}

constexpr auto losses_too = collection{"losses", "loss", always{}, payload};
constexpr plan whole{collection{"weights", "w", always{}, payload | stats(l2, mean)}, losses_too};
constexpr plan in_chains{collection{"weights", "w", always{}, delta{5} | stats(l2, mean)}, losses_too};
constexpr auto kept_alarm = any("loss", maximum > 0.0);
constexpr auto of_weights = any("w", maximum > 2.0);  // at every 97th step

// Takes steps `begin` to `end`; every 97th has an outlier in its weight.
template <class Hook>
void train_steps(Hook& watch, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
        std::vector<float> values = kept_weights(i);
        if (i % 97 == 13) { values[7] = 3; }
        (void)watch.step(train(i), "loss"_t = -1.0F / static_cast<float>(i + 1), "w"_t = values);
        watch.poll();
    }
}
std::uint64_t size_of(std::string const& folder) {
    std::uint64_t bytes = 0;
    for (auto const& each : fs::directory_iterator{folder}) { bytes += each.file_size(); }
    return bytes;
}
double norm_of(std::vector<float> const& values) {
    return measure(l2, summarize(view_of(values.data(), {values.size()}), stats_mask::sum_squares)).value;
}

// Checks a thinned run of `count` steps; returns the steps whose values are there.
std::vector<std::uint64_t> check_run(trial const& run, std::uint64_t count) {
    CHECK(run.damage().empty());
    REQUIRE(run.steps() == trains(0, count));
    std::vector<std::uint64_t> there;
    for (std::uint64_t i = 0; i < count; ++i) {
        INFO("step " << i);
        std::vector<float> expected = kept_weights(i);
        if (i % 97 == 13) { expected[7] = 3; }
        REQUIRE(run["w"].stat(train(i), l2).value() == norm_of(expected));
        REQUIRE(run["loss"].at(train(i)).to<float>().value() == -1.0F / static_cast<float>(i + 1));
        auto const found = run["w"].at(train(i)).to<std::vector<float>>();
        if (found) {
            REQUIRE(std::memcmp(found->data(), expected.data(), sizeof(float) * values_a_step) == 0);
            there.push_back(i);
        } else {
            REQUIRE(found.error().code == errc::no_payload);
        }
    }
    return there;
}
// The steps at which the rule on weights fires in a replay.
std::vector<std::uint64_t> said_of(trial const& run) {
    std::vector<std::uint64_t> found;
    (void)replay(run, of_weights,
                 [&](spotter::step_alarm const& reported) { found.push_back(reported[0].step.index); });
    return found;
}
std::vector<std::uint64_t> const cited{13, 110, 207, 304};

// A step larger than a segment: `w` first, then `others` tensors of the same size. `bad`: `w` has an outlier.
constexpr options many_segments{.drain = drain::poll, .segment_bytes = 64 << 10};
constexpr auto low_others = collection{"others", "*", always{}, payload};
template <class Hook>
void one_wide_step(Hook& watch, std::uint64_t i, std::size_t others, bool bad) {
    std::vector<float> values = kept_weights(i);
    if (bad) { values[7] = 3; }
    watch.begin(train(i));
    watch.observe("w", values);
    for (std::size_t k = 0; k < others; ++k) {
        watch.observe("other/" + std::to_string(k), kept_weights(1000 * i + k));
    }
    (void)watch.end();
    watch.poll();
}
bool has_weights(trial const& run, std::uint64_t step) {
    return static_cast<bool>(run["w"].at(train(step)).to<std::vector<float>>());
}

std::string segment(std::string const& folder, std::size_t number) {
    char name[24];
    return folder + "/" + std::string{name, name_segment(static_cast<std::uint32_t>(number), ".spot", name)};
}
// Calls `take` for each row frame of a segment.
template <class Take>
void each_frame(std::vector<char> const& bytes, Take&& take) {
    frame_walker walk{std::as_bytes(std::span{bytes})};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::rows) { take(walk.frame()); }
    }
}
std::size_t count_segments(std::string const& folder) {
    std::size_t count = 0;
    while (fs::exists(segment(folder, count))) { ++count; }
    return count;
}
std::size_t count_thinned(std::string const& folder) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < count_segments(folder); ++i) {
        std::uint32_t flags = 0;
        each_frame(read_file(segment(folder, i)), [&](row_frame const& frame) { flags |= frame.flags; });
        count += (flags & layout::thinned_segment) != 0 ? 1 : 0;
    }
    return count;
}

// The machine's files; reading one of them fails the first `times` times.
class blind_files : public faulty_file_system {
public:
    blind_files(std::string suffix, int times) : faulty_file_system{~0ULL}, suffix_{std::move(suffix)}, left_{times} {}
    result<std::size_t> read(std::string_view path, std::uint64_t from, std::span<std::byte> into) noexcept override {
        if (left_ > 0 && path.ends_with(suffix_)) {
            --left_;
            return error{errc::io_error, "the test let this file not be read"};
        }
        return faulty_file_system::read(path, from, into);
    }
    [[nodiscard]] bool was_asked() const noexcept { return left_ == 0; }

private:
    std::string suffix_;
    int left_;
};

}  // namespace

TEST_CASE("a run with a limit stays below it: the oldest values go, statistics, scalars and cited values stay") {
    for (bool const with_chains : {false, true}) {
        temporary_folder const folder;
        std::vector<std::uint64_t> there;
        auto const record = [&](auto const& kept) {
            hook watch{folder / "run", kept, kept_alarm, of_weights, limited};
            train_steps(watch, 0, steps);
            watch.finish();
            CHECK(watch.health().good());
            CHECK(watch.health().sink.dropped + watch.health().sink.thinned == 0);
        };
        with_chains ? record(in_chains) : record(whole);
        CHECK(size_of(folder / "run") <= limited.run_bytes);
        CHECK(size_of(folder / "run") > limited.run_bytes / 2);
        trial const run = open(folder / "run");
        CHECK(run.findings().size() == 4);
        there = check_run(run, steps);
        // The newest values, and those that a finding cites.
        REQUIRE(there.size() > 60);
        CHECK(there.size() < steps / 2);
        for (std::uint64_t each : cited) { CHECK(std::find(there.begin(), there.end(), each) != there.end()); }
        CHECK(there.back() == steps - 1);
        CHECK(there.end() - std::find(there.begin(), there.end(), steps - 50) == 50);
        CHECK(static_cast<std::uint64_t>(there[2] - there[1]) == 97);
        // Without the sidecars it reads the same.
        for (auto const& each : fs::directory_iterator{folder / "run"}) {
            if (each.path().extension() == ".spotx") { fs::remove(each.path()); }
        }
        CHECK(check_run(open(folder / "run"), steps) == there);
    }
}

TEST_CASE("replayed, a thinned run says what the loop said, as long as statistics are what the rules ask for") {
    temporary_folder const folder;
    hook watch{folder / "run", whole, of_weights, limited};
    train_steps(watch, 0, steps);
    watch.finish();
    CHECK(said_of(open(watch.path())) == cited);
}

TEST_CASE("a reader sees each step once, whenever it looked before its segment was thinned [S43]") {
    temporary_folder const folder;
    hook watch{folder / "run", whole, of_weights, limited};
    train_steps(watch, 0, 1);
    watch.flush();
    std::vector<trial> readers;
    for (std::uint64_t i = 1; i < steps; i += 3) {
        if (i % 20 == 1) { readers.push_back(open(watch.path())); }
        train_steps(watch, i, std::min(i + 3, steps));
        watch.flush();
        // The first reader looks often. The others look so rarely that what they have read in part is thinned in
        // between.
        for (std::size_t k = 0; k < readers.size(); ++k) {
            if (i % (3 * (60 * k + 2)) == 1) { CHECK(!readers[k].refresh()); }
        }
    }
    watch.finish();
    for (trial& each : readers) {
        CHECK(!each.refresh());
        CHECK(check_run(each, steps).size() >= 60);
        CHECK(each.findings().size() == 4);
        CHECK(each["loss"].history(mean).size() == steps);
        CHECK(said_of(each) == cited);
    }
}

TEST_CASE("a run that is gone on with is thinned from where it was, and what was left half done is no trouble") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", whole, of_weights, limited};
        train_steps(watch, 0, 200);
    }
    write_file(folder / "run/000003.spot.part", std::vector<char>(100, 'x'));
    write_file(folder / "run/000006.spot.part", std::vector<char>(100, 'x'));
    write_file(folder / "run/000900.spot.part", std::vector<char>(100, 'x'));
    options again = limited;
    again.existing = existing::resume;
    hook watch{folder / "run", whole, of_weights, again};
    for (auto const& each : fs::directory_iterator{folder / "run"}) { CHECK(each.path().extension() != ".part"); }
    train_steps(watch, 200, steps);
    watch.finish();
    CHECK(watch.health().good());
    CHECK(size_of(folder / "run") <= limited.run_bytes);
    trial const run = open(watch.path());
    CHECK(run.attempts() == 2);
    CHECK(check_run(run, steps).back() == steps - 1);
}

TEST_CASE("a segment that is damaged keeps what is left of it") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", whole, limited};
        train_steps(watch, 0, 100);
    }
    std::vector<char> bytes = read_file(folder / "run/000001.spot");
    std::uint64_t place = 0;
    std::size_t frames = 0;
    each_frame(bytes, [&](row_frame const& frame) {
        if (++frames == 2) { place = frame.offset + frame.bytes / 2; }
    });
    REQUIRE(place > 0);
    bytes[static_cast<std::size_t>(place)] ^= 1;
    std::vector<char> head = read_file(folder / "run/000002.spot");
    head[20] ^= 1;
    write_file(folder / "run/000001.spot", bytes);
    write_file(folder / "run/000002.spot", head);
    options again = limited;
    again.existing = existing::resume;
    hook watch{folder / "run", whole, again};
    train_steps(watch, 100, steps);
    watch.finish();
    CHECK(watch.health().good());
    CHECK(read_file(folder / "run/000001.spot") == bytes);
    CHECK(read_file(folder / "run/000002.spot") == head);
    CHECK(count_thinned(folder / "run") > 2);  // later segments are thinned
}

TEST_CASE("what a finding is about stays, however many segments its step takes, and however small the limit") {
    for (std::uint64_t const limit : {std::uint64_t{1} << 20, std::uint64_t{256} << 10}) {
        temporary_folder const folder;
        options choices = many_segments;
        choices.run_bytes = limit;
        hook watch{folder / "run", plan{low_others}, of_weights, choices};
        for (std::uint64_t i = 0; i < 12; ++i) { one_wide_step(watch, i, 40, i == 2 || i == 5); }
        watch.finish();
        CHECK(watch.health().good());
        REQUIRE(count_segments(folder / "run") > 36);
        trial const run = open(watch.path());
        CHECK(run.damage().empty());
        CHECK(run.findings().size() == 2);
        CHECK(has_weights(run, 2));
        CHECK(has_weights(run, 5));
        CHECK_FALSE(has_weights(run, 1));
        CHECK_FALSE(has_weights(run, 8));
    }
}

TEST_CASE("a segment that cannot be looked at for once is waited for; its disk may know what findings are about") {
    for (std::size_t number = 1; number < 12; ++number) {
        INFO(number);
        temporary_folder const folder;
        options choices = many_segments;
        choices.run_bytes = 256 << 10;
        blind_files files{segment("", number), 1};
        recorder record{folder / "run", choices, files};
        {
            hook watch{record, plan{low_others}, of_weights};
            for (std::uint64_t i = 0; i < 12; ++i) { one_wide_step(watch, i, 10, i == 2 || i == 3 || i == 4); }
            watch.finish();
        }
        CHECK(files.was_asked());
        CHECK(record.health().first_error.code == errc::io_error);
        trial const run = open(folder / "run");
        CHECK(run.damage().empty());
        for (std::uint64_t const step : {2U, 3U, 4U}) { CHECK(has_weights(run, step)); }
        CHECK_FALSE(has_weights(run, 7));
        CHECK(size_of(folder / "run") < (256 << 10) + 300'000);  // and the three segments
    }
}

TEST_CASE("a segment whose next one is damaged stays as it is: its findings may have stood there") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{low_others}, of_weights, many_segments};
        for (std::uint64_t i = 0; i < 12; ++i) { one_wide_step(watch, i, 10, i == 3); }
    }
    // The frame with the finding and the first close of its segment: so the step began in the segment before.
    std::size_t at = 0;
    for (std::size_t i = 0; at == 0 && i < count_segments(folder / "run"); ++i) {
        std::vector<char> bytes = read_file(segment(folder / "run", i));
        std::uint64_t closes = 0, place = 0;
        each_frame(bytes, [&](row_frame const& frame) {
            bool const reported = (frame.flags & layout::has_findings) != 0;
            if (reported && closes == 0) { place = frame.offset + frame.bytes / 2; }
            closes += frame.closes;
        });
        if (place == 0) { continue; }
        at = i;
        bytes[static_cast<std::size_t>(place)] ^= 1;
        write_file(segment(folder / "run", i), bytes);
    }
    REQUIRE(at > 0);
    std::vector<char> const before = read_file(segment(folder / "run", at - 1));
    options again = many_segments;
    again.existing = existing::resume;
    again.run_bytes = 256 << 10;
    hook watch{folder / "run", plan{low_others}, of_weights, again};
    for (std::uint64_t i = 12; i < 40; ++i) { one_wide_step(watch, i, 10, false); }
    watch.finish();
    CHECK(watch.health().good());
    CHECK(read_file(segment(folder / "run", at - 1)) == before);
    CHECK(count_thinned(folder / "run") + 6 > count_segments(folder / "run"));
}

TEST_CASE("a run that is gone on with below a smaller limit comes down to it two segments at a time") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", whole, many_segments};
        train_steps(watch, 0, 120);
    }
    std::size_t const before = count_segments(folder / "run");
    REQUIRE(before > 20);
    options again = many_segments;
    again.existing = existing::resume;
    again.run_bytes = 256 << 10;
    hook watch{folder / "run", whole, again};
    std::size_t most = 0, had = 0, closed = before;
    for (std::uint64_t i = 120; i < steps; ++i) {
        train_steps(watch, i, i + 1);
        watch.flush();
        if (count_segments(folder / "run") == closed + 1) { continue; }
        closed = count_segments(folder / "run") - 1;
        std::size_t const now = count_thinned(folder / "run");
        most = std::max(most, now - had);
        had = now;
    }
    watch.finish();
    CHECK(most == 2);
    CHECK(size_of(folder / "run") <= again.run_bytes + 20 * (closed + 1) + 100'000);
    (void)check_run(open(folder / "run"), steps);
}

TEST_CASE("what was left half done goes with the run that replaces it, or with one that has no limit") {
    temporary_folder const folder;
    for (existing const what : {existing::resume, existing::replace}) {
        options choices = many_segments;
        choices.existing = what;
        {
            hook watch{folder / "run", whole, choices};
            train_steps(watch, 0, 5);
        }
        write_file(folder / "run/000002.spot.part", std::vector<char>(100, 'x'));
        hook watch{folder / "run", whole, choices};
        CHECK_FALSE(fs::exists(folder / "run/000002.spot.part"));
        watch.finish();
        CHECK(watch.health().good());
    }
}
