// SPDX-License-Identifier: Apache-2.0
// Response (L5): runs a shell command, with the finding as JSON on its standard input.
#pragma once

#include <spotter/response/finding_json.hpp>

#include <cerrno>
#include <cstring>

#if !defined(_WIN32)
extern "C" char** environ;
#endif

namespace spotter::inline SPOTTER_ABI {

// `on(rule, run_command{"./alert.sh"})`: `/bin/sh` runs the command beside the loop, which does not wait for it.
// Starting a process takes some milliseconds, so thin the rule (`| rearm{10}`). The command is not a child of this
// process. Its exit status is read at later closes, and reported in health if it is not 0. Its standard error is
// discarded (`./alert.sh 2>>alert.log` keeps it). It starts with the default signal handling of a new process. The
// command text must outlive the hook; a literal does. On Windows the shell is cmd.exe, the command is one line of
// UTF-8, and Ctrl-C at the program's console does not reach it.
struct run_command {
    using responds = void;
    static constexpr std::string_view name = "run_command";
    std::string_view command;  // for the shell; not owned

    error operator()(finding const& found, response_desk& desk) const noexcept;
    // Ignores the exit status.
    error operator()(finding const& found, finding_origin const& from = {}) const noexcept;
    // Starts the command. Once it has ended, its exit status can be read from `status`, as digits; the caller closes
    // it. On Windows `status` is the process's handle.
    error start(finding const& found, finding_origin const& from, int& status) const noexcept;

private:
    static constexpr std::size_t longest = 4095;  // bytes
    [[nodiscard]] error unfit() const noexcept;
    static bool has_ended(pending_response const& it, bool last, error& why) noexcept;

#if defined(_WIN32)
    static void tell(unsigned long code, std::string_view command_line, error& why) noexcept;
    [[nodiscard]] error refused(std::string_view what, unsigned long why) const noexcept;
#else
    static constexpr int for_input = 3, for_status = 4;  // the descriptors of the pipes in the script below

    // Both ends are closed at the end, and are above the script's descriptors: before glibc 2.29 a descriptor that is
    // duplicated to itself stays closed in the command.
    struct pipe_ends {
        int read = -1, write = -1;

        pipe_ends() noexcept = default;
        pipe_ends(pipe_ends const&) = delete;
        pipe_ends& operator=(pipe_ends const&) = delete;
        ~pipe_ends();
        [[nodiscard]] int open(int reading) noexcept;
    };

    [[nodiscard]] static int spawn(char const* command_line, int input, int status) noexcept;

    // Reports an exit status: its digits, or none where the shell was killed before it could write them.
    static void tell(std::string_view digits, std::string_view command_line, error& why) noexcept;
    [[nodiscard]] error refused(std::string_view what, int why) const noexcept;
#endif
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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
#if defined(_WIN32)  // runs cmd.exe without waiting; its handle gives the exit status
#include <spotter/file/windows_api.hpp>
#include <spotter/file/windows_process.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Only 32 bits of a handle are significant, also where pointers have 64.
[[nodiscard]] SPOTTER_BODY HANDLE handle_of_number(int number) noexcept {
    return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(number));
}

}  // namespace detail

SPOTTER_BODY error run_command::operator()(finding const& found, finding_origin const& from) const noexcept {
    int status = -1;
    error const why = start(found, from, status);
    if (!why) { (void)::CloseHandle(detail::handle_of_number(status)); }
    return why;
}

SPOTTER_BODY error run_command::start(finding const& found, finding_origin const& from, int& status) const noexcept {
    if (error const why = unfit()) { return why; }
    std::string_view const one = command.substr(0, command.find_last_not_of(" \t\r\n") + 1);
    if (one.find_first_of("\r\n") != one.npos) {
        return {errc::bad_config, "the command has several lines, and cmd.exe would run only the first: join them with "
                                  "&, or put them into a script"};
    }
    // cmd.exe removes the outer quotes (/s) and keeps the text between them.
    constexpr std::wstring_view before = L"cmd.exe /d /s /c \"";
    wchar_t line[before.size() + longest + 2];
    before.copy(line, before.size());
    int const made = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, one.data(), static_cast<int>(one.size()),
                                           line + before.size(), static_cast<int>(longest));
    if (made <= 0) { return {errc::bad_config, "the command is no UTF-8"}; }
    std::size_t const end = before.size() + static_cast<std::size_t>(made);
    line[end] = L'"', line[end + 1] = L'\0';
    constexpr std::wstring_view shell = L"\\cmd.exe";
    wchar_t program[MAX_PATH + shell.size() + 1];
    std::size_t const folder = ::GetSystemDirectoryW(program, MAX_PATH);
    if (folder == 0 || folder > MAX_PATH) { return refused("find cmd.exe for", ERROR_PATH_NOT_FOUND); }
    shell.copy(program + folder, shell.size());
    program[folder + shell.size()] = L'\0';

    // Writes the finding before anyone reads: a pipe holds far more than a line.
    constexpr unsigned long pipe_bytes = 64U << 10U;
    static_assert(sizeof(finding_line) < pipe_bytes);
    detail::windows_handle read, write, process, thread;
    if (::CreatePipe(read.put(), write.put(), nullptr, pipe_bytes) == 0) {
        return refused("open a pipe for", ::GetLastError());
    }
    finding_line const json = json_of(found, from);
    auto const size = static_cast<unsigned long>(json.view().size());
    unsigned long written = 0;
    if (::WriteFile(write.get(), json.view().data(), size, &written, nullptr) == 0 || written != size) {
        return refused("write to", ::GetLastError());
    }
    write.close();
    detail::windows_start asked{};
    asked.line = line, asked.program = program;
    asked.input = read.get(), asked.output = detail::own_standard_handle(STD_OUTPUT_HANDLE);
    if (unsigned long const failed = detail::start_process(asked, process, thread); failed != 0) {
        return refused("start", failed);
    }
    status = static_cast<int>(reinterpret_cast<std::intptr_t>(process.release()));
    return {};
}

SPOTTER_BODY bool run_command::has_ended(pending_response const& it, bool last, error& why) noexcept {
    HANDLE const process = detail::handle_of_number(it.descriptor);
    bool const ended = ::WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
    unsigned long code = 0;
    if (ended && ::GetExitCodeProcess(process, &code) != 0) { tell(code, it.what, why); }
    if (ended || last) { (void)::CloseHandle(process); }
    return ended;
}

SPOTTER_BODY void run_command::tell(unsigned long code, std::string_view command_line, error& why) noexcept {
    if (code == 0) { return; }
    why.code = errc::io_error;
    why.what << '"' << command_line.substr(0, 80) << "\" ";
    why.what << "ended with " << static_cast<std::int32_t>(code);
    if (std::string_view const crash = detail::crash_of(code); !crash.empty()) { why.what << ": " << crash; }
    if (code == 9009) { why.what << ": there is no such command"; }
}

SPOTTER_BODY error run_command::refused(std::string_view what, unsigned long why) const noexcept {
    error failure{errc::io_error, "could not "};
    failure.what << what << " \"" << command.substr(0, 80) << "\": error " << why << " of Windows";
    return failure;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
#endif
