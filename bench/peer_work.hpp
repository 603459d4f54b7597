// SPDX-License-Identifier: Apache-2.0
// The work given to each peer of peers.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// What is handed over, and how often. A round has `batches` times `calls` calls in a row, then as many single calls.
// Then every peer may drain its queue, so that no call waits for the disk.
struct peer_work {
    std::string folder;
    std::vector<float> values;
    std::size_t calls, batches, rounds;
    [[nodiscard]] std::size_t bytes() const noexcept { return values.size() * sizeof(float); }
    [[nodiscard]] std::span<char const> text() const noexcept {
        return {reinterpret_cast<char const*>(values.data()), bytes()};
    }
};
