// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what responses began beside the loop and whose end is not known yet.
#pragma once

#include <spotter/core/failures.hpp>
#include <spotter/rule/respond.hpp>

namespace spotter::inline SPOTTER_ABI {

// Eight at most; of further ones nobody hears how they end.
class pending_responses {
public:
    pending_responses() noexcept = default;
    pending_responses(pending_responses const&) = delete;
    pending_responses& operator=(pending_responses const&) = delete;
    ~pending_responses();

    void add(pending_response const& it) noexcept;  // beyond eight it is let go
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Those that are known by now.
    void ask(failure_list& failures) noexcept;
    // At the end of a run: a command that does not exist has ended in no time, and is not to go unheard.
    void ask_patiently(failure_list& failures) noexcept;

private:
    static constexpr std::size_t capacity = 8;

    static void let_go(pending_response const& it) noexcept;

    pending_response list_[capacity]{};
    std::size_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/pending_responses.ipp>
#endif
