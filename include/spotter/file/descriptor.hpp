// SPDX-License-Identifier: Apache-2.0
// File (L1): POSIX descriptors that never get the numbers of standard input, output and error, even if the program has
// closed these.
#pragma once

#include <spotter/config.hpp>

#include <dirent.h>
#include <sys/types.h>

namespace spotter::inline SPOTTER_ABI::detail {

// A program may have closed its standard streams, as daemons do. The next opened file then gets such a number, and what
// the program or a library prints goes into that file. While one of these objects lives, an unusable descriptor takes
// each free number of them, so that a file opened meanwhile has a number of 3 or above from the start. When no thread
// opens files any more, the numbers are free again. Costs three look-ups in the descriptor table.
class standard_streams_kept {
public:
    standard_streams_kept() noexcept;
    standard_streams_kept(standard_streams_kept const&) = delete;
    standard_streams_kept& operator=(standard_streams_kept const&) = delete;
    ~standard_streams_kept();

    // Duplicates a descriptor that was opened meanwhile to 3 or above if necessary: another thread may have closed a
    // stream just then. On failure closes it and returns -1 with errno. Negative numbers are returned unchanged.
    [[nodiscard]] int above(int descriptor) const noexcept;
};

// Like `open`, with O_CLOEXEC; retries after a signal.
[[nodiscard]] int open_above_streams(char const* path, int flags, mode_t rights = 0) noexcept;
// Like `opendir`.
[[nodiscard]] DIR* open_folder_above_streams(char const* path) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI::detail {

inline constexpr int first_of_ours = STDERR_FILENO + 1;

// The descriptors that take the numbers of closed streams. The threads of a process share them: the first that opens a
// file takes the numbers, the last one frees them.
struct stream_numbers {
    std::atomic<pid_t> changed_by{0};  // the process whose thread changes the rest; 0: none
    pid_t process = 0;                 // the rest belongs to it
    int users = 0;
    int count = 0;
    int taken[first_of_ours] = {};
};
inline constinit stream_numbers numbers_taken{};

// A lock on `numbers_taken`. A child of `fork` can take it even if a thread of the parent held it, because that thread
// is not in the child.
class changing_numbers {
public:
    changing_numbers() noexcept {
        pid_t const self = ::getpid();
        pid_t holder = 0;
        while (!numbers_taken.changed_by.compare_exchange_weak(holder, self, std::memory_order_acquire)) {
            if (holder == self) {
                ::sched_yield();
                holder = 0;
            }
        }
        if (numbers_taken.process == self) { return; }
        numbers_taken.process = self;
        numbers_taken.users = 0;
        numbers_taken.count = 0;
    }
    changing_numbers(changing_numbers const&) = delete;
    changing_numbers& operator=(changing_numbers const&) = delete;
    ~changing_numbers() { numbers_taken.changed_by.store(0, std::memory_order_release); }
};

SPOTTER_COLD_BODY standard_streams_kept::standard_streams_kept() noexcept {
    changing_numbers const alone;
    ++numbers_taken.users;
    for (int each = 0; each < first_of_ours; ++each) {
        if (::fcntl(each, F_GETFD) >= 0) { continue; }
        int const number = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (number >= first_of_ours) { ::close(number); }
        if (number < 0 || number >= first_of_ours) { return; }
        if (numbers_taken.count < first_of_ours) { numbers_taken.taken[numbers_taken.count++] = number; }
    }
}

SPOTTER_COLD_BODY standard_streams_kept::~standard_streams_kept() {
    int const why = errno;
    changing_numbers const alone;
    if (numbers_taken.users > 0) { --numbers_taken.users; }
    while (numbers_taken.users == 0 && numbers_taken.count > 0) { ::close(numbers_taken.taken[--numbers_taken.count]); }
    errno = why;
}

SPOTTER_COLD_BODY int standard_streams_kept::above(int descriptor) const noexcept {
    if (descriptor < 0 || descriptor >= first_of_ours) { return descriptor; }
    int const higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, first_of_ours);
    int const why = errno;
    ::close(descriptor);
    errno = why;
    return higher;
}

SPOTTER_COLD_BODY int open_above_streams(char const* path, int flags, mode_t rights) noexcept {
    standard_streams_kept const kept;
    for (;;) {
        int const number = ::open(path, flags | O_CLOEXEC, rights);
        if (number >= 0 || errno != EINTR) { return kept.above(number); }
    }
}

SPOTTER_COLD_BODY DIR* open_folder_above_streams(char const* path) noexcept {
    int const number = open_above_streams(path, O_RDONLY | O_DIRECTORY);
    DIR* const folder = number >= 0 ? ::fdopendir(number) : nullptr;
    if (folder == nullptr && number >= 0) { ::close(number); }
    return folder;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
