// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the longer members of hook.hpp, in the order in which a run calls them: start, observations, the close of
// a step, the end.
#pragma once

#include <spotter/hook/hook.hpp>

namespace spotter::inline SPOTTER_ABI {

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::start() noexcept {
    state_ = detail::read_switch();
    if (state_ == detail::switch_state::off) { return; }
    if (state_ == detail::switch_state::unknown) {
        remember(errc::bad_config, "SPOTTER", "is neither on, dry nor off; taken as on");
    }
    exceptions_.start();
    if constexpr (lags) {
        device_tensors device;
        arguments_.apply([&](Arguments const&... each) { (detail::take_device(device, each), ...); });
        late_.start(device, choices().device_lag);
        failures_.add(late_.lack());
    }
    if (pattern_fault const bad = plan_.malformed(); !bad.empty()) {
        plan_is_sound_ = false;
        failures_.add(detail::malformed_plan(bad));
    }
    start_clock(registry_, choices(), offers<sink_call::poll>);
    instant_ = choices().instant;
    if constexpr (offers<sink_call::wants_all>) { captures_.want_everything(sink_.wants_all()); }
    if constexpr (offers<sink_call::control>) { sink_.set_readers(detail::readers_of(plan_, judges_)); }
    detail::pack_names packs;
    arguments_.apply([&](Arguments const&... each) { (detail::tell_packs(each, packs), ...); });
    detail::listed_collections const collections{plan_};
    run_info run = collections.run();
    run.packs = packs.view();
    sink_.start(run);
    if constexpr (offers<sink_call::watcher>) { show_sections(sink_.watcher()); }
    if constexpr (offers<sink_call::attempt>) { captures_.belong_to(sink_.path(), sink_.attempt()); }
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::observe_tracked(tracked_tensor& it, offered const& given) noexcept {
    tensor_ref const& values = given.view;
    if constexpr (lags) {
        if (device_values there;
            guarded_or([&] { return detail::find_device_values(given, there); }, [] { return false; })) {
            return observe_on_device(it, there);
        }
    }
    if constexpr (offers<sink_call::number>) {
        if (it.as_values && plain(it) && given.copy == nullptr && values.refused == refusal::none && !values.absent()) {
            return ++observed_, sink_.values(it.info, step_, values, it.cached_wanted);
        }
    }
    if (state_ == detail::switch_state::off || !is_taken(it, values)) { return; }
    std::uint64_t const rules = it.rules & rules_due_;
    std::uint64_t const due = it.info.collections & plan_due_;
    if ((rules | due) != 0 || captures_.active()) { observe_offer(it, given, rules, due); }
}

template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE bool hook<Sink, Plan, Arguments...>::is_taken(tracked_tensor& it, tensor_ref const& values) noexcept {
    if (!open_) {
        refuse(it, {errc::no_step_open, "observed outside a step: call begin(...) first, or use scalar(...)"});
        return false;
    }
    bool const refused = values.refused != refusal::none;
    if (values.absent() && !refused) { return false; }  // for example a gradient before the first backward pass
    if (it.declared) { return true; }
    if (refused) { return refuse(it, words_of(values.refused)), false; }
    declare(it, values);
    return true;
}

template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::observe_offer(tracked_tensor& it, offered const& given,
                                                                  std::uint64_t rules, std::uint64_t due) noexcept {
    if (given.view.refused != refusal::none) { return refuse(it, words_of(given.view.refused)); }
    if (given.copy == nullptr) { return observe_values(it, given.view, rules, wanted(it, due), false); }
    tensor_ref copied;
    refusal_words const trouble = copies_.take(given, copied);
    if (trouble.code != errc::none) { return refuse(it, trouble); }
    observe_values(it, copied, rules, wanted(it, due), false);
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::judge_values(tracked_tensor& it, tensor_ref const& values, std::uint64_t rules,
                                                  stats_mask kept, bool as_scalar, double const* time) noexcept {
    stats_mask const judged = it.needs_of(rules);
    stats_mask const all = judged | kept;
    summary stats;
    stats.count = values.count;
    stats_mask missing = all;
    if constexpr (lags) {
        if (late_.known != nullptr) { stats = *late_.known, missing = stats_mask::none; }
    }
    if (any(missing & pass_terms)) { stats = take_summary(values, all); }
    unit_activity units;
    if (has(missing, stats_mask::change)) { it.compare(values, step_, stats); }
    if (has(all, stats_mask::unit_activity)) { units = it.count_units(values, has(kept, stats_mask::unit_activity)); }
    distribution const* const spread = any(all & distribution_terms) ? distributions_.take(values, all) : nullptr;
    observation const seen{it.info, step_, stats, values, units, spread, &features_};
    if (rules != 0) { judges_.observe(seen, rules); }
    if (!features_.empty()) {
        features_.hand_on(
            [&](std::uint64_t key, std::span<double const> numbers) { sink_.feature(it.info, step_, key, numbers); });
    }
    if (has(judged, stats_mask::change) && values.shape.rank == 0) { kept |= payload; }  // a later scalar() needs it
    if (as_scalar) {
        sink_.scalar(it.info, &step_, values, time);
    } else if (stats_mask const keep = without(kept | without(judged, stats_mask::payload), stats_mask::feature);
               any(keep) || captures_.everything()) {
        sink_.observe(seen, keep);
    }
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::declare(tracked_tensor& it, tensor_ref const& values) noexcept {
    if (it.info.type == dtype::none) {
        it.info.type = values.type;
        it.info.shape = values.shape;
    }
    it.info.instant = instant_;
    tracked_tensor* partner = registry_.bind_partner(it);
    it.declared = true;
    announce(it);
    for (; partner != nullptr; partner = registry_.bind_partner(it)) { announce(*partner); }
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::announce(tracked_tensor& it) noexcept {
    ++declared_;
    it.info.collections =
        guarded_or([&] { return plan_is_sound_ ? plan_.members(it.info) : 0; },
                   [&] {
                       return remember(errc::user_code_threw, it.name,
                                       "made a pattern of the plan throw an exception; the plan keeps nothing of it");
                   });
    if (!it.declare_to(judges_)) {
        remember(errc::bad_config, it.name,
                 "is to be counted by units of different axes; the second rule cannot judge it: give both one "
                 "unit_axis");
    }
    stats_mask const kept = plan_.wanted(it.info.collections);
    it.keep_copies(kept);
    if (has(it.all_needs | kept, stats_mask::quantiles)) { (void)distributions_.grow(it.info.shape.elements()); }
    sink_.declare(it.info);
    registry_.note(it);
}

// The order matters; the comment of each part says why.
template <class Sink, class Plan, class... Arguments>
step_alarm hook<Sink, Plan, Arguments...>::close(bool whole) noexcept {
    step_alarm found;
    double const now = keep_times();
    advance_captures();
    if constexpr (lags) {
        late_.close({.id = step_,
                     .times = moments(),
                     .rules_due = rules_due_,
                     .plan_due = plan_due_,
                     .now = now,
                     .whole = whole});
        open_ = false;
        judge_late(found, false);
        return found;
    }
    decide(now, found);
    if constexpr (offers<sink_call::stamp>) {
        record_close(found, moments(), whole);
    } else {
        record_close(found, {}, whole);
    }
    open_ = false;
    hand_out();
    return found;
}

// The step's duration and its sections are scalars of the step. They are kept before judging, so that rules see them.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE double hook<Sink, Plan, Arguments...>::keep_times() noexcept {
    meet_time(judges_, registry_, [this](tracked_tensor& it, tensor_ref const& view) { declare(it, view); });
    return step_ends(offers<sink_call::stamp> || judges<Arguments...>::polls,
                     [this](tracked_tensor& it, tensor_ref const& value) { keep_scalar(it, value, nullptr); });
}

// The closed step counts for running captures. A capture that a response starts later in this close begins with the
// next step, so it is not counted down here.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::advance_captures() noexcept {
    captures_.step_closed();
    captures_.ask(failures_, false);
}

// Judges the step, and does all that follows from the findings.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::decide(double now, step_alarm& found) noexcept {
    judge(now, found);
    if (judges_.experiment().has_event()) { record_experiment(); }
    note_vitals(found);
    collect_external(found);
    apply_request();
}

// Rules that wait for time to pass get the clock before they judge, and again after it for what this close began.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::judge(double now, step_alarm& found) noexcept {
    auto const deliver = [this](finding const& each) { respond(each); };
    judges_.poll(now);
    judges_.judge(step_, rules_due_, found, deliver);
    judges_.poll(now);
}

// The result of an experiment is recorded as a text of the step, so that a replay reports the same findings.
template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::record_experiment() noexcept {
    std::string_view const said = judges_.experiment().take_event();
    if (!said.empty()) { scalar(experiment_event, said); }
}

// Only the rules' findings count: a stop request from outside says nothing about the run's health.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::note_vitals(step_alarm const& found) noexcept {
    vitals_.closed(step_, !found && judges_.held_back() < severity::warning);
}

// Before the close is recorded, because the record of a close holds everything that the alarm reports.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::collect_external([[maybe_unused]] step_alarm& found) noexcept {
    if constexpr (offers<sink_call::tell_news>) { sink_.tell_news(step_, found); }
    if constexpr (offers<sink_call::stop_asked>) {
        if (sink_.stop_asked()) { found.add(detail::stop_request(step_, sink_.stop_reason())); }
    }
}

// After judging: a new plan or new rules apply from the next step on. Before the close: the request is recorded as a
// text of this step.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::apply_request() noexcept {
    if constexpr (offers<sink_call::control>) {
        if (detail::control_request const* const asked = sink_.poll_request(); asked != nullptr) {
            detail::apply_request(*asked, sink_, step_, plan_, judges_, captures_, registry_,
                                  [this](std::string_view it) { scalar(control_event, it); });
        }
    }
}

template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::record_close(step_alarm const& found,
                                                                 [[maybe_unused]] step_moments const& times,
                                                                 bool whole) noexcept {
    if (whole) {
        if constexpr (offers<sink_call::stamp>) { sink_.stamp(times); }
        sink_.close(step_, found), ++steps_;
    } else if constexpr (offers<sink_call::leave>) {
        sink_.leave(step_, found);
    }
}

// Last: a response may end the process, so the findings that it answers are already recorded.
template <class Sink, class Plan, class... Arguments>
SPOTTER_INLINE void hook<Sink, Plan, Arguments...>::hand_out() noexcept {
    auto const deliver = [this](finding const& each) { respond(each); };
    judges_.hand_out(deliver);
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::add_finding(finding const& it) noexcept {
    finding kept = added_.keep(it);
    kept.step = step_, kept.worker = judges_.worker();
    carried_.add(kept);
    keep_apart(examined_event, examined_text(kept).view());
    if constexpr (offers<sink_call::tell>) { sink_.tell(kept); }
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::keep_apart(std::string_view name, std::string_view text) noexcept {
    tracked_tensor* const it = meet(name);
    if (it == nullptr) { return; }
    tensor_ref const value = view_of_text(text);
    if (!it->declared) { declare(*it, value); }
    sink_.scalar(it->info, nullptr, value, nullptr);
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::finish() noexcept {
    if (finished_) { return; }
    if (exceptions_.now() && !failed_) {
        fail("the hook was left by an exception");
        if (open_) { failure_ << " in step " << name_of(step_.mode) << '(' << step_.index << ')'; }
    }
    if (open_) { ++left_open_, carry(!failed_); }
    finished_ = state_ == detail::switch_state::off;
    if (finished_) { return; }
    if constexpr (lags) {
        step_alarm rest;
        judge_late(rest, true);
        carried_.add(rest);
        late_.end();
    }
    captures_.ask(failures_, true);
    std::size_t leaves = 0;
    bool whole = true;
    slot_array<coverage> const all = judges_.coverages(leaves, whole);
    if (!whole) { failures_.add({errc::out_of_memory, "no memory to record the coverage of all rules"}); }
    registry_.tell_refused([this](std::string_view each) { scalar(refused_event, each); });
    finished_ = true;
    error const trouble = health().first_error;
    sink_.finish({failed_ ? ending::failed : ending::finished,
                  failed_ ? failure_.view() : trouble.what.view(),
                  {all.data(), leaves},
                  refused_});
}

template <class Sink, class Plan, class... Arguments>
health_report hook<Sink, Plan, Arguments...>::health() const noexcept {
    health_report now{failures_.first(), steps_, observed_, refused_, declared_, sink_.health()};
    now.failures = failures_;
    now.failures.add(judges_.troubles());
    add_time_troubles(now.failures);
    if constexpr (lags) { late_.add_troubles(now.failures); }
    for (error const& each : {registry_.lack(), features_.trouble(), distributions_.lack(), now.sink.first_error}) {
        now.failures.add(each);
    }
    if (!now.first_error) { now.first_error = now.failures.first(); }
    now.left_open = left_open_;
    now.off = state_ == detail::switch_state::off;
    if (!now.off) { now.nothing_judged = health_report::missing(steps_, declared_, judges_.judged_any()); }
    now.dry = !now.off && !now.first_error && path().empty() && now.sink.stored == 0;
    return now;
}

}  // namespace spotter::inline SPOTTER_ABI
