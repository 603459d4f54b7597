// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of pair.hpp.
#include "diff/pair.hpp"

#include <spotter/core/pattern.hpp>
#include <spotter/stat/summarize.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

bool is_exact(tolerance const& it) noexcept { return it.ulp == 0 && !(it.relative > 0) && !(it.absolute > 0); }

bool matches_any(std::vector<std::string> const& globs, std::string_view name) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](std::string const& each) { return name == each || glob{std::string_view{each}}(name); });
}

// The index of an element at an offset in memory.
[[nodiscard]] static extents index_at(tensor_ref const& of, std::uint64_t place) noexcept {
    extents index = of.shape;
    for (std::size_t i = 0; i < of.shape.view().size(); ++i) {
        std::size_t const axis = of.layout == order::row_major ? of.shape.rank - 1 - i : i;
        index.size[axis] = place % of.shape.size[axis];
        place /= of.shape.size[axis];
    }
    return index;
}

// NumPy lacks bf16 and f8: `spotter export` writes their bits, which are read here as the type of the other side.
static void as_bits_of(tensor_ref& numbers, tensor_ref const& other) noexcept {
    bool const bits16 = numbers.type == dtype::u16 && other.type == dtype::bf16;
    bool const bits8 = numbers.type == dtype::u8 && (other.type == dtype::f8_e4m3 || other.type == dtype::f8_e5m2);
    if (bits16 || bits8) { numbers.type = other.type; }
}

pair_comparer::pair_comparer(opened_side const& a, opened_side const& b, diff_options const& wanted)
    : a_{a}, b_{b}, wanted_{wanted} {
    allowed_ = wanted.tolerance;
    allowed_.zero_signs = allowed_.zero_signs || wanted.strict;
}

compared_tensor pair_comparer::operator()(std::string const& name_a, std::string const& name_b, step_id step,
                                          opened_side const* reference, std::string const* name_r) const {
    compared_tensor it;
    it.a = name_a, it.b = name_b;
    recorded_value const a = a_.at(name_a, step), b = b_.at(name_b, step);
    for (error const& why : {a.error(), b.error()}) {
        if (!why || why.code == errc::no_payload) { continue; }
        it.verdict = verdict::unreadable;
        it.trouble = why;
        return it;
    }
    if (!a || !b) {
        compare_statistics(it, a, b, step);
        return it;
    }
    tensor_ref left = a.view(), right = b.view();
    if (b_.run() == nullptr) { as_bits_of(right, left); }
    if (a_.run() == nullptr) { as_bits_of(left, right); }
    if (matches_any(wanted_.transposed, name_a)) { right = with_axes_reversed(right); }
    it.type_a = left.type, it.type_b = right.type;
    it.shape_a = left.shape, it.shape_b = right.shape;
    bool const texts = left.type == dtype::text && right.type == dtype::text;
    texts ? compare_texts(it, left, right) : compare_values(it, left, right);
    if (name_r != nullptr) { compare_with(*reference, *name_r, step, left, right, it); }
    return it;
}

verdict pair_comparer::verdict_of(compared_tensor const& it) const noexcept {
    if (!it.errors.within()) { return verdict::differs; }
    if (wanted_.strict && it.other_type()) { return verdict::types; }
    if (wanted_.strict && it.other_shape()) { return verdict::shapes; }
    return it.errors.same() ? verdict::equal : verdict::within;
}

void pair_comparer::compare_values(compared_tensor& it, tensor_ref const& a, tensor_ref const& b) const {
    result<tensor_errors> const found = compare(a, b, allowed_);
    if (found) {
        it.errors = *found;
        it.verdict = verdict_of(it);
        if (found->worst != no_index) { it.worst = index_at(a, found->worst); }
    } else {
        it.verdict = found.error().code == errc::no_shape ? verdict::shapes : verdict::types;
    }
    it.swapped_axes = it.verdict >= verdict::shapes && is_same_swapped(it, a, b);
}

bool pair_comparer::is_same_swapped(compared_tensor const& it, tensor_ref const& a, tensor_ref const& b) const {
    constexpr double near_enough = 1e-3, far_enough = 1e-2;
    if (a.shape.rank != 2 || b.shape.rank != 2) { return false; }
    if (a.shape.size[0] != b.shape.size[1] || a.shape.size[1] != b.shape.size[0]) { return false; }
    if (a.shape == b.shape && it.errors.relative_l2 < far_enough) { return false; }
    result<tensor_errors> const found = compare(a, with_axes_reversed(b), allowed_);
    return found && (found->within() || found->relative_l2 < near_enough);
}

void pair_comparer::compare_texts(compared_tensor& it, tensor_ref const& a, tensor_ref const& b) {
    constexpr std::size_t most = 60;
    std::string_view const x{static_cast<char const*>(a.values.raw), static_cast<std::size_t>(a.count)};
    std::string_view const y{static_cast<char const*>(b.values.raw), static_cast<std::size_t>(b.count)};
    it.text_a = x.substr(0, most), it.text_b = y.substr(0, most);
    it.errors.elements = 1;
    it.errors.differing = it.errors.outside = x == y ? 0 : 1;
    it.verdict = x == y ? verdict::equal : verdict::differs;
}

void pair_comparer::compare_with(opened_side const& reference, std::string const& name, step_id step,
                                 tensor_ref const& a, tensor_ref const& b, compared_tensor& it) const {
    recorded_value const value = reference.at(name, step);
    if (!value) { return; }
    tensor_ref truth = value.view();
    // If B has a matrix transposed, the reference may have either orientation.
    if (!(without_unit_axes(truth.shape) == without_unit_axes(a.shape))) { truth = with_axes_reversed(truth); }
    result<tensor_errors> const of_a = compare(truth, a, allowed_), of_b = compare(truth, b, allowed_);
    it.has_reference = of_a && of_b;
    if (!it.has_reference) { return; }
    it.reference_a = *of_a, it.reference_b = *of_b;
}

void pair_comparer::compare_statistics(compared_tensor& it, recorded_value const& a, recorded_value const& b,
                                       step_id step) const {
    it.by_statistics = true;
    it.verdict = verdict::not_kept;
    compare_hashes(it, a, b, step);
    if (it.by_hash && it.hash_a == it.hash_b) {
        it.verdict = verdict::equal;
        return;
    }
    bool beyond = it.by_hash && is_exact(wanted_.tolerance), any = beyond;
    constexpr std::size_t counts = 4;  // the first entries
    std::size_t place = 0;
    for (statistic const which :
         std::initializer_list<statistic>{nan_count, pos_inf, neg_inf, zeros, minimum, maximum, of_abs(minimum),
                                          of_abs(maximum), mean, mean_abs, stddev, sum, l1, l2, product}) {
        bool const is_count = place++ < counts;
        measurement const x = statistic_of(a_, it.a, a, step, which), y = statistic_of(b_, it.b, b, step, which);
        if (!x.known || !y.known) { continue; }
        any = any || !is_count;
        result<tensor_errors> const found = compare(view_of(&x.value, {}), view_of(&y.value, {}), allowed_);
        if (!found || found->same()) { continue; }
        beyond = beyond || !found->within();
        it.statistics.push_back({which, x.value, y.value});
    }
    if (!any && !beyond) { return; }
    it.verdict = beyond ? verdict::differs : verdict::same_statistics;
}

void pair_comparer::compare_hashes(compared_tensor& it, recorded_value const& a, recorded_value const& b,
                                   step_id step) const {
    value_hash const x = hash_of(a_, it.a, a, step), y = hash_of(b_, it.b, b, step);
    if (!x.known || !y.known || x.type != y.type || !(x.shape == y.shape)) { return; }
    if (x.layout != y.layout && without_unit_axes(x.shape).rank > 1) { return; }
    if (matches_any(wanted_.transposed, it.a)) { return; }
    it.by_hash = true;
    it.hash_a = x.hash, it.hash_b = y.hash;
}

value_hash pair_comparer::hash_of(opened_side const& from, std::string const& name, recorded_value const& value,
                                  step_id step) {
    if (!value) { return from.hash(name, step); }
    tensor_ref const& view = value.view();
    if (view.type == dtype::text) { return {}; }
    return {true, summarize(view, stats_mask::hash).hash, view.type, view.shape, view.layout};
}

measurement pair_comparer::statistic_of(opened_side const& from, std::string const& name, recorded_value const& value,
                                        step_id step, statistic which) {
    return value ? recorded_measurement(which, summarize(value.view(), which.needs())) : from.stat(name, step, which);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

std::string_view name_of(verdict which) noexcept {
    constexpr std::string_view names[] = {"equal",  "within",     "same_statistics", "not_kept", "only_a",
                                          "only_b", "unreadable", "shapes",          "types",    "differs"};
    return names[static_cast<std::size_t>(which)];
}

}  // namespace spotter::inline SPOTTER_ABI
