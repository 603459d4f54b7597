// SPDX-License-Identifier: Apache-2.0
// Response (L5): a command of the shell, with the finding as JSON on its standard input.
#pragma once

#include <spotter/response/finding_json.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;

namespace spotter::inline SPOTTER_ABI {

// `on(rule, run_command{"./alert.sh"} )`: `/bin/sh` runs it beside the loop, which does not wait for its end; the loop pays for starting a
// process, some milliseconds, so let the rule be thinned (`| rearm{10}`). It is nobody's child: its exit status is its own. An
// error says that it could not be started. The command must outlive the hook; a literal does. POSIX.
struct run_command {
    using responds = void;
    static constexpr std::string_view name = "run_command";
    std::string_view command;

    error operator()(finding const& found) const noexcept {
        text<longest + 1> line{command};
        if (command.size() > longest) {
            return {errc::bad_config, "run_command: the command is longer than 4095 bytes; put it into a script"};
        }
        line << '\0';
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) { return failed("pipe", errno); }
        // Written before anybody reads: a pipe takes far more than a line, and there is no reader yet who could go away.
        finding_line const json = json_of(found);
        std::size_t const size = json.view().size();
        bool const written = ::write(ends[1], json.view().data(), size) == static_cast<ssize_t>(size);
        ::close(ends[1]);
        int why = written ? 0 : EIO;
        // Duplicated to itself, a descriptor stays closed to the command before glibc 2.29; so this one is another.
        if (ends[0] == handed_over) {
            ends[0] = ::fcntl(handed_over, F_DUPFD_CLOEXEC, handed_over + 1);
            if (ends[0] < 0) { why = errno; }
            ::close(handed_over);
        }
        posix_spawn_file_actions_t actions;
        if (why == 0 && (why = ::posix_spawn_file_actions_init(&actions)) == 0) {
            why = ::posix_spawn_file_actions_adddup2(&actions, ends[0], handed_over);
            // The shell leaves its command behind and ends at once, so nothing remains to be waited for.
            char shell[] = "/bin/sh", option[] = "-c", script[] = "{ eval \"$1\"; } <&3 3<&- &", self[] = "spotter";
            char* const arguments[] = {shell, option, script, self, const_cast<char*>(line.view().data()), nullptr};
            pid_t child = 0;
            if (why == 0) { why = ::posix_spawn(&child, shell, &actions, nullptr, arguments, environ); }
            ::posix_spawn_file_actions_destroy(&actions);
            if (why == 0) {
                while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
            }
        }
        if (ends[0] >= 0) { ::close(ends[0]); }
        return why == 0 ? error{} : failed("start", why);
    }

private:
    static constexpr std::size_t longest = 4095;  // bytes
    static constexpr int handed_over = 3;         // the descriptor by which the script below knows the pipe

    [[nodiscard]] error failed(std::string_view what, int why) const noexcept {
        error told{errc::io_error, "run_command could not "};
        told.what << what << " \"" << command.substr(0, 80) << "\": " << std::strerror(why);
        return told;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
