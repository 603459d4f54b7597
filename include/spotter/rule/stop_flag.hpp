// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a flag for other threads, as a response: `on(rule, raise_flag{flag})`.
#pragma once

#include <spotter/rule/respond.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

// A flag that any thread may look at; outlives the hook.
class stop_flag {
public:
    // From any thread; what was written before is seen by who sees it raised.
    void raise() noexcept { raised_.store(true, std::memory_order_release); }
    // From any thread.
    void lower() noexcept { raised_.store(false, std::memory_order_release); }
    // From any thread.
    [[nodiscard]] bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> raised_{false};
};
// `on(rule, raise_flag{flag})`: raised when the rule fires, and lowered by nobody but you.
struct raise_flag {
    using responds = void;
    static constexpr std::string_view name = "raise_flag";
    stop_flag* flag;  // outlives the rule
    constexpr explicit raise_flag(stop_flag& it) noexcept : flag{&it} {}
    error operator()(finding const&) const noexcept {
        flag->raise();
        return {};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
