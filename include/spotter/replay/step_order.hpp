// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the steps of several records as one sequence.
#pragma once

#include <spotter/trial/recorded.hpp>
#include <spotter/trial/step_list.hpp>

#include <cstdint>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A step has one place, whichever records hold it. Of one that a record closed several times (a rewind, a resumed run)
// the last closing is that of the others, too: it is what the run went on from; those before it are steps of their own,
// the same as the last but one of the others. Order is that of the first record; what only a later one has stands
// behind all that it had before.
class step_order {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFU;

    void add(step_list const& list);
    // `use(step, entry)` for each, in order.
    template <class Use>
    void each(Use&& use) const {
        for (std::uint32_t entry = head_; entry != none; entry = next_[entry]) { use(steps_[entry], entry); }
    }
    // Which closing of a record it is; `none` where the record has no such step.
    [[nodiscard]] std::uint32_t closing(std::size_t record, std::uint32_t entry) const noexcept;

private:
    struct known {
        step_id step{};
        std::uint32_t again = 0;  // how often the record closed it later
        std::uint32_t entry = none;
    };
    [[nodiscard]] static bool comes_first(known const& a, known const& b) noexcept;
    [[nodiscard]] std::uint32_t insert_behind(std::uint32_t last, step_id step);

    std::vector<step_id> steps_{};                        // by entry
    std::vector<std::uint32_t> next_{};                   // by entry: the one behind it
    std::vector<std::vector<std::uint32_t>> closings_{};  // by record and entry
    std::vector<known> known_{};                          // sorted
    std::uint32_t head_ = none;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/step_order.ipp>
#endif
