// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what responses began beside the loop and whose end is not known yet.
#pragma once

#include <spotter/hook/failures.hpp>
#include <spotter/rule/respond.hpp>

#include <ctime>

namespace spotter::inline SPOTTER_ABI {

// Eight at most; of further ones nobody hears how they end.
class pending_responses {
public:
    pending_responses() noexcept = default;
    pending_responses(pending_responses const&) = delete;
    pending_responses& operator=(pending_responses const&) = delete;
    ~pending_responses() {
        for (std::size_t i = 0; i < count_; ++i) { let_go(list_[i]); }
    }

    void add(pending_response const& it) noexcept {
        if (count_ == capacity) { return let_go(it); }
        list_[count_++] = it;
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Those that are known by now.
    void ask(failure_list& failures) noexcept {
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
    // At the end of a run: a command that does not exist has ended in no time, and is not to go unheard.
    void ask_patiently(failure_list& failures) noexcept {
        for (int milliseconds = 0; count_ > 0 && milliseconds < 100; ++milliseconds) {
            ask(failures);
            if (count_ == 0) { return; }
            std::timespec const nap{0, 1'000'000};
            (void)::nanosleep(&nap, nullptr);
        }
    }

private:
    static constexpr std::size_t capacity = 8;

    static void let_go(pending_response const& it) noexcept {
        error why;
        (void)it.known(it, true, why);
    }

    pending_response list_[capacity]{};
    std::size_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
