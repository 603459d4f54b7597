// SPDX-License-Identifier: Apache-2.0
// Several workers of one run, read as one.
#include <tests/trial/runs.hpp>

#include <spotter/format/checksum.hpp>

#include <chrono>
#include <csignal>
#include <cstring>
#include <limits>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

using numbers = std::vector<std::uint32_t>;

options as_worker(std::uint32_t number, std::uint32_t of = 0) {
    return options{.ring_bytes = 1 << 16, .worker = number, .workers = of};
}
// Steps from `first` to `end`, with "x" combined of the worker's number and the step's.
template <class Watch>
void record(Watch& watch, std::uint32_t number, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
        (void)watch.step(train(i), "x"_t = 1000.0 * number + static_cast<double>(i));
    }
}
void record_whole(std::string const& path, std::uint32_t number, std::uint64_t first, std::uint64_t end) {
    hook watch{path, everything, as_worker(number)};
    record(watch, number, first, end);
}
double value_at(track const& it, step_id step) { return it.at(step).to<double>().value_or(-1); }

// The offset of these values in a file; values so small are stored uncompressed.
template <class Value>
std::size_t find_values(std::vector<char> const& bytes, std::vector<Value> const& values) {
    std::string_view const file{bytes.data(), bytes.size()};
    return file.find({reinterpret_cast<char const*>(values.data()), values.size() * sizeof(Value)});
}

}  // namespace

TEST_CASE("workers 0 and 1 are at step 6, worker 2 is silent since step 2 but alive: closed by all, by any, and "
          "undecided [S52]") {
    temporary_folder const folder;
    hook zero{folder / "run", everything, as_worker(0)};
    hook one{folder / "run", everything, as_worker(1)};
    hook two{folder / "run", everything, as_worker(2)};
    record(zero, 0, 0, 7), record(one, 1, 0, 7), record(two, 2, 0, 3);
    zero.flush(), one.flush(), two.flush();
    trial run = open(folder / "run");
    CHECK(run.workers() == numbers{0, 1, 2});
    CHECK(run.steps(closed_by::all) == trains(0, 3));
    CHECK(run.steps(closed_by::any) == trains(0, 7));
    CHECK(run.steps() == trains(0, 7));
    CHECK(run.steps(mode::train, closed_by::all) == trains(0, 3));
    CHECK(run.steps(between{1, 5}, closed_by::all) == trains(1, 3));
    CHECK(run.steps(worker{2}) == trains(0, 3));
    CHECK(run.steps(worker{9}).empty());
    CHECK(run.state(train(2)) == step_state::present);
    CHECK(run.state(train(4)) == step_state::pending);
    CHECK(run.state(train(4), worker{0}).value_or(step_state::absent) == step_state::present);
    CHECK(run.state(train(4), worker{2}).value_or(step_state::absent) == step_state::pending);
    CHECK(run.state(train(4), worker{9}).error().code == errc::no_such_worker);
    CHECK(run.wait(train(2), std::chrono::milliseconds{0}).code == errc::none);
    CHECK(run.wait(train(4), std::chrono::milliseconds{30}).code == errc::not_yet);
    CHECK(run.status() == run_status::running);
    CHECK(run.status(worker{2}).value_or(run_status::died) == run_status::running);
    CHECK(run.status(worker{9}).error().code == errc::no_such_worker);
    CHECK(!run.over());
    CHECK(run.closed_steps() == 17);
    CHECK(value_at(run["x"], train(4)) == 4);
    CHECK(run["x"].at(train(4), worker{1}).to<double>().value_or(0) == 1004);
    CHECK(run["x"].at(train(4), worker{2}).error().code == errc::not_yet);
    CHECK(run["x"].at(train(4), worker{9}).error().code == errc::no_such_worker);
    CHECK(run["x"].at(train(7)).error().code == errc::not_yet);

    SECTION("after a normal end of all, 0 to 6 are present [S53]") {
        zero.finish(), one.finish(), two.finish();
        CHECK(run.state(train(4)) == step_state::pending);  // a snapshot
        REQUIRE(!run.refresh());
        for (step_id step : trains(0, 7)) { CHECK(run.state(step) == step_state::present); }
        CHECK(run.state(train(7)) == step_state::absent);
        CHECK(run.steps() == trains(0, 7));
        CHECK(run.steps(closed_by::all) == trains(0, 3));
        CHECK(run.status() == run_status::finished);
        CHECK(run.over());
        CHECK(run.wait(train(7), std::chrono::seconds{9}).code == errc::no_more_data);
        CHECK(run["x"].at(train(4), worker{2}).error().code == errc::not_in_step);
    }
    SECTION("a worker that goes past the step without it decides, too [S44]") {
        record(two, 2, 6, 7);
        two.flush();
        CHECK(run.wait(train(4), std::chrono::seconds{9}).code == errc::none);
        CHECK(run.state(train(4), worker{2}).value_or(step_state::pending) == step_state::absent);
    }
    SECTION("the worst counts: one that failed, though the others go on [A40]") {
        two.fail("out of memory");
        two.finish();
        REQUIRE(!run.refresh());
        CHECK(run.status() == run_status::failed);
        CHECK(run.status(worker{0}).value_or(run_status::died) == run_status::running);
        CHECK(run.why_ended() == "worker 2: out of memory");
        CHECK(!run.over());
        CHECK(run.state(train(4)) == step_state::present);
        CHECK(run.state(train(7)) == step_state::pending);
    }
}

TEST_CASE("keep = all gives every worker's record, one gives the first one's; the steps are the same, and all judge "
          "[S54][A42]") {
    for (recording_workers keep : {recording_workers::all, recording_workers::one}) {
        temporary_folder const folder;
        for (std::uint32_t number : {1U, 0U}) {
            options choices = as_worker(number, 2);
            choices.keep = keep;
            hook watch{folder / "run", everything, choices, any("x", maximum > 2.5 + 1000 * number)};
            std::size_t found = 0;
            for (std::uint64_t i = 0; i < 5; ++i) {
                found += watch.step(train(i), "x"_t = 1000.0 * number + static_cast<double>(i)).size();
            }
            watch.finish();
            CHECK(found == 2);
            CHECK(watch.health().good());
            CHECK(watch.path().empty() == (keep == recording_workers::one && number == 1));
        }
        trial const run = open(folder / "run");
        CHECK(run.workers() == (keep == recording_workers::all ? numbers{0, 1} : numbers{0}));
        CHECK(run.expected_workers() == (keep == recording_workers::all ? 2 : 1));
        CHECK(run.steps() == trains(0, 5));
        CHECK(run.steps(closed_by::all) == trains(0, 5));
        CHECK(run.status() == run_status::finished);
        CHECK(run.findings().size() == (keep == recording_workers::all ? 4 : 2));
    }
}

TEST_CASE("workers are listed by number, 2 before 10; a run whose worker 0 is missing is a run [S55]") {
    temporary_folder const folder;
    for (std::uint32_t number : {10U, 2U, 3U}) { record_whole(folder / "run", number, number, number + 4); }
    std::filesystem::create_directory(folder / "run/worker-4");     // about to begin
    std::filesystem::create_directory(folder / "run/worker-05");    // another program's
    std::filesystem::create_directory(folder / "run/worker-five");  // another program's, too
    trial const run = open(folder / "run");
    CHECK(run.workers() == numbers{2, 3, 10});
    CHECK(run.expected_workers() == 0);
    ids in_time = trains(10, 14);
    for (step_id each : trains(2, 7)) { in_time.push_back(each); }
    CHECK(run.steps() == in_time);
    CHECK(run.damage().empty());
    CHECK(value_at(run["x"], train(4)) == 2004);
    CHECK(value_at(run["x"], train(6)) == 3006);
    CHECK(value_at(run["x"], train(10)) == 10010);
    CHECK(run["x"].history(mean).front().value == 2002);
    CHECK(run["x"].of(worker{10}).history(mean).front().value == 10010);
    CHECK(run["x"].of(worker{10}).steps() == trains(10, 14));
    CHECK(run["x"].of(worker{0}).history(mean).empty());
    CHECK(run["x"].of(worker{0}).stat(train(4), mean).error().code == errc::no_such_worker);
    CHECK(run["x"].last(2, train(6)) == trains(5, 7));
    CHECK(run.ordinal(train(4)).value_or(9) == 2);
    CHECK(run.step_at(3).value_or(train(0)) == train(5));
    CHECK(open_trial(folder / "run", worker{0}).error().code == errc::no_such_worker);
    CHECK(open_trial(folder / "run", worker{4}).error().code == errc::no_such_worker);
    CHECK(open_trial(folder / "none", worker{3}).error().code == errc::not_a_run);
    for (auto const& one : {open_trial(folder / "run", worker{10}).value(), open(folder / "run/worker-10")}) {
        CHECK(one.workers() == numbers{10});
        CHECK(one.steps() == trains(10, 14));
        CHECK(value_at(one["x"], train(10)) == 10010);
        CHECK(one["x"].at(train(10), worker{10}).to<double>().value_or(0) == 10010);
        CHECK(one["x"].at(train(10), worker{2}).error().code == errc::no_such_worker);
    }
    CHECK(open_trial(folder.operator/("")).error().code == errc::not_a_run);
}

TEST_CASE("a worker that the run declared is awaited while another one runs, and missing when none does [A42]") {
    temporary_folder const folder;
    hook zero{folder / "run", everything, as_worker(0, 3)};
    hook two{folder / "run", everything, as_worker(2, 3)};
    record(zero, 0, 0, 3), record(two, 2, 0, 3);
    zero.flush(), two.flush();
    trial run = open(folder / "run");
    CHECK(run.workers() == numbers{0, 2});
    CHECK(run.expected_workers() == 3);
    CHECK(run.state(train(1)) == step_state::pending);
    CHECK(run.steps() == trains(0, 3));
    CHECK(run.steps(closed_by::all).empty());
    CHECK(run["x"].at(train(1), worker{1}).error().code == errc::no_such_worker);
    CHECK(value_at(run["x"], train(1)) == 1);
    CHECK(open(folder / "run/worker-2").state(train(1)) == step_state::present);  // a single worker waits for no other
    CHECK(open_trial(folder / "run", worker{0}).value().state(train(1)) == step_state::present);
    SECTION("it comes") {
        record_whole(folder / "run", 1, 0, 2);
        REQUIRE(!run.refresh());
        CHECK(run.workers() == numbers{0, 1, 2});
        CHECK(run.state(train(1)) == step_state::present);
        CHECK(run.steps(closed_by::all) == trains(0, 2));
        CHECK(run["x"].at(train(1), worker{1}).to<double>().value_or(0) == 1001);
        zero.finish(), two.finish();
        REQUIRE(!run.refresh());
        CHECK(run.status() == run_status::finished);
    }
    SECTION("it never comes") {
        zero.finish();
        REQUIRE(!run.refresh());
        CHECK(run.status() == run_status::running);
        CHECK(run["x"].at(train(8)).error().code == errc::not_yet);
        two.finish();
        REQUIRE(!run.refresh());
        CHECK(run.status() == run_status::died);
        CHECK(run.why_ended() == "1 of 3 workers never began");
        CHECK(run.over());
        CHECK(run.state(train(1)) == step_state::present);
        CHECK(run.state(train(3)) == step_state::absent);
        CHECK(run["x"].at(train(8)).error().code == errc::no_such_step);
    }
}

TEST_CASE(
    "without a worker the lowest that holds a value is read; what it holds is never replaced by another's [A42]") {
    temporary_folder const folder;
    {
        hook zero{folder / "run", plan{collection{"c", "*", always{}, stats(l2, maximum)}}, as_worker(0)};
        hook one{folder / "run", everything, as_worker(1)};
        hook two{folder / "run", everything, as_worker(2)};
        std::vector<double> const nothing(2, std::numeric_limits<double>::quiet_NaN());
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)zero.step(train(i), "v"_t = std::vector{3.0, 4.0}, "n"_t = nothing);
            (void)one.step(train(i), "v"_t = std::vector{1.25 + static_cast<double>(i), 7.5, 9.5}, "n"_t = 1.0);
            (void)two.step(train(i), "v"_t = std::vector{2.0, 2.5, 1.5}, "n"_t = 2.0, "own"_t = 5.0);
            (void)two.step(eval(i), "v"_t = std::vector{8.0});
        }
        two.scalar("lr", 0.5);
    }
    trial run = open(folder / "run");
    CHECK(run.names() == names_list{"lr", "n", "own", "v"});
    CHECK(run.names(filter{.worker = worker{0}}) == names_list{"n", "v"});
    CHECK(run.names(filter{.worker = worker{7}}).empty());
    CHECK(run.names(filter{.mode = mode::eval}) == names_list{"v"});
    CHECK(run.names(filter{.collection = "all"}) == names_list{"lr", "n", "own", "v"});
    CHECK(run.collections().size() == 2);
    CHECK(run.modes() == std::vector{mode::train, mode::eval});
    CHECK(run["v"].at(train(1)).to<std::vector<double>>().value_or({}) == std::vector{2.25, 7.5, 9.5});
    CHECK(run["v"].stat(train(1), l2).value_or(0) == 5);       // worker 0 kept this statistic
    CHECK(run["v"].stat(train(1), sum).value_or(0) == 19.25);  // worker 0 did not keep this one
    CHECK(run["v"].at(train(1), worker{0}).error().code == errc::no_payload);
    CHECK(run["v"].at(eval(1)).to<std::vector<double>>().value_or({}) == std::vector{8.0});
    CHECK(run["v"].payload_steps().size() == 6);
    CHECK(run["v"].shape(train(0)).value_or({}) == extents{2});
    CHECK(run["own"].at(train(0)).to<double>().value_or(0) == 5);
    CHECK(run["own"].info().type == dtype::f64);
    // The worker that answers has no value there.
    CHECK(run["n"].stat(train(0), maximum).error().code == errc::not_in_step);
    CHECK(run["lr"].loose().size() == 1);
    CHECK(run["nope"].at(train(0)).error().code == errc::no_such_name);
    CHECK(run["v"].at(train(9)).error().code == errc::no_such_step);
    CHECK(run["own"].at(eval(1)).error().code == errc::not_in_step);

    auto bytes = read_file(folder / "run/worker-1/000000.spot");
    std::size_t const at = find_values(bytes, std::vector{2.25, 7.5, 9.5});
    REQUIRE(at < bytes.size());
    bytes[at + 9] = static_cast<char>(bytes[at + 9] ^ 4);
    write_file(folder / "run/worker-1/000000.spot", bytes);
    trial const hurt = open(folder / "run");
    CHECK(hurt["v"].at(train(1)).error().code == errc::corrupt);
    CHECK(hurt["v"].at(train(1), worker{2}).to<std::vector<double>>().value_or({}) == std::vector{2.0, 2.5, 1.5});
    CHECK(hurt["v"].at(train(2)).to<std::vector<double>>().value_or({}) == std::vector{3.25, 7.5, 9.5});
}

TEST_CASE(
    "of several observations in a step each worker has its own; nth reads the lowest that has so many [S26][A42]") {
    temporary_folder const folder;
    {
        hook zero{folder / "run", everything, as_worker(0)};
        hook one{folder / "run", everything, as_worker(1)};
        (void)zero.step(train(0), "x"_t = 1.0);
        (void)one.step(train(0), "x"_t = 11.0, "x"_t = 12.0);
    }
    trial const run = open(folder / "run");
    CHECK(run["x"].at(train(0), nth{0}).to<double>().value_or(0) == 1);
    CHECK(run["x"].at(train(0), nth{1}).to<double>().value_or(0) == 12);
    CHECK(run["x"].of(worker{1}).at(train(0), nth{0}).to<double>().value_or(0) == 11);
    CHECK(run["x"].at(train(0), nth{2}).error().code == errc::not_in_step);
}

TEST_CASE("one worker's damage stays its own: whatever its files hold, the others are read [A42]") {
    for (int kind = 0; kind < 5; ++kind) {
        INFO("damage " << kind);
        temporary_folder const folder;
        for (std::uint32_t number : {0U, 1U, 2U}) { record_whole(folder / "run", number, 0, 5); }
        std::uint32_t const hurt = kind % 2 == 0 ? 1 : 0;
        std::string const file = folder / (hurt == 0 ? "run/000000.spot" : "run/worker-1/000000.spot");
        auto bytes = read_file(file);
        if (kind < 2) {  // not a segment
            for (char& each : bytes) { each = static_cast<char>(each ^ 0x55); }
        } else if (kind == 2) {
            bytes[16] = 99;  // a future version
            auto const head = std::as_bytes(std::span{bytes}).first(layout::head_bytes - 8);
            std::uint64_t const fresh = checksum(head);
            std::memcpy(bytes.data() + layout::head_bytes - 8, &fresh, sizeof fresh);
        } else if (kind == 3) {
            bytes.resize(70);
        } else {
            bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);  // in the run_end row
        }
        write_file(file, bytes);
        trial run = open(folder / "run");
        CHECK(run.workers() == numbers{0, 1, 2});
        CHECK(run.steps() == trains(0, 5));
        CHECK(run["x"].at(train(3), worker{2}).to<double>().value_or(0) == 2003);
        CHECK(value_at(run["x"].of(worker{1 - hurt}), train(3)) == 1000.0 * (1 - hurt) + 3);
        CHECK((run.damage().size() == 1 || kind == 3));
        for (damaged_place const& each : run.damage()) {
            CHECK((each.file.find("worker-1") != each.file.npos) == (hurt == 1));
        }
        CHECK(run.status() == run_status::died);
        CHECK(run.status(worker{2}).value_or(run_status::died) == run_status::finished);
        CHECK(!run.refresh());
    }
}

TEST_CASE("findings and coverages say whose they are, totals add up, a worker that was killed is the run's worst "
          "[A40][A42]") {
    temporary_folder const folder;
    auto const work = [&](std::uint32_t number, std::uint64_t steps, bool kill) {
        hook watch{folder / "run", everything, as_worker(number), any("x", maximum > 1000.5) | named{"large"},
                   any("y", maximum > 0.0) | named{"of y"}};
        for (std::uint64_t i = 0; i < steps; ++i) {
            double const x = 1000.0 * number + static_cast<double>(i);
            spotter::step_alarm const found =
                number == 2 ? watch.step(train(i), "x"_t = x, "y"_t = -1.0) : watch.step(train(i), "x"_t = x);
            for (finding const& each : found) { CHECK(each.worker == number); }
        }
        watch.flush();
        if (kill) { ::raise(SIGKILL); }
    };
    pid_t const child = ::fork();
    if (child == 0) {
        work(1, 3, true);
        ::_exit(1);
    }
    ::waitpid(child, nullptr, 0);
    work(0, 3, false), work(2, 3, false);
    trial const run = open(folder / "run");
    numbers whose;
    for (finding const& each : run.findings()) { whose.push_back(each.worker); }
    CHECK(whose == numbers{1, 1, 2, 2, 2});  // 1001 and 1002; 2000 to 2002
    CHECK(run.totals().stored == 9);         // worker 1 did not record its total
    CHECK(run.closed_steps() == 9);
    CHECK(run.status() == run_status::died);
    CHECK(run.status(worker{0}).value_or(run_status::died) == run_status::finished);
    REQUIRE(run.coverages().size() == 3);
    CHECK((run.coverages()[0].rule == "large" && run.coverages()[0].workers == 2 && run.coverages()[0].judged == 6));
    CHECK((run.coverages()[1].rule == "of y" && run.coverages()[1].worker == 0 && !run.coverages()[1].reason.empty()));
    CHECK((run.coverages()[2].rule == "of y" && run.coverages()[2].worker == 2 && run.coverages()[2].judged == 3));
    CHECK(open(folder / "run/worker-2").findings().front().worker == 2);
}

TEST_CASE("the longest silence of those that run is the run's age, each worker's can be asked for [A40]") {
    temporary_folder const folder;
    hook zero{folder / "run", everything, as_worker(0)};
    record(zero, 0, 0, 1);
    zero.flush();
    std::this_thread::sleep_for(std::chrono::milliseconds{120});
    hook one{folder / "run", everything, as_worker(1)};
    record(one, 1, 0, 1);
    one.flush();
    trial run = open(folder / "run");
    double const of_zero = run.age(worker{0}).value_or(-1), of_one = run.age(worker{1}).value_or(-1);
    CHECK(of_zero >= 0.1);
    CHECK((of_one >= 0 && of_one < of_zero));
    CHECK(run.age() == of_zero);
    CHECK(run.age(worker{2}).error().code == errc::no_such_worker);
    zero.finish(), one.finish();
    REQUIRE(!run.refresh());
    CHECK(run.age() < 60);
}

TEST_CASE("steps of several workers are in the order of their first closing, each once") {
    temporary_folder const folder;
    hook zero{folder / "run", everything, as_worker(0)};
    hook one{folder / "run", everything, as_worker(1)};
    auto const both = [](auto& first, auto& second, step_id step) {
        (void)first.step(step, "x"_t = 1.0);
        first.flush();
        (void)second.step(step, "x"_t = 1.0);
        second.flush();
    };
    both(zero, one, train(0)), both(one, zero, eval(7)), both(one, zero, train(5)), both(zero, one, train(3));
    (void)one.step(eval(1), "x"_t = 1.0);
    one.flush();
    (void)zero.step(train(6), "x"_t = 1.0);
    zero.finish(), one.finish();
    ids const order{train(0), eval(7), train(5), train(3), eval(1), train(6)};
    trial const run = open(folder / "run");
    CHECK(run.steps() == order);
    CHECK(run["x"].steps() == order);
    CHECK(run["x"].steps(mode::eval) == ids{eval(7), eval(1)});
}
