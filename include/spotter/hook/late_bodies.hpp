// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the members of hook.hpp for hooks with a device: steps wait for its results, and are then judged.
#pragma once

#include <spotter/hook/hook.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The summary of a pass over the values, with the change that the device has computed.
[[nodiscard]] constexpr summary with_change(summary taken, summary const& known) noexcept {
    taken.has |= known.has & stats_mask::change;
    taken.has_previous = known.has_previous, taken.previous_index = known.previous_index;
    taken.previous_sum_squares = known.previous_sum_squares, taken.delta_sum_squares = known.delta_sum_squares;
    taken.dot = known.dot, taken.changed = known.changed;
    return taken;
}

}  // namespace detail

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::put_late(tracked_tensor& it, tensor_ref const& values, std::uint64_t rules,
                                              stats_mask kept, bool as_scalar, bool judged,
                                              double const* time) noexcept {
    if constexpr (lags) {
        late_event event;
        event.tensor = &it, event.rules = rules, event.kept = kept;
        event.is_scalar = as_scalar, event.judged = judged;
        event.has_time = time != nullptr, event.time = time != nullptr ? *time : 0;
        if (refusal_words const why = late_.put(event, values); why.code != errc::none) { refuse(it, why); }
    }
}

// Like observe_tracked, for values in device memory. Terms that the device's kernels do not compute are computed on the
// host, from a copy of the values.
template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::observe_on_device(tracked_tensor& it, device_values const& values) noexcept {
    if constexpr (lags) {
        if (state_ == detail::switch_state::off || !is_taken(it, values.view)) { return; }
        std::uint64_t const rules = it.rules & rules_due_;
        std::uint64_t const due = it.info.collections & plan_due_;
        if ((rules | due) == 0 && !captures_.active()) { return; }
        if (values.view.refused != refusal::none) { return refuse(it, words_of(values.view.refused)); }
        late_event event;
        event.tensor = &it, event.rules = rules, event.kept = wanted(it, due);
        event.judged = true;
        stats_mask const all = it.needs_of(rules) | event.kept;
        bool const single = has(all, stats_mask::change) && values.view.shape.rank == 0;  // a later scalar() needs it
        device_wish const wish{all & (pass_terms | stats_mask::change),
                               detail::needs_values(all) || single || captures_.everything(), it.info.id, step_};
        if (refusal_words const why = late_.put(event, values, wish); why.code != errc::none) {
            return refuse(it, why);
        }
        ++observed_;
    }
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::judge_event(late_event const& it, late_step const& of) noexcept {
    if constexpr (lags) {
        if (it.is_time) { return judge_time(it); }
        double const* const time = it.has_time ? &it.time : nullptr;
        if (!it.on_device) {
            tensor_ref const values = of.values_of(it);
            if (!it.judged) { return sink_.scalar(it.tensor->info, &step_, values, time); }
            return judge_values(*it.tensor, values, it.rules, it.kept, it.is_scalar, time);
        }
        device_answer const answer = late_.answer(it);
        if (answer.lost) { return refuse(*it.tensor, {answer.lost.code, answer.lost.what.view()}); }
        tensor_ref view = it.view;
        view.values.raw = answer.values;
        if (answer.values == nullptr && view.count > 0) { view.type = dtype::none; }  // the shape is still known
        summary stats = answer.stats;
        stats_mask const missing = without(it.tensor->needs_of(it.rules) | it.kept, stats.has);
        if (any(missing & pass_terms)) { stats = detail::with_change(take_summary(view, missing | stats.has), stats); }
        if (has(missing, stats_mask::change)) { it.tensor->compare(view, step_, stats); }
        late_.known = &stats;
        judge_values(*it.tensor, view, it.rules, it.kept, false, nullptr);
        late_.known = nullptr;
    }
}

template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::judge_time(late_event const& it) noexcept {
    if constexpr (lags) {
        double const taken = late_.seconds_of(it);
        if (taken < 0) { return; }
        auto const seconds = static_cast<float>(taken);
        keep_scalar(*it.tensor, view_of(&seconds, {}), nullptr);
    }
}
template <class Sink, class Plan, class... Arguments>
tracked_tensor* hook<Sink, Plan, Arguments...>::meet_section(std::string_view name) noexcept {
    text<120> whole{"time/"};
    whole << name;
    tracked_tensor* const it = meet(whole.view());
    float const none = 0;
    if (it != nullptr && !it->declared) {
        it->info.flags = it->info.flags | flag::of_kernels;
        declare(*it, view_of(&none, {}));
    }
    return it;
}

// Judges steps closed before, the oldest first; `all`: waits also for those whose results have not arrived.
template <class Sink, class Plan, class... Arguments>
void hook<Sink, Plan, Arguments...>::judge_late(step_alarm& found, bool all) noexcept {
    if constexpr (lags) {
        step_id const last = step_;
        std::uint64_t const rules_due = rules_due_, plan_due = plan_due_;
        late_.now = true;
        while (late_.is_due(all)) {
            late_step const& each = late_.oldest();
            step_ = each.id, rules_due_ = each.rules_due, plan_due_ = each.plan_due;
            open_ = true;
            for (std::size_t i = 0; i < each.count; ++i) { judge_event(each.events[i], each); }
            step_alarm alarm;
            decide(each.now, alarm);
            record_close(alarm, each.times, each.whole);
            open_ = false;
            late_.pop();
            hand_out();
            found.add(alarm);
        }
        late_.now = false;
        step_ = last, rules_due_ = rules_due, plan_due_ = plan_due;
    }
}

}  // namespace spotter::inline SPOTTER_ABI
