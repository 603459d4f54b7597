// SPDX-License-Identifier: Apache-2.0
// Workbench, page: a history of any length in bounded memory, thinned while it is read.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

// Adjacent steps share a bucket, which keeps their smallest and largest value, so that a spike of one step stays
// visible in a run of any length. Buckets are 2^shift steps wide and begin at multiples of that, so buckets of several
// series match.
class series {
public:
    struct bucket {                                 // adjacent steps
        double least = 0, most = 0, sum = 0;        // of the finite values
        std::uint64_t count = 0;                    // number of finite values
        std::uint64_t bad = 0;                      // number of values that are not finite
        std::uint64_t first = 0, last = 0;          // steps
        std::uint64_t bad_first = 0, bad_last = 0;  // steps of those; only valid if `bad` is not 0

        [[nodiscard]] bool seen() const noexcept { return count + bad > 0; }  // it has a value, finite or not
        // Of the finite values; NaN where count is 0.
        [[nodiscard]] double mean() const noexcept { return sum / static_cast<double>(count); }
        [[nodiscard]] double middle() const noexcept;  // of its steps: the position of its drawing
        void join(bucket const& other) noexcept;       // adds the values of the other bucket
    };

    series() noexcept = default;
    // Holds at most `capacity` buckets.
    explicit series(std::size_t capacity) noexcept : capacity_{capacity} {}

    // Steps may come in any order; a rewind adds to existing buckets. A value that is not finite is only counted.
    void add(std::uint64_t step, double const& value);
    void add_bad(std::uint64_t step);  // a value that is not finite
    // Makes buckets at least this wide.
    void coarsen(unsigned shift);

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  // number of values added
    [[nodiscard]] unsigned shift() const noexcept { return shift_; }     // buckets are 2^shift steps wide
    // The number of the first bucket: its first step, shifted. Buckets between the first and the last may be empty.
    [[nodiscard]] std::uint64_t begin_number() const noexcept { return begin_; }
    // By step, including empty ones.
    [[nodiscard]] std::vector<bucket> const& buckets() const noexcept { return buckets_; }
    // Of all values; requires a non-empty series.
    [[nodiscard]] std::uint64_t first_step() const noexcept { return buckets_.front().first; }
    [[nodiscard]] std::uint64_t last_step() const noexcept { return buckets_.back().last; }  // as above
    // All finite values as one bucket; count is 0 where there are none.
    [[nodiscard]] bucket whole() const noexcept;
    // The finite value that was added last.
    [[nodiscard]] std::optional<double> last_value() const noexcept { return last_value_; }
    // The last value is not finite.
    [[nodiscard]] bool ends_bad() const noexcept { return ends_bad_; }

private:
    static constexpr double largest = 1e200;  // limit, so that no sum overflows

    void put(std::uint64_t step, bucket const& one);

    std::size_t capacity_ = 256;
    unsigned shift_ = 0;
    std::uint64_t begin_ = 0;
    std::uint64_t size_ = 0;
    std::optional<double> last_value_{};
    bool ends_bad_ = false;
    std::vector<bucket> buckets_{};
};

// A few of many items, evenly spaced in the order of arrival, and the last one.
template <class Item>
class sample {
public:
    explicit sample(std::size_t most) noexcept : most_{most} {}

    // Later items decide which ones are kept.
    void add(Item const& item) {
        last_is_kept_ = seen_++ % stride_ == 0;
        last_ = item;
        if (!last_is_kept_) { return; }
        if (kept_.size() == most_) {
            for (std::size_t i = 0; 2 * i < kept_.size(); ++i) { kept_[i] = kept_[2 * i]; }
            kept_.resize((kept_.size() + 1) / 2);
            stride_ *= 2;
            last_is_kept_ = (seen_ - 1) % stride_ == 0;
            if (!last_is_kept_) { return; }
        }
        kept_.push_back(item);
    }
    // At most `most` items, and the last one.
    [[nodiscard]] std::vector<Item> items() const {
        std::vector<Item> all = kept_;
        if (seen_ > 0 && !last_is_kept_) { all.push_back(last_); }
        return all;
    }
    [[nodiscard]] bool empty() const noexcept { return seen_ == 0; }
    [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }  // number of items added

private:
    std::size_t most_;
    std::uint64_t seen_ = 0, stride_ = 1;
    std::vector<Item> kept_{};
    Item last_{};
    bool last_is_kept_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI::html
