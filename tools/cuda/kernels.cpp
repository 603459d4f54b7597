// SPDX-License-Identifier: Apache-2.0
// The kernels of include/spotter/ext/cuda/ptx: `python3 tools/cuda/make_ptx.py` compiles them from this file with
// clang's NVPTX back end; no toolkit is needed.
#include <spotter/stat/lanes.hpp>

#pragma clang force_cuda_host_device begin
#include <tools/cuda/kernels.hpp>
#pragma clang force_cuda_host_device end

#define SPOTTER_KERNEL extern "C" __attribute__((global))
#define SPOTTER_DEVICE __attribute__((device))

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

// 16 adjacent threads of a warp. Exchanges name the threads in their mask, so the halves of a warp need not run in
// lockstep.
struct threads_group {
    unsigned lane, mask;

    template <class State>
    struct own {
        State it{};
        SPOTTER_DEVICE State& operator[](unsigned) noexcept { return it; }
    };
    template <class Use>
    SPOTTER_DEVICE SPOTTER_INLINE void each(Use&& use) const noexcept {
        use(lane);
    }
    template <class Use>
    SPOTTER_DEVICE SPOTTER_INLINE void once(Use&& use) const noexcept {
        if (lane == 0) { use(); }
    }
    SPOTTER_DEVICE std::uint32_t down(std::uint32_t value, unsigned by) const noexcept {
        return static_cast<std::uint32_t>(
            __nvvm_shfl_sync_down_i32(static_cast<int>(mask), static_cast<int>(value), static_cast<int>(by), 0x100F));
    }
    SPOTTER_DEVICE std::uint32_t first(std::uint32_t value) const noexcept {
        return static_cast<std::uint32_t>(
            __nvvm_shfl_sync_idx_i32(static_cast<int>(mask), static_cast<int>(value), 0, 0x100F));
    }
    SPOTTER_DEVICE double down(double value, unsigned by) const noexcept {
        auto const bits = __builtin_bit_cast(std::uint64_t, value);
        std::uint64_t const high = down(static_cast<std::uint32_t>(bits >> 32), by);
        return __builtin_bit_cast(double, high << 32 | down(static_cast<std::uint32_t>(bits), by));
    }
    SPOTTER_DEVICE double first(double value) const noexcept {
        auto const bits = __builtin_bit_cast(std::uint64_t, value);
        std::uint64_t const high = first(static_cast<std::uint32_t>(bits >> 32));
        return __builtin_bit_cast(double, high << 32 | first(static_cast<std::uint32_t>(bits)));
    }
    template <class State, class Get>
    SPOTTER_DEVICE double fold(own<State>& state, Get&& get) const noexcept {
        double sum = get(state.it);
        for (unsigned by = lanes / 2; by > 0; by /= 2) { sum += down(sum, by); }
        return first(sum);
    }
    template <class State, class Get>
    SPOTTER_DEVICE std::uint32_t total(own<State>& state, Get&& get) const noexcept {
        std::uint32_t sum = get(state.it);
        for (unsigned by = lanes / 2; by > 0; by /= 2) { sum += down(sum, by); }
        return first(sum);
    }
    SPOTTER_DEVICE void meet(own<lane_state>& state, partial& into) const noexcept {
        lane_state all = state.it;
        for (unsigned by = lanes / 2; by > 0; by /= 2) {
            lane_state other;
            other.minimum = down(all.minimum, by), other.maximum = down(all.maximum, by);
            other.abs_minimum = down(all.abs_minimum, by), other.abs_maximum = down(all.abs_maximum, by);
            other.finite = down(all.finite, by), other.zeros = down(all.zeros, by);
            other.nan = down(all.nan, by), other.pos_inf = down(all.pos_inf, by);
            other.neg_inf = down(all.neg_inf, by), other.first_bad = down(all.first_bad, by);
            if (lane < by) { join(all, other); }
        }
        tell(all, into);
    }
};
SPOTTER_DEVICE inline threads_group own_group() noexcept {
    unsigned const lane = static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x()) % 32;
    return {lane % lanes, lane < lanes ? 0xFFFFU : 0xFFFF0000U};
}

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass

using namespace spotter::detail::cuda_pass;

#if defined(SPOTTER_KERNEL_BLOCKS)
// 16 threads for each block of 1024 elements; each group continues with further blocks in strides of the grid.
SPOTTER_KERNEL void spotter_blocks(task_list tasks, std::uint32_t count, std::uint64_t blocks, partial* partials) {
    auto const group = static_cast<std::uint64_t>(__nvvm_read_ptx_sreg_ctaid_x()) * (threads / lanes) +
                       static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x()) / lanes;
    std::uint64_t const stride = static_cast<std::uint64_t>(__nvvm_read_ptx_sreg_nctaid_x()) * (threads / lanes);
    threads_group const own = own_group();
    for (std::uint64_t block = group; block < blocks; block += stride) {
        take_block(own, tasks.of[task_of(tasks.of, count, block)], block, partials);
    }
}
#endif

#if defined(SPOTTER_KERNEL_FOLD)
// A block of two warps for each task: one warp adds the sums, the other follows the chain.
SPOTTER_KERNEL void spotter_fold(task_list tasks, partial const* partials, result* results) {
    auto const which = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x());
    auto const thread = static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x());
    if (thread < lanes) {
        fold_sums(own_group(), task{tasks.of[which]}, partials, results[which]);
    } else if (thread == 32) {
        fold_counts(task{tasks.of[which]}, partials, results[which]);
    }
}
#endif

#if defined(SPOTTER_KERNEL_CHAINS)
// Computations that are a chain through the whole tensor by definition: a block of two warps for each task, one warp
// for the change, one for the hash.
SPOTTER_KERNEL void spotter_chains(task_list tasks, result* results) {
    auto const which = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x());
    auto const thread = static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x());
    task const mine = tasks.of[which];  // a copy: passing on a reference would copy all tasks
    if (thread < lanes && mine.before != 0) {
        take_change(own_group(), mine, results[which]);
    } else if (thread == 32 && (mine.wanted & static_cast<std::uint32_t>(spotter::stats_mask::hash)) != 0) {
        results[which].hash = hash_of(mine.values, mine.bytes);
    }
}
#endif
