// SPDX-License-Identifier: Apache-2.0
// Retention: a run with a limit keeps its newest values, all that was computed of the older ones, and what findings are about.
#include <tests/trial/runs.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/replay.hpp>

#include <cstring>
#include <memory>
#include <numeric>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t values_each = 4096;  // 16 KiB a step, which hardly compress
constexpr std::uint64_t steps = 400;
constexpr options limited{.drain = drain::poll, .segment_bytes = 256 << 10, .run_bytes = 2 << 20};

std::vector<float> weights_at(std::uint64_t step) {
    std::vector<float> values(values_each);
    std::uint64_t state = step + 1;
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<float>(state >> 40) * 0x1p-24F - 0.5F;
    }
    return values;
}

constexpr auto losses_too = collection{"losses", "loss", always{}, payload};
constexpr plan whole{collection{"weights", "w", always{}, payload | stats(l2, mean)}, losses_too};
constexpr plan chained{collection{"weights", "w", always{}, delta{5} | stats(l2, mean)}, losses_too};
constexpr auto seldom = any("loss", maximum > 0.0);
constexpr auto of_weights = any("w", maximum > 2.0);  // at every 97th step

// Steps `begin` to `end`; every 97th has a weight that stands out.
template <class Hook>
void train_steps(Hook& watch, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
        std::vector<float> values = weights_at(i);
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
    return measure(l2, summarize(view_of(values.data(), {values.size()}), terms::sum_squares)).value;
}

// What must hold of a thinned run of so many steps. The steps whose values are there.
std::vector<std::uint64_t> check_run(trial const& run, std::uint64_t count) {
    CHECK(run.damage().empty());
    REQUIRE(run.steps() == trains(0, count));
    std::vector<std::uint64_t> there;
    for (std::uint64_t i = 0; i < count; ++i) {
        INFO("step " << i);
        std::vector<float> expected = weights_at(i);
        if (i % 97 == 13) { expected[7] = 3; }
        REQUIRE(run["w"].stat(train(i), l2).value() == norm_of(expected));
        REQUIRE(run["loss"].at(train(i)).to<float>().value() == -1.0F / static_cast<float>(i + 1));
        auto const found = run["w"].at(train(i)).to<std::vector<float>>();
        if (found) {
            REQUIRE(std::memcmp(found->data(), expected.data(), sizeof(float) * values_each) == 0);
            there.push_back(i);
        } else {
            REQUIRE(found.error().code == errc::no_payload);
        }
    }
    return there;
}
// What the rule on weights says of a record: the steps.
std::vector<std::uint64_t> said_of(trial const& run) {
    std::vector<std::uint64_t> found;
    (void)replay(run, of_weights, [&](spotter::alarm const& told) { found.push_back(told[0].step.index); });
    return found;
}
std::vector<std::uint64_t> const cited{13, 110, 207, 304};

}  // namespace

TEST_CASE("a run with a limit stays below it: the oldest values go, statistics, scalars and cited values stay") {
    for (bool const with_chains : {false, true}) {
        temporary_folder const folder;
        std::vector<std::uint64_t> there;
        auto const record = [&](auto const& kept) {
            hook watch{folder / "run", kept, seldom, of_weights, limited};
            train_steps(watch, 0, steps);
            watch.finish();
            CHECK(watch.health().good());
            CHECK(watch.health().sink.dropped + watch.health().sink.thinned == 0);
        };
        with_chains ? record(chained) : record(whole);
        CHECK(size_of(folder / "run") <= limited.run_bytes);
        CHECK(size_of(folder / "run") > limited.run_bytes / 2);
        trial const run = open(folder / "run");
        CHECK(run.findings().size() == 4);
        there = check_run(run, steps);
        // The newest, and those that a finding is about.
        REQUIRE(there.size() > 60);
        CHECK(there.size() < steps / 2);
        for (std::uint64_t each : cited) { CHECK(std::find(there.begin(), there.end(), each) != there.end()); }
        CHECK(there.back() == steps - 1);
        CHECK(there.end() - std::find(there.begin(), there.end(), steps - 50) == 50);
        CHECK(static_cast<std::uint64_t>(there[2] - there[1]) == 97);
        // Without the sidecars it reads alike.
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
        // The first looks often, the others so seldom that what they know in part is thinned meanwhile.
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
    options again = limited;
    again.existing = existing::resume;
    hook watch{folder / "run", whole, of_weights, again};
    train_steps(watch, 200, steps);
    watch.finish();
    CHECK(watch.health().good());
    CHECK(size_of(folder / "run") <= limited.run_bytes + 200);
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
    bytes[bytes.size() / 2] ^= 1;
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
    CHECK(read_file(folder / "run/000002.spot") == head);
}
