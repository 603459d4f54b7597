// SPDX-License-Identifier: Apache-2.0
// Records that were cut or changed: they open or name the error, and never give a wrong value.
#include <tests/trial/runs.hpp>

#include <cstring>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::uint64_t step_count = 24;
constexpr std::size_t size = 700;

// Values that do not compress, so that most bytes of the record are payload.
std::vector<float> values_at(std::uint64_t step) {
    std::vector<float> values(size);
    std::uint64_t state = step + 1;
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<float>(static_cast<double>(state >> 40) * 0x1p-24);
    }
    return values;
}

// A run of one segment, in `folder/run`.
std::string record(temporary_folder const& folder) {
    hook watch{folder / "run",
               plan{collection{"x", "x", always{}, payload | stats(l2)}, collection{"y", "y", always{}, stats(mean)}}};
    for (std::uint64_t i = 0; i < step_count; ++i) {
        (void)watch.step(train(i), "x"_t = values_at(i), "y"_t = static_cast<double>(i));
        if (i % 3 == 2) { watch.flush(); }  // rows reach the file at every third step
    }
    watch.finish();
    return folder / "run/000000.spot";
}

struct seen {
    std::uint64_t right = 0, wrong = 0, missing = 0;  // values of x
    std::uint64_t means = 0;                          // of y
};
// Reads all that can be read; every value that is read must be the written one.
seen read_all(trial const& run) {
    seen found;
    for (std::uint64_t i = 0; i < step_count; ++i) {
        auto const value = run["x"].at(train(i)).to<std::vector<float>>();
        if (value) {
            ++(std::memcmp(value->data(), values_at(i).data(), size * sizeof(float)) == 0 ? found.right : found.wrong);
        } else {
            ++found.missing;
        }
        auto const mean_of_y = run["y"].stat(train(i), mean);
        if (mean_of_y) { found.wrong += *mean_of_y == static_cast<double>(i) ? 0U : 1U, ++found.means; }
    }
    return found;
}

}  // namespace

TEST_CASE("a record cut at any byte opens and holds a prefix that ends in a closed step [D04]") {
    temporary_folder const folder;
    std::string const path = record(folder);
    auto const whole = read_file(path);
    std::filesystem::remove(folder / "run/000000.spotx");
    std::uint64_t steps_before = 0;
    for (std::size_t cut = 0; cut < whole.size(); cut += 997) {
        write_file(path, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)});
        trial const run = open(folder / "run");
        INFO(cut);
        CHECK(run.status() == run_status::died);
        CHECK(run.steps() == trains(0, run.steps().size()));
        CHECK(run.steps().size() >= steps_before);
        CHECK(run.damage().empty());
        steps_before = run.steps().size();
        seen const found = read_all(run);
        CHECK(found.wrong == 0);
        CHECK(found.right >= steps_before);
        CHECK(run["x"].steps().size() == steps_before);
    }
    CHECK(steps_before + 4 >= step_count);
}

TEST_CASE("without its sidecar, or with half of one, a record is read all the same [D05]") {
    temporary_folder const folder;
    std::string const path = record(folder);
    std::string const side = folder / "run/000000.spotx";
    REQUIRE(std::filesystem::exists(side));
    auto const bytes = read_file(side);
    for (std::size_t cut : {bytes.size() / 2, std::size_t{1}, std::size_t{0}}) {
        write_file(side, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)});
        CHECK(read_all(open(folder / "run")).right == step_count);
    }
    std::filesystem::remove(side);
    trial const run = open(folder / "run");
    CHECK(run.status() == run_status::finished);
    CHECK(read_all(run).right == step_count);
}

TEST_CASE("a flipped bit never gives a wrong value, and what it does not touch can be read [D06]") {
    temporary_folder const folder;
    std::string const path = record(folder);
    auto const whole = read_file(path);
    std::filesystem::remove(folder / "run/000000.spotx");
    std::uint64_t corrupt = 0;
    for (std::size_t place = 64; place < whole.size(); place += 991) {
        auto bytes = whole;
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << (place % 8)));
        write_file(path, bytes);
        auto opened = open_trial(folder / "run");
        INFO(place);
        REQUIRE(opened);
        seen const found = read_all(*opened);
        CHECK(found.wrong == 0);
        if (opened->damage().empty() && opened->status() == run_status::finished) {
            CHECK(found.right + 1 >= step_count);  // payload: one value is lost, nothing else
            CHECK(found.means == step_count);
            corrupt += found.missing;
        }
        for (std::uint64_t i = 0; i < step_count && found.missing == 1 && opened->damage().empty(); ++i) {
            error const why = (*opened)["x"].at(train(i)).error();
            CHECK((!why || why.code == errc::corrupt));
        }
    }
    CHECK(corrupt > 10);
}

TEST_CASE("a changed head is named, or read over; it is never read as something else") {
    temporary_folder const folder;
    std::string const path = record(folder);
    auto const whole = read_file(path);
    for (std::size_t place = 0; place < 64; ++place) {
        auto bytes = whole;
        bytes[place] = static_cast<char>(bytes[place] ^ 0x10);
        write_file(path, bytes);
        auto const opened = open_trial(folder / "run");
        INFO(place);
        if (opened) {
            CHECK(read_all(*opened).wrong == 0);
        } else {
            CHECK((opened.error().code == errc::not_a_run || opened.error().code == errc::unknown_version));
        }
    }
}

TEST_CASE("what is no run is not_a_run, and the text says which folder to give [A32]") {
    temporary_folder const folder;
    std::filesystem::create_directory(folder / "empty");
    std::filesystem::create_directory(folder / "other");
    write_file(folder / "other/000000.spot", std::vector<char>(500, 'x'));
    write_file(folder / "file", {'a'});
    (void)record(folder);
    for (char const* name : {"missing", "empty", "other", "file", "run/000000.spot", "", "file/below"}) {
        auto const opened = open_trial(folder / name);
        INFO(name);
        REQUIRE(!opened);
        CHECK(opened.error().code == errc::not_a_run);
        CHECK(opened.error().what.view().find("hook.path()") != std::string_view::npos);
    }
    CHECK(open_trial("").error().code == errc::not_a_run);
    CHECK(open_trial(folder / "run/"));
}

TEST_CASE("a missing segment in the middle ends what can be read, and the rest is not lost in silence") {
    temporary_folder const folder;
    options const small{.segment_bytes = 4096};
    {
        hook watch{folder / "run", everything, small};
        for (std::uint64_t i = 0; i < step_count; ++i) { (void)watch.step(train(i), "x"_t = values_at(i)); }
    }
    REQUIRE(std::filesystem::exists(folder / "run/000003.spot"));
    std::filesystem::remove(folder / "run/000002.spot");
    trial const run = open(folder / "run");
    CHECK(read_all(run).wrong == 0);
    CHECK(run.steps().size() > 2);
    CHECK((run.status() != run_status::finished || !run.damage().empty()));
}

TEST_CASE("a file that begins as a segment does, with noise behind, is corrupt; one of noise alone is no run [A32]") {
    temporary_folder const folder;
    std::vector<char> const whole = read_file(record(folder));
    std::filesystem::remove(folder / "run/000000.spotx");
    auto const open_with = [&](std::size_t kept, std::size_t length) {
        std::vector<char> bytes{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)};
        for (std::uint32_t state = 7; bytes.size() < length;) {
            state = state * 1664525U + 1013904223U;
            bytes.push_back(static_cast<char>(state >> 24));
        }
        write_file(folder / "run/000000.spot", bytes);
        return open_trial(folder / "run").error().code;
    };
    for (std::size_t const length : {64UL, 65UL, 1000UL, 40000UL}) {
        for (std::size_t const kept : {4UL, 16UL, 40UL, 63UL}) { CHECK(open_with(kept, length) == errc::corrupt); }
        CHECK(open_with(0, length) == errc::not_a_run);
        CHECK(open_with(64, length) == errc::none);  // with a whole head it is a run whose rest is lost
    }
    CHECK(open_with(0, 0) == errc::none);  // an empty file: a run that has just begun
}
