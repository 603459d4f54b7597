// SPDX-License-Identifier: Apache-2.0
// Workbench: two trainings held against one another: where they part ways, and how each tensor fares over all steps.
// Link spotter::workbench.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/tensor_ref.hpp>
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

// Two elements are the same within it where one of these holds: they are at most `ulp` units in the last place apart,
// or |a - b| <= absolute + relative * max(|a|, |b|). All zero, as by default: they must be the same number. A NaN is
// the same as any NaN, an infinity as itself; neither is within any tolerance of a number.
struct tolerance {
    std::uint64_t ulp = 0;    // units in the last place of the less precise type
    double relative = 0;      // fraction of the larger size
    double absolute = 0;      // in the unit of the values
    bool zero_signs = false;  // +0 and -0 differ
};

// The parts of a complex number are two elements. Errors are over the elements that are finite on both sides.
struct tensor_errors {
    std::uint64_t elements = 0;        // that were compared
    std::uint64_t differing = 0;       // not the same number
    std::uint64_t outside = 0;         // and not within the tolerance
    std::uint64_t nan_mismatches = 0;  // a NaN on one side only
    std::uint64_t inf_mismatches = 0;  // an infinity on one side only, or of the other sign
    std::uint64_t zero_signs = 0;      // +0 on one side, -0 on the other
    bool has_ulp = false;              // at least one side is of floats
    std::uint64_t ulp = 0;             // the largest distance, in units in the last place of the less precise type
    double absolute = 0;               // the largest |a - b|
    double relative = 0;               // the largest |a - b| / max(|a|, |b|)
    double relative_l2 = 0;            // |a - b| / |a|, as vectors; 0 of two zeros, infinite where only a is zero
    double cosine = 1;                 // of the angle between them; 1 of two zeros, 0 where only one is zero
                                       // (both are a NaN where the squares are beyond the range of a double)
    // The element with the largest |a - b|, or the first with a NaN or an infinity on one side only.
    std::uint64_t worst = no_index;   // its place in the memory of a
    double worst_a = 0, worst_b = 0;  // that element on each side

    [[nodiscard]] constexpr bool same() const noexcept { return differing == 0; }  // every element is the same number
    // Every element is within the tolerance.
    [[nodiscard]] constexpr bool within() const noexcept { return outside == 0; }
};

// Pairs of a name of A and the name of the same tensor in B.
using name_pairs = std::vector<std::pair<std::string, std::string>>;

// In the order of their weight.
enum class verdict : std::uint8_t {
    equal,     // every element is the same number (of a hash: the same; of statistics: each that both have, not counts
               // alone)
    within,    // some are not, and all are within the tolerance
    not_kept,  // nothing that decides was recorded on both sides: values, a hash, a statistic that is no mere count
    only_a,    // the other side has nothing of it at this step
    only_b,    // likewise
    unreadable,  // damaged, or of a type that cannot be read
    shapes,      // of shapes that cannot be held against one another
    types,       // of types that cannot
    differs,     // an element is beyond the tolerance
};

[[nodiscard]] std::string_view name_of(verdict which) noexcept;  // "only_a"

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

// One thing that differs; empty where a side does not have it.
struct setting_difference {
    std::string what{};
    std::string a{};  // on the one side
    std::string b{};  // on the other
};

// One tensor over all steps that both sides have.
struct tensor_history {
    std::string a{}, b{};               // its name on each side
    std::uint64_t steps = 0;            // at which it was compared, be it by statistics
    std::uint64_t differing_steps = 0;  // at which it differs beyond the tolerance
    std::optional<step_id> first{};     // of these
    std::uint64_t by_statistics = 0;    // steps
    std::uint64_t not_compared = 0;     // steps at which one side had nothing of it, or nothing that could be compared
    std::uint64_t unreadable = 0;       // steps
    error trouble{};                    // why, at the first of these
    bool swapped_axes = false;          // hint: at some step the numbers are the same once axes are swapped
    tensor_errors worst{};  // the largest error of any step, each by itself; the smallest cosine; counts are sums
    std::uint64_t with_reference = 0;                        // steps
    double reference_a = 0, reference_b = 0;                 // the largest relative L2 errors against the reference
    std::uint64_t reference_ulp_a = 0, reference_ulp_b = 0;  // the largest distances from the reference
};

struct diff_report {                                          // what came of comparing two sides
    std::vector<setting_difference> settings{};               // of two runs
    std::vector<std::string> names_only_a{}, names_only_b{};  // in program order
    std::vector<step_id> steps_only_a{}, steps_only_b{};      // that the other does not have, nor may still reach
    std::uint64_t steps_awaited = 0;          // that one has and the other, which is being written, may still reach
    std::uint64_t steps = 0;                  // that both have
    std::uint64_t pairs = 0;                  // names that both have
    std::optional<step_id> first_step{};      // at which anything differs
    std::string first_tensor{};               // of A, in program order
    std::vector<compared_tensor> at_first{};  // all tensors at that step
    std::vector<tensor_history> tensors{};    // of every pair of names
    std::uint64_t unreadable = 0;             // values that could not be read
    std::uint64_t compared = 0;               // values, or what was kept of them, that were held against one another
    std::uint64_t not_kept = 0;               // that both have, with nothing that can be compared (verdict::not_kept)
    // Places of the records that could not be read, and ends that are gone: something is missing.
    std::size_t damage_a = 0, damage_b = 0;
    bool strict = false;  // as it was asked for

    // Something was compared and differs, or where it is strict only one side has it.
    [[nodiscard]] bool has_difference() const noexcept;
    // Parts of a record are damaged or gone: what is there may be equal, the whole is not known to be.
    [[nodiscard]] bool has_losses() const noexcept { return unreadable > 0 || damage_a + damage_b > 0; }
    // All that both have was compared.
    [[nodiscard]] bool is_complete() const noexcept { return compared > 0 && not_kept == 0; }
    // They are not known to be equal by a difference, or because values cannot be read.
    [[nodiscard]] bool differs() const noexcept;
    // What a program may call success: all that both have was compared, and is equal within the tolerance.
    [[nodiscard]] bool equal() const noexcept { return !differs() && !has_losses() && is_complete(); }
};

namespace detail {
class opened_side;
}

// One side of a comparison: a recorded run, or what another program dumped. Reads through a trial or a dump, which it
// owns. One thread. Moved from, it may only be destroyed or assigned to.
class diff_side {
public:
    explicit diff_side(trial run);
    explicit diff_side(std::unique_ptr<detail::opened_side const> opened) noexcept;
    diff_side(diff_side&& other) noexcept;
    diff_side& operator=(diff_side&& other) noexcept;
    ~diff_side();

    [[nodiscard]] std::string const& path() const noexcept;  // as it was opened
    [[nodiscard]] trial const* run() const noexcept;         // null of a dump
    [[nodiscard]] std::size_t steps() const noexcept;        // that have a tensor
    // A tensor's values. errc: as of track::at; no_payload where only statistics were recorded.
    [[nodiscard]] recorded_value at(std::string const& name, step_id step) const;

    [[nodiscard]] detail::opened_side const& opened() const noexcept { return *its_; }  // for diff()

private:
    std::unique_ptr<detail::opened_side const> its_;
};

// Opens a run, finished or still being written, or else a dump: .npy, .npz, .safetensors, or a folder of such. errc: as
// of open_trial; not_a_run where it is neither. A compressed .npz is read where the workbench was built with zlib.
[[nodiscard]] result<diff_side> open_side(std::string_view path, file_system& files = system_files());

// Holds `b` against `a`, element by element at the same index, in whatever order the axes lie in memory. Axes of one
// element are no difference. errc: no_shape (other sizes), wrong_type (numbers and a text, real and complex numbers),
// no_payload (no values). Reads each tensor once where they are the same bytes, at the speed of memory, and twice where
// not.
[[nodiscard]] result<tensor_errors> compare(tensor_ref const& a, tensor_ref const& b, tolerance const& allowed = {});

// Compares every tensor that both have at every step that both have, in program order. Calls progress(done, all) at
// each step of A. With a reference, such as the same training in float64, each side is also held against that. errc:
// no_such_name, no_such_step (nothing in common), bad_config (the map). Values that cannot be read are counted and
// told, and end nothing.
[[nodiscard]] result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted,
                                       diff_side const* reference,
                                       std::function<void(std::uint64_t, std::uint64_t)> const& progress);
[[nodiscard]] result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted = {},
                                       diff_side const* reference = nullptr);

}  // namespace spotter::inline SPOTTER_ABI
