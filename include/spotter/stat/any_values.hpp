// SPDX-License-Identifier: Apache-2.0
// Stat (L1): iterates over the elements of a tensor of any type: floats and doubles directly, all others as
// seen_elements. Code that uses it is compiled three times, not once for each type.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// One element, by a call: for callers that skip most elements.
template <class = only_where_called>
[[nodiscard]] SPOTTER_NOINLINE constexpr seen_element see_at(tensor_ref const& of, std::size_t index) noexcept {
    seen_element it{};
    visit_values(of, [&](auto all) { it = see(all[index]); });
    return it;
}
// Several adjacent elements, so that a walk needs fewer calls.
template <class = only_where_called>
SPOTTER_NOINLINE constexpr void see_some(tensor_ref const& of, std::size_t first, std::size_t count,
                                         seen_element* into) noexcept {
    visit_values(of, [&](auto all) {
        for (std::size_t i = 0; i < count; ++i) { into[i] = see(all[first + i]); }
    });
}

// The parts of complex numbers as a vector of real numbers, twice as many.
[[nodiscard]] constexpr tensor_ref parts_of(tensor_ref view) noexcept {
    if (!is_complex(view.type)) { return view; }
    if (view.type == dtype::c64) {
        view.values.f32 = reinterpret_cast<float const*>(view.values.c64);
    } else {
        view.values.f64 = reinterpret_cast<double const*>(view.values.c128);
    }
    view.type = view.type == dtype::c64 ? dtype::f32 : dtype::f64;
    view.count *= 2;
    return view;
}

}  // namespace detail

// The elements of a tensor in storage order, as statistics use them. The tensor must outlive the view.
class seen_values {
public:
    constexpr explicit seen_values(tensor_ref const& of) noexcept : of_{&of}, count_{as_size(of.count)} {}
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] constexpr seen_element operator[](std::size_t i) const noexcept {
        return detail::see_at(*of_, first_ + i);
    }
    // The elements [from, from + size).
    [[nodiscard]] constexpr seen_values subspan(std::size_t from, std::size_t size) const noexcept {
        seen_values part = *this;
        part.first_ += from, part.count_ = size;
        return part;
    }

    struct end_iterator {};  // the position behind the last element
    // A single-pass iterator that fetches several elements in each call.
    class iterator {
    public:
        constexpr iterator(tensor_ref const& of, std::size_t first, std::size_t count) noexcept
            : of_{&of}, next_{first}, end_{first + count} {
            fetch();
        }
        [[nodiscard]] constexpr seen_element const& operator*() const noexcept { return some_[at_]; }
        constexpr iterator& operator++() noexcept {
            if (++at_ == held_) { fetch(); }
            return *this;
        }
        [[nodiscard]] constexpr bool operator==(end_iterator) const noexcept { return held_ == 0; }

    private:
        static constexpr std::size_t most = 32;

        constexpr void fetch() noexcept {
            at_ = 0;
            held_ = end_ - next_ < most ? end_ - next_ : most;
            if (held_ > 0) { detail::see_some(*of_, next_, held_, some_); }
            next_ += held_;
        }

        tensor_ref const* of_;
        std::size_t next_, end_;  // next element to fetch; end
        std::size_t at_ = 0, held_ = 0;
        seen_element some_[most]{};
    };
    [[nodiscard]] constexpr iterator begin() const noexcept { return {*of_, first_, count_}; }
    [[nodiscard]] constexpr end_iterator end() const noexcept { return {}; }

private:
    tensor_ref const* of_;
    std::size_t first_ = 0, count_;
};

// Calls `use` with the elements as floats, doubles or seen_values. `see(all[i])` is one element; a walk over all (`for
// (auto const& each : all)`) is faster. Does nothing for an absent or refused tensor.
template <class Use>
constexpr void visit_seen(tensor_ref const& view, Use&& use) {
    if (view.refused != refusal::none) { return; }
    if (view.type == dtype::f32) {
        use(element_view{view.values.f32, as_size(view.count)});
    } else if (view.type == dtype::f64) {
        use(element_view{view.values.f64, as_size(view.count)});
    } else if (view.type != dtype::none) {
        use(seen_values{view});
    }
}

}  // namespace spotter::inline SPOTTER_ABI
