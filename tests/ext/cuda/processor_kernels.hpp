// SPDX-License-Identifier: Apache-2.0
// The kernels of tools/cuda/kernels.hpp on the processor: one thread executes the 16 lanes of a group in turn.
#pragma once

#include <tools/cuda/kernels.hpp>

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

struct processor_group {
    template <class State>
    struct own {
        State it[lanes]{};
        State& operator[](unsigned lane) noexcept { return it[lane]; }
    };
    template <class Use>
    void each(Use&& use) const noexcept {
        for (unsigned lane = 0; lane < lanes; ++lane) { use(lane); }
    }
    template <class Use>
    void once(Use&& use) const noexcept {
        use();
    }
    // As a shuffle does: each lane adds the previous value of the lane `by` further.
    template <class State, class Get>
    double fold(own<State>& state, Get&& get) const noexcept {
        double sum[lanes];
        for (unsigned lane = 0; lane < lanes; ++lane) { sum[lane] = get(state.it[lane]); }
        for (unsigned by = lanes / 2; by > 0; by /= 2) {
            for (unsigned lane = 0; lane + by < lanes; ++lane) { sum[lane] += sum[lane + by]; }
        }
        return sum[0];
    }
    template <class State, class Get>
    std::uint32_t total(own<State>& state, Get&& get) const noexcept {
        std::uint32_t sum = 0;
        for (State const& each : state.it) { sum += get(each); }
        return sum;
    }
    void meet(own<lane_state>& state, partial& into) const noexcept {
        for (unsigned by = lanes / 2; by > 0; by /= 2) {
            for (unsigned lane = 0; lane < by; ++lane) { join(state.it[lane], state.it[lane + by]); }
        }
        tell(state.it[0], into);
    }
};

inline void run_blocks(task_list const& tasks, std::uint32_t count, std::uint64_t blocks, partial* partials) noexcept {
    for (std::uint64_t block = 0; block < blocks; ++block) {
        take_block(processor_group{}, tasks.of[task_of(tasks.of, count, block)], block, partials);
    }
}
inline void run_fold(task_list const& tasks, unsigned grid, partial const* partials, result* results) noexcept {
    for (unsigned which = 0; which < grid; ++which) {
        fold_sums(processor_group{}, tasks.of[which], partials, results[which]);
        fold_counts(tasks.of[which], partials, results[which]);
    }
}
inline void run_chains(task_list const& tasks, unsigned grid, result* results) noexcept {
    for (unsigned which = 0; which < grid; ++which) {
        task const& mine = tasks.of[which];
        if (mine.before != 0) { take_change(processor_group{}, mine, results[which]); }
        if ((mine.wanted & static_cast<std::uint32_t>(stats_mask::hash)) != 0) {
            results[which].hash = hash_of(mine.values, mine.bytes);
        }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass
