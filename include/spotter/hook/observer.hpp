// SPDX-License-Identifier: Apache-2.0
// Hook (L3): two words that stand for any hook, for files that only observe and must not know its plan and rules.
#pragma once

#include <spotter/hook/naming.hpp>

namespace spotter::inline SPOTTER_ABI {

// Made from a hook, which must outlive it; may be copied freely within the hook's thread.
class observer {
public:
    template <class Hook>
    requires requires(Hook& hook, offered const& values) { hook.observe_offered("", values); }
    observer(Hook& hook) noexcept
        : hook_{&hook}, observe_{[](void* self, std::string_view name, offered const& values, role const* what,
                                    flag flags) noexcept {
              static_cast<Hook*>(self)->observe_offered(name, values, what, flags);
          }} {}

    // As the hook's function of that name.
    template <class Tensor>
    void observe(std::string_view name, Tensor const& values) const noexcept {
        observe_(hook_, name, offer(values), nullptr, flag::none);
    }
    template <class Tensor>
    void observe(std::string_view name, Tensor const& values, role what, flag flags = flag::none) const noexcept {
        observe_(hook_, name, offer(values), &what, flags);
    }
    // Observes on the way, and returns its argument.
    template <class Tensor>
    decltype(auto) tap(std::string_view name, Tensor&& values) const noexcept {
        observe_(hook_, name, offer(values), nullptr, flag::none);
        return std::forward<Tensor>(values);
    }

private:
    void* hook_;
    void (*observe_)(void*, std::string_view, offered const&, role const*, flag) noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI
