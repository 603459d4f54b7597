// SPDX-License-Identifier: Apache-2.0
// Shared by benchmarks of whole loops: a thread's processor time and the elapsed time.
#pragma once

#include "bench.hpp"

#include <time.h>

namespace bench {

// The processor time of this thread in nanoseconds, system calls included.
[[nodiscard]] inline double processor_nanoseconds() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The processor time of the thread and the elapsed time of a call, in nanoseconds.
struct thread_time {
    double core = 0, wall = 0;

    thread_time() = default;
    template <class Call>
    explicit thread_time(Call&& call) {
        double const before = processor_nanoseconds();
        wall = nanoseconds(call);
        core = processor_nanoseconds() - before;
    }
    thread_time& operator+=(thread_time const& other) noexcept {
        core += other.core, wall += other.wall;
        return *this;
    }
};

[[nodiscard]] inline double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : all[all.size() / 2];
}

}  // namespace bench
