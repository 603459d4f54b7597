// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): is the run learning? What its losses, evaluations and returns say together.
// docs/internals/diagnosis.md#progress
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/diagnosis/falling_series.hpp>
#include <spotter/diagnosis/level_shift.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/nets.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The progress of a run, from its losses (train, eval) and from metrics whose names say that more is better.
// `objective`: training is to make its loss fall (not so in reinforcement learning). Four kinds of loss are ignored:
// the terms of a sum that is shown, too (`loss/kl` beside `loss`); a loss that begins below a hundredth of the largest,
// which is a term that happens to begin near zero; the loss of one of two adversarial nets (nets.hpp), which depends on
// its rival as much; and one that is not trained any more, while another is.
class progress_watch {
public:
    constexpr explicit progress_watch(bool objective = true, detail::progress_limits limits = {}) noexcept
        : objective_{objective}, limits_{limits}, returns_{limits} {
        returns_.bottomless = 1e300;  // returns have no limit
    }

    [[nodiscard]] static constexpr stats_mask needs(tensor_info const& tensor) noexcept {
        return falls(tensor) || rises(tensor) || is_divergence(tensor) ? stats_mask::sum : stats_mask::none;
    }
    // False where memory is short.
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        if (!any(needs(tensor))) { return true; }
        series* const mine = all_.declare(tensor);
        if (mine != nullptr) { mine->is_divergence = is_divergence(tensor); }
        return mine != nullptr;
    }
    constexpr void observe(observation const& it) noexcept {
        loss_place const place = place_of(it);
        series* const mine = all_.find(place.id);
        measurement const value = loss_of(it);
        if (mine != nullptr && mine->is_divergence) { return see_divergence(*mine, value, place.when); }
        if (mine == nullptr || !value.known || !any(needs(it.tensor)) || place.when == mode::predict) { return; }
        if (place.when != mode::train) { return add(*mine, it, value.value, mine->eval, mine->evaluated_at); }
        if (falls(it.tensor) && !place_loss(*mine, it.tensor.name)) { return; }
        if (it.step.index < mine->trained_at.index) { mine->shift = {}; }  // a rewind
        see_step(*mine, it.step.index);
        add(*mine, it, value.value, mine->train, mine->trained_at);
        if (mine->counts && mine->shift.add(value.value)) { mine->shifted = any_shift_ = true; }
    }
    // A loss began at a third of its next values; asked once.
    [[nodiscard]] constexpr bool any_begins_low() noexcept { return std::exchange(any_low_, false); }
    // No update explains that: such losses are running means from 0.
    constexpr void pass_low_beginnings() noexcept {
        all_.each([](series& it) {
            if (it.counts && !it.is_metric && it.train.begins_low()) { it.train.begin_anew(); }
        });
    }
    // A loss has changed its level from one sample to the next; asked once.
    [[nodiscard]] constexpr bool any_shift() noexcept { return std::exchange(any_shift_, false); }
    // Gives the name and the levels of the first. `anew`: no update explains the change, so a loss that rose begins
    // anew. What fell goes on: at worst that is called an improvement.
    [[nodiscard]] constexpr detail::level_shift::levels take_shifts(bool anew, std::string_view& name) noexcept {
        series const* const first = first_of([](std::string_view, series const& it) { return it.shifted; }, &name);
        detail::level_shift::levels const levels =
            first != nullptr ? first->shift.found() : detail::level_shift::levels{};
        all_.each([&](series& it) {
            double const after = it.shift.found().after;
            if (!std::exchange(it.shifted, false) || !anew || after < it.shift.found().before) { return; }
            it.train = {};
            it.train.add(after, limits_);
            see_size(it);
        });
        return levels;
    }
    // The progress over all samples so far.
    [[nodiscard]] constexpr progress says() noexcept {
        if (std::exchange(stale_, false)) { says_ = sum_up(); }
        return says_;
    }
    // No outcome is to be expected: after `closes` closes there was no training loss; in reinforcement learning, no
    // return.
    [[nodiscard]] constexpr bool shows_nothing(std::uint64_t closes) const noexcept {
        return !(objective_ ? any_loss_ : any_return_) && closes > limits_.earliest;
    }
    // Reinforcement learning: progress is that of returns.
    [[nodiscard]] constexpr bool judges_returns() const noexcept { return !objective_; }
    // A training loss that is an objective was observed.
    [[nodiscard]] constexpr bool has_objective() const noexcept { return any_loss_ && objective_; }
    // A loss, in training and in evaluation.
    struct series {
        detail::falling_series train, eval;    // in training and in evaluation
        step_id trained_at{}, evaluated_at{};  // the last step that showed it
        std::uint64_t began_at = 0;            // index of the first training step that showed it
        std::uint64_t longest_gap = 0;         // between two of those steps
        bool counts = false;                   // it is a training loss that is an objective
        bool is_metric = false;                // a metric that falls: ignored where there is a loss
        bool is_of_player = false;             // the loss of one of two adversarial nets
        bool is_value = false;                 // the loss of a critic: evidence, but no objective
        bool is_total = false;                 // by its name all that is minimised
        bool is_divergence = false;            // of a policy: no loss and no metric
        double divergence = 0;                 // the latest
        detail::level_shift shift{};           // in training
        bool shifted = false;                  // at this sample
    };
    // The first training loss with this progress, or else the first; null where there is none.
    [[nodiscard]] constexpr series const* first_that(progress what, std::string_view& name) const noexcept {
        series const* const found = first_loss([&](series const& it) { return it.train.says() == what; }, &name);
        return found != nullptr ? found : loss(name);
    }
    // The first training loss; null where there is none.
    [[nodiscard]] constexpr series const* loss(std::string_view& name) const noexcept {
        return first_loss([](series const&) { return true; }, &name);
    }
    [[nodiscard]] constexpr series const* loss() const noexcept {
        return first_loss([](series const&) { return true; });
    }
    // The latest training loss is not zero.
    [[nodiscard]] constexpr bool is_not_learned() const noexcept {
        series const* const it = loss();
        return it != nullptr && it->train.latest() != 0;
    }
    // The loss is near its first value, and has had few steps to leave it.
    [[nodiscard]] constexpr bool is_young() const noexcept {
        series const* const it = loss();
        return it != nullptr && it->train.says() == progress::flat && it->train.samples() < limits_.still;
    }
    // Index of the training step with which the present phase began; 0 where no other one ended.
    [[nodiscard]] constexpr std::uint64_t phase_began() const noexcept {
        bool any_over = false;
        std::uint64_t earliest = ~std::uint64_t{0};
        all_.each_named([&](std::string_view, series const& it) {
            any_over = any_over || is_over(it);
            if (counts(it) && it.began_at < earliest) { earliest = it.began_at; }
        });
        return any_over && loss() != nullptr ? earliest : 0;
    }
    // No training loss has fallen by `least_fall` or more.
    [[nodiscard]] constexpr bool has_hardly_fallen() const noexcept {
        return loss() != nullptr &&
               first_loss([&](series const& it) { return !it.train.has_hardly_fallen(limits_); }) == nullptr;
    }
    // No training loss has fallen below `fallen` of its beginning; in reinforcement learning, no return has improved.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_gained_little() const noexcept {
        SPOTTER_STRICT_BODY
        auto const has_fallen = [&](series const& it) {
            return it.train.level() < detail::rescaled(it.train.beginning(), limits_.fallen);
        };
        return objective_ ? loss() != nullptr && first_loss(has_fallen) == nullptr
                          : any_return_ && !any_return_improves();
    }
    // Training losses have gained little, and the first of them falls evenly: at this pace training takes many times as
    // long.
    [[nodiscard]] constexpr bool gains_slowly() const noexcept {
        return objective_ && has_gained_little() && loss()->train.falls_evenly(limits_);
    }
    // There is one training loss, it is where it began or above, and no evaluation has improved.
    [[nodiscard]] constexpr bool has_gained_nothing() const noexcept {
        std::uint64_t losses = 0;
        auto const gains = [&](std::string_view, series const& it) {
            losses += counts(it) ? 1U : 0U;
            // The first evaluation may follow the updates that threw the loss up: training shows where it began.
            bool const is_below = !it.counts || it.eval.level() < it.train.first();
            return (counts(it) && !it.train.has_gained_nothing(limits_)) ||
                   (it.eval.says() == progress::improves && is_below);
        };
        return first_of(gains) == nullptr && losses == 1;
    }
    // The loss of the net that a tensor belongs to has risen from the start, by however little, or worsens.
    [[nodiscard]] constexpr bool rises_in_net_of(std::string_view tensor) const noexcept {
        auto const rises = [&](series const& it) {
            return it.train.says() == progress::worsens ||
                   (it.train.samples() >= limits_.earliest && it.train.rises_from_the_start());
        };
        return first_of_net(tensor, rises) != nullptr;
    }
    // The net that a tensor belongs to is a critic's, and its loss has risen from the start to `far_worse` times that.
    [[nodiscard]] SPOTTER_STRICT constexpr bool critic_rises(std::string_view tensor) const noexcept {
        SPOTTER_STRICT_BODY
        auto const rises = [&](std::string_view called, series const& it) {
            return it.is_value && is_loss_of_net(called, net_of(tensor)) && it.train.samples() >= limits_.earliest &&
                   it.train.rises_from_the_start() && it.train.level() > limits_.far_worse * it.train.first();
        };
        return first_of(rises) != nullptr;
    }
    // In reinforcement learning: the first return that has fallen, in training or in evaluation; the first loss of a
    // critic that explodes. Null where there is none.
    [[nodiscard]] constexpr detail::falling_series const* fallen_return(std::string_view& name) const noexcept {
        detail::falling_series const* found = nullptr;
        each_return([&](std::string_view called, detail::falling_series const& it) {
            if (found == nullptr && fall_of(it) != progress::unknown) { found = &it, name = called; }
        });
        return objective_ ? nullptr : found;
    }
    [[nodiscard]] constexpr series const* value_that_explodes(std::string_view& name) const noexcept {
        return first_of([&](std::string_view, series const& it) { return it.is_value && it.train.explodes(limits_); },
                        &name);
    }
    // The net that a tensor belongs to is one of two adversarial nets, and its loss worsens.
    [[nodiscard]] constexpr bool loses_in_net_of(std::string_view tensor) const noexcept {
        auto const loses = [](series const& it) { return it.is_of_player && it.train.says() == progress::worsens; };
        return first_of_net(tensor, loses) != nullptr;
    }
    // A training loss is still falling; `or_is_young`: or has fallen, and has few samples.
    [[nodiscard]] constexpr bool is_on_its_way(bool or_is_young) const noexcept {
        auto const is_so = [&](series const& it) {
            return it.train.is_falling(limits_) || (or_is_young && it.train.is_young(limits_));
        };
        return first_loss(is_so) != nullptr;
    }
    // The level of that loss in evaluation, relative to where its training began; unknown where it has none.
    [[nodiscard]] SPOTTER_STRICT constexpr measurement evaluated(std::string_view loss) const noexcept {
        SPOTTER_STRICT_BODY
        series const* const it = find_evaluated(loss);
        bool const is_known = it != nullptr && it->train.beginning() > 0;
        return is_known ? measurement{it->eval.level() / it->train.beginning(), true} : measurement{};
    }
    // Its evaluation has learned little, or is above its best by a twentieth of where its training began. False where
    // it rests at its best: a net that has learned that much may know its training data better.
    [[nodiscard]] SPOTTER_STRICT constexpr bool evaluation_is_spoilt(std::string_view loss) const noexcept {
        SPOTTER_STRICT_BODY
        series const* const it = find_evaluated(loss);
        if (it == nullptr) { return true; }
        double const now = it->eval.level();
        return now >= detail::rescaled(it->eval.first(), limits_.fallen) ||
               now - it->eval.lowest() >= 0.05 * magnitude(it->train.beginning());
    }
    // Below zero a ratio of losses means nothing: evaluation has gained less than a fifth of what training has.
    [[nodiscard]] SPOTTER_STRICT constexpr bool gains_in_training_alone(std::string_view loss) const noexcept {
        SPOTTER_STRICT_BODY
        series const* const it = find_evaluated(loss);
        if (it == nullptr || it->train.level() >= 0) { return false; }
        return trains_ahead(*it, 0.8);
    }
    // In evaluation a loss has risen from the first on.
    [[nodiscard]] constexpr bool any_evaluation_rises() const noexcept {
        return first_loss([&](series const& it) { return rises_in_evaluation(it); }) != nullptr;
    }
    // In evaluation a loss still falls.
    [[nodiscard]] constexpr bool any_evaluation_falls() const noexcept {
        return first_loss([&](series const& it) { return it.eval.is_falling(limits_); }) != nullptr;
    }
    // The first loss that improves in training, and is below its beginning, and not in evaluation; null where there is
    // none.
    [[nodiscard]] constexpr series const* not_carried_over(std::string_view& name, evidence& why) const noexcept {
        auto const so = [&](series const& it) {
            bool const learns = it.train.says() == progress::improves && it.train.level() < it.train.beginning();
            return learns && stays_behind(it, why);
        };
        return first_loss(so, &name);
    }
    // Training is below evaluation by more than a share of what it has gained.
    [[nodiscard]] SPOTTER_STRICT static constexpr bool trains_ahead(series const& it, double share) noexcept {
        SPOTTER_STRICT_BODY
        double const now = it.train.level();
        return it.eval.level() - now > share * (it.train.beginning() - now);
    }
    // The first loss whose evaluation shows that nothing is learned; null where there is none.
    [[nodiscard]] constexpr series const* evaluates_as_before(std::string_view& name, evidence& why) const noexcept {
        return first_loss([&](series const& it) { return stays_behind(it, why); }, &name);
    }

private:
    // Training makes it smaller: a loss, or the metric that boosted trees report as theirs.
    [[nodiscard]] static constexpr bool falls(tensor_info const& tensor) noexcept {
        return select::boosting_losses(tensor);
    }
    [[nodiscard]] static constexpr bool is_metric(tensor_info const& tensor) noexcept {
        return tensor.role == role::metric || (tensor.role == role::other && tensor.shape.elements() == 1);
    }
    // Of a policy from the one that gathered its data: such a policy moves in small steps.
    [[nodiscard]] static constexpr bool is_divergence(tensor_info const& tensor) noexcept {
        return is_metric(tensor) && detail::has_one_of(tensor.name, {}, {"kl"}) && !rises(tensor);
    }
    // More of it is better.
    [[nodiscard]] static constexpr bool rises(tensor_info const& tensor) noexcept {
        if (!is_metric(tensor)) { return false; }
        if (reported_metric_of(tensor.name).rises()) { return true; }
        return is_return(tensor.name);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool counts(series const& it) const noexcept {
        SPOTTER_STRICT_BODY
        if (is_over(it)) { return false; }
        if (!it.counts || it.is_metric) { return it.counts && !shows_loss_; }
        if (shows_total_ && !it.is_total && !it.is_of_player) { return false; }
        return newest_ > largest_until_ || magnitude(it.train.beginning()) >= limits_.part * largest_;
    }
    // Other losses are shown in training, and this one has not been for a hundred steps, and for three times as many as
    // ever before: training goes on in another phase, such as that of a readout after an unsupervised one.
    [[nodiscard]] constexpr bool is_over(series const& it) const noexcept {
        return it.counts && newest_ > counts_until(it);
    }
    // Index of the training step up to which it counts, if it is not shown again.
    [[nodiscard]] static constexpr std::uint64_t counts_until(series const& it) noexcept {
        std::uint64_t const left = ~std::uint64_t{0} - it.trained_at.index;
        bool const has_end = left >= 100 && it.longest_gap <= (left - 100) / 3;
        return has_end ? it.trained_at.index + 100 + 3 * it.longest_gap : ~std::uint64_t{0};
    }
    constexpr void see_step(series& mine, std::uint64_t index) noexcept {
        if (!mine.counts) { return; }
        newest_ = index;
        if (mine.train.samples() == 0) { mine.began_at = index; }
        if (mine.train.samples() == 0 || index < mine.trained_at.index) { return; }
        std::uint64_t const gap = index - mine.trained_at.index;
        mine.longest_gap = gap > mine.longest_gap ? gap : mine.longest_gap;
    }
    // Classifies a training loss by its name. False: it is ignored, as the loss of a policy is.
    [[nodiscard]] constexpr bool place_loss(series& mine, std::string_view name) noexcept {
        any_loss_ = true;
        if (!objective_) {
            mine.is_value = !is_loss_of_policy(name);
            (mine.is_value ? shows_critic_ : shows_policy_) = true;
            return mine.is_value;
        }
        if (!std::exchange(mine.counts, true)) {
            mine.is_of_player = is_loss_of_player(name), mine.is_total = is_total_loss(name);
            shows_total_ = shows_total_ || mine.is_total;
        }
        return true;
    }
    // Adds a value to `course`, which is `mine.train` or `mine.eval`; `seen_at` is the last step of the same.
    constexpr void add(series& mine, observation const& it, double value, detail::falling_series& course,
                       step_id& seen_at) noexcept {
        bool const is_return = !falls(it.tensor);
        mine.is_metric = !is_return && it.tensor.role != role::loss;
        any_return_ = any_return_ || is_return;
        course.add(is_return ? -value : value, is_return ? returns_ : limits_);
        seen_at = it.step, stale_ = true;
        see_size(mine);
        any_low_ = any_low_ || mine.train.begins_low();
    }
    constexpr void see_size(series const& it) noexcept {
        if (!it.counts || it.is_metric) { return; }
        double const began = magnitude(it.train.beginning());
        shows_loss_ = true;
        if (began >= largest_) { largest_ = began, largest_until_ = counts_until(it); }
    }
    // The first series for which `is_so(name, series)` holds, and its name; null where there is none.
    template <class Ask>
    [[nodiscard]] constexpr series const* first_of(Ask&& is_so, std::string_view* name = nullptr) const noexcept {
        series const* found = nullptr;
        all_.each_named([&](std::string_view called, series const& it) {
            if (found != nullptr || !is_so(called, it)) { return; }
            found = &it;
            if (name != nullptr) { *name = called; }
        });
        return found;
    }
    // The first training loss for which `is_so(series)` holds.
    template <class Ask>
    [[nodiscard]] constexpr series const* first_loss(Ask&& is_so, std::string_view* name = nullptr) const noexcept {
        return first_of([&](std::string_view, series const& it) { return counts(it) && is_so(it); }, name);
    }
    // The same among the losses of the net that a tensor's name belongs to; among all losses where that net has none.
    template <class Ask>
    [[nodiscard]] constexpr series const* first_of_net(std::string_view tensor, Ask&& is_so) const noexcept {
        std::string_view const net = net_of(tensor);
        auto const is_its = [&](std::string_view called, series const& it) {
            return counts(it) && is_loss_of_net(called, net);
        };
        bool const any = first_of(is_its) != nullptr;
        return first_of([&](std::string_view called, series const& it) {
            return (any ? is_its(called, it) : counts(it)) && is_so(it);
        });
    }
    // Calls `use(name, course)` for all but the loss of a critic, in training and in evaluation.
    template <class Use>
    constexpr void each_return(Use&& use) const noexcept {
        all_.each_named([&](std::string_view called, series const& it) {
            if (!it.is_value) { use(called, it.train), use(called, it.eval); }
        });
    }
    [[nodiscard]] constexpr series const* find_evaluated(std::string_view loss) const noexcept {
        return first_of(
            [&](std::string_view called, series const& it) { return called == loss && it.eval.samples() > 0; });
    }
    // It has risen from its first evaluation on, to `worse` times that, and is not well below where training began.
    [[nodiscard]] constexpr bool rises_in_evaluation(series const& it) const noexcept {
        double const now = it.eval.level();
        return it.eval.samples() >= limits_.evaluations && now >= detail::rescaled(it.eval.first(), limits_.worse) &&
               now >= detail::rescaled(it.train.beginning(), limits_.fallen) && it.eval.rises_from_the_start();
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool stays_behind(series const& it, evidence& why) const noexcept {
        SPOTTER_STRICT_BODY
        if (it.eval.samples() < limits_.evaluations || it.train.samples() < limits_.trained) { return false; }
        double const before = it.train.beginning(), now = it.eval.level();
        double const stirs_not = detail::rescaled(it.eval.first(), 1 - limits_.least_fall);
        double const as_before = detail::rescaled(before, 1 - limits_.flat_fall);
        // Neither training nor evaluation has fallen; this needs no common unit.
        bool const neither = now >= stirs_not && it.train.level() >= detail::rescaled(before, limits_.hardly);
        bool const behind = it.eval.first() <= detail::rescaled(before, limits_.alike) && now >= as_before &&
                            now >= detail::rescaled(it.eval.first(), limits_.as_first);
        bool const may_gain = it.eval.falls_still(limits_) && !it.eval.creeps(limits_);
        if (rises_in_evaluation(it)) {
            why = {"eval loss", now, it.eval.first(), relation::greater};
            return true;
        }
        if (!(neither || behind) || may_gain) { return false; }
        why = {"eval loss", now, neither ? stirs_not : as_before, relation::greater_equal};
        return true;
    }
    // The first update on a new batch of experience sees the policy that gathered it: its divergence is rounding error.
    SPOTTER_STRICT constexpr void see_divergence(series& mine, measurement of, mode when) noexcept {
        SPOTTER_STRICT_BODY
        if (!of.known || when != mode::train) { return; }
        batches_ += magnitude(of.value) < 1e-3 * magnitude(mine.divergence) ? 1U : 0U;
        mine.divergence = of.value;
    }
    // Of returns that have fallen. They worsen where that lasts too long to be exploration, or a critic explodes. They
    // are flat where the policy moves in small steps, or has had the time to explore. A policy without a critic (that
    // is, by policy gradients) has no values to learn first: they are flat if they fall at once.
    [[nodiscard]] constexpr progress fall_of(detail::falling_series const& it) const noexcept {
        std::string_view name{};
        bool const is_sure = it.samples() >= limits_.lasting_mildly || value_that_explodes(name) != nullptr;
        if (it.has_dropped() && is_sure) { return progress::worsens; }
        bool const is_late =
            it.samples() >= limits_.young && it.has_dropped_by(limits_.sunk) && !it.falls_still(limits_);
        bool const is_at_once = shows_policy_ && !shows_critic_ && it.has_sunk_at_once(limits_);
        bool const is_in_batches = batches_ >= limits_.batches && it.has_sunk(limits_);
        return is_late || is_at_once || is_in_batches ? progress::flat : progress::unknown;
    }
    [[nodiscard]] constexpr bool any_return_improves() const noexcept {
        bool improves = false;
        each_return([&](std::string_view, detail::falling_series const& it) {
            improves = improves || it.says() == progress::improves;
        });
        return improves;
    }
    // The loss of a critic explodes from the start on, and no return has improved. Where rewards are found late it
    // leaps.
    [[nodiscard]] constexpr bool only_critic_moves() const noexcept {
        std::uint64_t samples = 0;
        each_return([&](std::string_view, detail::falling_series const& it) {
            samples = it.samples() > samples ? it.samples() : samples;
        });
        std::string_view name{};
        series const* const value = value_that_explodes(name);
        return samples >= limits_.earliest && !any_return_improves() && value != nullptr &&
               value->train.rises_throughout();
    }
    // It counts for the progress of the whole run.
    [[nodiscard]] constexpr bool speaks(series const& it) const noexcept {
        bool const is_rivals = it.is_of_player && !it.train.explodes(limits_);
        return !it.is_value && (!it.counts || (!is_rivals && counts(it)));
    }
    [[nodiscard]] constexpr progress sum_up() const noexcept {
        std::uint64_t losses = 0, flat = 0;
        bool better = false, evaluates_better = false, behind = false, worse = false;
        evidence unused;
        all_.each_named([&](std::string_view, series const& it) {
            if (!speaks(it)) { return; }
            evaluates_better = evaluates_better || it.eval.says() == progress::improves;
            better = better || it.train.says() == progress::improves;
            if (!it.counts) { return; }
            behind = behind || stays_behind(it, unused);
            ++losses, flat += it.train.says() == progress::flat ? 1U : 0U;
            worse = worse || it.train.says() == progress::worsens;
        });
        if (evaluates_better || (better && !behind)) { return progress::improves; }
        if (worse) { return progress::worsens; }
        // One flat loss means no progress, and so do several flat metrics of one model. Two adversarial nets do not.
        bool const stands = losses == 1 || (losses > 0 && !shows_loss_);
        if (behind || (flat == losses && stands)) { return progress::flat; }
        return objective_ ? progress::unknown : sum_up_returns();
    }
    // What all returns say, where none improves.
    [[nodiscard]] constexpr progress sum_up_returns() const noexcept {
        progress worst = only_critic_moves() ? progress::flat : progress::unknown;
        each_return([&](std::string_view, detail::falling_series const& it) {
            progress const one = fall_of(it);
            worst = one > worst ? one : worst;
        });
        return worst;
    }

    per_tensor<series> all_;
    bool objective_;
    detail::progress_limits limits_, returns_;
    double largest_ = 0;               // the largest beginning of a training loss
    std::uint64_t largest_until_ = 0;  // counts_until() of that loss
    std::uint64_t newest_ = 0;         // index of the latest training step that showed one
    bool any_loss_ = false, any_return_ = false, shows_loss_ = false, shows_total_ = false, stale_ = false;
    bool shows_policy_ = false, shows_critic_ = false;  // in reinforcement learning: their losses
    bool any_low_ = false, any_shift_ = false;          // a loss began low at this close; changed its level
    std::uint64_t batches_ = 0;                         // of experience: a divergence fell to nothing
    progress says_ = progress::unknown;
};

}  // namespace spotter::inline SPOTTER_ABI
