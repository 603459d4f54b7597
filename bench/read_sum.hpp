// SPDX-License-Identifier: Apache-2.0
// The control for everything that reads memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bench {

// The cost of reading: a sum of 64-bit words in eight vectors, limited only by memory.
[[nodiscard]] inline std::uint64_t read_sum(void const* from, std::size_t bytes) noexcept {
    typedef std::uint64_t words __attribute__((vector_size(32)));
    words sum[8]{};
    auto const* at = static_cast<std::byte const*>(from);
    for (std::size_t done = 0; done + sizeof sum <= bytes; done += sizeof sum) {
        words now[8];
        std::memcpy(now, at + done, sizeof now);
        for (std::size_t i = 0; i < 8; ++i) { sum[i] += now[i]; }
    }
    std::uint64_t all = 0;
    for (words const& each : sum) { all += each[0] + each[1] + each[2] + each[3]; }
    return all;
}

}  // namespace bench
