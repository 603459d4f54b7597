// SPDX-License-Identifier: Apache-2.0
// The bodies of diagnoser.hpp.
#pragma once

#include <spotter/diagnosis/diagnoser.hpp>
#include <spotter/rule/builtin/all_zero.hpp>
#include <spotter/rule/builtin/dead_update_path.hpp>
#include <spotter/rule/builtin/gradient_not_cleared.hpp>
#include <spotter/rule/builtin/no_better_than_guessing.hpp>
#include <spotter/rule/builtin/unrelated_predictions.hpp>
#include <spotter/rule/builtin/update_direction.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Whole-number labels are classes, and so are labels that are all 1 or -1.
[[nodiscard]] inline bool are_classes(observation const& it) noexcept {
    dtype const type = it.tensor.type;
    if (is_complex(type) || type == dtype::boolean) { return false; }
    if (!is_floating(type)) { return true; }
    measurement const low = minimum(it.stats), high = maximum(it.stats);
    return low.known && low.value == -1 && high.value == 1 &&
           it.stats.sum_squares == static_cast<double>(it.stats.count);
}

// Whether a finding is `times` beyond its limit, or nine tenths where it is a share: an alarm where no outcome is
// known.
[[nodiscard]] SPOTTER_STRICT inline bool is_strong(finding const& it, double times) noexcept {
    SPOTTER_STRICT_BODY
    bool const share = it.threshold > 0.3 && it.threshold < 1 && it.measured <= 1;
    switch (it.how) {
        case relation::greater:
        case relation::greater_equal:
            return share ? it.measured >= 0.9 : it.measured >= times * it.threshold;
        case relation::less:
        case relation::less_equal:
            return it.measured <= (it.threshold < 0 ? it.threshold * times : it.threshold / times);
        default:
            return true;
    }
}

SPOTTER_COLD_BODY stats_mask diagnoser::needs(tensor_info const& tensor) noexcept {
    return progress_watch::needs(tensor) | update_sizes::needs(tensor) |
           (tensor.role == role::label ? stats_mask::range | stats_mask::sum_squares : stats_mask::none);
}

SPOTTER_COLD_BODY bool diagnoser::declare(tensor_info const& tensor) noexcept {
    return losses_.declare(tensor) && weights_.declare(tensor);
}

SPOTTER_BODY void diagnoser::observe(observation const& it) noexcept {
    if (it.tensor.role == role::label && are_classes(it)) {
        measurement const low = minimum(it.stats);
        if (low.known) { classes_.add(low.value, maximum(it.stats).value); }
    }
    losses_.observe(it);
    weights_.observe(it);
}

// Where several steps make an update, the program adds up their gradients on purpose. Where gradients grow, an
// optimizer that ascends may be the reason: to see that takes as many steps.
SPOTTER_COLD_BODY bool diagnoser::waits(episode const& it) const noexcept {
    bool const by_noise = it.latest.is<gradient_not_cleared>(gradient_not_cleared::holds_those_before);
    return by_noise ? weights_.rests_mostly() : close_ < it.ever_first + 20;
}

// Two parameters or more, such as a weight and its bias, have moved along their gradients for fifty closes, and most
// have not: such gradients are not kept with the other sign on purpose. One weight alone may follow its decay, and a
// policy may ascend beside its critic.
SPOTTER_COLD_BODY bool diagnoser::one_layer_climbs() const noexcept {
    episode const* const it = said_.find(rule_id::update_direction, update_direction::some_climb);
    return it != nullptr && close_ >= it->first + 50 && it->latest.measured >= 2 && losses_.has_objective();
}

// The weights of a net climb, and so does the loss of the same net, whatever another net does. A critic's loss may rise
// with the returns.
SPOTTER_COLD_BODY bool diagnoser::is_witnessed(finding const& it, spotter::progress now) const noexcept {
    bool const climbs = it.is<update_direction>(update_direction::ascends);
    return climbs &&
           (losses_.rises_in_net_of(it.tensor) || (now != progress::improves && losses_.critic_rises(it.tensor)));
}

SPOTTER_COLD_BODY bool diagnoser::stands_alone(finding const& it) const noexcept {
    // A gradient has the units of the loss: only its effect, a large update, shows that it is too large.
    if (it.id == rule_id::exploding_gradient && !weights_.leaps(limits_.leap)) { return false; }
    if (it.id == rule_id::rl_observation_range) { return false; }  // metres, pixels, prices
    return losses_.shows_nothing(close_) && is_strong(it, limits_.strong);
}

// Certain: no healthy run shows it. Labels that contradict sure predictions are certain once the loss does not fall any
// more: until then a net may be sure by its first weights. Guessing and unrelated predictions are outcomes unless a
// loss is still falling. For unrelated predictions a young loss is still to fall, unless a layer is dead; the rule on
// guesses knows from the labels whether there was anything to learn before. Where predictions are unrelated for long a
// fall is that of their mean. In evaluation they are outcomes where that gets worse, or does not fall while training is
// better. Overfitting is an outcome unless evaluation is far below where training began, or at its best and not too far
// above training: such a net is well.
SPOTTER_STRICT SPOTTER_COLD_BODY standing diagnoser::standing_of(finding const& it) const noexcept {
    SPOTTER_STRICT_BODY
    if (it.id == rule_id::label_noise && losses_.is_on_its_way(false)) { return standing::symptom; }
    if (is_certain(it, limits_)) { return standing::certain; }
    bool const lasts = it.is<unrelated_predictions>(unrelated_predictions::long_unrelated);
    bool const in_evaluation_alone = it.is<unrelated_predictions>(unrelated_predictions::in_evaluation_alone) ||
                                     it.is<no_better_than_guessing>(no_better_than_guessing::in_evaluation_alone);
    bool const may_be_young = it.id == rule_id::unrelated_predictions && !has_dead_layer();
    bool outcome = (it.id == rule_id::no_better_than_guessing || it.id == rule_id::unrelated_predictions) &&
                   ((in_evaluation_alone && !losses_.any_evaluation_falls()) ||
                    (it.step.mode == mode::eval && losses_.any_evaluation_rises()) ||
                    ((lasts || !losses_.is_on_its_way(may_be_young)) && !leaves_a_plateau()));
    bool const is_overfit =
        it.id == rule_id::overfit && (it.measured >= limits_.overfit_at_best ||
                                      ((it.measured >= limits_.overfit || losses_.gains_in_training_alone(it.tensor)) &&
                                       losses_.evaluation_is_spoilt(it.tensor)));
    if (it.id == rule_id::overtraining || is_overfit) {
        measurement const evaluated = losses_.evaluated(it.tensor);
        outcome = !evaluated.known || evaluated.value >= limits_.evaluated_badly;
    }
    return outcome ? standing::outcome : standing::symptom;
}

// Of an episode of all_zero: no unit of an activation has been active for fifty closes.
SPOTTER_COLD_BODY bool diagnoser::is_dead_layer(episode const& it) const noexcept {
    return close_ >= it.unbroken + 50 && !weights_.has_weight(it.latest.tensor);
}

SPOTTER_COLD_BODY bool diagnoser::has_dead_layer() const noexcept {
    episode const* const it = said_.find(rule_id::all_zero);
    return it != nullptr && is_dead_layer(*it);
}

SPOTTER_COLD_BODY severity diagnoser::level_of(episode const& it, spotter::progress now) const noexcept {
    finding const& found = it.latest;
    // No signal and no gradient passes a layer that died in training and stays dead.
    bool const stays_dead = found.is<all_zero>(all_zero::died) && is_dead_layer(it);
    if (standing_of(found) != standing::symptom || stays_dead) { return found.severity; }
    if (found.id == rule_id::gradient_not_cleared) { return waits(it) ? severity::info : found.severity; }
    if (found.id == rule_id::constant_batch) { return severity::info; }
    bool const is_alarm = is_ill(now) || is_witnessed(found, now) || (now == progress::unknown && stands_alone(found));
    return is_alarm ? found.severity : severity::info;
}

SPOTTER_COLD_BODY bool diagnoser::explained(episode const& it) const noexcept {
    return was_lately(cause_at_) &&
           (standing_of(it.latest) == standing::symptom || is_cause(it.latest, &finding::tensor));
}

SPOTTER_COLD_BODY bool diagnoser::is_cause(finding const& it, std::string_view finding::* part) const noexcept {
    return it.id == cause_.id && it.*part == cause_.*part && (!it.tells_origin || it.step.mode == cause_.step.mode);
}

// Puts the finding of values that are not finite first, with its own place. It takes the name of the cause only where
// that can overflow; in a run that learns, where large steps are usual, only if one was a moment ago.
inline void join_bad_value(finding const& it, cause what, finding& reported) noexcept {
    finding const found = reported;
    reported = it;
    if (what == cause::none || !row_of(what).may_overflow) { return; }
    reported.rule = found.rule, reported.id = found.id, reported.remedy = found.remedy;
    reported.reason = found.reason, reported.condition = found.condition;
    evidence_text why;
    why << found.measure << ' ' << found.measured << " in \"" << found.tensor << "\" at " << name_of(found.step.mode)
        << '(' << found.step.index << "); " << found.detail.view();
    reported.detail = why;
}

// While the run makes progress, these are the program's way of working, and are reported as such.
inline void call_it_a_habit(finding& it, spotter::progress now, bool gathers) noexcept {
    if (it.id == rule_id::update_direction && now == progress::improves) {
        it.reason = "gradients look negated, or of another instant";
        it.remedy = "Nothing is wrong where gradients are kept with the other sign: flag them flag::negated (or no "
                    "longer). Where the loop shows its tensors after the update, set options::instant.";
    } else if (it.id == rule_id::gradient_not_cleared && gathers) {
        it.reason = "several steps make an update";
        it.remedy = "Nothing is wrong where gradients are gathered on purpose: flag them flag::gathered.";
    }
}

SPOTTER_BODY void diagnoser::look_at(episode& it, spotter::progress now, bool after_bad_value, news& into) noexcept {
    severity const level = level_of(it, now);
    into.held = level > into.held ? level : into.held;
    into.anything = true;
    if (level < severity::warning || it.alarmed) { return; }
    if (explained(it)) {
        it.alarmed = is_cause(it.latest, &finding::tensor);  // no second alarm for it
    } else if (after_bad_value) {
        it.alarmed = true;
    } else {
        into.raise(level);
        if (it.latest.tells_origin) { into.bad_value = &it.latest; }
    }
}

// What weights, gradients and the sign of a loss show without a rule, whatever the run does: each once.
SPOTTER_BODY void diagnoser::look_beside_rules(spotter::progress now, news& into) noexcept {
    auto const raise_once = [&](bool& reported, severity level, auto&& is_so) {
        if (reported || !is_so()) { return; }
        reported = true;
        into.raise(level);
    };
    raise_once(weights_reported_, severity::warning, [&] {
        finding unused;
        return weights_.may_be_wrong() && weights_are_wrong(weights_, losses_, classes_, now, limits_, unused);
    });
    raise_once(leap_reported_, severity::warning, [&] {
        finding unused;
        return losses_.judges_returns() && weights_.closes() <= update_sizes::first_updates + 1 &&
               causes::most_leapt(weights_, losses_, limits_, unused);
    });
    raise_once(course_reported_, severity::warning, [&] {
        bool const is_due = weights_.closes() % 100 == 1;  // these take hundreds of updates
        finding unused;
        return is_due && (updates_are_small(weights_, losses_, now, limits_) || causes::most_vanished(weights_) ||
                          (weights_.are_several() && causes::leap_on_average(weights_, limits_.leap, unused)));
    });
    raise_once(end_reported_, severity::warning,
               [&] { return gradients_are_zero(weights_, losses_) || weights_are_at_rest(weights_, losses_); });
    raise_once(climb_reported_, severity::warning, [&] { return one_layer_climbs(); });
    raise_once(sign_reported_, severity::error,
               [&] { return is_below_zero(losses_, classes_, true) || is_below_zero(losses_, classes_, false); });
}

// Looks at what holds at this close: is anything new, how severe is it, and which value is not finite?
SPOTTER_BODY diagnoser::news diagnoser::look(spotter::progress now, bool in_training) noexcept {
    news it;
    // After a value that is not finite, other conditions are its consequences.
    bool const after_bad_value = was_lately(bad_values_at_);
    it.outcome = is_ill(now) && !after_bad_value && now > reported_progress_;
    if (it.outcome) { it.raise(now == progress::worsens ? severity::error : severity::warning); }
    for (episode& each : said_) {
        if (!each.was_found_at(close_)) { continue; }
        look_at(each, now, after_bad_value, it);
        // Only those in training have consequences in training.
        if (each.latest.tells_origin && in_training) { bad_values_at_ = close_; }
    }
    look_beside_rules(now, it);
    return it;
}

// Reports the cause; false where there is none to report. A known cause is reported again once the run has improved
// since, or where it is more severe now.
SPOTTER_COLD_BODY bool diagnoser::tell_cause(news const& what, spotter::progress now, finding& reported,
                                             findings& out) noexcept {
    if (!what.alarm()) { return false; }
    run_evidence const of{now, losses_, said_, weights_, close_, what.bad_value, classes_, limits_};
    signs const seen = seen_ = signs_of(of);
    ranked named;
    if (!name_cause(of, seen, named, reported)) { return false; }
    bool const in_its_place = named.first == cause::bad_value;
    if (what.bad_value != nullptr && !in_its_place) {
        bool const may_join = now != progress::improves || weights_.leaps(limits_.leap);
        join_bad_value(*what.bad_value, may_join ? named.first : cause::none, reported);
    }
    reported.leads = true;
    if (what.outcome) { reported_progress_ = now; }
    cause_at_ = close_;
    reported.step = last_[index_of(reported.step.mode)];  // in the mode that showed it
    if (is_cause(reported, &finding::reason) && what.level <= cause_.severity) { return false; }
    reported.severity = what.level;
    cause_ = reported;
    out.push(reported);
    finding behind;  // the cause of an overflow, where no rule of the pack reports it
    if (in_its_place && named.second != cause::none && row_of(named.second).may_overflow &&
        finding_of(named.second, seen, of, behind) && said_.find(behind.id) == nullptr) {
        behind.severity = severity::info, behind.step = reported.step;
        out.push(behind);
    }
    return true;
}

// One of two adversarial nets always loses. That is a fault only where the loser's own weights take large steps or
// climb: the winner's say nothing about it.
SPOTTER_COLD_BODY bool diagnoser::loses_by_its_own_steps() const noexcept {
    if (!losses_.loses_in_net_of({})) { return false; }  // of no net: any; asked at every close, and seldom true
    bool const leaps = weights_.any([&](std::string_view name, update_sizes::weight const& it) {
        return it.peak >= limits_.leap && losses_.loses_in_net_of(name);
    });
    auto const climbs = [&](update_direction::condition how) {
        episode const* const it = said_.find(rule_id::update_direction, how);
        return it != nullptr && losses_.loses_in_net_of(it->latest.tensor);
    };
    return leaps || climbs(update_direction::most_climb) || climbs(update_direction::ascends);
}

// The loss is where it began, because the weights are. They grow there, and do not shrink.
SPOTTER_COLD_BODY bool diagnoser::leaves_a_plateau() const noexcept {
    auto const* const loss = losses_.loss();
    finding unused;
    return loss != nullptr && !loss->train.has_lost_progress() && !weights_.leapt(limits_.large_step) &&
           weights_.leave_a_plateau(magnitude(loss->train.first())) && !causes::shrank(weights_, unused);
}

// On a plateau a loss is not flat yet. After the first steps threw a loss up, its fall is no progress until it is below
// where it began.
SPOTTER_BODY spotter::progress diagnoser::outcome() noexcept {
    if (losses_.any_begins_low() && weights_.begins_with_small_steps(limits_.sure_step)) {
        losses_.pass_low_beginnings();
    }
    spotter::progress const now = losses_.says();
    if (now == progress::flat && leaves_a_plateau()) { return progress::unknown; }
    bool const may_be = now == progress::improves || now == progress::unknown;
    if (now == progress::unknown && loses_by_its_own_steps()) { return progress::worsens; }
    return may_be && weights_.leapt(limits_.large_step) && losses_.has_gained_nothing() ? progress::flat : now;
}

SPOTTER_COLD_BODY bool diagnoser::begins_anew(step_id step, finding& note) noexcept {
    if (!losses_.any_shift()) { return false; }
    // Weights are shown at most steps, and no recent update reached a hundredth of its weight.
    bool const is_unexplained = 2 * weights_.closes() >= close_ && !weights_.leaps(0.1 * limits_.leap);
    std::string_view name{};
    level_shift::levels const levels = losses_.take_shifts(is_unexplained && shifts_ < 2, name);
    if (!is_unexplained || ++shifts_ > 1) { return false; }
    bool const rises = levels.after > levels.before;
    note = causes::found_by(
        rule_id::loss_not_decreasing, "the loss changed its level under small updates", name,
        {"loss", levels.after, levels.before, rises ? relation::greater : relation::less}, step,
        "Give a loss that measures something else (a sum in place of a mean, another term, other data) another name.");
    note.severity = severity::info;
    return true;
}

SPOTTER_BODY void diagnoser::tell_beside(episode& it, spotter::progress now, bool any_alarm, bool leads,
                                         findings& out) noexcept {
    severity const level = level_of(it, now);
    bool const alarm = any_alarm && level >= severity::warning;
    // Weights that climb are a fault or intended: the outcome decides which.
    bool const is_open =
        now == progress::unknown && losses_.has_objective() && it.latest.id == rule_id::update_direction;
    if (is_open && !alarm && !leads) { return; }
    bool const was_reported = alarm || leads ? std::exchange(it.alarmed, true) : it.noted;
    it.noted = true;
    if (leads || was_reported) { return; }
    finding one = it.latest;
    // A missing gradient beside another cause is a consequence of it.
    bool const follows = it.latest.is<dead_update_path>(dead_update_path::no_gradient);
    bool const is_symptom = standing_of(it.latest) == standing::symptom;
    bool const beside = alarm && !follows && !is_symptom && !is_cause(it.latest, &finding::reason);
    one.severity = beside ? level : severity::info;
    if (!beside) { call_it_a_habit(one, now, weights_.rests_mostly()); }
    out.push(one);
}

SPOTTER_BODY bool diagnoser::tell(step_id step, findings& out) noexcept {
    last_[index_of(step.mode)] = step;
    finding shift;
    bool const has_shift = begins_anew(step, shift);
    spotter::progress const now = outcome();
    if (now == progress::improves && reported_progress_ != progress::unknown) {
        reported_progress_ = progress::unknown, cause_.id = rule_id::other;
    }
    news const what = look(now, step.mode == mode::train);
    std::size_t const first = out.size();
    finding reported;
    bool const has_cause = tell_cause(what, now, reported, out);
    for (episode& it : said_) {
        if (!it.was_found_at(close_)) { continue; }
        bool const leads = has_cause && it.latest.id == reported.id && it.latest.reason == reported.reason;
        tell_beside(it, now, what.alarm(), leads, out);
    }
    if (has_shift) { out.push(shift); }
    if (!names_checked_ && weights_.closes() >= 20) {
        names_checked_ = true;
        finding misnamed;
        if (names_are_wrong(weights_, step, misnamed)) { out.push(misnamed); }
    }
    if (what.anything && out.size() == first) {
        findings::unreported kept;
        kept.set(what.held);
        out.hold(kept);
    }
    return out.size() > first;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
