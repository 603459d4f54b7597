// SPDX-License-Identifier: Apache-2.0
// Hook (L3): a type-erased reference to any hook, for functions and classes that must not depend on its plan and rules.
#pragma once

#include <spotter/hook/naming.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// Made from a hook, which must outlive it. It may be copied and assigned freely within the hook's thread. A default
// observer accepts every call, observes nothing and finds nothing, so that a caller need not test it.
class observer {
public:
    constexpr observer() noexcept = default;
    template <class Hook>
        requires requires(Hook& hook, offered const& values) { hook.observe_offered("", values); }
    observer(Hook& hook) noexcept : hook_{&hook}, calls_{&calls_of<Hook>} {}

    // Whether there is a hook behind it.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return calls_ != nullptr; }

    // From here on, each call does what the hook's function of this name does.
    void begin(step_id id) const noexcept {
        if (calls_ != nullptr) { calls_->begin(hook_, id); }
    }
    void begin(std::uint64_t index) const noexcept {
        if (calls_ != nullptr) { calls_->begin(hook_, {calls_->current_mode(hook_), index}); }
    }
    // Observes what the hook's `end` would take, and closes the step: `end(net).decision()` is the decision.
    template <class... Tensors>
    [[nodiscard]] step_alarm end(Tensors const&... tensors) const noexcept {
        if (calls_ == nullptr) { return {}; }
        auto const show = [&] { (take(tensors), ...); };
        return calls_->end(hook_, {&show, [](void const* it) { (*static_cast<decltype(show)*>(it))(); }});
    }
    // `begin` and `end`.
    template <class... Tensors>
    [[nodiscard]] step_alarm step(step_id id, Tensors const&... tensors) const noexcept {
        begin(id);
        return end(tensors...);
    }
    template <class... Tensors>
    [[nodiscard]] step_alarm step(std::uint64_t index, Tensors const&... tensors) const noexcept {
        begin(index);
        return end(tensors...);
    }
    template <class Tensor>
    void observe(std::string_view name, Tensor const& values) const noexcept {
        pass(name, offer(values), nullptr, flag::none);
    }
    template <class Tensor>
    void observe(std::string_view name, Tensor const& values, role what, flag flags = flag::none) const noexcept {
        pass(name, offer(values), &what, flags);
    }
    template <class Tensor>
    void observe(std::string_view name, Tensor const& values, flag flags) const noexcept {
        pass(name, offer(values), nullptr, flags);
    }
    // Observes one argument of `step`, between `begin` and `end`, such as a whole network.
    template <class Tensors>
    void observe(Tensors const& tensors) const noexcept {
        if (calls_ == nullptr) { return; }
        auto const show = [&] { take(tensors); };
        calls_->observe_all(hook_, {&show, [](void const* it) { (*static_cast<decltype(show)*>(it))(); }});
    }
    // Observes a value, and returns it.
    template <class Tensor>
    decltype(auto) tap(std::string_view name, Tensor&& values) const noexcept {
        pass(name, offer(values), nullptr, flag::none);
        return std::forward<Tensor>(values);
    }
    // A number, or a text, that is always kept.
    template <element Value>
    void scalar(std::string_view name, Value value) const noexcept {
        if (calls_ != nullptr) { calls_->scalar(hook_, name, view_of(&value, {})); }
    }
    void scalar(std::string_view name, std::string_view text) const noexcept {
        if (calls_ != nullptr) { calls_->scalar(hook_, name, view_of_text(text)); }
    }
    // Pairs with end_section; inner sections end first.
    void begin_section(std::string_view name) const noexcept {
        if (calls_ != nullptr) { calls_->begin_section(hook_, name); }
    }
    // Ends the section of that name and those still open inside it.
    void end_section(std::string_view name) const noexcept {
        if (calls_ != nullptr) { calls_->end_section(hook_, name); }
    }
    // Marks the run as failed.
    void fail(std::string_view why) const noexcept {
        if (calls_ != nullptr) { calls_->fail(hook_, why); }
    }

private:
    // The arguments of `observe` or `end` as one visitable object: the hook catches and reports exceptions of the
    // program's visitors.
    struct shown {
        void const* what;
        void (*show)(void const*);
        template <class Visit>
        friend void visit_tensors(shown const& it, Visit const&) {
            it.show(it.what);
        }
    };
    struct table {
        void (*observe)(void*, std::string_view, offered const&, role const*, flag) noexcept;
        void (*observe_all)(void*, shown const&) noexcept;
        void (*scalar)(void*, std::string_view, tensor_ref const&) noexcept;
        void (*begin)(void*, step_id) noexcept;
        step_alarm (*end)(void*, shown const&) noexcept;
        mode (*current_mode)(void const*) noexcept;
        void (*begin_section)(void*, std::string_view) noexcept;
        void (*end_section)(void*, std::string_view) noexcept;
        void (*fail)(void*, std::string_view) noexcept;
    };
    template <class Hook>
    static constexpr table calls_of{
        [](void* self, std::string_view name, offered const& values, role const* what, flag flags) noexcept {
            static_cast<Hook*>(self)->observe_offered(name, values, what, flags);
        },
        [](void* self, shown const& all) noexcept { static_cast<Hook*>(self)->observe(all); },
        [](void* self, std::string_view name, tensor_ref const& value) noexcept {
            static_cast<Hook*>(self)->scalar_offered(name, value);
        },
        [](void* self, step_id id) noexcept { static_cast<Hook*>(self)->begin(id); },
        [](void* self, shown const& all) noexcept { return static_cast<Hook*>(self)->end(all); },
        [](void const* self) noexcept { return static_cast<Hook const*>(self)->current_mode(); },
        [](void* self, std::string_view name) noexcept { static_cast<Hook*>(self)->begin_section(name); },
        [](void* self, std::string_view name) noexcept { static_cast<Hook*>(self)->end_section(name); },
        [](void* self, std::string_view why) noexcept { static_cast<Hook*>(self)->fail(why); }};

    template <class Argument>
    void take(Argument const& argument) const {
        if constexpr (std::same_as<Argument, named_tensor>) {
            pass(argument.name, argument.values, nullptr, flag::none);
        } else {
            detail::visit_each(argument, [this](std::string_view name, auto const& values, auto... role_and_flags) {
                this->observe(name, values, role_and_flags...);
            });
        }
    }
    void pass(std::string_view name, offered const& values, role const* what, flag flags) const noexcept {
        if (calls_ != nullptr) { calls_->observe(hook_, name, values, what, flags); }
    }

    void* hook_ = nullptr;
    table const* calls_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI
