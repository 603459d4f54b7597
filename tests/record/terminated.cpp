// SPDX-License-Identifier: Apache-2.0
// Windows: the ring in shared memory of a process that was terminated from outside, or terminates itself.
#if defined(_WIN32)

#include <tests/record/train_steps.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/this_program.hpp>

#include <spotter/core/clock.hpp>
#include <spotter/spotter.hpp>

using namespace spotter_test;
using namespace spotter::literals;

namespace {

// A tally in named memory that both processes share.
class reported_tally {
public:
    explicit reported_tally(std::string const& name)
        : section_{::CreateFileMappingA(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0, sizeof(tally), name.c_str())},
          tally_{static_cast<tally*>(::MapViewOfFile(section_, FILE_MAP_WRITE, 0, 0, sizeof(tally)))} {}
    reported_tally(reported_tally const&) = delete;
    reported_tally& operator=(reported_tally const&) = delete;
    ~reported_tally() {
        (void)::UnmapViewOfFile(tally_);
        (void)::CloseHandle(section_);
    }
    tally* operator->() const { return tally_; }
    tally& operator*() const { return *tally_; }

private:
    HANDLE section_;
    tally* tally_;
};
std::string tally_of(std::string const& path) {
    std::string name = "spotter-tally";
    for (char const each : path) { name += each == '/' || each == '\\' || each == ':' ? '-' : each; }
    return name;
}

constexpr std::uint64_t some_steps = 23;

}  // namespace

TEST_CASE("a process that records some steps and dies, its writer idle", "[.]") {
    reported_tally const done{tally_of(reported())};
    options choices = shared(drain::poll);
    choices.ring_bytes = 4 << 20;
    recorder sink{reported(), choices};
    declare(sink);
    for (std::uint64_t step = 0; step < some_steps; ++step) {
        scalar(sink, step, static_cast<double>(step));
        ++done->records;
        observe(sink, 1, step, sizes[step % 4]);
        ++done->records;
        sink.close(train(step), {});
        ++done->closes;
    }
    die();
}
TEST_CASE("a process that records until it is killed", "[.]") {
    reported_tally const done{tally_of(reported())};
    recorder sink{reported(), shared(drain::thread, 1 << 20)};
    declare(sink);
    train_steps(sink, 0, 1'000'000, *done);
}
TEST_CASE("a process with a flight recorder that dies", "[.]") {
    hook watch{reported(), plan<>{}, options{.drain = drain::poll, .flight_bytes = 1 << 20}};
    for (std::uint64_t step = 0; step < some_steps; ++step) {
        (void)watch.step(train(step), "w"_t = values_of(step, 1000));
    }
    die();
}

TEST_CASE("what a process had committed to its ring when it died is in the record once it is recovered, and its ring "
          "is gone") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    reported_tally const done{tally_of(path)};
    this_program_again child{"a process that records some steps and dies\\, its writer idle", path};
    REQUIRE(child.started());
    CHECK(child.wait() == this_program_again::killed_with);
    REQUIRE(done->closes == some_steps);
    CHECK(read_run(path).closes.empty());  // in the ring only
    REQUIRE(std::filesystem::exists(path + "/ring"));
    auto const recovery = recover(path);
    REQUIRE(recovery);
    INFO(recovery->first_error.what.view());
    CHECK((recovery->rings == 1 && recovery->closes == some_steps && recovery->entries >= 2 * some_steps &&
           !recovery->first_error));
    run_on_disk const run = read_run(path);
    CHECK(run.closes.size() == some_steps);
    check_record(run, *done);
    CHECK_FALSE(std::filesystem::exists(path + "/ring"));
    CHECK(recover(path)->rings == 0);
}

TEST_CASE("killed at any moment while its writer is at work, a process leaves all it had committed, and the run is "
          "gone on with in a ring of its own") {
    for (int i = 0; i < 4; ++i) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        reported_tally const done{tally_of(path)};
        {
            this_program_again child{"a process that records until it is killed", path};
            REQUIRE(child.started());
            for (int waited = 0; waited < 2000 && done->closes < 20; ++waited) { detail::nap(5000); }
            REQUIRE(done->closes >= 20);
            CHECK(recover(path)->live == 1);  // left alone while it lives
            detail::nap(static_cast<std::uint32_t>(7'000 * i));
            CHECK(child.kill() == this_program_again::killed_with);
        }
        std::uint64_t const closes = done->closes;
        if (i % 2 == 0) {
            auto const recovery = recover(path);
            REQUIRE(recovery);
            CHECK((recovery->rings == 1 && !recovery->first_error));
        } else {
            options choices = shared();
            choices.existing = existing::resume;
            recorder sink{path, choices};
            sink.finish({});
            CHECK_FALSE(sink.health().first_error);
        }
        run_on_disk const run = read_run(path);
        CHECK(run.closes.size() >= closes);
        check_record(run, *done);
        CHECK_FALSE(std::filesystem::exists(path + "/ring"));
    }
}

TEST_CASE("what a process had in its flight recorder when it died is a flight once it is recovered") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    this_program_again child{"a process with a flight recorder that dies", path};
    REQUIRE(child.started());
    CHECK(child.wait() == this_program_again::killed_with);
    auto const recovery = recover(path);
    REQUIRE(recovery);
    CHECK((recovery->rings == 1 && !recovery->first_error));
    run_on_disk const flight = read_run(path + "/flight");
    REQUIRE(flight.values.size() == some_steps);
    for (std::size_t i = 0; i < some_steps; ++i) {
        auto const expected = values_of(i, 1000);
        REQUIRE(flight.values[i].row.step == train(i));
        REQUIRE(flight.values[i].values.size() == expected.size() * sizeof(float));
        CHECK(std::memcmp(flight.values[i].values.data(), expected.data(), flight.values[i].values.size()) == 0);
    }
}

#endif
