// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the steps of several records as one sequence.
#pragma once

#include <spotter/trial/recorded.hpp>
#include <spotter/trial/step_list.hpp>

#include <cstdint>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A step has one place, in whichever records it is. If a record closed it several times (a rewind, a resumed run), its
// last close matches the last close of the others, since the run continued from there; earlier closes are steps of
// their own, counted from the last one back. The order is that of the first record. Steps that only a later record has
// follow all that it had before.
class step_order {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFU;

    void add(step_list const& list);
    // Calls `use(step, entry)` for each, in order.
    template <class Use>
    void each(Use&& use) const {
        for (std::uint32_t entry = head_; entry != none; entry = next_[entry]) { use(steps_[entry], entry); }
    }
    // The index of a record's close for an entry; `none` where the record has no such step.
    [[nodiscard]] std::uint32_t closing(std::size_t record, std::uint32_t entry) const noexcept;

private:
    struct known {
        step_id step{};
        std::uint32_t again = 0;  // how often the record closed it again later
        std::uint32_t entry = none;
    };
    [[nodiscard]] static bool comes_first(known const& a, known const& b) noexcept;
    [[nodiscard]] std::uint32_t insert_behind(std::uint32_t last, step_id step);

    std::vector<step_id> steps_{};                        // by entry
    std::vector<std::uint32_t> next_{};                   // by entry: the one after it
    std::vector<std::vector<std::uint32_t>> closings_{};  // by record and entry
    std::vector<known> known_{};                          // sorted
    std::uint32_t head_ = none;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/step_order.ipp>
#endif
