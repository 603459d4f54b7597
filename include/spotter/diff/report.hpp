// SPDX-License-Identifier: Apache-2.0
// Diff (L6): two trainings held against one another: where they part ways, and how each tensor fares over all steps.
#pragma once

#include <spotter/diff/pair.hpp>
#include <spotter/diff/settings.hpp>

#include <concepts>

namespace spotter::inline SPOTTER_ABI {

// One tensor over all steps that both sides have.
struct tensor_history {
    std::string a{}, b{};
    std::uint64_t steps = 0;            // at which it was compared, be it by statistics
    std::uint64_t differing_steps = 0;  // at which it differs beyond the tolerance
    std::optional<step_id> first{};     // of these
    std::uint64_t by_statistics = 0;    // steps
    std::uint64_t not_compared = 0;     // steps at which one side had nothing of it, or nothing that could be compared
    std::uint64_t unreadable = 0;       // steps
    bool swapped_axes = false;
    tensor_errors worst{};  // the largest error of any step, each by itself; the smallest cosine; counts are sums
    std::uint64_t with_reference = 0;         // steps
    double reference_a = 0, reference_b = 0;  // the largest relative L2 errors against the reference
    std::uint64_t reference_ulp_a = 0, reference_ulp_b = 0;
};

struct diff_report {
    std::vector<setting_difference> settings{};  // of two runs
    std::vector<std::string> names_only_a{}, names_only_b{};
    std::vector<step_id> steps_only_a{}, steps_only_b{};
    std::uint64_t steps_awaited = 0;          // that one has and the other, which is being written, may still reach
    std::uint64_t steps = 0;                  // that both have
    std::uint64_t pairs = 0;                  // names that both have
    std::optional<step_id> first_step{};      // at which anything differs
    std::string first_tensor{};               // of A, in program order
    std::vector<compared_tensor> at_first{};  // all tensors at that step
    std::vector<tensor_history> tensors{};
    std::uint64_t unreadable = 0;            // values that could not be read
    std::uint64_t compared = 0;              // values, or what was kept of them, that were held against one another
    std::uint64_t not_kept = 0;              // that both have, with nothing that can be compared (verdict::not_kept)
    // Places of the records that could not be read, and ends that are gone: something is missing.
    std::size_t damage_a = 0, damage_b = 0;
    bool strict = false;

    // Something was compared and differs, or where it is strict only one side has it.
    [[nodiscard]] bool has_difference() const noexcept {
        bool const lonely =
            !names_only_a.empty() || !names_only_b.empty() || !steps_only_a.empty() || !steps_only_b.empty();
        return first_step.has_value() || (strict && lonely);
    }
    // Parts of a record are damaged or gone: what is there may be equal, the whole is not known to be.
    [[nodiscard]] bool has_losses() const noexcept { return unreadable > 0 || damage_a + damage_b > 0; }
    // All that both have was compared.
    [[nodiscard]] bool is_complete() const noexcept { return compared > 0 && not_kept == 0; }
    // They are not known to be equal by a difference, or because values cannot be read.
    [[nodiscard]] bool differs() const noexcept {
        return has_difference() || unreadable > 0 || (strict && damage_a + damage_b > 0);
    }
    // What a program may call success: all that both have was compared, and is equal within the tolerance.
    [[nodiscard]] bool equal() const noexcept { return !differs() && !has_losses() && is_complete(); }
};

namespace detail {

[[nodiscard]] constexpr bool is_difference(verdict which) noexcept { return which >= verdict::shapes; }

inline void add_to_history(tensor_history& into, compared_tensor const& it, step_id step) {
    if (it.verdict == verdict::unreadable) { ++into.unreadable; }
    if (it.verdict == verdict::not_kept || it.verdict == verdict::only_a || it.verdict == verdict::only_b) {
        ++into.not_compared;
    }
    if (it.verdict == verdict::unreadable) { return; }
    into.steps += it.verdict <= verdict::within || is_difference(it.verdict) ? 1U : 0U;
    into.by_statistics += it.by_statistics && it.verdict != verdict::not_kept ? 1U : 0U;
    if (is_difference(it.verdict)) {
        ++into.differing_steps;
        if (!into.first) { into.first = step; }
    }
    into.swapped_axes = into.swapped_axes || it.swapped_axes;
    tensor_errors& worst = into.worst;
    tensor_errors const& now = it.errors;
    worst.elements += now.elements, worst.differing += now.differing, worst.outside += now.outside;
    worst.nan_mismatches += now.nan_mismatches, worst.inf_mismatches += now.inf_mismatches;
    worst.zero_signs += now.zero_signs;
    worst.has_ulp = worst.has_ulp || now.has_ulp;
    worst.ulp = (std::max)(worst.ulp, now.ulp);
    worst.absolute = (std::max)(worst.absolute, now.absolute);
    worst.relative = (std::max)(worst.relative, now.relative);
    worst.relative_l2 = (std::max)(worst.relative_l2, now.relative_l2);
    worst.cosine = (std::min)(worst.cosine, now.cosine);
    if (!it.has_reference) { return; }
    ++into.with_reference;
    into.reference_a = (std::max)(into.reference_a, it.reference_a.relative_l2);
    into.reference_b = (std::max)(into.reference_b, it.reference_b.relative_l2);
    into.reference_ulp_a = (std::max)(into.reference_ulp_a, it.reference_a.ulp);
    into.reference_ulp_b = (std::max)(into.reference_ulp_b, it.reference_b.ulp);
}

class differ {
public:
    differ(diff_side const& a, diff_side const& b, diff_options const& wanted, diff_side const* reference)
        : a_{a}, b_{b}, reference_{reference}, wanted_{wanted}, compare_{a, b, wanted} {}

    [[nodiscard]] error match() {
        auto const& in_a = a_.index().names();
        auto const& in_b = b_.index().names();
        auto partners = match_names(in_a, in_b, wanted_.names);
        if (!partners) { return partners.error(); }
        partner_ = std::move(*partners);
        back_.resize(in_b.size());
        for (std::uint32_t i = 0; i < in_a.size(); ++i) {
            std::string const& other = partner_[i] ? in_b[*partner_[i]] : in_a[i];
            if (!is_wanted(in_a[i]) && !is_wanted(other)) {
                if (partner_[i]) { back_[*partner_[i]] = i; }
                partner_[i].reset();
                continue;
            }
            if (!partner_[i]) {
                report_.names_only_a.push_back(in_a[i]);
                continue;
            }
            back_[*partner_[i]] = i;
            ++report_.pairs;
        }
        for (std::uint32_t i = 0; i < in_b.size(); ++i) {
            if (!back_[i] && is_wanted(in_b[i])) { report_.names_only_b.push_back(in_b[i]); }
        }
        if (reference_ != nullptr) { match_reference(in_a, in_b); }
        if (report_.pairs > 0) { return {}; }
        error why{errc::no_such_name, "no tensor is in both"};
        if (!in_a.empty() && !in_b.empty()) {
            why.what << " (A has \"" << std::string_view{in_a[0]}.substr(0, 60) << "\", B \""
                     << std::string_view{in_b[0]}.substr(0, 60) << "\"): pair names by --map";
        } else {
            why.what << ": " << (in_a.empty() ? "A" : "B") << " is empty";
        }
        return why;
    }

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
    [[nodiscard]] static std::size_t damage_of(diff_side const& side) {
        if (side.run() == nullptr) { return 0; }
        run_losses const lost = side.run()->losses();
        return static_cast<std::size_t>(lost.places) + lost.ends.size();
    }
    [[nodiscard]] bool is_wanted(std::string_view name) const {
        return wanted_.only.empty() || matches_any(wanted_.only, name);
    }
    [[nodiscard]] bool is_wanted(step_id step) const noexcept {
        return (!wanted_.mode || step.mode == *wanted_.mode) && (!wanted_.step || step == *wanted_.step);
    }
    void note_lonely(diff_side const& lacks, step_id step, std::vector<step_id>& into) {
        if (lacks.awaits(step)) {
            ++report_.steps_awaited;
        } else {
            into.push_back(step);
        }
    }
    // By the name that A has, or else that of B.
    void match_reference(std::vector<std::string> const& in_a, std::vector<std::string> const& in_b) {
        name_finder const in_reference{reference_->index().names()};
        of_reference_.resize(in_a.size());
        for (std::size_t i = 0; i < in_a.size(); ++i) {
            of_reference_[i] = in_reference(in_a[i]);
            if (!of_reference_[i] && partner_[i]) { of_reference_[i] = in_reference(in_b[*partner_[i]]); }
        }
    }

    // In the order of A; where A is a folder of .npy files, which has none, in that of B.
    [[nodiscard]] std::vector<std::uint32_t> ordered(step_id step) const {
        auto const own = a_.index().at(step);
        if (a_.is_ordered() || !b_.is_ordered()) { return {own.begin(), own.end()}; }
        std::vector<std::uint32_t> names;  // those without a partner are not compared anyway
        for (std::uint32_t const each : b_.index().at(step)) {
            if (back_[each] && a_.index().has(step, *back_[each])) { names.push_back(*back_[each]); }
        }
        for (std::uint32_t const each : own) {
            if (partner_[each] && !b_.index().has(step, *partner_[each])) { names.push_back(each); }
        }
        return names;
    }
    void take(step_id step) {
        std::vector<compared_tensor> all;
        bool differs = false;
        for (std::uint32_t const name : ordered(step)) {
            if (!partner_[name]) { continue; }
            compared_tensor it = compare_at(step, name);
            if (it.verdict == verdict::unreadable) { ++report_.unreadable; }
            if (it.verdict == verdict::not_kept) { ++report_.not_kept; }
            report_.compared += it.verdict <= verdict::within || is_difference(it.verdict) ? 1U : 0U;
            if (is_difference(it.verdict) && !differs && !report_.first_step) { report_.first_tensor = it.a; }
            differs = differs || is_difference(it.verdict);
            add_to_history(history_of(name), it, step);
            if (!report_.first_step) { all.push_back(std::move(it)); }
        }
        for (std::uint32_t const name : b_.index().at(step)) {
            if (!back_[name] || !partner_[*back_[name]] || a_.index().has(step, *back_[name])) { continue; }
            compared_tensor it;
            it.a = a_.index().names()[*back_[name]], it.b = b_.index().names()[name];
            it.verdict = verdict::only_b;
            add_to_history(history_of(*back_[name]), it, step);
            if (!report_.first_step) { all.push_back(std::move(it)); }
        }
        if (!differs || report_.first_step) { return; }
        report_.first_step = step;
        report_.at_first = std::move(all);
    }
    [[nodiscard]] compared_tensor compare_at(step_id step, std::uint32_t name) const {
        std::string const& name_a = a_.index().names()[name];
        std::string const& name_b = b_.index().names()[*partner_[name]];
        if (!b_.index().has(step, *partner_[name])) {
            compared_tensor it;
            it.a = name_a, it.b = name_b;
            it.verdict = verdict::only_a;
            return it;
        }
        bool const has_reference =
            reference_ != nullptr && of_reference_[name] && reference_->index().has(step, *of_reference_[name]);
        return compare_(name_a, name_b, step, reference_,
                        has_reference ? &reference_->index().names()[*of_reference_[name]] : nullptr);
    }
    [[nodiscard]] tensor_history& history_of(std::uint32_t name) {
        auto const [at, is_new] = place_.try_emplace(name, report_.tensors.size());
        if (is_new) {
            report_.tensors.emplace_back();
            report_.tensors.back().a = a_.index().names()[name];
            report_.tensors.back().b = b_.index().names()[*partner_[name]];
        }
        return report_.tensors[at->second];
    }

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

// Compares every tensor that both have at every step that both have, in program order. Calls progress(done, all) at each step of A. With a
// reference, such as the same training in float64, each side is also held against that. errc: no_such_name, no_such_step (nothing in
// common), bad_config (the map). Values that cannot be read are counted and told, and end nothing.
template <std::invocable<std::uint64_t, std::uint64_t> Progress>
[[nodiscard]] result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted,
                                       diff_side const* reference, Progress&& progress) {
    return detail::differ{a, b, wanted, reference}.run(progress);
}
[[nodiscard]] inline result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted = {},
                                              diff_side const* reference = nullptr) {
    return diff(a, b, wanted, reference, [](std::uint64_t, std::uint64_t) {});
}

}  // namespace spotter::inline SPOTTER_ABI
