// SPDX-License-Identifier: Apache-2.0
// Rule (L2): the virtual interface of a machine, for callers that do not know its rule. It costs one more virtual call
// per event.
#pragma once

#include <spotter/rule/machine.hpp>

#include <new>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI::detail {

// The virtual interface of a machine whose rule the caller does not know.
class any_machine {
public:
    // `polls`: whether `poll` does anything.
    explicit any_machine(bool polls = true) noexcept : polls_{polls} {}
    any_machine(any_machine const&) = delete;
    any_machine& operator=(any_machine const&) = delete;
    virtual ~any_machine() = default;

    using taker = void (*)(void* context, coverage const&);
    virtual tensor_needs declare(tensor_info const& tensor) = 0;
    virtual void observe(observation const& it) = 0;
    virtual truth close(step_id step, findings& out) = 0;
    [[nodiscard]] virtual bool due(step_id step) const = 0;
    virtual void poll(double const& now) = 0;
    virtual void report(taker take, void* context) const = 0;
    [[nodiscard]] virtual pattern_fault malformed() const noexcept = 0;

    [[nodiscard]] bool polls() const noexcept { return polls_; }

private:
    bool polls_;
};

template <rule Rule>
class any_machine_of final : public any_machine {
public:
    SPOTTER_COLD explicit any_machine_of(Rule const& it) noexcept : any_machine{machine<Rule>::polls}, machine_{it} {}
    SPOTTER_COLD ~any_machine_of() override = default;

    tensor_needs declare(tensor_info const& tensor) override { return machine_.declare(tensor); }
    void observe(observation const& it) override { machine_.observe(it); }
    truth close(step_id step, findings& out) override { return machine_.close(step, out); }
    [[nodiscard]] bool due(step_id step) const override { return machine_.due(step); }
    void poll(double const& now) override { machine_.poll(now); }
    SPOTTER_COLD void report(taker take, void* context) const override {
        machine_.report([&](coverage const& each) { take(context, each); });
    }
    [[nodiscard]] SPOTTER_COLD pattern_fault malformed() const noexcept override { return machine_.malformed(); }

private:
    machine<Rule> machine_;
};

// Owns a hidden machine and passes calls on to it. If there was no memory for it, the machine reports itself as
// malformed and does not run.
class any_machine_owner {
public:
    explicit any_machine_owner(any_machine* it) noexcept : it_{it} {}
    any_machine_owner(any_machine_owner const&) = delete;
    any_machine_owner& operator=(any_machine_owner const&) = delete;
    ~any_machine_owner() { delete it_; }

    tensor_needs declare(tensor_info const& tensor) { return it_ != nullptr ? it_->declare(tensor) : tensor_needs{}; }
    void observe(observation const& it) { it_->observe(it); }
    truth close(step_id step, findings& out) { return it_ != nullptr ? it_->close(step, out) : truth::undecided; }
    [[nodiscard]] bool due(step_id step) const { return it_ != nullptr && it_->due(step); }
    static constexpr bool polls = true, reads_times = true;
    void poll(double const& now) {
        if (it_ != nullptr) { it_->poll(now); }
    }
    template <class Use>
    void report(Use&& use) const {
        if (it_ == nullptr) { return; }
        it_->report(
            [](void* context, coverage const& each) { (*static_cast<std::remove_reference_t<Use>*>(context))(each); },
            const_cast<void*>(static_cast<void const*>(&use)));
    }
    [[nodiscard]] pattern_fault malformed() const noexcept {
        return it_ != nullptr ? it_->malformed() : pattern_fault{"(no memory for the rule)"};
    }

private:
    any_machine* it_;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
