// SPDX-License-Identifier: Apache-2.0
// Hook (L3): responses that still run beside the loop.
#pragma once

#include <spotter/core/failures.hpp>
#include <spotter/rule/respond.hpp>

namespace spotter::inline SPOTTER_ABI {

// Eight at most; the outcome of further ones is never reported.
class pending_responses {
public:
    pending_responses() noexcept = default;
    pending_responses(pending_responses const&) = delete;
    pending_responses& operator=(pending_responses const&) = delete;
    ~pending_responses();

    void add(pending_response const& it) noexcept;  // beyond eight it is released at once
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Removes those that have ended, and adds their failures.
    void ask(failure_list& failures) noexcept;
    // At the end of a run, waits up to 100 ms: a command that does not exist fails within that time, and should be
    // reported.
    void ask_patiently(failure_list& failures) noexcept;

private:
    static constexpr std::size_t capacity = 8;

    static void let_go(pending_response const& it) noexcept;

    pending_response list_[capacity]{};
    std::size_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/clock.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY pending_responses::~pending_responses() {
    for (std::size_t i = 0; i < count_; ++i) { let_go(list_[i]); }
}

SPOTTER_BODY void pending_responses::add(pending_response const& it) noexcept {
    if (count_ == capacity) { return let_go(it); }
    list_[count_++] = it;
}

SPOTTER_BODY void pending_responses::ask(failure_list& failures) noexcept {
    std::size_t left = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        error why;
        if (!list_[i].known(list_[i], false, why)) {
            list_[left++] = list_[i];
        } else if (why) {
            failures.add(detail::response_error(list_[i].rule, list_[i].response, why));
        }
    }
    count_ = left;
}

SPOTTER_BODY void pending_responses::ask_patiently(failure_list& failures) noexcept {
    for (int milliseconds = 0; count_ > 0 && milliseconds < 100; ++milliseconds) {
        ask(failures);
        if (count_ == 0) { return; }
        detail::nap(1000);
    }
}

SPOTTER_BODY void pending_responses::let_go(pending_response const& it) noexcept {
    error why;
    (void)it.known(it, true, why);
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
