// SPDX-License-Identifier: Apache-2.0
// The work that each peer of peers.cpp is given.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// What is handed over, and how often: in a round `batches` times `calls` calls in a row, then as many one by one; then
// everybody may catch up, so that nobody waits for the disk.
struct peer_work {
    std::string folder;
    std::vector<float> values;
    std::size_t calls, batches, rounds;
    [[nodiscard]] std::size_t bytes() const noexcept { return values.size() * sizeof(float); }
    [[nodiscard]] std::span<char const> text() const noexcept {
        return {reinterpret_cast<char const*>(values.data()), bytes()};
    }
};
