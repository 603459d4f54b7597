// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of compare.hpp.
#include "diff/compare.hpp"

#include "diff/precision.hpp"
#include "error_of.hpp"

#include <spotter/core/casts.hpp>
#include <spotter/stat/kernel.hpp>
#include <spotter/trial/value.hpp>

#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// For two types: compares as doubles, and counts units in the last place of the less precise one.
static void measure_mixed(tensor_ref const& a, tensor_ref const& b, tolerance const& allowed, tensor_errors& into) {
    auto const work = std::make_unique<pair_measurer<double>>(allowed, into);
    float_precision const precision = lower_precision(precision_of(a.type), precision_of(b.type));
    auto const count = static_cast<std::size_t>(a.count);
    for (std::size_t first = 0; first < count; first += block_size) {
        std::size_t const size = (std::min)(count - first, block_size);
        copy_as_doubles(a, first, size, work->a());
        copy_as_doubles(b, first, size, work->b());
        for (std::size_t i = 0; i < size; ++i) {
            work->key_a()[i] = key_in(precision, work->a()[i]);
            work->key_b()[i] = key_in(precision, work->b()[i]);
        }
        work->take(first, size, false);
    }
    work->finish();
}

[[nodiscard]] static std::vector<std::byte> copied_in_order(tensor_ref const& from, order wanted) {
    std::vector<std::byte> bytes(as_size(from.bytes()));
    visit_values(from, [&](auto values) {
        using Value = std::remove_cv_t<typename decltype(values)::element_type>;
        copy_in_order(from, wanted, reinterpret_cast<Value*>(bytes.data()));
    });
    return bytes;
}

[[nodiscard]] static error incomparable(tensor_ref const& a, tensor_ref const& b) {
    if (a.absent() || b.absent() || a.refused != refusal::none || b.refused != refusal::none) {
        return {errc::no_payload, "there are no values to compare"};
    }
    if ((a.type == dtype::text) != (b.type == dtype::text) || is_complex(a.type) != is_complex(b.type)) {
        return error_of(errc::wrong_type, name_of(a.type), " and ", name_of(b.type), " cannot be compared");
    }
    if (!(without_unit_axes(a.shape) == without_unit_axes(b.shape)) || a.count != b.count) {
        return {errc::no_shape, "tensors of different shapes cannot be compared"};
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

tensor_ref with_axes_reversed(tensor_ref view) noexcept {
    std::reverse(view.shape.size.begin(), view.shape.size.begin() + view.shape.rank);
    view.layout = view.layout == order::row_major ? order::column_major : order::row_major;
    return view;
}

extents without_unit_axes(extents const& shape) noexcept {
    extents found;
    for (std::uint64_t const size : shape.view()) {
        if (size != 1) { found.size[found.rank++] = size; }
    }
    return found;
}

result<tensor_errors> compare(tensor_ref const& a, tensor_ref const& b, tolerance const& allowed) {
    if (error const why = detail::incomparable(a, b)) { return why; }
    tensor_errors found;
    found.has_ulp = is_floating(a.type) || is_floating(b.type);
    tensor_ref left = detail::parts_of(a), right = detail::parts_of(b);
    std::vector<std::byte> moved;
    if (a.layout != b.layout && without_unit_axes(a.shape).rank > 1) {
        moved = detail::copied_in_order(b, a.layout);
        right.values.raw = moved.data();
    }
    auto const bytes = as_size(left.bytes());
    if (left.type == right.type && (bytes == 0 || std::memcmp(left.values.raw, right.values.raw, bytes) == 0)) {
        found.elements = left.count;
        return found;
    }
    if (left.type != right.type) {
        detail::measure_mixed(left, right, allowed, found);
    } else {
        visit_values(left, [&](auto values) {
            using Value = std::remove_cv_t<typename decltype(values)::element_type>;
            if constexpr (!requires(Value it) { it.im; }) {
                auto const* const other = static_cast<Value const*>(right.values.raw);
                detail::measure_alike(values.data(), other, values.size(), allowed, found);
            }
        });
    }
    if (is_complex(a.type) && found.worst != no_index) { found.worst /= 2; }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
