// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the examination: which experiments it makes, in which order, and what it reports. One of them is
// here: are copies of the net independent of it?
#pragma once

#include <spotter/preflight/examination.hpp>
#include <spotter/preflight/result.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Throws nothing: an exception of the program's functions is reported as a finding. `original` may be null.
[[nodiscard]] preflight_result examine(examination const& exam, original_net const* original) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
#include <spotter/preflight/examiner.hpp>
#include <spotter/preflight/gradients.hpp>
#include <spotter/preflight/inputs.hpp>
#include <spotter/preflight/outputs.hpp>
#include <spotter/preflight/repeat.hpp>
#include <spotter/preflight/start.hpp>
#include <spotter/preflight/training.hpp>
#include <spotter/preflight/update.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

// Watches the net that is copied: tensors of a copy must have memory of their own, and work on a copy must not change
// the net. A change is put back, where the net is not const.
class original_watch {
public:
    explicit original_watch(original_net const* net) noexcept : net_{net} {}

    // Called before anything else. False where a tensor of a copy shares the net's memory.
    [[nodiscard]] bool begin(examiner& all);
    // False where a tensor of the net has changed. Reports that once: later calls return true.
    [[nodiscard]] bool stands(examiner& all, std::string_view after);

private:
    struct kept_tensor {
        std::string name{};
        tensor_ref view{};
        bool writable = false;
        std::vector<unsigned char> bytes{};
    };
    static void take(void* to, shown_tensor const& it);
    void look(std::vector<kept_tensor>& into) const;

    original_net const* net_;
    std::vector<kept_tensor> kept_{};
    bool reported_ = false;
};

SPOTTER_BODY void original_watch::take(void* to, shown_tensor const& it) {
    static_cast<std::vector<kept_tensor>*>(to)->push_back({std::string{it.name}, it.view, it.writable, {}});
}

SPOTTER_BODY void original_watch::look(std::vector<kept_tensor>& into) const {
    parameter_visitor visit{&original_watch::take, &into};
    net_->show(net_->net, visit);
    for (kept_tensor& each : into) {
        if (!each.writable || each.view.count == 0) { continue; }
        auto const* const first = static_cast<unsigned char const*>(each.view.values.raw);
        each.bytes.assign(first, first + each.view.bytes());
    }
}

SPOTTER_BODY bool original_watch::begin(examiner& all) {
    if (net_ == nullptr) { return true; }
    std::string_view shared;
    std::vector<kept_tensor> of_copy;
    bool const shown = guarded([&] {
        look(kept_);
        examination const& exam = all.loop.given();
        exam.restore();
        parameter_visitor visit{&original_watch::take, &of_copy};
        exam.parameters(visit);
    });
    if (!shown) { return true; }  // the examination calls it again, and reports the exception there
    for (kept_tensor const& each : of_copy) {
        if (!each.writable || each.view.count == 0) { continue; }
        for (kept_tensor const& own : kept_) {
            bool const same = own.name == each.name && own.writable && own.view.values.raw == each.view.values.raw;
            if (same && shared.empty()) { shared = own.name; }
        }
    }
    if (shared.empty()) { return true; }
    all.tell(preflight_cause::copy_shares_memory, shared);
    reported_ = true;
    return false;
}

SPOTTER_BODY bool original_watch::stands(examiner& all, std::string_view after) {
    if (net_ == nullptr || reported_) { return true; }
    std::vector<kept_tensor> now;
    if (!guarded([&] { look(now); }) || now.size() != kept_.size()) { return true; }
    std::string_view changed;
    for (std::size_t i = 0; i < now.size(); ++i) {
        bool const same_size = now[i].bytes.size() == kept_[i].bytes.size();
        if (same_size && (now[i].bytes.empty() ||
                          std::memcmp(now[i].bytes.data(), kept_[i].bytes.data(), now[i].bytes.size()) == 0)) {
            continue;
        }
        if (changed.empty()) { changed = kept_[i].name; }
        if (net_->may_be_put_back && same_size) {
            std::memcpy(const_cast<void*>(now[i].view.values.raw), kept_[i].bytes.data(), kept_[i].bytes.size());
        }
    }
    if (changed.empty()) { return true; }
    draft& found = all.tell(preflight_cause::works_on_the_net, changed);
    found.detail << "it was changed by " << after;
    if (!net_->may_be_put_back) { found.detail << ", and is not put back, for it is const"; }
    reported_ = true;
    return false;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

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

namespace spotter::inline SPOTTER_ABI::detail {

// Reports gradients and weights that have no partner by name and size.
inline void tell_unpaired(examiner& all) {
    std::vector<std::string> const& gradients = all.loop.unpaired_gradients();
    if (!gradients.empty()) {
        all.tell(preflight_cause::gradient_without_weight, gradients[0]).others =
            static_cast<std::uint32_t>(gradients.size() - 1);
    }
    std::vector<std::string> const& weights = all.loop.unpaired_weights();
    if (!weights.empty()) {
        draft& found = all.tell(preflight_cause::not_proven, weights[0]);
        found.others = static_cast<std::uint32_t>(weights.size() - 1);
        found.detail = "its gradient is not shown";
    }
    if (all.loop.parameters().empty()) { all.tell(preflight_cause::nothing_to_examine, "tensors"); }
}

// Makes the experiments, the cheapest and most fundamental first. Ends after one that fails where the next ones would
// show nothing.
inline void experiment(examiner& all, original_watch& original) {
    subject& loop = all.loop;
    if (!original.begin(all) || !loop.open()) { return; }
    if (!original.stands(all, "pass")) { return; }
    tell_unpaired(all);
    if (loop.parameters().empty()) { return; }
    if (loop.weights_changed_in_pass()) {
        all.tell(preflight_cause::weights_change_in_pass, loop.parameters()[0].name);
        return;
    }
    look_at_inputs(all);
    if (!examine_start(all)) { return; }
    double_list gradient;
    examine_repeat(all, gradient);
    if (loop.over()) { return; }
    examine_clearing(all, gradient);
    all.clearing_examined = !loop.over();
    first_step first;
    examine_update(all, first);
    all.update_examined = loop.given().update && !loop.over();
    if (!original.stands(all, "step")) { return; }
    loop.keep_back(60);  // passes for later experiments: a wrong gradient may need many
    if (all.is_random) {
        examine_random_gradients(all);
    } else {
        examine_gradients(all);
    }
    tell_gradients(all);
    loop.use_all();
    examine_rate(all, first);
    examine_inputs(all);
    examine_labels(all);
    examine_outputs(all);
    examine_coupling(all);
    examine_evaluation(all);
    loop.use_all();
    examine_restored(all, first);
    examine_training(all);
}

// Reports why the examination ended early.
inline void tell_end(examiner& all) {
    if (all.loop.ended() == ending::threw) {
        all.tell(preflight_cause::threw, "loop").detail = all.loop.thrown();
    } else if (all.loop.ended() == ending::shapes) {
        all.tell(preflight_cause::shapes_change, "tensors");
    }
}

SPOTTER_BODY preflight_result examine(examination const& exam, original_net const* original) noexcept {
    preflight_result made;
    (void)guarded([&] {  // memory may be short
        examiner all{exam};
        original_watch watch{original};
        if (!exam.parameters || !exam.backward) {
            all.tell(preflight_cause::nothing_to_examine, "examination").detail =
                ".parameters and .backward are needed";
        } else {
            experiment(all, watch);
            tell_end(all);
            all.loop.close();
            (void)watch.stands(all, "pass or step");
        }
        result_writer{made}.write(all);
    });
    return made;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
