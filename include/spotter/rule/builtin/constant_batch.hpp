// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a data loader that returns the same batch repeatedly. docs/rules.md#constant_batch
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Inputs, except those that are flagged as the whole data set at every step.
[[nodiscard]] constexpr bool batches(tensor_info const& tensor) noexcept {
    return tensor.role == role::input && !has(tensor.flags, flag::full_batch);
}

}  // namespace select

// The last hashes of one tensor, and the number of distinct ones. O(size) for each hash, no allocation after `keep`.
class hash_ring {
public:
    // Reserves room for at most 65536; false where memory is exhausted.
    [[nodiscard]] constexpr bool keep(std::uint64_t most) noexcept {
        constexpr std::uint64_t limit = 1U << 16;
        most = most > limit ? limit : most;
        if (!ring_.grow(as_size(most))) { return false; }
        most_ = as_size(most);
        return true;
    }
    // The oldest is dropped where there is no room.
    constexpr void add(std::uint64_t hash) noexcept {
        if (most_ == 0) { return; }
        if (count_ == most_) {
            std::uint64_t const oldest = ring_[next_];
            distinct_ -= times(oldest) == 1 ? 1U : 0U;
        } else {
            ++count_;
        }
        ring_[next_] = hash;  // only after the oldest was counted, whose place this is
        next_ = (next_ + 1) % most_;
        distinct_ += times(hash) == 1 ? 1U : 0U;
    }
    // It holds as many hashes as `keep` reserved.
    [[nodiscard]] constexpr bool full() const noexcept { return most_ > 0 && count_ == most_; }
    // The share of hashes that occur earlier in the ring.
    [[nodiscard]] constexpr double repeated_share() const noexcept {
        return static_cast<double>(count_ - distinct_) / static_cast<double>(count_);
    }

private:
    [[nodiscard]] constexpr std::size_t times(std::uint64_t hash) const noexcept {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count_; ++i) { found += ring_[i] == hash ? 1U : 0U; }
        return found;
    }

    slot_array<std::uint64_t> ring_;
    std::size_t most_ = 0, count_ = 0, next_ = 0, distinct_ = 0;
};

// Warning when an input has the same bits as in the step before, `patience` times in a row, or when more than
// `duplicates` of its last `ring` hashes occur earlier among them (few samples, or no shuffling). Single samples of a
// small data set repeat by chance: they need `single_patience` repetitions, and that they come again is a note. If a
// tensor is observed several times in a step, the first observation counts. Empty tensors are not judged. A batch of
// `all_there_is` samples or more may be the whole data set without the flag: then the finding is a note. A loop that
// takes a batch several times on purpose (PPO) needs rl_repeated_states instead. Train steps only.
struct constant_batch {
    using kind = rule_kind;
    static constexpr std::string_view name = "constant_batch";
    static constexpr std::string_view remedy =
        "Check shuffling and that the loader advances; flag full-batch training `full_batch`.";
    static constexpr mode judged_in = mode::train;
    enum condition : std::uint8_t { same_batch = 1, batches_again };

    selector select = &select::batches;
    std::uint64_t patience = 3;  // repetitions of a batch
    // Repetitions of a single sample: one of four, drawn at random, repeats ten times once in a million steps.
    std::uint64_t single_patience = 10;
    std::uint64_t ring = 64;           // hashes
    double duplicates = 0.5;           // fraction of the ring
    std::uint64_t all_there_is = 100;  // samples of a batch that may be the whole data set

    struct series {                        // of one input
        bool known = false;                // `last` is set
        std::uint64_t last = 0, same = 0;  // hash of the step before; repetitions in a row
        hash_ring recent;                  // of the last `ring` steps
        once_a_step counted;               // so that only the first observation of a step counts
    };
    // Decides how many repetitions are needed, and the severity. A finding has batches of one size only.
    enum size_class : std::uint8_t { single, few, all_perhaps };  // the last: `all_there_is` samples or more
    struct state {
        per_tensor<series> all;
        std::uint64_t close = 1;
        bool judged = false;
        violation same[3], again[3];  // by size_class
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::hash : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.declare(tensor) != nullptr && seen.all[tensor.id].recent.keep(ring);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        bool const at_hand = has(it.stats.has, stats_mask::hash) && it.stats.count > 0;
        if (it.step.mode != mode::train || !at_hand || seen.all.find(it.tensor.id) == nullptr) { return; }
        series& mine = seen.all[it.tensor.id];
        if (!mine.counted.first(seen.close)) { return; }
        mine.recent.add(it.stats.hash);
        bool const compared = std::exchange(mine.known, true);
        bool const equal = compared && mine.last == it.stats.hash;
        mine.last = it.stats.hash;
        mine.same = equal ? mine.same + 1 : 0;
        seen.judged = seen.judged || compared;
        size_class const size = size_of_batch(samples_of(it));
        if (equal && mine.same >= needed(size)) { seen.same[size].blame(it, static_cast<double>(mine.same)); }
        double const share = mine.recent.full() ? mine.recent.repeated_share() : 0;
        if (share > duplicates) { seen.again[size].blame(it, share); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        ++seen.close;
        bool const judged = std::exchange(seen.judged, false);
        std::uint32_t found = 0;
        for (size_class const size : {few, single, all_perhaps}) {
            violation const same = std::exchange(seen.same[size], {}), again = std::exchange(seen.again[size], {});
            same.tell(out, {"same batch at every step", same_batch}, "repetitions", relation::greater_equal,
                      static_cast<double>(needed(size)), size == all_perhaps ? severity::info : severity::warning);
            again.tell(out, {"batches come again", batches_again}, "share of repeated batches", relation::greater,
                       duplicates, size == few ? severity::warning : severity::info);
            found += same.count + again.count;
        }
        return found > 0 ? truth::yes : judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no input was seen in two train steps";
    }

private:
    [[nodiscard]] constexpr size_class size_of_batch(std::uint64_t samples) const noexcept {
        return samples <= 1 ? single : samples < all_there_is ? few : all_perhaps;
    }
    [[nodiscard]] constexpr std::uint64_t needed(size_class size) const noexcept {
        return size == single ? single_patience : patience;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
