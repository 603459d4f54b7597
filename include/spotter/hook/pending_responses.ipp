// SPDX-License-Identifier: Apache-2.0
// The bodies of pending_responses.hpp.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/hook/pending_responses.hpp>

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
            failures.add(detail::told_of(list_[i].rule, list_[i].response, why));
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
