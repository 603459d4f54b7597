// SPDX-License-Identifier: Apache-2.0
// Core (L0): what rules extract from a tensor's values. It travels with the observation from rule to rule, and then to
// the sink.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// A feature is the part of a tensor's values that a rule needs: a list of numbers. The rule extracts it while the
// values are in memory, and it is recorded in their place, so that a replay without the values has the same findings.
// The key identifies the extraction, its parameters and past state: equal keys of a tensor at a step have equal
// features.
//
// A source of events has one list for all its observations. A hook passes its content to the sink after the rules; a
// replay fills it before them. Allocates only to grow beyond its largest content so far.
class feature_list {
public:
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    void clear() noexcept { count_ = used_ = 0; }
    // False where memory is exhausted; the feature is then missing.
    [[nodiscard]] bool add(std::uint64_t key, std::span<double const> numbers) noexcept;
    // Whether there is a feature of that key; `numbers` are valid until the next `add`.
    [[nodiscard]] bool find(std::uint64_t key, std::span<double const>& numbers) const noexcept;
    // Calls use(key, numbers) for each feature, in the order of `add`, and clears the list.
    template <class Use>
    SPOTTER_NOINLINE void hand_on(Use&& use) {
        for (std::size_t i = 0; i < count_; ++i) { use(pieces_[i].key, numbers_of(pieces_[i])); }
        clear();
    }

    // The next observation comes from a record. `load()` is called when a rule needs the values; it returns them, or an
    // absent tensor.
    template <class Load>
    void play_back(Load const& load) noexcept {
        load_ = [](void const* from) noexcept { return (*static_cast<Load const*>(from))(); };
        from_ = &load;
        lacking_ = false;
    }
    // True in a loop: features were extracted from memory just now. False in a replay: they were recorded.
    [[nodiscard]] bool live() const noexcept { return load_ == nullptr; }

    // For the machine of a rule: the values of the observation; a copy of what the rule extracted; and that the rule
    // can judge without neither.
    [[nodiscard]] tensor_ref values(tensor_ref const& at_hand) noexcept;
    // If memory is exhausted in a loop, the list is lacking.
    void keep(std::uint64_t key, std::span<double const> numbers) noexcept;
    void lack() noexcept { lacking_ = true; }  // a rule could not judge the observation

    // In a loop: memory was exhausted at some time. In a replay: the current observation has neither the values nor the
    // features that a rule needs.
    [[nodiscard]] bool lacking() const noexcept { return lacking_; }
    // The error sentence for lacking() in a loop.
    [[nodiscard]] error trouble() const noexcept;

private:
    struct piece {  // a range of numbers_
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

#if SPOTTER_BODIES

SPOTTER_BODY bool feature_list::add(std::uint64_t key, std::span<double const> numbers) noexcept {
    if (!pieces_.grow(count_ + 1) || !numbers_.grow(used_ + numbers.size())) { return false; }
    pieces_[count_++] = {key, used_, numbers.size()};
    for (double const each : numbers) { numbers_[used_++] = each; }
    return true;
}

SPOTTER_BODY bool feature_list::find(std::uint64_t key, std::span<double const>& numbers) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        if (pieces_[i].key != key) { continue; }
        numbers = numbers_of(pieces_[i]);
        return true;
    }
    return false;
}

SPOTTER_BODY tensor_ref feature_list::values(tensor_ref const& at_hand) noexcept {
    if (live()) { return at_hand; }
    tensor_ref const loaded = load_(from_);
    lacking_ = lacking_ || loaded.absent();
    return loaded;
}

// In a replay without memory the next rule extracts the feature again; in a loop the record would lack it.
SPOTTER_BODY void feature_list::keep(std::uint64_t key, std::span<double const> numbers) noexcept {
    if (!add(key, numbers) && live()) { lack(); }
}

SPOTTER_BODY error feature_list::trouble() const noexcept {
    if (!lacking_) { return {}; }
    return {errc::out_of_memory,
            "no memory for what a rule extracts of values; it does not see the tensor, or a replay does not"};
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
