// SPDX-License-Identifier: Apache-2.0
// Processes as the workers of one run: independent, killed at work, or forked from one that already records.
#include <tests/stress/workers.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// Runs work(worker) in a process for each number. Each must exit with 0; `killed` must be killed.
template <class Work>
void in_processes(std::vector<std::uint32_t> const& numbers, Work&& work, std::uint32_t killed = ~0U) {
    std::vector<pid_t> children;
    for (std::uint32_t number : numbers) {
        pid_t const child = ::fork();
        if (child == 0) { ::_exit(work(number) ? 0 : 1); }
        children.push_back(child);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        int status = 0;
        ::waitpid(children[i], &status, 0);
        INFO("worker " << numbers[i]);
        if (numbers[i] == killed) {
            CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
        } else {
            CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
        }
    }
}

std::vector<double> worker_values(std::uint32_t worker, std::uint64_t step) {
    return {static_cast<double>(worker), static_cast<double>(step), 0.5};
}
options as_worker(std::uint32_t worker) { return options{.ring_bytes = 64 << 10, .worker = worker}; }

}  // namespace

TEST_CASE("processes as workers of one run: each has its own record, whole [A42]") {
    temporary_folder const folder;
    std::uint64_t const steps = 3'000 / slowness;
    std::vector<std::uint32_t> const numbers{0, 1, 2, 7};
    in_processes(numbers, [&](std::uint32_t worker) {
        hook watch{folder / "run", everything, as_worker(worker), non_finite{}};
        for (std::uint64_t i = 0; i < steps; ++i) {
            (void)watch.step(train(i), "x"_t = worker_values(worker, i));
            watch.scalar("between", worker);
        }
        watch.finish();
        health_report const health = watch.health();
        return health.good() && health.sink.stored == 2 * steps && health.sink.dropped == 0;
    });
    for (std::uint32_t worker : numbers) {
        trial const run = open_worker(folder / "run", worker);
        CHECK(run.status() == run_status::finished);
        CHECK(run.steps() == trains(0, steps));
        CHECK(run["between"].loose().size() == steps);
        for (std::uint64_t i = 0; i < steps; i += 97) {
            CHECK(run["x"].at(train(i)).to<std::vector<double>>().value_or({}) == worker_values(worker, i));
        }
    }
}

TEST_CASE(
    "a worker that is killed takes nothing of the others with it, keeps what it had flushed, and its number can be "
    "taken again [D09][A42]") {
    temporary_folder const folder;
    in_processes(
        {0, 1, 2},
        [&](std::uint32_t worker) {
            hook watch{folder / "run", everything, as_worker(worker)};
            for (std::uint64_t i = 0; i < 100; ++i) { (void)watch.step(train(i), "x"_t = worker_values(worker, i)); }
            watch.flush();
            if (worker == 1) {
                watch.begin(train(100));
                watch.observe("x", worker_values(worker, 100));
                ::raise(SIGKILL);
            }
            for (std::uint64_t i = 100; i < 200; ++i) { (void)watch.step(train(i), "x"_t = worker_values(worker, i)); }
            watch.finish();
            return watch.health().good();
        },
        1);
    CHECK(open_worker(folder / "run", 0).steps() == trains(0, 200));
    CHECK(open(folder / "run").status() == run_status::died);
    CHECK(open(folder / "run/worker-2").steps() == trains(0, 200));
    CHECK(open(folder / "run/worker-1").status() == run_status::died);
    CHECK(open(folder / "run/worker-1").steps() == trains(0, 100));
    in_processes({1}, [&](std::uint32_t worker) {
        hook watch{folder / "run", everything, as_worker(worker)};
        for (std::uint64_t i = 100; i < 200; ++i) { (void)watch.step(train(i), "x"_t = worker_values(worker, i)); }
        watch.finish();
        return watch.health().good() && watch.path() == folder / "run/worker-1";
    });
    CHECK(open(folder / "run").status() == run_status::finished);
    CHECK(open(folder / "run").steps(closed_by::all) == trains(0, 200));
    trial const run = open(folder / "run/worker-1");
    CHECK(run.status() == run_status::finished);
    CHECK(run.steps() == trains(0, 200));
    CHECK(run.attempts() == 2);
}

TEST_CASE("processes that are forked off while the first worker records: the inherited hook only counts, their own one "
          "records, and the first worker's record is as if nobody had been forked") {
#if defined(__SANITIZE_THREAD__)
    SPOTTER_SKIP(
        "ThreadSanitizer's own locks may be held by another thread at the fork, and then the child waits for ever");
#else
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, as_worker(0)};
        for (std::uint64_t i = 0; i < 50; ++i) { (void)watch.step(train(i), "x"_t = worker_values(0, i)); }
        in_processes({1, 2}, [&](std::uint32_t worker) {
            for (std::uint64_t i = 50; i < 60; ++i) { (void)watch.step(train(i), "x"_t = worker_values(9, i)); }
            bool good = watch.health().first_error.code == errc::busy && watch.health().sink.dropped == 10;
            options choices = as_worker(worker);
            choices.drain = drain::poll;  // a fork of a threaded process may be unable to start threads
            hook mine{folder / "run", everything, choices};
            for (std::uint64_t i = 0; i < 300; ++i) { (void)mine.step(train(i), "x"_t = worker_values(worker, i)); }
            mine.finish();
            good = good && mine.health().good() && mine.health().sink.stored == 300;
            return good;
        });
        for (std::uint64_t i = 50; i < 100; ++i) { (void)watch.step(train(i), "x"_t = worker_values(0, i)); }
        CHECK(watch.health().good());
    }
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
        trial const run = open_worker(folder / "run", worker);
        std::uint64_t const steps = worker == 0 ? 100 : 300;
        CHECK(run.status() == run_status::finished);
        CHECK(run.damage().empty());
        CHECK(run.steps() == trains(0, steps));
        for (std::uint64_t i = 0; i < steps; i += 13) {
            CHECK(run["x"].at(train(i)).to<std::vector<double>>().value_or({}) == worker_values(worker, i));
        }
    }
#endif
}

TEST_CASE("100 processes start with the same folder and worker: one records, 99 get busy and run on [S56]") {
    temporary_folder const folder;
    constexpr std::uint32_t crowd = 100;
    int started[2], reported[2];
    REQUIRE((::pipe(started) == 0 && ::pipe(reported) == 0));
    std::vector<pid_t> children;
    for (std::uint32_t i = 0; i < crowd; ++i) {
        pid_t const child = ::fork();
        if (child == 0) {
            ::close(started[1]);
            char nothing = 0;
            (void)!::read(started[0], &nothing, 1);  // waits until the parent closes its end, so that all start at once
            hook watch{folder / "run", everything, as_worker(3), any("x", maximum > 4.0)};
            std::size_t found = 0;
            for (std::uint64_t step = 0; step < 10; ++step) {
                found += watch.step(train(step), "x"_t = static_cast<double>(step)).size();
            }
            watch.flush();
            health_report const health = watch.health();
            bool const records = health.good() && health.sink.stored == 10;
            bool const busy = health.first_error.code == errc::busy && health.sink.stored == 0 &&
                              health.sink.dropped == 10 && watch.path().empty();
            char const answer = found != 5 || records == busy ? 'x' : records ? 'r' : 'b';
            (void)!::write(reported[1], &answer, 1);
            for (;;) { ::pause(); }  // the recording one holds the folder until all have tried
        }
        children.push_back(child);
    }
    ::close(started[0]), ::close(started[1]);
    std::string answers;
    pollfd waiting{reported[0], POLLIN, 0};
    while (answers.size() < crowd && ::poll(&waiting, 1, 60'000) == 1) {
        char each = 'x';
        (void)!::read(reported[0], &each, 1);
        answers += each;
    }
    for (pid_t child : children) { ::kill(child, SIGKILL); }
    for (pid_t child : children) { ::waitpid(child, nullptr, 0); }
    ::close(reported[0]), ::close(reported[1]);
    CHECK(std::count(answers.begin(), answers.end(), 'r') == 1);
    CHECK(std::count(answers.begin(), answers.end(), 'b') == 99);
    trial const run = open(folder / "run");
    CHECK(run.workers() == std::vector<std::uint32_t>{3});
    CHECK(run.steps() == trains(0, 10));
    CHECK(run.damage().empty());
}
