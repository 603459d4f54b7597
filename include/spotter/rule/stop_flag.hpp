// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a response that raises a flag for other threads: `on(rule, raise_flag{flag})`.
#pragma once

#include <spotter/rule/respond.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

// A flag that any thread may read. It must outlive the hook.
class stop_flag {
public:
    // Callable from any thread. A thread that sees the flag raised also sees what was written before (release,
    // acquire).
    void raise() noexcept { raised_.store(true, std::memory_order_release); }
    // Callable from any thread.
    void lower() noexcept { raised_.store(false, std::memory_order_release); }
    // Callable from any thread.
    [[nodiscard]] bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> raised_{false};
};
// `on(rule, raise_flag{flag})`: raises the flag when the rule fires. Only your code lowers it.
struct raise_flag {
    using responds = void;
    static constexpr std::string_view name = "raise_flag";
    stop_flag* flag;  // must outlive the rule
    constexpr explicit raise_flag(stop_flag& it) noexcept : flag{&it} {}
    error operator()(finding const&) const noexcept {
        flag->raise();
        return {};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
