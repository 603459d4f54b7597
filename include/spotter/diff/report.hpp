// SPDX-License-Identifier: Apache-2.0
// Diff (L6): two trainings held against one another: where they part ways, and how each tensor fares over all steps.
#pragma once

#include <spotter/diff/pair.hpp>
#include <spotter/diff/settings.hpp>

#include <spotter/trial/read_at_once.hpp>

#include <concepts>
#include <iterator>

namespace spotter::inline SPOTTER_ABI {

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

[[nodiscard]] constexpr bool is_difference(verdict which) noexcept { return which >= verdict::shapes; }

class differ {
public:
    differ(diff_side const& a, diff_side const& b, diff_options const& wanted, diff_side const* reference)
        : a_{a}, b_{b}, reference_{reference}, wanted_{wanted}, compare_{a, b, wanted} {}

    [[nodiscard]] error match();

    template <class Progress>
    [[nodiscard]] result<diff_report> run(Progress&& progress) {
        if (error const why = match()) { return why; }
        report_.strict = wanted_.strict;
        if (a_.run() != nullptr && b_.run() != nullptr) { report_.settings = compare_settings(*a_.run(), *b_.run()); }
        report_.damage_a = damage_of(a_), report_.damage_b = damage_of(b_);
        for (step_id const step : b_.index().steps()) {
            if (is_wanted(step) && !a_.index().has(step)) { note_lonely(a_, step, report_.steps_only_b); }
        }
        std::uint64_t done = 0;
        std::optional<read_at_once> whole[3];
        diff_side const* const sides[] = {&a_, &b_, reference_};
        for (std::size_t i = 0; i < std::size(sides); ++i) {
            if (sides[i] != nullptr && sides[i]->run() != nullptr) { whole[i].emplace(*sides[i]->run()); }
        }
        for (step_id const step : a_.index().steps()) {
            progress(++done, a_.index().steps().size());
            if (!is_wanted(step)) { continue; }
            if (!b_.index().has(step)) {
                note_lonely(b_, step, report_.steps_only_a);
                continue;
            }
            ++report_.steps;
            take(step);
        }
        if (report_.steps == 0) {
            return {errc::no_such_step,
                    "no step is in both, so that nothing can be compared: `spotter ls --steps` lists "
                    "those of a run; a dumped file is of the step in its name, or of train:0"};
        }
        return std::move(report_);
    }

private:
    [[nodiscard]] static std::size_t damage_of(diff_side const& side);
    [[nodiscard]] bool is_wanted(std::string_view name) const;
    [[nodiscard]] bool is_wanted(step_id step) const noexcept;
    void note_lonely(diff_side const& lacks, step_id step, std::vector<step_id>& into);
    // By the name that A has, or else that of B.
    void match_reference(std::vector<std::string> const& in_a, std::vector<std::string> const& in_b);

    // In the order of A; where A is a folder of .npy files, which has none, in that of B.
    [[nodiscard]] std::vector<std::uint32_t> ordered(step_id step) const;
    void take(step_id step);
    [[nodiscard]] compared_tensor compare_at(step_id step, std::uint32_t name) const;
    [[nodiscard]] tensor_history& history_of(std::uint32_t name);

    diff_side const& a_;
    diff_side const& b_;
    diff_side const* reference_;
    diff_options const& wanted_;
    pair_comparer compare_;
    std::vector<std::optional<std::uint32_t>> partner_{};       // of each name of A, in B
    std::vector<std::optional<std::uint32_t>> back_{};          // of each name of B, in A
    std::vector<std::optional<std::uint32_t>> of_reference_{};  // of each name of A
    std::map<std::uint32_t, std::size_t> place_{};
    diff_report report_{};
};

}  // namespace detail

// Compares every tensor that both have at every step that both have, in program order. Calls progress(done, all) at
// each step of A. With a reference, such as the same training in float64, each side is also held against that. errc:
// no_such_name, no_such_step (nothing in common), bad_config (the map). Values that cannot be read are counted and
// told, and end nothing.
template <std::invocable<std::uint64_t, std::uint64_t> Progress>
[[nodiscard]] result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted,
                                       diff_side const* reference, Progress&& progress) {
    return detail::differ{a, b, wanted, reference}.run(progress);
}
[[nodiscard]] result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted = {},
                                       diff_side const* reference = nullptr);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/diff/report.ipp>
#endif
