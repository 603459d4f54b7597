// SPDX-License-Identifier: Apache-2.0
// Findings, alarms, errors, runs and replays as text; "healthy" only where something could judge.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr auto too_large = any("*", maximum > 10.0);

finding full() {
    finding it;
    it.rule = "vanishing_gradient";
    it.reason = "gradients vanish";
    it.tensor = "grad/fc1/w";
    it.measure = "mean_abs";
    it.remedy = "Use normalisation.";
    it.step = train(70);
    it.measured = 3.14159e-9;
    it.threshold = 1e-7;
    it.how = relation::less;
    return it;
}
bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The text of a run with its folder as "RUN" and its size as "SIZE".
std::string describe_plainly(trial const& run) {
    std::string text = spotter::describe(run);
    text.replace(0, run.path().size(), "RUN");
    std::size_t const from = text.find(" in ", text.find("kept: ")) + 4;
    return text.replace(from, text.find_first_of(";\n", from) - from, "SIZE");
}

}  // namespace

TEST_CASE("a finding says what, where, the value against the threshold, and what to do [S71]") {
    finding it = full();
    CHECK(describe(it) ==
          "warning: vanishing_gradient: gradients vanish at train(70), \"grad/fc1/w\": mean_abs 3.14e-9 < 1e-7\n"
          "    Use normalisation.");
    it.others = 1;
    it.decision = decision::stop;
    it.severity = severity::error;
    it.detail << "first at index 7";
    CHECK(describe(it) == "error: vanishing_gradient: gradients vanish at train(70), \"grad/fc1/w\": mean_abs "
                          "3.14e-9 < 1e-7 (first at index 7), "
                          "and 1 more tensor [stop]\n    Use normalisation.");
    it.others = 2;
    CHECK(contains(describe(it), "and 2 more tensors"));
}

TEST_CASE("a finding with little to say is short") {
    finding it;
    it.rule = "not";
    it.severity = severity::info;
    it.step = eval(3);
    CHECK(describe(it) == "note: not at eval(3)");
    it.measure = "counts";
    it.measured = 4;
    CHECK(describe(it) == "note: not at eval(3): counts 4");
}

TEST_CASE("an alarm is a line a finding, and says how many did not fit") {
    hook watch{plan{}, too_large, too_large | severity::error | named{"worse"}};
    CHECK(fmt::format("{}", watch.step(train(2), "x"_t = 11.0)) ==
          "error: worse: holds for a tensor at train(2), \"x\": maximum 11 > 10 [stop]\n"
          "warning: any: holds for a tensor at train(2), \"x\": maximum 11 > 10");
    spotter::step_alarm many;
    for (int i = 0; i < 10; ++i) { many.add(full()); }
    CHECK(contains(describe(many), "\nand 2 further findings"));
    CHECK(describe(spotter::step_alarm{}).empty());
}

TEST_CASE("errors, steps and findings go through fmt, with its widths") {
    CHECK(fmt::format("{}", error{errc::no_such_step, "the run has no such step"}) ==
          "no_such_step: the run has no such step");
    CHECK(fmt::format("[{:>10}]", predict(12)) == "[predict(12)]");
    CHECK(fmt::format("[{:>10}]", eval(1)) == "[   eval(1)]");
    CHECK(fmt::format("{}", full()) == describe(full()));
}

TEST_CASE("a finished run: how it ended, what was kept, what was found, what could not run") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"xs", "x*", every{2}, payload}}, too_large,
                   any("nobody", l2 > 0.0) | named{"idle"}};
        for (std::uint64_t i = 0; i < 10; ++i) { (void)watch.step(train(i), "x"_t = i >= 7 ? 11.0 : 1.0, "y"_t = 1.0); }
    }
    CHECK(describe_plainly(open(folder / "run")) ==
          "RUN: finished, 10 steps, 10 train with something kept\n"
          "kept: 2 tensors in SIZE; dropped: 0\n"
          "    xs (\"x*\", every{2}: payload): 1 name\n"
          "findings:\n"
          "  warning: any: holds for a tensor at train(7), \"x\": maximum 11 > 10\n"
          "    3 times in all, last at train(9)\n"
          "could not run:\n"
          "    idle: no tensor matched\n");
}

TEST_CASE("rules without a name of their own that differ in the condition alone have a line each") {
    temporary_folder const folder;
    {
        hook watch{folder / "run",          plan{collection{"x", "x", always{}, payload}},
                   any("x", mean > 0.5),    any("x", mean > 0.25),
                   any("x", maximum > 0.5), any("x", mean < 2.0)};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = i < 2 ? 1.0 : 0.375); }
    }
    trial const run = open(folder / "run");
    CHECK(spotter::detail::describe_findings(run.findings()) ==
          "  warning: any: holds for a tensor at train(0), \"x\": mean 1 > 0.5\n"
          "    2 times in all, last at train(1)\n"
          "  warning: any: holds for a tensor at train(0), \"x\": mean 1 > 0.25\n"
          "    3 times in all, last at train(2)\n"
          "  warning: any: holds for a tensor at train(0), \"x\": maximum 1 > 0.5\n"
          "    2 times in all, last at train(1)\n"
          "  warning: any: holds for a tensor at train(0), \"x\": mean 1 < 2\n"
          "    3 times in all, last at train(2)\n");
}

TEST_CASE("one line for a threshold that changes from step to step") {
    std::vector<finding> all(2);
    all[0].rule = all[1].rule = "gradient_spike";
    all[0].threshold = 2, all[1].threshold = 3;
    CHECK(spotter::detail::gather_findings(all).size() == 1);
}

TEST_CASE("healthy is said when every rule could judge, and never when none could") {
    auto const text_of = [](auto const& keep, auto const&... rules) {
        temporary_folder const folder;
        {
            hook watch{folder / "run", keep, rules...};
            for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = 1.0); }
        }
        trial const run = open(folder / "run");
        std::string const text = spotter::describe(run);
        CHECK(contains(text, "healthy") == contains(describe(replay(run, rules...)), "healthy"));
        return text;
    };
    auto const idle = any("nobody", l2 > 0.0);
    CHECK(contains(text_of(everything, too_large), "healthy: nothing found by 1 rule\n"));
    CHECK(contains(text_of(everything, too_large, too_large), "healthy: nothing found by 2 rules\n"));
    CHECK(contains(text_of(everything, idle), "no rule could judge\n"));
    CHECK(contains(text_of(everything, too_large, idle), "nothing found by the 1 of 2 rules that could judge\n"));
    CHECK(contains(text_of(everything), "no rule was asked\n"));
    std::string const bad = "[";
    std::string const off = text_of(everything, any(glob{std::string_view{bad}}, l2 > 0.0), too_large);
    CHECK(!contains(off, "healthy"));
    CHECK(contains(off, "switched off: malformed pattern"));
}

TEST_CASE("a run that still goes on, or that died, is not called healthy") {
    temporary_folder const folder;
    hook watch{folder / "run", everything, too_large};
    (void)watch.step(train(0), "x"_t = 1.0);
    watch.flush();
    std::string const running = describe_plainly(open(folder / "run"));
    CHECK(contains(running, "RUN: running, 1 step"));
    CHECK(!contains(running, "healthy"));
    CHECK(!contains(running, "no rule"));
    pid_t const child = ::fork();
    if (child == 0) {
        hook other{folder / "died", everything, too_large};
        (void)other.step(train(0), "x"_t = 1.0);
        other.flush();
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    std::string const died = describe_plainly(open(folder / "died"));
    CHECK(contains(died, "RUN: died, 1 step"));
    CHECK(!contains(died, "healthy"));
    CHECK(!contains(died, "no rule was asked"));
}

TEST_CASE("a run that failed says why; refusals, drops and damage are reported") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        watch.observe("x", 1.0);
        (void)watch.step(train(0), "x"_t = 1.0);
        (void)watch.step(eval(0), "x"_t = 1.0);
        watch.fail("the simulator went away");
    }
    std::string const text = describe_plainly(open(folder / "run"));
    CHECK(contains(
        text,
        "RUN: failed (the simulator went away), 2 steps, 1 train with something kept, 1 eval with something kept\n"));
    CHECK(contains(text, "; dropped: 0; refused: 1\n    refused: \"x\" observed outside a step: call begin(...) first, "
                         "or use scalar(...)\n"));
    auto bytes = read_file(folder / "run/000000.spot");
    bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
    write_file(folder / "run/000000.spot", bytes);
    trial const damaged = open(folder / "run");
    CHECK(contains(spotter::describe(damaged), "damaged: ") == !damaged.damage().empty());
    CHECK(!contains(spotter::describe(damaged), "healthy"));
}

TEST_CASE("a replay says how many steps it judged, what it found and what it lacked") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"x", "x", always{}, stats(l2)}}};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = std::vector<double>{11.0}); }
    }
    trial const run = open(folder / "run");
    CHECK(describe(replay(run, any("x", l2 > 20.0))) ==
          "3 steps judged, 0 with findings\nhealthy: nothing found by 1 rule\n");
    CHECK(describe(replay(run, any("x", l2 > 10.0) | once)) ==
          "3 steps judged, 1 with findings\nfindings:\n"
          "  warning: any: holds for a tensor at train(0), \"x\": l2 11 > 10\n");
    std::string const lacking = describe(replay(run, too_large));
    CHECK(contains(lacking, "no rule could judge\n"));
    CHECK(contains(lacking,
                   "trouble: no_payload: of 3 observations, 3 lack what a rule asks for, first \"x\" at train(0): "));
    CHECK(contains(lacking, "the record lacks data that these rules need"));
    CHECK(!contains(lacking, "healthy"));
}

TEST_CASE("a replay limited to the steps at which a statistic was kept lacks nothing") {
    temporary_folder const folder;
    constexpr auto kept = every{2};
    {
        hook watch{folder / "run", plan{collection{"x", "x", kept, stats(l2)}}, any("x", maximum > 100.0)};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "x"_t = std::vector<double>{11.0}); }
    }
    trial const run = open(folder / "run");
    auto const unlimited = replay(run, any("x", l2 > 10.0));
    CHECK(contains(describe(unlimited), "of 5 observations, 2 lack what a rule asks for, first \"x\" at train(1): "));
    CHECK(contains(describe(unlimited), "findings:"));
    CHECK(contains(describe(replay(run, any("x", l2 > 100.0))), "\nnothing found by 1 rule in what was recorded\n"));
    auto const limited = replay(run, any("x", l2 > 10.0) | only{kept});
    CHECK(!limited.trouble);
    CHECK(limited.whole);
    CHECK(limited.fired == 3);
}

TEST_CASE("the health of a hook is one line, and the first failure another") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = 1.0);
    CHECK(contains(fmt::format("{}", watch.health()), "recording well: 1 step, 1 observation; stored 1 in "));
    watch.observe("x", 1.0);
    std::string const text = fmt::format("{}", watch.health());
    CHECK(contains(text, "in trouble: 1 step, "));
    CHECK(contains(text, "refused 1"));
    CHECK(contains(text, "\n    no_step_open: "));
    watch.observe("x", 1.0);
    watch.observe("escaping\x1b[2J", 1.0);
    std::string const more = fmt::format("{}", watch.health());
    CHECK(contains(more, " (2 times)\n"));
    CHECK(contains(more, "\"escaping\\x1b[2J\""));
}

TEST_CASE("a hook that could judge nothing does not say that it records well") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{}, any("nobody/*", l2 > 1.0)};
    CHECK(contains(fmt::format("{}", watch.health()), "recording, but nothing could be judged: 0 steps, "));
    CHECK(contains(fmt::format("{}", watch.health()), "\n    no step was closed"));
    (void)watch.step(train(0));
    CHECK(contains(fmt::format("{}", watch.health()), "\n    no tensor was observed"));
    (void)watch.step(train(1), "x"_t = 1.0);
    CHECK(contains(fmt::format("{}", watch.health()), "\n    no rule judged any step"));
    CHECK(watch.health().good());
    (void)watch.step(train(2), "nobody/x"_t = 0.5);
    CHECK(contains(fmt::format("{}", watch.health()), "recording well: 3 steps, "));
}

TEST_CASE("a run of several workers says which there are, how each stands that is not as the run, and whose a finding "
          "is [A42]") {
    temporary_folder const folder;
    for (std::uint32_t number : {0U, 1U, 2U}) {
        hook watch{folder / "run", everything, options{.ring_bytes = 1 << 16, .worker = number}, too_large,
                   any("other", l2 > 1.0) | named{"elsewhere"}};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = number > 0 ? 11.0 : 1.0); }
        if (number == 2) { watch.fail("no more memory"); }
    }
    trial const run = open(folder / "run");
    std::string const text = describe_plainly(run);
    INFO(text);
    CHECK(contains(text, "RUN: failed (worker 2: no more memory), 9 steps of all workers, 3 train with something kept\n"
                         "workers: 0 (finished) 1 (finished) 2\nkept: 1 tensor in SIZE; dropped: 0\n"));
    CHECK(contains(text, " at train(0) in worker 1, \"x\": "));
    CHECK(contains(text, "6 times in all, last at train(2), in 2 workers\n"));
    CHECK(contains(text, "elsewhere in 3 workers, the first 0: "));
    CHECK(!contains(describe_plainly(open(folder / "run/worker-1")), "workers"));
}
