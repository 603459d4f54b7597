// SPDX-License-Identifier: Apache-2.0
// What a shell command gets, how its end is noticed, and which resources of the program it does not inherit.
#include <tests/response/alerts.hpp>

#include <algorithm>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// Frees descriptor 3, so that the response's pipe gets it: a child's handling of its standard streams must not lose
// that pipe.
bool three_is_free() {
    ::close(3);
    return ::fcntl(3, F_GETFD) == -1;
}
constexpr finding_origin then{"runs/a", 2, 12.5};

}  // namespace

TEST_CASE("a command gets its line where the pipe is descriptor 3, too") {
    temporary_folder const folder;
    std::string const written = folder / "command";
    std::string const command = copy_of_input(written);
    finding it;
    it.rule = "named";
    int const kept = ::fcntl(3, F_DUPFD_CLOEXEC, 10);  // what a test runner may have there
    REQUIRE(three_is_free());
    error const why = run_command{command}(it, then);
    if (kept >= 0) {
        ::dup2(kept, 3);
        ::close(kept);
    }
    CHECK(!why);
    std::string const line{json_of(it, then).view()};
    CHECK(wait_for(written, line.size()) == line);
}

TEST_CASE(
    "a missing, empty or failing command is reported in health and prints nothing on the program's standard error") {
    temporary_folder const folder;
    int const own = ::dup(2);
    int const caught = ::open((folder / "stderr").c_str(), O_CREAT | O_WRONLY, 0600);
    ::dup2(caught, 2);
    failure_list reported;
    {
        hook watch{plan<>{}, on(high | named{"first"}, run_command{"/nowhere/alert.sh"}, run_command{" "}) | once,
                   on(high | named{"second"}, run_command{"echo no >&2; exit 3"}, run_command{"sh -c 'kill -9 $$'"}) |
                       once,
                   on(high | named{"third"}, run_command{"cat > /dev/null"}) | once};
        (void)one_step(watch, 0, 2);
        watch.finish();  // waits a little for the command just started
        reported = watch.health().failures;
        CHECK_FALSE(watch.health().good());
    }
    ::dup2(own, 2);
    ::close(own), ::close(caught);
    CHECK(text_of(folder / "stderr").empty());
    REQUIRE(reported.size() == 4);
    auto const has_reported = [&](std::string_view rule, std::string_view what) {
        return std::any_of(reported.begin(), reported.end(), [&](repeated_failure const& each) {
            std::string_view const line = each.what.what.view();
            return line.find(rule) != line.npos && line.find(what) != line.npos &&
                   line.find("response run_command: ") != line.npos;
        });
    };
    CHECK(has_reported("\"first\"", "\"/nowhere/alert.sh\" ended with 127: there is no such command"));
    CHECK(has_reported("\"first\"", "the command is empty"));
    CHECK(has_reported("\"second\"", "ended with 3"));
    CHECK(has_reported("\"second\"", "ended with 137"));  // the shell's word for SIGKILL
}

TEST_CASE("how a command ended is heard at a close that follows, while the loop goes on") {
    hook watch{plan<>{}, on(high, run_command{"sleep 0.05; exit 4"}) | once};
    (void)one_step(watch, 0, 2);
    CHECK(watch.health().good());
    for (std::uint64_t i = 1; i < 500 && watch.health().good(); ++i) {
        (void)one_step(watch, i, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    CHECK(watch.health().first_error.what.view().find("ended with 4") != std::string_view::npos);
}

TEST_CASE("a command begins with no signal blocked or ignored, whatever the training does with them") {
    temporary_folder const folder;
    std::string const written = folder / "status";
    std::string const command = "grep -E 'Sig(Blk|Ign)' /proc/self/status > '" + written + ".part'; mv '" + written +
                                ".part' '" + written + "'";
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    auto* const piped = ::signal(SIGPIPE, SIG_IGN);
    finding it;
    CHECK(!run_command{command}(it));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::signal(SIGPIPE, piped);
    std::string const seen = wait_for(written, 20);
    CHECK(seen.find("SigBlk:\t0000000000000000") != seen.npos);
    REQUIRE(seen.find("SigIgn:\t") != seen.npos);
    std::uint64_t const ignored = std::stoull(seen.substr(seen.find("SigIgn:\t") + 8), nullptr, 16);
    // Two of the C library's own signals are above 31. The shell protects background commands from the keyboard's
    // SIGINT and SIGQUIT.
    CHECK((ignored & 0x7FFFFFFF) == 6);
}
