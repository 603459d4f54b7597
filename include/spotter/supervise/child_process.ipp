// SPDX-License-Identifier: Apache-2.0
// The bodies of child_process.hpp for POSIX.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/clock.hpp>
#include <spotter/supervise/child_process.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY launched child_process::operator()(supervised_attempt const& asked) const {
    if (command.empty() || command.front().empty()) {
        return {asked.run, departure::never_started, "the command is empty: name the program that trains"};
    }
    std::vector<std::string> line = command;
    line.insert(line.end(), asked.settings.begin(), asked.settings.end());
    int child = 0, status = 0;
    bool timed_out = false;
    std::vector<std::string> overrides = asked.as_environment();
    overrides.insert(overrides.end(), environment.begin(), environment.end());
    if (int const why = spawn(line, overrides, child); why != 0) {
        return {asked.run, departure::never_started, "could not start \"" + line.front() + "\": " + std::strerror(why)};
    }
    if (int const why = await(child, status, timed_out); why != 0) {
        return {asked.run, departure::failed, std::string{"how it ended is not known: "} + std::strerror(why)};
    }
    if (timed_out) {
        return {asked.run, departure::timed_out, "killed after " + std::to_string(patience.count()) + " ms"};
    }
    if (WIFSIGNALED(status)) {
        return {asked.run, departure::killed, "killed by signal " + std::to_string(WTERMSIG(status))};
    }
    if (WEXITSTATUS(status) != 0) {
        return {asked.run, departure::failed, "ended with " + std::to_string(WEXITSTATUS(status))};
    }
    return {asked.run};
}

SPOTTER_BODY int child_process::spawn(std::vector<std::string> const& line, std::vector<std::string> const& overrides,
                                      int& child) {
    std::vector<char*> arguments, variables;
    for (std::string const& each : line) { arguments.push_back(const_cast<char*>(each.c_str())); }
    arguments.push_back(nullptr);
    for (std::string const& each : overrides) { variables.push_back(const_cast<char*>(each.c_str())); }
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        std::string_view const name{*each, std::strcspn(*each, "=")};
        bool const is_overridden = std::any_of(overrides.begin(), overrides.end(), [&](std::string const& other) {
            return other.size() > name.size() && other.compare(0, name.size(), name) == 0 && other[name.size()] == '=';
        });
        if (!is_overridden && name != "SPOTTER_RUN") {
            variables.push_back(*each);
        }  // a parent's SPOTTER_RUN is for one
           // record only
    }
    variables.push_back(nullptr);

    posix_spawnattr_t attributes;
    int why = ::posix_spawnattr_init(&attributes);
    if (why != 0) { return why; }
    sigset_t none, all;
    (void)::sigemptyset(&none);
    (void)::sigfillset(&all);
    (void)::sigdelset(&all, SIGKILL);
    (void)::sigdelset(&all, SIGSTOP);
    why = ::posix_spawnattr_setsigmask(&attributes, &none);
    if (why == 0) { why = ::posix_spawnattr_setsigdefault(&attributes, &all); }
    if (why == 0) { why = ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF); }
    pid_t started = 0;
    if (why == 0) {
        why = ::posix_spawnp(&started, arguments[0], nullptr, &attributes, arguments.data(), variables.data());
    }
    ::posix_spawnattr_destroy(&attributes);
    child = started;
    return why;
}

SPOTTER_BODY int child_process::await(int child, int& status, bool& timed_out) const {
    auto const end = std::chrono::steady_clock::now() + patience;
    bool const limited = patience.count() > 0;
    for (;;) {
        pid_t const ended = ::waitpid(child, &status, limited && !timed_out ? WNOHANG : 0);
        if (ended == child) {
            timed_out = timed_out && WIFSIGNALED(status);  // it may have ended by itself just before
            return 0;
        }
        if (ended < 0 && errno != EINTR) { return errno; }
        if (!limited || timed_out) { continue; }
        if (std::chrono::steady_clock::now() >= end) {
            timed_out = true;
            (void)::kill(child, SIGKILL);
            continue;
        }
        detail::nap(5000);
    }
}

}  // namespace spotter::inline SPOTTER_ABI
