// SPDX-License-Identifier: Apache-2.0
// Rule (L2): the machine of a pack whose rules are behind virtual interfaces: the same answers as rule_pack.hpp,
// without one template over all rules.
#pragma once

#include <spotter/rule/adapt.hpp>
#include <spotter/rule/any_machine.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A machine that exists already, presented as a rule so that adaptors can be applied. The one machine made from it owns
// it.
struct ready_machine {
    using kind = rule_kind;
    any_machine* it;
};

}  // namespace detail

template <>
class machine<detail::ready_machine> : public detail::any_machine_owner {
public:
    explicit machine(detail::ready_machine const& made) noexcept : detail::any_machine_owner{made.it} {}
};

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

// Takes up to 64 machines. One for which memory was lacking is left out, and malformed() reports that.
class hidden_pack : public any_machine {
public:
    hidden_pack() noexcept = default;
    SPOTTER_COLD ~hidden_pack() override {
        for (std::size_t i = 0; i < count_; ++i) { delete machines_[i]; }
    }
    void add(any_machine* it) noexcept { add(it, it != nullptr && it->polls()); }
    void add(any_machine* it, bool polls) noexcept {
        if (it != nullptr && machines_.grow(count_ + 1)) {
            polling_ |= std::uint64_t{polls} << count_;
            machines_[count_++] = it;
        } else {
            delete it;
            short_of_memory_ = true;
        }
    }
    // Adds a machine that reports an episode once, and then nothing for 100 closes.
    SPOTTER_COLD void add_with_cooldown(any_machine* it) noexcept {
        using with_cooldown = adapted<adapted<ready_machine, rearm>, cooldown>;
        any_machine* const thinned =
            it == nullptr ? nullptr
                          : new (std::nothrow)
                                any_machine_of<with_cooldown>{ready_machine{it} | rearm{10} | cooldown{100}};
        bool const polls = it != nullptr && it->polls();
        if (thinned == nullptr) { delete it; }
        add(thinned, polls);
    }

    SPOTTER_COLD tensor_needs declare(tensor_info const& tensor) override {
        needs_of_parts all;
        for (std::size_t i = 0; i < count_; ++i) { all.add(machines_[i]->declare(tensor), tensor); }
        return all.note(watching_, tensor.id);
    }
    void observe(observation const& it) override {
        for (std::uint64_t left = watching_[it.tensor.id]; left != 0; left &= left - 1) {
            machines_[static_cast<std::size_t>(std::countr_zero(left))]->observe(it);
        }
    }
    truth close(step_id step, findings& out) override {
        truth answer = truth::no;
        for (std::size_t i = 0; i < count_; ++i) {
            answer = disjunction(answer, close_beside(*machines_[i], step, out));
        }
        return answer;
    }
    [[nodiscard]] bool due(step_id step) const override {
        bool found = false;
        for (std::size_t i = 0; i < count_; ++i) { found = found || machines_[i]->due(step); }
        return found;
    }
    void poll(double const& now) override {
        for (std::uint64_t left = polling_; left != 0; left &= left - 1) {
            machines_[static_cast<std::size_t>(std::countr_zero(left))]->poll(now);
        }
    }
    SPOTTER_COLD void report(taker take, void* context) const override {
        for (std::size_t i = 0; i < count_; ++i) { machines_[i]->report(take, context); }
    }
    [[nodiscard]] SPOTTER_COLD pattern_fault malformed() const noexcept override {
        if (short_of_memory_) { return pattern_fault{"(no memory for the rule)"}; }
        for (std::size_t i = 0; i < count_; ++i) {
            if (pattern_fault const bad = machines_[i]->malformed(); !bad.empty()) { return bad; }
        }
        return {};
    }

protected:
    // Calls `use(machine, its index)` for each.
    template <class Use>
    void each(Use&& use) {
        for (std::size_t i = 0; i < count_; ++i) { use(*machines_[i], i); }
    }
    // Watches a tensor that only the derived class needs, and no machine. False where memory is lacking.
    [[nodiscard]] bool watch(tensor_id id) noexcept { return watching_.grow(id + std::size_t{1}); }
    void lack_memory() noexcept { short_of_memory_ = true; }

private:
    slot_array<any_machine*> machines_;
    std::size_t count_ = 0;
    std::uint64_t polling_ = 0;           // bits of the machines that need the time
    slot_array<std::uint64_t> watching_;  // by tensor id: bits of the machines that need the tensor
    bool short_of_memory_ = false;
};

template <rule Rule>
[[nodiscard]] SPOTTER_COLD any_machine* make_hidden(Rule const& it) noexcept {
    return new (std::nothrow) any_machine_of<Rule>{it};
}

// Each rule of a pack reports an episode once, and then nothing for 100 closes.
template <rule... Rules>
void add_with_cooldown(hidden_pack* to, Rules const&... rules) noexcept {
    if (to != nullptr) { (to->add_with_cooldown(make_hidden(rules)), ...); }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
