// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): a pack whose rules find symptoms of each other: a diagnoser reports what they find.
#pragma once

#include <spotter/diagnosis/diagnoser.hpp>
#include <spotter/rule/hidden_pack.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

class diagnosed_pack final : public hidden_pack {
public:
    // `objective`: training is to make its loss fall.
    explicit diagnosed_pack(bool objective, diagnosis_limits const& limits = {}) noexcept
        : diagnoser_{objective, limits} {
        if (!diagnoser_.reserve()) { lack_memory(); }
    }
    SPOTTER_COLD ~diagnosed_pack() override = default;

    tensor_needs declare(tensor_info const& tensor) override {
        tensor_needs all = hidden_pack::declare(tensor);
        stats_mask const own = diagnoser::needs(tensor);
        bool const has_room = diagnoser_.declare(tensor) && (!any(own) || watch(tensor.id));
        if (!has_room) { return tensor_needs::without_memory(); }
        all.mask |= own;
        return all;
    }
    void observe(observation const& it) override {
        diagnoser_.observe(it);
        hidden_pack::observe(it);
    }
    truth close(step_id step, findings& out) override {
        truth answer = truth::undecided;
        diagnoser_.begin_close();
        each([&](any_machine& machine, std::size_t place) {
            scratch_.clear();
            truth const one = machine.close(step, scratch_);
            for (finding& found : scratch_) {
                found.step = step;
                one == truth::yes ? diagnoser_.note(place, found) : diagnoser_.hear(place, found);
            }
            if (decided(one)) {
                diagnoser_.decided(place);
                answer = truth::no;
            }
        });
        return diagnoser_.tell(step, out) ? truth::yes : answer;
    }
    [[nodiscard]] signs seen() const noexcept { return diagnoser_.seen(); }

private:
    diagnoser diagnoser_;
    findings scratch_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
