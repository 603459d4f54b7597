// SPDX-License-Identifier: Apache-2.0
// Ext (L6): std::vector<std::vector<T>> and other nested ranges: not contiguous, so packed into a copy on request.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/tensor_access.hpp>

#include <memory>
#include <ranges>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Range>
concept nested_range = std::ranges::input_range<Range const> && !element<std::remove_cvref_t<Range>>;

template <class Range>
struct innermost {
    using type = std::remove_cvref_t<Range>;
    static constexpr std::size_t depth = 0;
};
template <nested_range Range>
struct innermost<Range> {
    using row = std::ranges::range_value_t<Range const>;
    using type = typename innermost<row>::type;
    static constexpr std::size_t depth = innermost<row>::depth + 1;
};

}  // namespace detail

// A packed row-major copy, itself a tensor; refused as `refusal::ragged` where rows differ in length. `assign` takes
// new values, and does not allocate if they are not more than before.
template <element Value, std::size_t Rank>
class packed_rows {
public:
    static_assert(Rank <= max_rank, "spotter: nested deeper than a tensor may be");

    // May throw where memory is exhausted.
    template <detail::nested_range Rows>
    void assign(Rows const& rows) {
        shape_ = extents{};
        shape_.rank = Rank;
        ragged_ = false;
        measure<0>(rows);
        count_ = as_size(shape_.elements());
        if (ragged_) { return; }
        if (count_ > capacity_) {
            values_ = std::make_unique<Value[]>(count_);
            capacity_ = count_;
        }
        next_ = values_.get();
        copy<0>(rows);
    }
    // Valid until the next assign.
    [[nodiscard]] tensor_ref view() const noexcept {
        return ragged_ ? refused_view(refusal::ragged) : view_of(static_cast<Value const*>(values_.get()), shape_);
    }

private:
    // The first row of each axis gives its size; all others must have the same.
    template <std::size_t Axis, class Rows>
    void measure(Rows const& rows, bool first = true) {
        std::uint64_t size = 0;
        for (auto const& row : rows) {
            if constexpr (Axis + 1 < Rank) { measure<Axis + 1>(row, first && size == 0); }
            ++size;
        }
        if (first) { shape_.size[Axis] = size; }
        ragged_ = ragged_ || size != shape_.size[Axis];
    }
    template <std::size_t Axis, class Rows>
    void copy(Rows const& rows) {
        for (auto const& row : rows) {
            if constexpr (Axis + 1 < Rank) {
                copy<Axis + 1>(row);
            } else {
                *next_++ = row;
            }
        }
    }

    std::unique_ptr<Value[]> values_{};
    Value* next_ = nullptr;
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
    extents shape_{};
    bool ragged_ = false;
};

template <element Value, std::size_t Rank>
struct tensor_access<packed_rows<Value, Rank>> {
    [[nodiscard]] static tensor_ref view(packed_rows<Value, Rank> const& it) noexcept { return it.view(); }
};

// `watch.observe("w", packed(rows))`.
template <detail::nested_range Rows>
    requires element<typename detail::innermost<Rows>::type>
[[nodiscard]] auto packed(Rows const& rows) {
    packed_rows<typename detail::innermost<Rows>::type, detail::innermost<Rows>::depth> copy;
    copy.assign(rows);
    return copy;
}

}  // namespace spotter::inline SPOTTER_ABI
