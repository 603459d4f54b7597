// SPDX-License-Identifier: Apache-2.0
// Ext (L6): what kernels of the one pass (tools/cuda/kernels.cpp) read and write: the same on both sides of the bus.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

// A tensor that a launch takes.
struct task {
    std::uint64_t values = 0;       // address on the device
    std::uint64_t count = 0;        // elements
    std::uint64_t bytes = 0;        // of all of them
    std::uint64_t first_block = 0;  // of the launch; block_size elements a block
    std::uint64_t before = 0;       // the previous values, of the same type and size; 0: no change is wanted
    std::uint32_t type = 0;         // a dtype, none that is complex
    std::uint32_t wanted = 0;       // terms
};

// What one block of 1024 elements adds (stat/lanes.hpp).
struct partial {
    double sum[16], sum_abs[16], sum_squares[16];  // by lane
    double minimum, maximum, abs_minimum, abs_maximum;
    double mean, about_mean;  // of its finite elements
    std::uint32_t finite, zeros, nan, pos_inf, neg_inf;
    std::uint32_t first_bad;  // in the block; block_size: none
};

// What is known of a tensor: as `summary` names it.
struct result {
    double sum, sum_abs, sum_squares, moment2;
    double minimum, maximum, abs_minimum, abs_maximum;
    std::uint64_t nan, pos_inf, neg_inf, first_bad, zeros, hash;
    double delta_sum_squares, dot, previous_sum_squares;
    std::uint64_t changed, compared;  // `compared`: both sides were finite throughout
};

static_assert(sizeof(task) == 48 && sizeof(partial) == 456 && sizeof(result) == 152);

// Tasks of one launch, at most: they are a parameter of its kernels, which may have 4 KiB.
inline constexpr unsigned tasks_at_once = 64;
struct task_list {
    task of[tasks_at_once];
};

// Threads of a block of each kernel.
inline constexpr unsigned threads = 256, fold_threads = 64, chain_threads = 64;
inline constexpr unsigned lanes = 16;  // that take a block together

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass
