// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the small things that a hook hands out: a name looked up once, a mode for a while.
#pragma once

#include <spotter/judge/tracked.hpp>

namespace spotter::inline SPOTTER_ABI {

// A name that was looked up once: `auto w = hook.tensor("fc1/w"); hook.observe(w, values);`. Lives as long as its hook.
class tensor_handle {
public:
    constexpr tensor_handle() noexcept = default;

private:
    template <class Sink, class Plan, class... Arguments>
    friend class hook;
    explicit tensor_handle(tracked_tensor* it) noexcept : it_{it} {}
    tracked_tensor* it_ = nullptr;
};

// What `during` returns: the mode holds until the scope ends.
class mode_scope {
public:
    explicit mode_scope(mode& current, mode within) noexcept
        : current_{current}, before_{std::exchange(current, within)} {}
    mode_scope(mode_scope const&) = delete;
    mode_scope& operator=(mode_scope const&) = delete;
    ~mode_scope() { current_ = before_; }

private:
    mode& current_;
    mode before_;
};

}  // namespace spotter::inline SPOTTER_ABI
