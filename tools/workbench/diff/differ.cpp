// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of report.hpp.
#include "diff/differ.hpp"

#include "error_of.hpp"

#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] static bool is_compared(verdict which) noexcept {
    return which <= verdict::within || is_difference(which);
}

static void add_to_history(tensor_history& into, compared_tensor const& it, step_id step, bool exact) {
    if (it.verdict == verdict::unreadable) {
        if (into.unreadable++ == 0) { into.trouble = it.trouble; }
        return;
    }
    if (it.verdict == verdict::not_kept || it.verdict == verdict::only_a || it.verdict == verdict::only_b) {
        ++into.not_compared;
    }
    bool const same_statistics = it.verdict == verdict::same_statistics;
    into.steps += is_compared(it.verdict) || same_statistics ? 1U : 0U;
    into.same_statistics += same_statistics ? 1U : 0U;
    if (it.by_statistics && it.verdict != verdict::not_kept) {
        bool const hash_decides = it.by_hash && (exact || it.hash_a == it.hash_b);
        ++(hash_decides ? into.by_hash : into.by_statistics);
    }
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

result<diff_report> differ::run(std::function<void(std::uint64_t, std::uint64_t)> const& progress) {
    if (error const why = match()) { return why; }
    report_.strict = wanted_.strict;
    report_.tolerance = wanted_.tolerance;
    if (a_.run() != nullptr && b_.run() != nullptr) { report_.settings = compare_settings(*a_.run(), *b_.run()); }
    report_.damage_a = damage_of(a_), report_.damage_b = damage_of(b_);
    for (step_id const step : b_.index().steps()) {
        if (is_wanted(step) && !a_.index().has(step)) { note_lonely(a_, step, report_.steps_only_b); }
    }
    std::uint64_t done = 0;
    std::optional<read_at_once> whole[3];
    opened_side const* const sides[] = {&a_, &b_, reference_};
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
        return {errc::no_such_step, "no step is in both, so that nothing can be compared: `spotter ls --steps` lists "
                                    "those of a run; a dumped file is of the step in its name, or of train:0"};
    }
    return std::move(report_);
}

// `in_a`, `in_b`: what was chosen by `only`, if that names any.
[[nodiscard]] static error nothing_common(std::vector<std::string> const& in_a, std::vector<std::string> const& in_b,
                                          std::vector<std::string> const& only) {
    if (!only.empty() && in_a.empty() && in_b.empty()) {
        return error_of(errc::no_such_name, "no tensor of A or B matches \"", std::string_view{only[0]}.substr(0, 60),
                        only.size() > 1 ? "\" or what else was chosen" : "\"", ": `spotter ls` lists a run's tensors");
    }
    if (!only.empty() && (in_a.empty() || in_b.empty())) {
        std::string const& name = in_a.empty() ? in_b[0] : in_a[0];
        return error_of(errc::no_such_name, "no chosen tensor is in both: \"", std::string_view{name}.substr(0, 60),
                        "\" is only in ", in_a.empty() ? "B" : "A", ": pair names by --map");
    }
    if (in_a.empty() || in_b.empty()) {
        return error_of(errc::no_such_name, "no tensor is in both: ", in_a.empty() ? "A" : "B", " is empty");
    }
    return error_of(errc::no_such_name, "no tensor is in both (A has \"", std::string_view{in_a[0]}.substr(0, 60),
                    "\", B \"", std::string_view{in_b[0]}.substr(0, 60), "\"): pair names by --map");
}

error differ::match() {
    auto const& in_a = a_.index().names();
    auto const& in_b = b_.index().names();
    auto partners = match_names(in_a, in_b, wanted_.names);
    if (!partners) { return partners.error(); }
    partner_ = std::move(*partners);
    back_.resize(in_b.size());
    for (std::uint32_t i = 0; i < in_a.size(); ++i) {
        std::string const& other = partner_[i] ? in_b[*partner_[i]] : in_a[i];
        bool const is_left_out = (is_wanted(in_a[i]) || is_wanted(other)) &&
                                 (is_of_machine(a_, in_a[i]) || (partner_[i] && is_of_machine(b_, other)));
        if (is_left_out) { report_.left_out.push_back(in_a[i]); }
        if (is_left_out || (!is_wanted(in_a[i]) && !is_wanted(other))) {
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
        if (back_[i] || !is_wanted(in_b[i])) { continue; }
        (is_of_machine(b_, in_b[i]) ? report_.left_out : report_.names_only_b).push_back(in_b[i]);
    }
    if (reference_ != nullptr) { match_reference(in_a, in_b); }
    if (report_.pairs > 0) { return {}; }
    if (!report_.left_out.empty()) {
        return {errc::no_such_name, "but for times and samples of the machine no tensor is in both: --name 'time/*' "
                                    "compares times"};
    }
    return nothing_common(report_.names_only_a, report_.names_only_b, wanted_.only);
}

std::size_t differ::damage_of(opened_side const& side) {
    if (side.run() == nullptr) { return 0; }
    run_losses const lost = side.run()->losses();
    return static_cast<std::size_t>(lost.places) + lost.ends.size();
}

bool differ::is_of_machine(opened_side const& side, std::string const& name) const {
    if (wanted_.strict || !wanted_.only.empty()) { return false; }
    role const its = side.role_of(name);
    return its == role::timing || its == role::system;
}

bool differ::is_wanted(std::string_view name) const { return wanted_.only.empty() || matches_any(wanted_.only, name); }

bool differ::is_wanted(step_id step) const noexcept {
    return (!wanted_.mode || step.mode == *wanted_.mode) && (!wanted_.step || step == *wanted_.step);
}

void differ::note_lonely(opened_side const& lacks, step_id step, std::vector<step_id>& into) {
    if (lacks.awaits(step)) {
        ++report_.steps_awaited;
    } else {
        into.push_back(step);
    }
}

void differ::match_reference(std::vector<std::string> const& in_a, std::vector<std::string> const& in_b) {
    name_finder const in_reference{reference_->index().names()};
    of_reference_.resize(in_a.size());
    for (std::size_t i = 0; i < in_a.size(); ++i) {
        of_reference_[i] = in_reference(in_a[i]);
        if (!of_reference_[i] && partner_[i]) { of_reference_[i] = in_reference(in_b[*partner_[i]]); }
    }
}

std::vector<std::uint32_t> differ::ordered(step_id step) const {
    auto const own = a_.index().at(step);
    if (a_.is_ordered() || !b_.is_ordered()) { return {own.begin(), own.end()}; }
    std::vector<std::uint32_t> names;  // names without a partner are not compared anyway
    for (std::uint32_t const each : b_.index().at(step)) {
        if (back_[each] && a_.index().has(step, *back_[each])) { names.push_back(*back_[each]); }
    }
    for (std::uint32_t const each : own) {
        if (partner_[each] && !b_.index().has(step, *partner_[each])) { names.push_back(each); }
    }
    return names;
}

void differ::count(compared_tensor const& it, step_id step) {
    if (it.verdict == verdict::unreadable) { ++report_.unreadable; }
    if (it.verdict == verdict::not_kept) { ++report_.not_kept; }
    if (is_compared(it.verdict)) { ++report_.compared; }
    if (it.verdict != verdict::same_statistics) { return; }
    ++report_.same_statistics;
    if (report_.unknown_step) { return; }
    report_.unknown_step = step;
    report_.unknown_tensor = it.a;
    report_.unknown_before_first = report_.first_tensor.empty();
}

void differ::take(step_id step) {
    std::vector<compared_tensor> all;
    bool differs = false;
    auto const keep = [&](compared_tensor it, std::uint32_t name) {
        add_to_history(history_of(name), it, step, is_exact(wanted_.tolerance));
        if (!report_.first_step) { all.push_back(std::move(it)); }
    };
    for (std::uint32_t const name : ordered(step)) {
        if (!partner_[name]) { continue; }
        compared_tensor it = compare_at(step, name);
        count(it, step);
        if (is_difference(it.verdict) && !std::exchange(differs, true) && !report_.first_step) {
            report_.first_tensor = it.a;
        }
        keep(std::move(it), name);
    }
    for (std::uint32_t const name : b_.index().at(step)) {
        if (!back_[name] || !partner_[*back_[name]] || a_.index().has(step, *back_[name])) { continue; }
        compared_tensor it;
        it.a = a_.index().names()[*back_[name]], it.b = b_.index().names()[name];
        it.verdict = verdict::only_b;
        keep(std::move(it), *back_[name]);
    }
    if (!differs || report_.first_step) { return; }
    report_.first_step = step;
    report_.at_first = std::move(all);
}

compared_tensor differ::compare_at(step_id step, std::uint32_t name) const {
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

tensor_history& differ::history_of(std::uint32_t name) {
    auto const [at, is_new] = place_.try_emplace(name, report_.tensors.size());
    if (is_new) {
        report_.tensors.emplace_back();
        report_.tensors.back().a = a_.index().names()[name];
        report_.tensors.back().b = b_.index().names()[*partner_[name]];
    }
    return report_.tensors[at->second];
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

bool diff_report::has_difference() const noexcept {
    bool const lonely =
        !names_only_a.empty() || !names_only_b.empty() || !steps_only_a.empty() || !steps_only_b.empty();
    return first_step.has_value() || (strict && lonely);
}

bool diff_report::differs() const noexcept {
    return has_difference() || unreadable > 0 || (strict && damage_a + damage_b > 0);
}

result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted, diff_side const* reference,
                         std::function<void(std::uint64_t, std::uint64_t)> const& progress) {
    return detail::differ{a.opened(), b.opened(), wanted, reference != nullptr ? &reference->opened() : nullptr}.run(
        progress);
}

result<diff_report> diff(diff_side const& a, diff_side const& b, diff_options const& wanted,
                         diff_side const* reference) {
    return diff(a, b, wanted, reference, [](std::uint64_t, std::uint64_t) {});
}

}  // namespace spotter::inline SPOTTER_ABI
