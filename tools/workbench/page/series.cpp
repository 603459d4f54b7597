// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of series.hpp.
#include "page/series.hpp"

#include <spotter/core/bits.hpp>
#include <spotter/core/casts.hpp>

#include <algorithm>
#include <utility>

namespace spotter::inline SPOTTER_ABI::html {

double series::bucket::middle() const noexcept {
    return static_cast<double>(first) + static_cast<double>(last - first) / 2;
}

void series::bucket::join(bucket const& other) noexcept {
    if (!other.seen()) { return; }
    first = seen() ? (std::min)(first, other.first) : other.first;
    last = seen() ? (std::max)(last, other.last) : other.last;
    if (other.count > 0) {
        least = count > 0 ? (std::min)(least, other.least) : other.least;
        most = count > 0 ? (std::max)(most, other.most) : other.most;
    }
    if (other.bad > 0) {
        bad_first = bad > 0 ? (std::min)(bad_first, other.bad_first) : other.bad_first;
        bad_last = bad > 0 ? (std::max)(bad_last, other.bad_last) : other.bad_last;
    }
    sum += other.sum;
    count += other.count;
    bad += other.bad;
}

void series::add(std::uint64_t step, double const& value) {
    if (!is_finite(value)) { return add_bad(step); }
    bucket one{};
    one.first = one.last = step;
    one.least = one.most = one.sum = (std::clamp)(value, -largest, largest);
    one.count = 1;
    last_value_ = value;
    ends_bad_ = false;
    put(step, one);
    ++size_;
}

void series::add_bad(std::uint64_t step) {
    bucket one{};
    one.first = one.last = step;
    one.bad_first = one.bad_last = step;
    one.bad = 1;
    ends_bad_ = true;
    put(step, one);
    ++size_;
}

void series::coarsen(unsigned shift) {
    if (shift <= shift_) { return; }
    std::vector<bucket> const fine = std::exchange(buckets_, {});
    shift_ = shift;
    for (bucket const& each : fine) {
        if (each.seen()) { put(each.first, each); }
    }
}

series::bucket series::whole() const noexcept {
    bucket all{};
    for (bucket const& each : buckets_) { all.join(each); }
    return all;
}

void series::put(std::uint64_t step, bucket const& one) {
    std::uint64_t const number = step >> shift_;
    if (buckets_.empty()) {
        begin_ = number;
        buckets_.resize(1);
    }
    std::uint64_t const end = begin_ + (buckets_.size() - 1);  // the last bucket; a further number may not exist
    std::uint64_t const from = (std::min)(begin_, number), to = (std::max)(end, number);
    if (to - from >= capacity_) {
        unsigned more = 1;
        while ((to >> more) - (from >> more) >= capacity_) { ++more; }
        coarsen(shift_ + more);
        return put(step, one);
    }
    buckets_.insert(buckets_.begin(), as_size(begin_ - from), bucket{});
    begin_ = from;
    buckets_.resize(as_size(to - from) + 1);
    buckets_[as_size(number - begin_)].join(one);
}

}  // namespace spotter::inline SPOTTER_ABI::html
