// SPDX-License-Identifier: Apache-2.0
// Measures in a process of its own, so that earlier measurements do not hide its use of memory.
#pragma once

#include "thread_time.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <unistd.h>
#include <vector>

namespace bench {

// Resident bytes now, and their peak.
[[nodiscard]] inline double resident_bytes() noexcept {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) { return 0; }
    unsigned long all = 0, resident = 0;
    bool const read = std::fscanf(file, "%lu %lu", &all, &resident) == 2;
    std::fclose(file);
    return read ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}
[[nodiscard]] inline double peak_bytes() noexcept {
    rusage used{};
    (void)::getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) * 1024;
}

struct grown {
    std::uint64_t size = 0;
    double nanoseconds = 0;
    double bytes = 0;
};

// Calls work(say) in a child process, and used(it) here for each value that the child says. False if the child fails.
template <class Work, class Use>
[[nodiscard]] bool in_a_process(Work&& work, Use&& use) {
    int ends[2]{};
    if (::pipe(ends) != 0) { return false; }
    std::fflush(stdout);  // otherwise the child would print it again
    pid_t const child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        bool sent = true;
        work([&](grown const& it) {
            sent = ::write(ends[1], &it, sizeof it) == static_cast<ssize_t>(sizeof it) && sent;
        });
        std::fflush(stdout);
        ::_exit(sent ? 0 : 1);
    }
    ::close(ends[1]);
    for (grown it; child > 0 && ::read(ends[0], &it, sizeof it) == static_cast<ssize_t>(sizeof it);) { use(it); }
    ::close(ends[0]);
    int status = 1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace bench
