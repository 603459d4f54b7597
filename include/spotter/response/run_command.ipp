// SPDX-License-Identifier: Apache-2.0
// The bodies of run_command.hpp; those of Windows are in run_command_windows.ipp.
#pragma once

#include <spotter/response/run_command.hpp>

#if !defined(_WIN32)
#include <spotter/file/descriptor.hpp>

#include <sys/wait.h>

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>
#endif

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY error run_command::operator()(finding const& found, response_desk& desk) const noexcept {
    int status = -1;
    error const why = start(found, desk.origin(), status);
    if (!why) { desk.await({&has_ended, status, command, found.rule, name}); }
    return why;
}

SPOTTER_BODY error run_command::unfit() const noexcept {
    if (command.find_first_not_of(" \t\r\n") == command.npos) {
        return {errc::bad_config, "the command is empty: name what is to be run"};
    }
    if (command.size() > longest) {
        return {errc::bad_config, "the command is longer than 4095 bytes; put it into a script"};
    }
    return {};
}

#if !defined(_WIN32)

SPOTTER_BODY error run_command::operator()(finding const& found, finding_origin const& from) const noexcept {
    int status = -1;
    error const why = start(found, from, status);
    if (!why) { ::close(status); }
    return why;
}

SPOTTER_BODY error run_command::start(finding const& found, finding_origin const& from, int& status) const noexcept {
    if (error const why = unfit()) { return why; }
    text<longest + 1> line{command};
    line << '\0';
    // Writes the finding before anyone reads: a pipe holds far more than a line, and a missing reader cannot cause
    // SIGPIPE.
    pipe_ends input, output;
    if (int const failed = input.open(0); failed != 0) { return refused("open a pipe for", failed); }
    if (int const failed = output.open(O_NONBLOCK); failed != 0) { return refused("open a pipe for", failed); }
    finding_line const json = json_of(found, from);
    std::size_t const size = json.view().size();
    if (::write(input.write, json.view().data(), size) != static_cast<ssize_t>(size)) {
        return refused("write to", EIO);
    }
    if (int const failed = spawn(line.view().data(), input.read, output.write); failed != 0) {
        return refused("start", failed);
    }
    status = std::exchange(output.read, -1);
    return {};
}

SPOTTER_BODY run_command::pipe_ends::~pipe_ends() {
    if (read >= 0) { ::close(read); }
    if (write >= 0) { ::close(write); }
}

SPOTTER_BODY int run_command::pipe_ends::open(int reading) noexcept {
    int ends[2];
    detail::standard_streams_kept const kept;
#if defined(__APPLE__)  // has no pipe2: a program that another thread starts in between may inherit the descriptors
    if (::pipe(ends) != 0) { return errno; }
    for (int const each : ends) { (void)::fcntl(each, F_SETFD, FD_CLOEXEC); }
#else
    if (::pipe2(ends, O_CLOEXEC) != 0) { return errno; }
#endif
    read = ends[0], write = ends[1];
    for (int* each : {&read, &write}) {
        if (*each > for_status) { continue; }
        int const higher = ::fcntl(*each, F_DUPFD_CLOEXEC, for_status + 1);
        if (higher < 0) { return errno; }
        ::close(std::exchange(*each, higher));
    }
    return reading == 0 || ::fcntl(read, F_SETFL, reading) == 0 ? 0 : errno;
}

SPOTTER_BODY int run_command::spawn(char const* command_line, int input, int status) noexcept {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int why = ::posix_spawn_file_actions_init(&actions);
    if (why != 0) { return why; }
    why = ::posix_spawnattr_init(&attributes);
    if (why != 0) {
        ::posix_spawn_file_actions_destroy(&actions);
        return why;
    }
    why = ::posix_spawn_file_actions_adddup2(&actions, input, for_input);
    if (why == 0) { why = ::posix_spawn_file_actions_adddup2(&actions, status, for_status); }
    // The command does not inherit the signals that this program blocks or ignores.
    sigset_t none, all;
    (void)::sigemptyset(&none);
    (void)::sigfillset(&all);
    (void)::sigdelset(&all, SIGKILL);
    (void)::sigdelset(&all, SIGSTOP);
    if (why == 0) { why = ::posix_spawnattr_setsigmask(&attributes, &none); }
    if (why == 0) { why = ::posix_spawnattr_setsigdefault(&attributes, &all); }
    if (why == 0) { why = ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF); }
    // The shell leaves its command in the background and ends at once, so there is no child to wait for.
    char shell[] = "/bin/sh", option[] = "-c", self[] = "spotter";
    char script[] = "{ ( eval \"$1\" ) <&3 3<&- 4>&- 2>/dev/null; echo $? >&4; } 2>/dev/null &";
    char* const arguments[] = {shell, option, script, self, const_cast<char*>(command_line), nullptr};
    pid_t child = 0;
    if (why == 0) { why = ::posix_spawn(&child, shell, &actions, &attributes, arguments, environ); }
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (why == 0) {
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    }
    return why;
}

SPOTTER_BODY bool run_command::has_ended(pending_response const& it, bool last, error& why) noexcept {
    char digits[16];
    ssize_t const size = ::read(it.descriptor, digits, sizeof digits);
    bool const waits = size < 0 && (errno == EAGAIN || errno == EINTR);
    if (!waits) { tell({digits, static_cast<std::size_t>(size > 0 ? size : 0)}, it.what, why); }
    if (!waits || last) { ::close(it.descriptor); }
    return !waits;
}

SPOTTER_BODY void run_command::tell(std::string_view digits, std::string_view command_line, error& why) noexcept {
    digits = digits.substr(0, digits.find('\n'));
    if (digits == "0") { return; }
    why.code = errc::io_error;
    why.what << '"' << command_line.substr(0, 80) << "\" ";
    if (digits.empty()) {
        why.what << "was killed";
        return;
    }
    why.what << "ended with " << digits;
    if (digits == "127") { why.what << ": there is no such command"; }
    if (digits == "126") { why.what << ": it cannot be run; is it executable?"; }
}

SPOTTER_BODY error run_command::refused(std::string_view what, int why) const noexcept {
    error failure{errc::io_error, "could not "};
    failure.what << what << " \"" << command.substr(0, 80) << "\": " << std::strerror(why);
    return failure;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
