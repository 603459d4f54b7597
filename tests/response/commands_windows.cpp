// SPDX-License-Identifier: Apache-2.0
// The same for cmd.exe. The programs that it starts are this executable: wine has no others.
#if defined(_WIN32)

#include <tests/response/alerts.hpp>
#include <tests/this_program.hpp>

#include <algorithm>

using namespace spotter;
using namespace spotter_test;

std::string spotter_test::asked_for(std::string_view test, std::string const& reported) {
    return std::string{"set \""} + count_reported + '=' + reported + "\"& \"" + this_program() + "\" \"" +
           std::string{test} + "\" >nul";
}

namespace {

// The failures that health has at the end of a hook with this one command.
failure_list failures_of(std::string_view command) {
    hook watch{plan<>{}, on(high | named{"first"}, run_command{command}) | once};
    (void)one_step(watch, 0, 2);
    for (int i = 0; i < 100 && watch.health().good(); ++i) {
        (void)one_step(watch, static_cast<std::uint64_t>(i) + 1, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    watch.finish();
    return watch.health().failures;
}
std::string only_failure(std::string_view command) {
    failure_list const list = failures_of(command);
    return list.size() == 1 ? std::string{list[0].what.what.view()} : std::to_string(list.size()) + " failures";
}
bool has(std::string_view line, std::string_view what) { return line.find(what) != line.npos; }

// The open handles, counted one by one: wine's own count is 0.
std::size_t handles() {
    std::size_t count = 0;
    for (std::uintptr_t each = 4; each < 16'384; each += 4) {
        DWORD flags = 0;
        count += ::GetHandleInformation(reinterpret_cast<HANDLE>(each), &flags) != 0 ? 1U : 0U;
    }
    return count;
}

}  // namespace

TEST_CASE("a command that keeps its standard input", "[.]") {
    std::string const path = reported();
    std::string line;
    for (int each = std::getchar(); each != EOF; each = std::getchar()) { line += static_cast<char>(each); }
    write_file(path + ".part", {line.begin(), line.end()});
    std::filesystem::rename(path + ".part", path);
}
TEST_CASE("a command that waits for a file", "[.]") {
    for (int i = 0; i < 1000 && !std::filesystem::exists(reported()); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
}
TEST_CASE("a command that crashes", "[.]") { (void)::TerminateProcess(::GetCurrentProcess(), 0xC0000005); }

TEST_CASE("a command may have quotes, and names that are no ASCII") {
    temporary_folder const folder;
    std::string const name = "gr\xC3\xBC\xC3\x9F \xE6\xA8\xA1";
    finding it;
    CHECK(!run_command{"echo one> \"" + (folder / name) + "\""}(it));
    std::filesystem::path const path{std::u8string{reinterpret_cast<char8_t const*>((folder / name).c_str())}};
    for (int i = 0; i < 500 && (!std::filesystem::exists(path) || std::filesystem::file_size(path) < 5); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    CHECK(std::filesystem::exists(path));
}

TEST_CASE("a command that is empty, is no UTF-8 or has several lines is not started, and says so") {
    finding it;
    for (std::string_view const command : {"", " \r\n", "echo one\necho two", "echo \xFF"}) {
        INFO(command);
        CHECK(run_command{command}(it).code == errc::bad_config);
    }
    CHECK(!run_command{"exit 0\r\n"}(it));
}

TEST_CASE("health reports how a command failed: its exit code, and Windows' own codes by name") {
    CHECK(has(only_failure("exit 3"), "response run_command: \"exit 3\" ended with 3"));
    CHECK(has(only_failure("exit 9009"), "ended with 9009: there is no such command"));
    CHECK(has(only_failure("no_such_program_of_spotter 2>nul"), "ended with "));
    CHECK(has(only_failure(asked_for("a command that crashes", "")),
              "ended with -1073741819: 0xC0000005, an access violation"));
    CHECK(failures_of("exit 0").size() == 0);
}

TEST_CASE("how a command ended is heard at a close that follows, while the loop goes on") {
    temporary_folder const folder;
    std::string const command = asked_for("a command that waits for a file", folder / "go") + "& exit 4";
    hook watch{plan<>{}, on(high, run_command{command}) | once};
    (void)one_step(watch, 0, 2);
    for (std::uint64_t i = 1; i < 20; ++i) {
        (void)one_step(watch, i, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    CHECK(watch.health().good());  // it has not ended
    write_file(folder / "go", {});
    for (std::uint64_t i = 20; i < 1000 && watch.health().good(); ++i) {
        (void)one_step(watch, i, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    CHECK(has(watch.health().first_error.what.view(), "ended with 4"));
}

TEST_CASE("a command inherits nothing of the program's but its pipe and standard output, and leaves no handle behind") {
    temporary_folder const folder;
    std::string const command = asked_for("a command that waits for a file", folder / "go");
    finding it;
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE read = nullptr, write = nullptr;
    REQUIRE(::CreatePipe(&read, &write, &inherited, 0) != 0);
    CHECK(!run_command{command}(it));
    CHECK(::CloseHandle(write) != 0);  // this was the last write handle, though the command still runs
    CHECK(::PeekNamedPipe(read, nullptr, 0, nullptr, nullptr, nullptr) == 0);
    CHECK(::GetLastError() == ERROR_BROKEN_PIPE);
    CHECK(::CloseHandle(read) != 0);
    write_file(folder / "go", {});
    (void)failures_of("exit 2");  // what a process's first hook opens stays open
    std::size_t const before = handles();
    CHECK(before > 4);
    for (int i = 0; i < 8; ++i) { CHECK(!run_command{"exit 0"}(it)); }
    for (int i = 0; i < 3; ++i) { (void)failures_of("exit 2"); }
    CHECK(handles() <= before);
}

#endif
