// SPDX-License-Identifier: Apache-2.0
// Workbench: compares two trainings: where they diverge, and how each tensor differs over all steps. Link
// spotter::workbench.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/core/work_count.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/stat/statistic.hpp>
#include <spotter/trial/trial.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Two elements are equal within the tolerance if they are at most `ulp` units in the last place apart, or if |a - b| <=
// absolute + relative * max(|a|, |b|). With all zero, the default, they must be the same number. NaN equals NaN and an
// infinity equals itself; neither is within a tolerance of a number.
struct tolerance {
    std::uint64_t ulp = 0;    // units in the last place of the less precise type
    double relative = 0;      // fraction of the larger size
    double absolute = 0;      // in the unit of the values
    bool zero_signs = false;  // +0 and -0 count as different
};

// The parts of a complex number count as two elements. Errors are taken over the elements that are finite on both
// sides.
struct tensor_errors {
    std::uint64_t elements = 0;        // compared ones
    std::uint64_t differing = 0;       // not the same number
    std::uint64_t outside = 0;         // different and not within the tolerance
    std::uint64_t nan_mismatches = 0;  // NaN on one side only
    std::uint64_t inf_mismatches = 0;  // an infinity on one side only, or of the other sign
    std::uint64_t zero_signs = 0;      // +0 on one side, -0 on the other
    bool has_ulp = false;              // at least one side has floats
    std::uint64_t ulp = 0;             // the largest distance, in units in the last place of the less precise type
    double absolute = 0;               // the largest |a - b|
    double relative = 0;               // the largest |a - b| / max(|a|, |b|)
    double relative_l2 = 0;            // |a - b| / |a|, as vectors; 0 if both are zero, infinite if only a is zero
    double cosine = 1;                 // of the angle between the vectors; 1 if both are zero, 0 if only one is (both
                                       // errors are NaN if the squares overflow a double)
    // The element with the largest |a - b|, or the first with a NaN or an infinity on one side only.
    std::uint64_t worst = no_index;   // its index in the memory of a
    double worst_a = 0, worst_b = 0;  // that element on each side

    [[nodiscard]] constexpr bool same() const noexcept { return differing == 0; }  // every element is the same number
    // Every element is within the tolerance.
    [[nodiscard]] constexpr bool within() const noexcept { return outside == 0; }
};

// Pairs of a tensor's name in A and its name in B.
using name_pairs = std::vector<std::pair<std::string, std::string>>;

// In order of weight.
enum class verdict : std::uint8_t {
    equal,            // every element is the same number, or the hashes are equal
    within,           // some elements differ, all are within the tolerance
    same_statistics,  // one side kept only statistics. All common ones are equal or within the tolerance, and whether
                      // the values are is not known: those of a permutation are the same
    not_kept,    // nothing comparable was recorded on both sides: neither values nor a hash nor a statistic other than
                 // counts
    only_a,      // the other side lacks it at this step
    only_b,      // the other side lacks it at this step
    unreadable,  // damaged, or of a type that cannot be read
    shapes,      // the shapes cannot be compared
    types,       // the types cannot be compared
    differs,     // an element is beyond the tolerance
};

[[nodiscard]] std::string_view name_of(verdict which) noexcept;  // "only_a"

struct statistic_difference {  // a statistic that differs
    statistic which = mean;    // of the whole tensor
    double a = 0;              // in A
    double b = 0;              // in B
};

struct compared_tensor {                               // the result for one tensor at one step
    std::string a{}, b{};                              // its name on each side
    spotter::verdict verdict = verdict::equal;         // the result
    dtype type_a = dtype::none, type_b = dtype::none;  // as recorded
    extents shape_a{}, shape_b{};                      // as recorded
    tensor_errors errors{};                            // of the values, if both sides have them
    extents worst{};                                   // the index of errors.worst in A
    bool by_statistics = false;                        // only hashes or statistics could be compared
    std::vector<statistic_difference> statistics{};    // those that differ
    bool by_hash = false;                              // the hashes of the values' bits were compared
    std::uint64_t hash_a = 0, hash_b = 0;              // only where by_hash
    std::string text_a{}, text_b{};                    // the beginnings of differing texts
    bool swapped_axes = false;                         // hint: the numbers are equal if the axes of one are swapped
    error trouble{};                                   // why it is unreadable
    bool has_reference = false;                        // each side was compared with the reference
    tensor_errors reference_a{}, reference_b{};        // only with has_reference

    // The types differ. The values may still be equal: it is reported, but a difference only if `strict`.
    [[nodiscard]] bool other_type() const noexcept { return type_a != type_b; }
    [[nodiscard]] bool other_shape() const noexcept { return !(shape_a == shape_b); }  // likewise for shapes
};

struct diff_options {                // what to compare, and how
    spotter::tolerance tolerance{};  // default: numbers must be equal
    bool strict = false;  // also counts as different: types, axes of one element, signs of zeros, and names and steps
                          // of one side only
    name_pairs names{};   // pairs of names that differ by more than '.' and '/'
    // Globs of names of either side. Empty: all but times and samples of the machine (role::timing, role::system), and
    // with `strict` these, too.
    std::vector<std::string> only{};
    std::vector<std::string> transposed{};  // globs of names of A for which B's axes are reversed
    std::optional<spotter::mode> mode{};    // only steps of this mode; none: all
    std::optional<step_id> step{};          // only this step; none: all
};

// A setting that differs; empty where a side lacks it.
struct setting_difference {
    std::string what{};
    std::string a{};  // in A
    std::string b{};  // in B
};

// One tensor over all common steps.
struct tensor_history {
    std::string a{}, b{};               // its name on each side
    std::uint64_t steps = 0;            // at which it was compared, if only by statistics
    std::uint64_t differing_steps = 0;  // at which it differs beyond the tolerance
    std::optional<step_id> first{};     // the first of these
    std::uint64_t by_hash = 0;          // steps compared by hash
    std::uint64_t by_statistics = 0;    // steps compared by statistics only
    std::uint64_t same_statistics = 0;  // those of them at which they are the same, so that the values are not known
    std::uint64_t not_compared = 0;     // steps at which one side lacked it, or had nothing comparable
    std::uint64_t unreadable = 0;       // steps
    error trouble{};                    // the error at the first of these
    bool swapped_axes = false;          // hint: at some step the numbers are equal if axes are swapped
    tensor_errors worst{};  // the largest error of any step, each separately; the smallest cosine; sums of counts
    std::uint64_t with_reference = 0;                        // steps with a reference
    double reference_a = 0, reference_b = 0;                 // the largest relative L2 errors against the reference
    std::uint64_t reference_ulp_a = 0, reference_ulp_b = 0;  // the largest distances from the reference
};

struct diff_report {                                          // the result of comparing two sides
    std::vector<setting_difference> settings{};               // of two runs
    std::vector<std::string> names_only_a{}, names_only_b{};  // in program order
    std::vector<step_id> steps_only_a{}, steps_only_b{};      // steps that the other side lacks and will not reach
    std::uint64_t steps_awaited = 0;          // steps of one side that the other, still being written, may reach
    std::uint64_t steps = 0;                  // common steps
    std::uint64_t pairs = 0;                  // common names
    std::optional<step_id> first_step{};      // with a difference
    std::string first_tensor{};               // its name in A; the first in program order
    std::vector<compared_tensor> at_first{};  // all tensors at that step
    std::vector<tensor_history> tensors{};    // of every pair of names
    std::uint64_t unreadable = 0;             // values that could not be read
    std::uint64_t compared = 0;               // comparisons that decide: of values, of hashes, of other statistics
    // Comparisons of statistics that are the same, so that nobody knows whether the values are
    // (verdict::same_statistics).
    std::uint64_t same_statistics = 0;
    std::optional<step_id> unknown_step{};  // of the first of these
    std::string unknown_tensor{};           // its name in A
    bool unknown_before_first = false;      // the first of these comes before first_tensor at first_step
    // Names in A, or in B if A has none, of times and samples of the machine, which were not compared.
    std::vector<std::string> left_out{};
    std::uint64_t not_kept = 0;  // common ones without anything comparable (verdict::not_kept)
    // Damaged places of the records and missing ends.
    std::size_t damage_a = 0, damage_b = 0;
    bool strict = false;             // as in the options
    spotter::tolerance tolerance{};  // as in the options

    // A comparison found a difference; with `strict` also names and steps of one side only.
    [[nodiscard]] bool has_difference() const noexcept;
    // Parts of a record are damaged or missing, so equality of the whole is unknown.
    [[nodiscard]] bool has_losses() const noexcept { return unreadable > 0 || damage_a + damage_b > 0; }
    // Of everything that both sides have it is known whether it is equal.
    [[nodiscard]] bool is_complete() const noexcept { return compared > 0 && not_kept == 0 && same_statistics == 0; }
    // There is a difference, or values cannot be read.
    [[nodiscard]] bool differs() const noexcept;
    // Success: everything that both sides have was compared, and is equal within the tolerance.
    [[nodiscard]] bool equal() const noexcept { return !differs() && !has_losses() && is_complete(); }
};

namespace detail {
class opened_side;
}

// One side of a comparison: a recorded run, or a dump of another program. It owns the trial or dump that it reads. Use
// it in one thread. After a move it may only be destroyed or assigned to.
class diff_side {
public:
    explicit diff_side(trial run);
    explicit diff_side(std::unique_ptr<detail::opened_side const> opened) noexcept;
    diff_side(diff_side&& other) noexcept;
    diff_side& operator=(diff_side&& other) noexcept;
    ~diff_side();

    [[nodiscard]] std::string const& path() const noexcept;  // as it was opened
    [[nodiscard]] trial const* run() const noexcept;         // null for a dump
    [[nodiscard]] std::size_t steps() const noexcept;        // with at least one tensor
    // A tensor's values. errc: those of track::at; no_payload where only statistics were recorded.
    [[nodiscard]] recorded_value at(std::string const& name, step_id step) const;

    [[nodiscard]] detail::opened_side const& opened() const noexcept { return *its_; }  // for diff()

private:
    std::unique_ptr<detail::opened_side const> its_;
};

// Opens a run (finished or being written) or a dump: .npy, .npz, .safetensors, or a folder of these. errc: those of
// open_trial; not_a_run where it is neither. Compressed .npz files need a workbench that was built with zlib.
// `come_by`: bytes of a run's record that are read, each of them twice.
[[nodiscard]] result<diff_side> open_side(std::string_view path, file_system& files = system_files(),
                                          work_count* come_by = nullptr);

// Compares `b` with `a`, element by element at the same index, whatever the order of the axes in memory. Axes of one
// element are ignored. errc: no_shape (different sizes), wrong_type (numbers and a text, real and complex numbers),
// no_payload (no values). Reads each tensor once if their bytes are equal, at memory speed, and twice if not.
[[nodiscard]] result<tensor_errors> compare(tensor_ref const& a, tensor_ref const& b, tolerance const& allowed = {});

// Compares every common tensor at every common step, in program order. Calls progress(done, all) at each step of A.
// With a reference, such as the same training in float64, it also compares each side with that. errc: no_such_name,
// no_such_step (nothing in common), bad_config (the map). Values that cannot be read are counted and reported, and the
// comparison goes on.
[[nodiscard]] result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted,
                                       diff_side const* reference,
                                       std::function<void(std::uint64_t, std::uint64_t)> const& progress);
[[nodiscard]] result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted = {},
                                       diff_side const* reference = nullptr);

}  // namespace spotter::inline SPOTTER_ABI
