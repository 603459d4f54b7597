// SPDX-License-Identifier: Apache-2.0
// ulimit -f: a write beyond the limit fails in any thread, and the program keeps its handlers, signal mask and own
// signals.
#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <spotter/file/system.hpp>

#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// The exit status of a child that may not write more than 1000 bytes into a file.
template <class Work>
int limited(Work&& work) {
    pid_t const child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_DFL);
        rlimit const most{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &most);
        ::_exit(work());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}
error write_too_much(std::string const& path) {
    std::vector<std::byte> const bytes(5000);
    auto const file = system_files().create(path);
    if (!file) { return file.error(); }
    error const why = system_files().append(*file, bytes);
    error const closed = system_files().close(*file);
    return why ? why : closed;
}
bool is_blocked() {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return ::sigismember(&mask, SIGXFSZ) == 1;
}
bool is_pending() {
    sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

TEST_CASE("a write beyond the limit is an error that says so, and the process lives on with the mask it had") {
    temporary_folder const folder;
    int const status = limited([&] {
        error const why = write_too_much(folder / "a");
        bool const reported = why.code == errc::io_error && why.what.view().find("ulimit -f") != std::string_view::npos;
        return reported && !is_blocked() && !is_pending() ? 0 : 1;
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(std::filesystem::file_size(folder / "a") == 1000);
}

TEST_CASE("memory beyond the limit is an error, too") {
    int const status = limited(
        [&] { return system_files().create_shared("spotter-test-" + std::to_string(::getpid()), 1 << 20) ? 1 : 0; });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a signal that the program was sent itself stays its own, and its own writes end it as before") {
    temporary_folder const folder;
    int status = limited([&] {
        sigset_t signal;
        ::sigemptyset(&signal);
        ::sigaddset(&signal, SIGXFSZ);
        ::pthread_sigmask(SIG_BLOCK, &signal, nullptr);
        ::raise(SIGXFSZ);
        return write_too_much(folder / "a") && is_blocked() && is_pending() ? 0 : 1;
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    status = limited([&] {
        (void)write_too_much(folder / "b");
        std::vector<char> const bytes(5000);
        int const own = ::open((folder / "c").c_str(), O_CREAT | O_WRONLY, 0600);
        return ::write(own, bytes.data(), bytes.size()) > 0 && ::write(own, bytes.data(), bytes.size()) > 0 ? 1 : 2;
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGXFSZ);
}
