// SPDX-License-Identifier: Apache-2.0
// Merged sidecars of many workers: the run reads as without them, even if the merged file or a worker changed since.
#include <tests/file/faulty_files.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/workbench/compact.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::uint32_t set_workers = 7;

void record_worker(std::string const& path, std::uint32_t worker, std::uint64_t first, std::uint64_t count,
                   bool finish = true) {
    options choices{.ring_bytes = 1 << 16, .worker = worker, .workers = set_workers};
    choices.drain = drain::poll;
    choices.existing = existing::resume;
    choices.segment_bytes = 4096;
    hook watch{path, everything, any("loss", maximum > 100.0) | named{"high_loss"}, choices};
    std::vector<float> values(200);
    for (std::uint64_t i = first; i < first + count; ++i) {
        for (std::size_t k = 0; k < values.size(); ++k) { values[k] = static_cast<float>(worker * 1000 + i * 10 + k); }
        (void)watch.step(train(i), "w"_t = values, "loss"_t = worker == 3 && i == 4 ? 200.0 : 1.0);
        watch.poll();
    }
    if (worker == 5) { watch.fail("by hand"); }
    if (finish) { watch.finish(); }
    if (!finish) { ::raise(SIGKILL); }
}

void record_all(std::string const& path) {
    for (std::uint32_t worker = 0; worker + 1 < set_workers; ++worker) { record_worker(path, worker, 0, 8); }
    in_killed_child([&] { record_worker(path, set_workers - 1, 0, 8, false); });
}

std::string set_of(std::string const& path) { return path + '/' + layout::set_name; }

// All that a run with several workers contains, as text.
std::string said_by(std::string const& path) {
    trial const run = open(path);
    std::string text{name_of(run.status())};
    for (std::uint32_t const each : run.workers()) {
        text += '\n' + std::to_string(each) + ' ' + std::string{name_of(run.status(worker{each}).value())} + ' ' +
                std::to_string(run.steps(worker{each}).size()) + ' ' +
                std::to_string(run.age(worker{each}).value() < 1e6);
        for (step_id const step : run.steps(worker{each})) {
            text += ' ' + std::to_string(run["w"].of(worker{each}).stat(step, spotter::sum).value());
        }
    }
    text += '\n' + std::string{run.why_ended()} + ' ' + std::to_string(run.expected_workers());
    for (std::string const& name : run.names()) { text += ' ' + name; }
    for (finding const& each : run.findings()) {
        text +=
            '\n' + std::string{each.rule} + ' ' + std::to_string(each.worker) + ' ' + std::to_string(each.step.index);
    }
    return text + '\n' + std::to_string(run.damage().size()) + ' ' + std::to_string(run.totals().stored) + ' ' +
           std::to_string(run.totals().bytes);
}

}  // namespace

TEST_CASE("a run says the same once its sidecars are merged, and merging again makes the same file") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_all(path);
    std::string const before = said_by(path);
    auto const done = compact_run(path);
    REQUIRE(done);
    CHECK(done->workers == set_workers);
    CHECK(done->left_out == 0);
    CHECK(done->bytes == std::filesystem::file_size(set_of(path)));
    std::vector<char> const set = read_file(set_of(path));
    CHECK(said_by(path) == before);
    REQUIRE(compact_run(path + '/'));
    CHECK(read_file(set_of(path)) == set);
    CHECK_FALSE(std::filesystem::exists(set_of(path) + ".part"));
    // The merged file is used: the workers' own sidecars are removed here.
    for (auto const& each : std::filesystem::recursive_directory_iterator(path)) {
        if (each.path().extension() == ".spotx" && each.path().filename() != layout::set_name) {
            std::filesystem::remove(each);
        }
    }
    CHECK(said_by(path) == before);
    REQUIRE(compact_run(path));
    CHECK(said_by(path) == before);
}

TEST_CASE("a worker that was resumed, cut or replaced since opens as it is now") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_all(path);
    REQUIRE(compact_run(path));
    trial live = open(path);
    record_worker(path, 2, 8, 4);
    CHECK(open(path).steps(worker{2}) == trains(0, 12));
    CHECK(open(path).status(worker{2}).value() == run_status::finished);
    REQUIRE_FALSE(live.refresh());
    CHECK(live.steps(worker{2}) == trains(0, 12));
    CHECK(live.steps(worker{1}) == trains(0, 8));
    {
        options choices{.existing = existing::resume, .worker = 4, .workers = set_workers};
        hook watch{path, everything, choices};
        (void)watch.step(train(8), "loss"_t = 1.0);
        watch.flush();
        CHECK(open(path).status(worker{4}).value() == run_status::running);
        auto const done = compact_run(path);
        REQUIRE(done);
        CHECK(done->left_out == 1);
        CHECK(open(path).status(worker{4}).value() == run_status::running);
    }
    CHECK(open(path).steps(worker{4}) == trains(0, 9));
    {
        options const choices{.existing = existing::replace, .workers = set_workers};
        hook watch{path, everything, choices};
        CHECK_FALSE(std::filesystem::exists(set_of(path)));
        (void)watch.step(train(0), "loss"_t = 1.0);
    }
    CHECK(open(path).workers() == std::vector<std::uint32_t>{0});
}

TEST_CASE("a set that is damaged, short or another run's changes nothing") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_all(path);
    std::string const before = said_by(path);
    REQUIRE(compact_run(path));
    std::vector<char> const set = read_file(set_of(path));
    for (std::size_t place = 0; place < set.size(); place += place < 600 ? 7 : 97) {
        INFO(place);
        std::vector<char> wrong = set;
        wrong[place] = static_cast<char>(wrong[place] ^ 0x10);
        write_file(set_of(path), wrong);
        CHECK(said_by(path) == before);
        wrong = set;
        wrong.resize(place);
        write_file(set_of(path), wrong);
        CHECK(said_by(path) == before);
    }
    std::string const other = folder / "other";
    for (std::uint32_t worker = 0; worker < 3; ++worker) { record_worker(other, worker, 0, 3); }
    REQUIRE(compact_run(other));
    std::filesystem::copy_file(set_of(other), set_of(path), std::filesystem::copy_options::overwrite_existing);
    CHECK(said_by(path) == before);
}

TEST_CASE("whatever fails while sidecars are merged, the old set is there or the new one") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_all(path);
    std::string const before = said_by(path);
    faulty_file_system sound{0};
    REQUIRE(compact_run(path, sound));
    std::uint64_t failed = 0;
    for (std::uint64_t at = 1; at <= sound.operations(); ++at) {
        faulty_file_system files{at, at % 2 == 0};
        failed += compact_run(path, files) ? 0 : 1;
        if (at % 10 == 0 || at + 20 > sound.operations()) { CHECK(said_by(path) == before); }
    }
    CHECK(failed > 10);
    CHECK(said_by(path) == before);
    // The rest of a killed merge does not matter.
    write_file(set_of(path) + ".part", {'x', 'y'});
    REQUIRE(compact_run(path));
    CHECK_FALSE(std::filesystem::exists(set_of(path) + ".part"));
    auto const held = system_files().lock(set_of(path) + ".part");
    REQUIRE(held);
    CHECK(compact_run(path).error().code == errc::busy);
    system_files().unlock(*held);
    CHECK(compact_run(path + "/worker-2").error().code == errc::not_a_run);
    CHECK(compact_run(folder / "nothing").error().code == errc::not_a_run);
}

TEST_CASE(
    "SIGKILL at random instants while sidecars are merged: the run says what it says, and the next merge is whole") {
    char const* const wanted = std::getenv("SPOTTER_KILLS");  // 200 when run by hand
    int const kills = wanted != nullptr ? std::atoi(wanted) : 20;
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_all(path);
    std::string const before = said_by(path);
    REQUIRE(compact_run(path));
    std::vector<char> const whole = read_file(set_of(path));
    std::mt19937 random{5};
    int amid = 0;
    for (int i = 0; i < kills; ++i) {
        std::filesystem::remove(set_of(path));
        pid_t const child = ::fork();
        if (child == 0) { ::_exit(compact_run(path) ? 0 : 1); }
        std::this_thread::sleep_for(std::chrono::microseconds{std::uniform_int_distribution<int>{0, 3000}(random)});
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        amid += WIFSIGNALED(status) ? 1 : 0;
        CHECK((!std::filesystem::exists(set_of(path)) || read_file(set_of(path)) == whole));
        if (i % 10 == 0) { CHECK(said_by(path) == before); }
    }
    CHECK(amid > 0);
    REQUIRE(compact_run(path));
    CHECK(read_file(set_of(path)) == whole);
    CHECK_FALSE(std::filesystem::exists(set_of(path) + ".part"));
}

TEST_CASE("a sidecar that knows more than its segment is reported as damage, also once sidecars are merged") {
    constexpr std::uint64_t steps_each = 12;
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/worker-1/000001.spot";
    for (std::uint32_t const number : {0U, 1U}) {
        for (double const attempt : {0.0, 100.0}) {
            hook watch{path, everything, options{.existing = existing::resume, .worker = number, .workers = 2}};
            for (std::uint64_t i = 0; i < steps_each; ++i) {
                (void)watch.step(train(i), "x"_t = attempt + static_cast<double>(i),
                                 "v"_t = std::vector<float>(5, 1.0F));
                if (i % 3 == 1) { watch.flush(); }
            }
        }
    }
    std::vector<char> const whole = read_file(file);
    write_file(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() / 2)});
    auto const check = [&] {
        trial const run = open(path);
        REQUIRE(run.damage().size() == 1);
        CHECK(run.damage()[0].file == file);
        std::uint64_t corrupt = 0;
        for (std::uint64_t i = 0; i < steps_each; ++i) {
            recorded_value const value = run["x"].at(train(i), worker{1});
            if (!value) { ++corrupt; }
            CHECK((value ? value.to<double>().value() == 100.0 + static_cast<double>(i)
                         : value.error().code == errc::corrupt));
        }
        CHECK(corrupt > 2);
    };
    check();
    REQUIRE(compact_run(path));
    for (auto const& each : std::filesystem::directory_iterator{path + "/worker-1"}) {
        // Only the merged file is left.
        if (each.path().extension() == ".spotx") { std::filesystem::remove(each.path()); }
    }
    check();
}
