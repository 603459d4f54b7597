// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: turns drafts into findings, in the order of causes.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI {

// Writes what an examination found into its result.
class result_writer {
public:
    explicit result_writer(preflight_result& into) noexcept : into_{into} {}

    // Symptoms that a reported cause explains become notes. Findings are sorted by severity, and then by cause.
    void write(detail::examiner& all);

private:
    void write_verdicts(detail::examiner const& all);
    void write_proven_right(detail::examiner const& all);
    [[nodiscard]] static finding finding_of(detail::draft const& it);

    preflight_result& into_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY finding result_writer::finding_of(detail::draft const& it) {
    preflight_row const& row = describe_cause(it.cause);
    finding made;
    made.id = rule_id_named(row.name);
    made.rule = row.name, made.reason = row.reason, made.remedy = it.remedy;
    made.measure = it.measure, made.measured = it.measured, made.how = it.how, made.threshold = it.threshold;
    made.severity = it.severity, made.detail = it.detail.view(), made.others = it.others;
    made.tells_non_finite = made.tells_origin = it.cause == preflight_cause::non_finite;
    made.decision = response_of(made);
    return made;
}

namespace detail {

// Symptoms become notes that refer to the earliest cause, without a remedy of their own. Without such a cause, they
// refer to a flat loss.
inline void fold_symptoms(std::vector<draft>& found) {
    auto const rank = [](draft const& it) { return std::pair{describe_cause(it.cause).is_symptom, it.cause}; };
    draft const* first = nullptr;
    for (draft const& each : found) {
        bool const explains = each.severity > severity::info && each.cause < preflight_cause::learning_rate_too_large;
        if (explains && (first == nullptr || rank(each) < rank(*first))) { first = &each; }
    }
    for (draft& each : found) {
        bool const stands = each.severity > severity::info && &each != first;
        if (first == nullptr || !stands || !describe_cause(each.cause).is_symptom) { continue; }
        each.severity = severity::info, each.remedy = {};
        if (!each.detail.empty()) { each.detail << "; "; }
        each.detail << "because of " << name_of(first->cause);
    }
}

// Sorts by severity, and then by cause. Raw inputs saturate units, so they take the severity of what that may explain,
// up to a flat loss. They do not explain a wrong gradient.
inline void sort_by_severity(std::vector<draft>& found) {
    spotter::severity strongest = severity::info;
    for (draft const& each : found) {
        if (each.cause < preflight_cause::loss_flat) { strongest = (std::max)(strongest, each.severity); }
    }
    for (draft& each : found) {
        each.severity = each.cause == preflight_cause::input_not_normalized ? strongest : each.severity;
    }
    auto const stands_before = [](draft const& one, draft const& other) {
        return one.severity != other.severity ? one.severity > other.severity : one.cause < other.cause;
    };
    for (std::size_t i = 1; i < found.size(); ++i) {  // insertion sort: few findings, and stable
        for (std::size_t k = i; k > 0 && stands_before(found[k], found[k - 1]); --k) {
            std::swap(found[k], found[k - 1]);
        }
    }
}

}  // namespace detail

SPOTTER_BODY void result_writer::write(detail::examiner& all) {
    std::vector<detail::draft>& found = all.found;
    detail::fold_symptoms(found);
    detail::sort_by_severity(found);
    std::size_t const tensors = all.loop.parameters().size();
    if (!into_.found_.grow(found.size()) || !into_.names_.grow(found.size() + tensors)) { return; }
    for (std::size_t i = 0; i < found.size(); ++i) {
        (void)into_.names_[i].assign(found[i].place);
        into_.found_[i].cause = found[i].cause;
        into_.found_[i].finding = finding_of(found[i]);
        into_.found_[i].finding.tensor = into_.names_[i].view();
        into_.alarm_.add(into_.found_[i].finding);
    }
    into_.count_ = found.size();
    write_verdicts(all);
    write_proven_right(all);
    into_.passes_ = all.loop.passes(), into_.updates_ = all.loop.updates();
}

SPOTTER_BODY void result_writer::write_proven_right(detail::examiner const& all) {
    using enum preflight_cause;
    bool const sound = !all.is_random && !all.has_any({threw, copy_shares_memory, works_on_the_net, nothing_to_examine,
                                                       shapes_change, weights_change_in_pass, losses_differ});
    auto const put = [&](rule_id rule) { into_.right_[into_.right_count_++] = rule; };
    if (!sound) { return; }
    if (all.clearing_examined && !all.has(gradient_not_cleared)) { put(rule_id::gradient_not_cleared); }
    if (!all.update_examined || all.has(learning_rate_zero)) { return; }
    put(rule_id::learning_rate_zero);
    bool const all_right = into_.count(gradient_proof::right) > 0 && into_.count(gradient_proof::wrong) == 0 &&
                           into_.count(gradient_proof::not_proven) == 0;
    if (all_right && !all.has_any({update_direction, negated_gradient, weight_decay_grows})) {
        put(rule_id::update_direction);
    }
}

SPOTTER_BODY void result_writer::write_verdicts(detail::examiner const& all) {
    std::size_t const tensors = all.loop.parameters().size();
    if (!into_.verdicts_.grow(tensors)) { return; }
    for (std::size_t t = 0; t < tensors; ++t) {
        gradient_verdict& each = into_.verdicts_[t];
        (void)into_.names_[into_.count_ + t].assign(all.loop.parameters()[t].name);
        each.name = into_.names_[into_.count_ + t].view();
        each.frozen = all.loop.parameters()[t].frozen;
        if (t >= all.gradients.size()) { continue; }
        detail::gradient_state const& known = all.gradients[t];
        each.error = known.error, each.resolution = known.resolution;
        bool const is_unknown = known.kind == detail::gradient_kind::unknown;
        bool const is_right =
            known.kind == detail::gradient_kind::right || known.kind == detail::gradient_kind::no_effect;
        each.gradient = is_unknown ? gradient_proof::not_proven
                        : is_right ? gradient_proof::right
                                   : gradient_proof::wrong;
    }
    into_.tensors_ = tensors;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
