// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): eval phases: a loss during an evaluation, and in the training before it.
#pragma once

#include <spotter/rule/builtin/loss_trend.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a rule judges when a phase ends. Means of finite losses; unknown where there were none.
struct eval_phase {
    measurement evaluated{};          // in the phase
    measurement trained{};            // in training since the phase before
    std::uint64_t trained_until = 0;  // index of the last train step
    bool rewound = false;             // training went back to an earlier step since the phase before
};

// The phases of each loss that is observed in train and in eval steps, under one name or two (place_of). With a
// `length` of n a phase is n eval closes with the loss, and ends at the last of them. With 0 a phase ends at the next
// close of another mode. A rewind of training discards the current sums. Eval indices may start again in each phase.
class eval_phases {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        if (!all_.grow(tensor.id + std::size_t{1}) || !watched_.grow(count_ + 1)) { return false; }
        if (!std::exchange(all_[tensor.id].declared, true)) {
            all_[tensor.id].name = tensor.name;
            watched_[count_++] = tensor.id;
        }
        return true;
    }
    constexpr void observe(observation const& it, std::uint64_t length) noexcept {
        loss_place const place = place_of(it);
        if (!all_.holds(place.id) || place.when == mode::predict) { return; }
        series& mine = all_[place.id];
        measurement const loss = loss_of(it);
        if (place.when == mode::eval) {
            mine.touched = true;
            if (loss.known) { mine.evaluated.add(loss.value); }
            return;
        }
        if (length == 0 && mine.closes > 0) { end(mine); }
        if (it.step.index < mine.trained_until) {
            mine.trained = mine.evaluated = {};
            mine.closes = 0;
            mine.rewound = true;
        }
        mine.trained_until = it.step.index;
        trained_ = true;
        if (!loss.known) { return; }
        mine.trained.add(loss.value);
        mine.trend.add(loss.value);
    }
    // Calls `use(tensor_id, name, eval_phase)` for each loss whose phase has ended.
    template <class Use>
    constexpr void close(step_id step, std::uint64_t length, Use&& use) noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            series& mine = all_[watched_[i]];
            if (std::exchange(mine.touched, false)) { ++mine.closes; }
            bool const over = length > 0 ? mine.closes >= length : step.mode != mode::eval && mine.closes > 0;
            if (over) { end(mine); }
            if (std::exchange(mine.ended, false)) { use(watched_[i], mine.name, mine.last); }
        }
    }

    // The trend of the training loss; the loss must have been declared.
    [[nodiscard]] constexpr loss_trend const& trend(tensor_id id) const noexcept { return all_[id].trend; }
    // Why there was no phase to judge, for losses that were observed in eval steps.
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return trained_ ? "no eval phase was complete after training" : "matched, but never in mode train";
    }

private:
    struct series {
        std::string_view name{};
        loss_trend trend{};
        running_mean trained{}, evaluated{};
        std::uint64_t closes = 0;  // of the current phase
        std::uint64_t trained_until = 0;
        eval_phase last{};
        bool declared = false, touched = false, ended = false, rewound = false;
    };
    static constexpr void end(series& mine) noexcept {
        mine.last = {mine.evaluated.value(), mine.trained.value(), mine.trained_until, mine.rewound};
        mine.trained = mine.evaluated = {};
        mine.closes = 0;
        mine.rewound = false;
        mine.ended = true;
    }

    slot_array<series> all_;         // by tensor id
    slot_array<tensor_id> watched_;  // in the order of declaration
    std::size_t count_ = 0;
    bool trained_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI
