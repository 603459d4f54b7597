// SPDX-License-Identifier: Apache-2.0
// Shared by the benchmarks: a clock, percentiles, and the printing of figures and targets.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {

// SPOTTER_BENCH_QUICK in the environment: few rounds, to see that a program works.
[[nodiscard]] inline bool quick() noexcept {
    char const* const text = std::getenv("SPOTTER_BENCH_QUICK");
    return text != nullptr && *text != '\0' && *text != '0';
}
[[nodiscard]] inline std::size_t rounds(std::size_t full, std::size_t when_quick) noexcept {
    return quick() ? when_quick : full;
}

// Makes the compiler assume that the value is read, and that any memory behind it may change.
template <class Value>
void do_not_optimise(Value const& value) noexcept {
    asm volatile("" : : "r"(&value) : "memory");
}

// The duration of a call in nanoseconds.
template <class Call>
[[nodiscard]] double nanoseconds(Call&& call) {
    auto const start = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// Repeated measurements of one duration.
class samples {
public:
    // Times `calls` calls in a row as one sample, and records the time per call: reading the clock costs as much as a
    // hand-off.
    template <class Call>
    void time(std::size_t calls, Call&& call) {
        double const all = nanoseconds([&] {
            for (std::size_t i = 0; i < calls; ++i) { call(); }
        });
        times_.push_back(all / static_cast<double>(calls));
    }
    void add(double time) { times_.push_back(time); }
    // The time that this share of the samples does not exceed: 0.5 is the median.
    [[nodiscard]] double percentile(double share) {
        std::sort(times_.begin(), times_.end());
        auto const rank = static_cast<std::size_t>(share * static_cast<double>(times_.size()));
        return times_.empty() ? 0 : times_[(std::min)(rank, times_.size() - 1)];
    }
    [[nodiscard]] double median() { return percentile(0.5); }

private:
    std::vector<double> times_;
};

// Prints one line with a figure that has no target.
inline void figure(std::string const& what, double value, char const* unit, std::string const& beside = {}) {
    std::printf("%s: %.4g %s%s%s\n", what.c_str(), value, unit, beside.empty() ? "" : ", ", beside.c_str());
    std::fflush(stdout);
}

// Prints one line with a target: `T5 stats in L2: 13.9 GB/s, target 12: met`. `beside` names the control and its
// figure.
enum class wanted { at_most, at_least };
inline void target(std::string const& what, double value, char const* unit, wanted which, double limit,
                   std::string const& beside = {}) {
    bool const met = which == wanted::at_most ? value <= limit : value >= limit;
    std::printf("%s: %.4g %s, target %.4g%s%s: %s\n", what.c_str(), value, unit, limit, beside.empty() ? "" : ", ",
                beside.c_str(), met ? "met" : "short");
    std::fflush(stdout);
}
[[nodiscard]] inline std::string control(char const* what, double value, char const* unit) {
    char line[96];
    std::snprintf(line, sizeof line, "%s %.4g %s", what, value, unit);
    return line;
}

// Plausible weights: finite, without zeros, hardly compressible, the same in every run.
[[nodiscard]] inline std::vector<float> weights(std::size_t count) {
    std::vector<float> values(count);
    std::uint64_t state = 1;
    for (float& each : values) {
        float sum = -2;
        for (int i = 0; i < 4; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            sum += static_cast<float>(state >> 40) * 0x1p-24F;
        }
        each = sum * 0.05F;
    }
    return values;
}

}  // namespace bench
