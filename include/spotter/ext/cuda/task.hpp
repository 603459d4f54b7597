// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the input and output of the kernels of the one pass (tools/cuda/kernels.cpp), shared by device and host.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

// A tensor of a launch.
struct task {
    std::uint64_t values = 0;       // address on the device
    std::uint64_t count = 0;        // elements
    std::uint64_t bytes = 0;        // of all of them
    std::uint64_t first_block = 0;  // index in the launch; blocks have block_size elements
    std::uint64_t before = 0;       // address of the previous values, of the same type and size; 0: no change is needed
    std::uint32_t type = 0;         // a dtype that is not complex
    std::uint32_t wanted = 0;       // terms
};

// The contribution of one block of 1024 elements (stat/lanes.hpp).
struct partial {
    double sum[16], sum_abs[16], sum_squares[16];  // by lane
    double minimum, maximum, abs_minimum, abs_maximum;
    double mean, about_mean;  // of its finite elements
    std::uint32_t finite, zeros, nan, pos_inf, neg_inf;
    std::uint32_t first_bad;  // index in the block; block_size: none
};

// The results for a tensor, with the names of `summary`.
struct result {
    double sum, sum_abs, sum_squares, moment2;
    double minimum, maximum, abs_minimum, abs_maximum;
    std::uint64_t nan, pos_inf, neg_inf, first_bad, zeros, hash;
    double delta_sum_squares, dot, previous_sum_squares;
    std::uint64_t changed, compared;  // `compared`: all values of both sides were finite
};

static_assert(sizeof(task) == 48 && sizeof(partial) == 456 && sizeof(result) == 152);

// The most tasks of one launch: they are a kernel parameter, which is limited to 4 KiB.
inline constexpr unsigned tasks_at_once = 64;
struct task_list {
    task of[tasks_at_once];
};

// Threads per block of each kernel.
inline constexpr unsigned threads = 256, fold_threads = 64, chain_threads = 64;
inline constexpr unsigned lanes = 16;  // threads that share a block

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass
