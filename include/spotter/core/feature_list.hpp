// SPDX-License-Identifier: Apache-2.0
// Core (L0): what rules extract of a tensor's values: travels with the observation, from rule to rule and on to who
// records.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// A feature is the little that a rule needs of a tensor's values: a list of numbers that the rule extracts where the
// values are at hand and that is recorded in their place, so that a replay without the values judges alike. The key
// says what was extracted and with which parameters (and of which past); equal keys of a tensor at a step have equal
// features.
//
// A source of events has one list for all its observations: a hook hands on what is in it after the rules, a replay
// fills it before. Takes memory only for more, or longer ones, than there ever were.
class feature_list {
public:
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    void clear() noexcept { count_ = used_ = 0; }
    // False where memory is exhausted; then it is not in the list.
    [[nodiscard]] bool add(std::uint64_t key, std::span<double const> numbers) noexcept;
    // Whether there is one; `numbers` are valid until the next `add`.
    [[nodiscard]] bool find(std::uint64_t key, std::span<double const>& numbers) const noexcept;
    // Calls use(key, numbers) for each, in the order in which they came, and empties the list.
    template <class Use>
    SPOTTER_NOINLINE void hand_on(Use&& use) {
        for (std::size_t i = 0; i < count_; ++i) { use(pieces_[i].key, numbers_of(pieces_[i])); }
        clear();
    }

    // The observation that comes next is of a record: `load()`, called where a rule asks for values, returns them, or
    // an absent tensor.
    template <class Load>
    void play_back(Load const& load) noexcept {
        load_ = [](void const* from) noexcept { return (*static_cast<Load const*>(from))(); };
        from_ = &load;
        lacking_ = false;
    }
    // Whether the tensor is in memory, so that what is found was extracted of it just now; otherwise it was recorded.
    [[nodiscard]] bool live() const noexcept { return load_ == nullptr; }

    // For the machine of a rule: the values of an observation, what the rule extracted of them, and that it cannot
    // judge without either.
    [[nodiscard]] tensor_ref values(tensor_ref const& at_hand) noexcept;
    // Copied; where memory is exhausted it is lacking.
    void keep(std::uint64_t key, std::span<double const> numbers) noexcept;
    void lack() noexcept { lacking_ = true; }  // a rule could not judge it

    // In a loop memory, at some time; of a record, values or what would have been extracted of them, at the observation
    // at hand.
    [[nodiscard]] bool lacking() const noexcept { return lacking_; }
    // The same of a loop, as a sentence.
    [[nodiscard]] error trouble() const noexcept;

private:
    struct piece {  // of numbers_
        std::uint64_t key = 0;
        std::size_t at = 0, size = 0;
    };
    [[nodiscard]] std::span<double const> numbers_of(piece const& it) const noexcept {
        return {numbers_.data() + it.at, it.size};
    }

    slot_array<piece> pieces_;
    slot_array<double> numbers_;
    std::size_t count_ = 0, used_ = 0;
    tensor_ref (*load_)(void const* from) noexcept = nullptr;
    void const* from_ = nullptr;
    bool lacking_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/feature_list.ipp>
#endif
