// SPDX-License-Identifier: Apache-2.0
// Attempts as processes: shells that do what a training may do to its supervisor, and this executable as a training.
#include <tests/supervise/attempts.hpp>

#include <csignal>
#include <cstdlib>

using namespace spotter;
using namespace spotter_test;
using namespace std::chrono_literals;
using list = std::vector<std::string>;

namespace {

[[nodiscard]] launched shell(std::string const& script, std::chrono::milliseconds patience = {}) {
    return child_process{{"sh", "-c", script}, patience}({.number = 1, .run = "nowhere"});
}

// The command for this executable's hidden test case below.
[[nodiscard]] child_process this_training(std::chrono::milliseconds patience = {}) {
    return {
        {std::filesystem::read_symlink("/proc/self/exe").string(), "an attempt of the supervisor's", "-o", "/dev/null"},
        patience};
}

}  // namespace

TEST_CASE("an attempt of the supervisor's", "[.]") {
    supervised_attempt const now = supervised_attempt::here();
    REQUIRE(now);
    if (now.cure.empty()) {
        (void)training{.gradient = 200}(now.run, now);
    } else if (now.cure == "crash") {
        std::raise(SIGKILL);
    } else if (now.cure == "crash late") {
        using namespace spotter::literals;
        hook watch{now.run, keep_losses, on(any("loss", nonfinite > 0), stop) | named{"non_finite"}};
        now.note(watch);
        (void)watch.step(train(0), "loss"_t = not_a_number);
        watch.flush();
        std::raise(SIGKILL);
    } else if (now.cure == "hang") {
        for (;;) { ::pause(); }
    } else if (now.cure == "leave") {
        std::_Exit(3);
    } else {
        (void)training{}(now.run, now);
    }
}

TEST_CASE("a process that crashes, hangs or leaves is cured as one whose rules ask for a stop") {
    temporary_folder const folder;
    std::vector<cure> const cures{{"too_steep", "crash", {}},
                                  {"died", "crash late", {}},
                                  {"non_finite", "hang", {}},
                                  {"timed_out", "leave", {}},
                                  {"failed", "good", {}}};
    healing const outcome = supervise(this_training(3s), cures, {.attempts = 6, .folder = folder / "heal"});
    INFO(outcome.why);
    CHECK(outcome.stable());
    CHECK(causes(outcome) == list{"too_steep", "died", "non_finite", "timed_out", "failed", ""});
    REQUIRE(outcome.attempts.size() == 6);
    CHECK(outcome.attempts[2].asked.because == "died: killed by signal 9");
    CHECK(outcome.attempts[4].asked.because == "timed_out: killed after 3000 ms");
    CHECK(outcome.attempts[3].seconds >= 3);
    CHECK(outcome.attempts[5].asked.because == "failed: ended with 3");
    trial const last = open(folder / "heal/06");
    CHECK(last["healing/cure"].loose().at(0).to<std::string>().value() == "good");
    CHECK(last["healing/because"].loose().at(0).to<std::string>().value() == "failed: ended with 3");
}

TEST_CASE("how a process ended") {
    CHECK(shell("exit 0").how == departure::by_itself);
    CHECK(shell("exit 7").how == departure::failed);
    CHECK(shell("exit 7").why == "ended with 7");
    CHECK(shell("kill -SEGV $$").how == departure::killed);
    CHECK(shell("exec sleep 60", 50ms).how == departure::timed_out);
    CHECK(shell("exit 0", 60s).how == departure::by_itself);
    CHECK(shell("sleep 0.1", std::chrono::milliseconds::max()).how == departure::by_itself);
}

TEST_CASE("the settings stand behind the command, and the environment names the attempt") {
    temporary_folder const folder;
    std::string const script =
        "printf '%s|' \"$@\" \"$SPOTTER_ATTEMPT\" \"$SPOTTER_ATTEMPT_RUN\" \"$SPOTTER_ATTEMPT_CURE\" "
        "\"$SPOTTER_ATTEMPT_BECAUSE\" \"$SPOTTER_ATTEMPT_BEFORE\" \"$(env | grep -c ^SPOTTER_ATTEMPT=)\" > '" +
        folder / "reported'";
    ::setenv("SPOTTER_ATTEMPT", "77", 1);  // the supervisor may be an attempt itself
    launched const how = child_process{{"sh", "-c", script, "sh", "given"}}({.number = 2,
                                                                             .run = "a run",
                                                                             .cure = "c",
                                                                             .because = "b \"quoted\"\nline",
                                                                             .settings = {"--x=1 2", ""},
                                                                             .before = "runs/01"});
    ::unsetenv("SPOTTER_ATTEMPT");
    CHECK(how.how == departure::by_itself);
    std::vector<char> const outcome = read_file(folder / "reported");
    CHECK(std::string{outcome.begin(), outcome.end()} ==
          "given|--x=1 2||2|" + (std::filesystem::current_path() / "a run").string() + "|c|b \"quoted\"\nline|" +
              (std::filesystem::current_path() / "runs/01").string() + "|1|");
}

TEST_CASE("what cannot be started is no attempt") {
    temporary_folder const folder;
    for (list const& command :
         {list{}, list{""}, list{folder / "no such program"}, list{"no-such-program-of-spotter"}}) {
        healing const outcome =
            supervise(child_process{command}, std::vector<cure>{{"*", "again", {}}}, {.folder = folder / "heal"});
        CHECK(outcome.how == healed::cannot_start);
        CHECK(outcome.attempts.empty());
        CHECK_FALSE(outcome.why.empty());
    }
}

TEST_CASE("there is no supervisor without the environment") {
    CHECK_FALSE(supervised_attempt::here());
    for (char const* const text : {"", "x", "-1", "99999999999"}) {
        ::setenv("SPOTTER_ATTEMPT", text, 1);
        CHECK_FALSE(supervised_attempt::here());
    }
    ::unsetenv("SPOTTER_ATTEMPT");
}
