// SPDX-License-Identifier: Apache-2.0
// Diff (L6): one tensor of two sides at one step: what came of comparing it, and why where nothing could.
#pragma once

#include <spotter/diff/compare.hpp>
#include <spotter/diff/name_map.hpp>
#include <spotter/diff/side.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// In the order of their weight.
//   equal       every element is the same number (of a hash: the same; of statistics: each that both have, not counts
//   alone) within      some are not, and all are within the tolerance not_kept    nothing that decides was recorded on
//   both sides: values, a hash, a statistic that is no mere count only_a, only_b  one side has nothing of it at this
//   step unreadable  damaged, or of a type that cannot be read shapes, types   of shapes or types that cannot be held
//   against one another differs     an element is beyond the tolerance
enum class verdict : std::uint8_t { equal, within, not_kept, only_a, only_b, unreadable, shapes, types, differs };

[[nodiscard]] constexpr std::string_view name_of(verdict which) noexcept {
    constexpr std::string_view names[] = {"equal",      "within", "not_kept", "only_a", "only_b",
                                          "unreadable", "shapes", "types",    "differs"};
    return names[static_cast<std::size_t>(which)];
}

struct statistic_difference {  // a statistic that differs
    statistic which = mean;    // of the whole tensor
    double a = 0;              // on the one side
    double b = 0;              // on the other
};

struct compared_tensor {                               // what came of one tensor at one step
    std::string a{}, b{};                              // its name on each side
    spotter::verdict verdict = verdict::equal;         // what it comes to
    dtype type_a = dtype::none, type_b = dtype::none;  // as recorded
    extents shape_a{}, shape_b{};                      // as recorded
    tensor_errors errors{};                            // of the values, where both sides have them
    extents worst{};                                   // the index of errors.worst in A
    bool by_statistics = false;                        // only statistics could be compared
    std::vector<statistic_difference> statistics{};    // those that differ
    bool by_hash = false;                              // of the values' bits, which both sides have
    std::uint64_t hash_a = 0, hash_b = 0;              // only where by_hash
    std::string text_a{}, text_b{};                    // of texts, their beginnings
    bool swapped_axes = false;                         // hint: the same numbers once the axes of one are swapped
    error trouble{};                                   // why it is unreadable
    bool has_reference = false;                        // errors of each side against the reference
    tensor_errors reference_a{}, reference_b{};        // where has_reference

    // The values may be the same where these are not: told, and a difference only where a comparison is strict.
    [[nodiscard]] bool other_type() const noexcept { return type_a != type_b; }
    [[nodiscard]] bool other_shape() const noexcept { return !(shape_a == shape_b); }  // likewise
};

struct diff_options {                // how to compare, and what
    spotter::tolerance tolerance{};  // none: numbers must be the same
    bool strict = false;  // types, axes of one element, signs of zeros, names and steps of one side only differ
    name_pairs names{};   // names that differ by more than '.' and '/'
    std::vector<std::string> only{};        // globs of names, of either side; none: all
    std::vector<std::string> transposed{};  // globs of names of A: B's tensor is compared with its axes reversed
    std::optional<spotter::mode> mode{};    // only its steps; none: of all
    std::optional<step_id> step{};          // only this one; none: all
};

namespace detail {

[[nodiscard]] bool matches_any(std::vector<std::string> const& globs, std::string_view name);

class pair_comparer {
public:
    pair_comparer(diff_side const& a, diff_side const& b, diff_options const& wanted);

    [[nodiscard]] compared_tensor operator()(std::string const& name_a, std::string const& name_b, step_id step,
                                             diff_side const* reference, std::string const* name_r) const;

private:
    [[nodiscard]] verdict verdict_of(compared_tensor const& it) const noexcept;
    void compare_values(compared_tensor& it, tensor_ref const& a, tensor_ref const& b) const;
    // A matrix is hardly the other's transpose by chance: a thousandth of its length off at most, and far nearer than
    // as it is.
    [[nodiscard]] bool is_same_swapped(compared_tensor const& it, tensor_ref const& a, tensor_ref const& b) const;
    static void compare_texts(compared_tensor& it, tensor_ref const& a, tensor_ref const& b);
    void compare_with(diff_side const& reference, std::string const& name, step_id step, tensor_ref const& a,
                      tensor_ref const& b, compared_tensor& it) const;

    // The hash of the values' bits, where both sides have it, and else every statistic that both have. Counts say where
    // two differ, but never that they are the same; nor does a hash that differs say by how much, so that it decides
    // only without a tolerance.
    void compare_statistics(compared_tensor& it, recorded_value const& a, recorded_value const& b, step_id step) const;
    // Of the same type, shape and order of memory only: a hash is of the bits as they lie there.
    void compare_hashes(compared_tensor& it, recorded_value const& a, recorded_value const& b, step_id step) const;
    [[nodiscard]] static value_hash hash_of(diff_side const& from, std::string const& name, recorded_value const& value,
                                            step_id step);
    [[nodiscard]] static measurement statistic_of(diff_side const& from, std::string const& name,
                                                  recorded_value const& value, step_id step, statistic which);

    diff_side const& a_;
    diff_side const& b_;
    diff_options const& wanted_;
    tolerance allowed_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/diff/pair.ipp>
#endif
