// SPDX-License-Identifier: Apache-2.0
// Attempts as processes on Windows: this executable as a training, and as whatever a training may do to its supervisor.
#if defined(_WIN32)

#include <tests/supervise/attempts.hpp>
#include <tests/this_program.hpp>

#include <thread>

using namespace spotter;
using namespace spotter_test;
using namespace std::chrono_literals;
using list = std::vector<std::string>;

namespace {

[[nodiscard]] child_process asked(std::string const& test, std::string const& outcome = {},
                                  std::chrono::milliseconds patience = {}) {
    return {{this_program(), test, "-o", "NUL"}, patience, {std::string{count_reported} + '=' + outcome}};
}
[[nodiscard]] launched ends(std::string const& how, std::chrono::milliseconds patience = {}) {
    return asked("a process that ends in some way", how, patience)({.number = 1, .run = "nowhere"});
}
[[noreturn]] void sleep_on() {
    for (;;) { std::this_thread::sleep_for(1s); }
}
[[noreturn]] void crash() {
    // No dialog asks the user what to do.
    (void)::SetUnhandledExceptionFilter([](EXCEPTION_POINTERS*) -> LONG { return EXCEPTION_EXECUTE_HANDLER; });
    int volatile* volatile nowhere = nullptr;
    *nowhere = 1;
    std::abort();
}

}  // namespace

TEST_CASE("an attempt of the supervisor's", "[.]") {
    supervised_attempt const now = supervised_attempt::here();
    REQUIRE(now);
    if (now.cure.empty()) {
        (void)training{.gradient = 200}(now.run, now);
    } else if (now.cure == "crash") {
        crash();
    } else if (now.cure == "hang") {
        sleep_on();
    } else if (now.cure == "leave") {
        std::_Exit(3);
    } else {
        (void)training{}(now.run, now);
    }
}
TEST_CASE("a process that ends in some way", "[.]") {
    std::string const how = reported();
    if (how == "crash") { crash(); }
    if (how == "hang") { sleep_on(); }
    std::_Exit(std::atoi(how.c_str()));
}
TEST_CASE("a process that leaves another one behind", "[.]") {
    std::string const path = reported();
    this_program_again const left{"a process that writes a file in a while", path};
    while (!std::filesystem::exists(path + "-begun")) { std::this_thread::sleep_for(5ms); }
    if (supervised_attempt::here().number == 2) { sleep_on(); }
    std::_Exit(0);
}
TEST_CASE("a process that writes a file in a while", "[.]") {
    write_file(reported() + "-begun", {});
    std::this_thread::sleep_for(1500ms);
    write_file(reported(), {});
}
TEST_CASE("a process that supervises that one", "[.]") {
    (void)asked("a process that writes a file in a while", reported())({.number = 1, .run = "nowhere"});
}
TEST_CASE("a process that tells what it was given", "[.]") {
    std::string lines;
    for (int i = 1; i < __argc; ++i) { lines += std::string{__argv[i]} + '|'; }
    supervised_attempt const now = supervised_attempt::here();
    lines += std::to_string(now.number) + '|' + now.run + '|' + now.cure + '|' + now.because + '|';
    std::size_t count = 0;
    for (char** each = _environ; *each != nullptr; ++each) {
        count += std::string_view{*each}.substr(0, 16) == "SPOTTER_ATTEMPT=" ? 1U : 0U;
    }
    lines += std::to_string(count) + '|' + (std::getenv("SPOTTER_RUN") != nullptr ? "a run|" : "no run|") +
             (std::getenv("PATH") != nullptr ? "a path|" : "no path|");
    write_file(reported(), {lines.begin(), lines.end()});
}

TEST_CASE("a process that crashes, hangs or leaves is cured as one whose rules ask for a stop") {
    temporary_folder const folder;
    std::vector<cure> const cures{
        {"too_steep", "crash", {}}, {"died", "hang", {}}, {"timed_out", "leave", {}}, {"failed", "good", {}}};
    healing const healed_by =
        supervise(asked("an attempt of the supervisor's", "", 5s), cures, {.attempts = 6, .folder = folder / "heal"});
    INFO(healed_by.why);
    CHECK(healed_by.stable());
    CHECK(causes(healed_by) == list{"too_steep", "died", "timed_out", "failed", ""});
    REQUIRE(healed_by.attempts.size() == 5);
    CHECK(healed_by.attempts[2].asked.because == "died: crashed: 0xC0000005, an access violation");
    CHECK(healed_by.attempts[3].asked.because == "timed_out: killed after 5000 ms");
    CHECK(healed_by.attempts[2].seconds >= 5);
    CHECK(healed_by.attempts[4].asked.because == "failed: ended with 3");
}

TEST_CASE("how a process ended") {
    CHECK(ends("0").how == departure::by_itself);
    CHECK(ends("7").how == departure::failed);
    CHECK(ends("7").why == "ended with 7");
    CHECK(ends("-1").why == "ended with -1");
    launched const crashed = ends("crash");
    CHECK(crashed.how == departure::killed);
    CHECK(crashed.why == "crashed: 0xC0000005, an access violation");
    CHECK(ends("hang", 300ms).how == departure::timed_out);
    CHECK(ends("0", 60s).how == departure::by_itself);
}

TEST_CASE("what a process started ends with it, and with its time, and an attempt with its supervisor") {
    temporary_folder const folder;
    std::string const first = folder / "first", second = folder / "second", third = folder / "third";
    CHECK(asked("a process that leaves another one behind", first)({.number = 1, .run = "nowhere"}).how ==
          departure::by_itself);
    CHECK(asked("a process that leaves another one behind", second, 1s)({.number = 2, .run = "nowhere"}).how ==
          departure::timed_out);
    {
        this_program_again supervisor{"a process that supervises that one", third};
        while (!std::filesystem::exists(third + "-begun")) { std::this_thread::sleep_for(5ms); }
    }
    std::this_thread::sleep_for(2s);
    CHECK_FALSE(std::filesystem::exists(first));
    CHECK_FALSE(std::filesystem::exists(second));
    CHECK_FALSE(std::filesystem::exists(third));
}

TEST_CASE("the settings stand behind the command, and the environment names the attempt") {
    temporary_folder const folder;
    (void)::_putenv_s("SPOTTER_ATTEMPT", "77");  // the supervisor may be an attempt itself
    (void)::_putenv_s("spotter_run", "an own record");
    std::string const hard = "1 2 \"q\" \\ \\\\\" x\\", run = "a r\xC3\xBCn \xE6\xA8\xA1";
    launched const how = asked("a process that tells what it was given",
                               folder / "reported")({.number = 2,
                                                     .run = run,
                                                     .cure = "c",
                                                     .because = "b \"quoted\"\nline",
                                                     .settings = {"--name", hard, "--order", "decl"}});
    (void)::_putenv_s("SPOTTER_ATTEMPT", "");
    (void)::_putenv_s("spotter_run", "");
    CHECK(how.how == departure::by_itself);
    std::vector<char> const bytes = read_file(folder / "reported");
    std::u8string const folder_now = std::filesystem::current_path().generic_u8string();
    std::string const whole_run = std::string{folder_now.begin(), folder_now.end()} + '/' + run;
    CHECK(std::string{bytes.begin(), bytes.end()} == "a process that tells what it was given|-o|NUL|--name|" + hard +
                                                         "|--order|decl|2|" + whole_run +
                                                         "|c|b \"quoted\"\nline|1|no run|a path|");
}

TEST_CASE("what cannot be started is no attempt") {
    temporary_folder const folder;
    for (list const& command :
         {list{}, list{""}, list{folder / "no such program"}, list{"no-such-program-of-spotter"}}) {
        healing const healed_by =
            supervise(child_process{command}, std::vector<cure>{{"*", "again", {}}}, {.folder = folder / "heal"});
        CHECK(healed_by.how == healed::cannot_start);
        CHECK(healed_by.attempts.empty());
        CHECK_FALSE(healed_by.why.empty());
    }
}

#endif
