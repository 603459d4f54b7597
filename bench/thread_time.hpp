// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of whole loops share: the processor time of a thread beside the clock on the wall.
#pragma once

#include "bench.hpp"

#include <time.h>

namespace bench {

// Nanoseconds that this thread has had a processor; the system's work for it included.
[[nodiscard]] inline double processor_nanoseconds() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// What a call takes of its thread's processor and of the clock, in nanoseconds.
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
