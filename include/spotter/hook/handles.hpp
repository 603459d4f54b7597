// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the small objects that a hook returns: the handle of a looked-up name, and the scope of a mode.
#pragma once

#include <spotter/judge/tracked.hpp>

namespace spotter::inline SPOTTER_ABI {

// The result of one name look-up: `auto w = hook.tensor("fc1/w"); hook.observe(w, values);`. Valid as long as its hook.
class tensor_handle {
public:
    constexpr tensor_handle() noexcept = default;

private:
    template <class Sink, class Plan, class... Arguments>
    friend class hook;
    explicit tensor_handle(tracked_tensor* it) noexcept : it_{it} {}
    tracked_tensor* it_ = nullptr;
};

// What `during` returns: steps have the mode until the scope ends.
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
