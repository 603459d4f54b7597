// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): is it learning? What the losses, evaluations and returns of a run say together. docs/diagnosis.md#progress
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/diagnosis/block_series.hpp>
#include <spotter/diagnosis/limits.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

//   unknown   too few numbers, or none that tell
//   improves  it has learned something, and has not lost it again
//   flat      enough numbers to say that nothing has been learned
//   worsens   worse than at the beginning, and it stays so
enum class progress : std::uint8_t { unknown, improves, flat, worsens };

[[nodiscard]] constexpr std::string_view name_of(progress what) noexcept {
    constexpr std::string_view names[] = {"unknown", "improves", "flat", "worsens"};
    return names[static_cast<std::size_t>(what)];
}

namespace detail {

// One number that falls while a net learns. Its samples are finite.
class falling_series {
public:
    constexpr void add(double value, progress_limits const& limits) noexcept;

    [[nodiscard]] constexpr progress says() const noexcept { return says_; }
    [[nodiscard]] constexpr double first() const noexcept { return first_; }
    // The first, or the mean of the first ten, whichever is more.
    [[nodiscard]] constexpr double beginning() const noexcept { return beginning_; }
    [[nodiscard]] constexpr double level() const noexcept {
        return blocks_.size() >= 3 ? now_ : first_;
    }
    // At its first value. Where a loss scatters at all it does not: a batch, or a small step, changes it by more.
    [[nodiscard]] constexpr bool stands_still(progress_limits const& limits) const noexcept {
        return near_ >= limits.still || at_ >= limits.still_at_all;
    }
    // A hundred samples, and it has fallen by a crumb at most.
    [[nodiscard]] constexpr bool has_hardly_fallen(progress_limits const& limits) const noexcept {
        return samples_ >= 100 && blocks_.size() >= 12 && !has_fallen(limits);
    }
    // It was thrown up, to twice its first and more in the mean of ten, and its latest third is where it began, or above.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_gained_nothing(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        return samples_ >= limits.recovers_in && first_ > 0 && beginning_ >= 2 * first_ &&
               level() > (1 - limits.flat_fall) * first_;
    }
    // Its latest third is well below the one before; or it has fallen far, and how frequent the answers are is all that it has learned
    // so far: a plateau of language models.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_on_its_way(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        std::size_t const third = blocks_.size() / 3;
        if (third < 2) { return false; }
        return before_ - now_ > limits.flat_fall * magnitude(before_) ||
               (samples_ < limits.young && now_ < limits.fallen * beginning_);
    }
    [[nodiscard]] constexpr std::uint64_t samples() const noexcept { return samples_; }
    // It was hardly below where it began, and is above: the lowest block is in the first sixth, and of pairs from the first and the last
    // third 95 in 100 rise.
    [[nodiscard]] constexpr bool rises_from_the_start() const noexcept {
        std::size_t const third = blocks_.size() / 3;
        if (third < 2) { return false; }
        std::size_t lowest = 0;
        for (std::size_t i = 1; i < blocks_.size(); ++i) {
            if (blocks_.blocks()[i] < blocks_.blocks()[lowest]) { lowest = i; }
        }
        return lowest <= third / 2 && share_below(blocks_.first(third), blocks_.last(third)) >= 0.95;
    }

private:
    // Their medians are asked for at every sample, and change with a block only.
    constexpr void look_at_thirds() noexcept {
        std::size_t const third = blocks_.size() / 3;
        early_ = middle_of(blocks_.first(third));
        before_ = middle_of(blocks_.last(2 * third).first(third));
        now_ = middle_of(blocks_.last(third));
    }
    constexpr void judge(progress_limits const& limits) noexcept;
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_worse(progress_limits const& limits) const noexcept;
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_far_above(progress_limits const& limits) const noexcept;
    [[nodiscard]] SPOTTER_STRICT constexpr bool stays_above(progress_limits const& limits) const noexcept;
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_flat(progress_limits const& limits) const noexcept;
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_fallen(progress_limits const& limits) const noexcept;
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_risen(progress_limits const& limits) const noexcept;

    block_series blocks_;
    double early_ = 0, before_ = 0, now_ = 0;  // the middle of the first third of them, of the last but one, of the last
    double first_ = 0, beginning_ = 0, sum_of_ten_ = 0;
    std::uint64_t samples_ = 0;
    std::uint64_t above_ = 0, far_above_ = 0, fallen_ = 0, bottomless_ = 0;  // samples in a row
    std::uint64_t near_ = 0, at_ = 0;                                        // likewise: near the first, at it
    double least_far_ = 0, sum_far_ = 0;                                     // of those
    bool improved_ = false;
    progress says_ = progress::unknown;
};

SPOTTER_STRICT constexpr void falling_series::add(double value, progress_limits const& limits) noexcept {
    SPOTTER_STRICT_BODY
    if (samples_++ == 0) { first_ = beginning_ = value; }
    if (samples_ <= 10) {
        sum_of_ten_ += value;
        if (samples_ == 10 && 0.1 * sum_of_ten_ > first_) { beginning_ = 0.1 * sum_of_ten_; }
    }
    double margin = (limits.worse - 1) * magnitude(first_), far_off = limits.far_worse * first_;
    double fall = (1 - limits.fallen) * magnitude(first_);
    double bottom = -limits.bottomless * magnitude(first_);
    settle(margin), settle(far_off), settle(fall), settle(bottom);
    above_ = value > first_ + margin ? above_ + 1 : 0;
    bottomless_ = value < bottom - 1 ? bottomless_ + 1 : 0;
    fallen_ = value < first_ - fall ? fallen_ + 1 : 0;
    double const apart = magnitude(value - first_);
    near_ = apart <= limits.stirs * magnitude(first_) && first_ != 0 ? near_ + 1 : 0;
    at_ = apart <= limits.stirs_at_all * magnitude(first_) && first_ != 0 ? at_ + 1 : 0;
    bool const is_far = first_ > 0 && value > far_off;
    if (!is_far) { far_above_ = 0; }
    if (is_far) {
        if (far_above_++ == 0) { least_far_ = value, sum_far_ = 0; }
        least_far_ = value < least_far_ ? value : least_far_;
        sum_far_ += value;
    }
    if (blocks_.add(value)) {
        look_at_thirds();
        judge(limits);
    }
    if (says_ != progress::worsens && samples_ >= limits.earliest && is_worse(limits)) { says_ = progress::worsens; }
    if (says_ == progress::unknown && !improved_ && stands_still(limits)) { says_ = progress::flat; }
}

constexpr void falling_series::judge(progress_limits const& limits) noexcept {
    if (samples_ < limits.earliest) { return; }
    if (is_worse(limits)) {
        says_ = progress::worsens;
        improved_ = improved_ && !stays_above(limits);  // what was learned is lost
        return;
    }
    std::size_t const third = blocks_.size() / 3;
    bool const near_the_first = above_ < limits.lasting_far;
    improved_ =
        improved_ || (near_the_first && share_below(blocks_.last(third), blocks_.first(third)) >= limits.improved &&
                      has_fallen(limits));
    bool const flat = stands_still(limits) || (near_the_first && is_flat(limits));
    says_ = improved_ ? progress::improves : flat ? progress::flat : progress::unknown;
}

constexpr bool falling_series::is_worse(progress_limits const& limits) const noexcept {
    SPOTTER_STRICT_BODY
    if (bottomless_ >= limits.lasting_far || is_far_above(limits) || stays_above(limits)) { return true; }
    if (far_above_ >= limits.runs_away && rises_from_the_start()) { return true; }
    if (above_ >= limits.lasting_far) {
        bool const mildly = level() <= limits.climbs * first_;
        if (above_ >= (mildly ? limits.lasting_mildly : limits.lasting) && has_risen(limits)) { return true; }
        if (!mildly && rises_from_the_start()) { return true; }
    }
    return far_above_ >= limits.lasting_far && least_far_ > 0.5 * sum_far_ / static_cast<double>(far_above_);
}

// However it scatters, hardly a block of the last third is near the beginning.
constexpr bool falling_series::is_far_above(progress_limits const& limits) const noexcept {
    SPOTTER_STRICT_BODY
    std::size_t const third = blocks_.size() / 3;
    if (samples_ < 2 * limits.lasting_far || third < 4 || !(beginning_ > 0)) { return false; }
    double const beginning[] = {limits.far_worse * beginning_};
    return share_below(beginning, blocks_.last(third)) >= 0.95;
}

// Hardly a block of the last two thirds is below the beginning, and these do not fall: where a step is a sample no row of them is above.
constexpr bool falling_series::stays_above(progress_limits const& limits) const noexcept {
    SPOTTER_STRICT_BODY
    std::size_t const third = blocks_.size() / 3;
    if (samples_ < limits.flat_after || third < 4 || !(level() > limits.climbs * beginning_) || !(beginning_ > 0)) {
        return false;
    }
    double const beginning[] = {limits.worse * beginning_};
    return share_below(beginning, blocks_.last(2 * third)) >= 0.95 &&
           share_below(blocks_.last(third), blocks_.first(third)) < 0.5;
}

// The latest third is above the first, by half of what counts as worse; or it is above the beginning by more than the loss scatters, by
// six of its robust standard deviations: where a step is a sample, a low first loss may be an accident.
constexpr bool falling_series::has_risen(progress_limits const& limits) const noexcept {
    SPOTTER_STRICT_BODY
    if (now_ - early_ > 0.5 * (limits.worse - 1) * magnitude(first_)) { return true; }
    double const middle = middle_of(blocks_.blocks());
    double apart[block_series::most]{};
    for (std::size_t i = 0; i < blocks_.size(); ++i) { apart[i] = magnitude(blocks_.blocks()[i] - middle); }
    return now_ - beginning_ > 6 * 1.4826 * middle_of({apart, blocks_.size()});
}

// By more than a crumb.
constexpr bool falling_series::has_fallen(progress_limits const& limits) const noexcept {
    SPOTTER_STRICT_BODY
    return early_ - now_ >= limits.least_fall * magnitude(early_);
}

// What it has fallen by from the first third to the last, with two standard errors of that, is next to nothing.
constexpr bool falling_series::is_flat(progress_limits const& limits) const noexcept {
    SPOTTER_STRICT_BODY
    std::size_t const third = blocks_.size() / 3;
    if (samples_ < limits.flat_after || third < 4 || fallen_ >= limits.fallen_for) { return false; }
    double apart[block_series::most]{};
    std::span<double const> const last = blocks_.last(third);
    for (std::size_t i = 1; i < third; ++i) { apart[i - 1] = magnitude(last[i] - last[i - 1]); }
    // The median of |difference| of two normal numbers is 0.954 standard deviations; the error of a median 1.25 of those of a mean.
    double const deviation = middle_of({apart, third - 1}) / 0.954;
    double const error = 1.25 * deviation * square_root(2.0 / static_cast<double>(third));
    return early_ - now_ + 2 * error < limits.flat_fall * magnitude(early_);
}

}  // namespace detail

// The progress of a run, from its losses (train, eval) and from metrics that say by their name that more is better. `objective`: a loss
// of training is what is to fall (it is not in reinforcement learning, nor where two nets play against each other).
class progress_watch {
public:
    constexpr explicit progress_watch(bool objective = true, detail::progress_limits limits = {}) noexcept
        : objective_{objective}, limits_{limits}, returns_{limits} {
        returns_.bottomless = 1e300;  // there is no limit to what may be gained
    }

    [[nodiscard]] static constexpr terms needs(tensor_info const& tensor) noexcept {
        return falls(tensor) || rises(tensor) ? terms::sum : terms::none;
    }
    // False where there is no memory.
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return !any(needs(tensor)) || all_.declare(tensor) != nullptr;
    }
    constexpr void observe(observation const& it) noexcept {
        loss_place const place = place_of(it);
        series* const mine = all_.find(place.id);
        measurement const value = loss_of(it);
        if (mine == nullptr || !value.known || !any(needs(it.tensor)) || place.when == mode::predict) { return; }
        bool const more = !falls(it.tensor);
        bool const train = place.when == mode::train;
        any_loss_ = any_loss_ || (train && !more);
        if (train && !more && !objective_) { return; }
        mine->counts = mine->counts || (train && !more);
        (train ? mine->train : mine->eval).add(more ? -value.value : value.value, more ? returns_ : limits_);
        stale_ = true;
    }
    // Of everything so far.
    [[nodiscard]] constexpr progress says() noexcept {
        if (std::exchange(stale_, false)) { says_ = sum_up(); }
        return says_;
    }
    // A training loss was observed that is an objective.
    [[nodiscard]] constexpr bool has_objective() const noexcept { return any_loss_ && objective_; }
    // The first training loss; null where there is none.
    [[nodiscard]] constexpr detail::falling_series const* loss(std::string_view& name) const noexcept {
        detail::falling_series const* found = nullptr;
        all_.each_named([&](std::string_view called, series const& it) {
            if (found == nullptr && it.counts) { found = &it.train, name = called; }
        });
        return found;
    }

    // A loss, in training and in evaluation.
    struct series {
        detail::falling_series train, eval;  // in either mode
        bool counts = false;  // as a training loss
    };
    // No training loss has stirred from where it began.
    [[nodiscard]] constexpr bool stands_still() const noexcept {
        bool any = false, stirs = false;
        all_.each_named([&](std::string_view, series const& it) {
            any = any || it.counts;
            stirs = stirs || (it.counts && !it.train.stands_still(limits_));
        });
        return any && !stirs;
    }
    // No training loss has fallen by more than a crumb.
    [[nodiscard]] constexpr bool has_hardly_fallen() const noexcept {
        bool any = false, fallen = false;
        all_.each_named([&](std::string_view, series const& it) {
            any = any || it.counts;
            fallen = fallen || (it.counts && !it.train.has_hardly_fallen(limits_));
        });
        return any && !fallen;
    }
    // The only training loss is where it began, or above; no evaluation is better than its own first.
    [[nodiscard]] constexpr bool has_gained_nothing() const noexcept {
        std::uint64_t losses = 0;
        bool gained = false;
        all_.each_named([&](std::string_view, series const& it) {
            losses += it.counts ? 1 : 0;
            gained =
                gained || (it.counts && !it.train.has_gained_nothing(limits_)) || it.eval.says() == progress::improves;
        });
        return losses == 1 && !gained;
    }
    // A training loss is still on its way.
    [[nodiscard]] constexpr bool is_on_its_way() const noexcept {
        bool any = false;
        all_.each_named(
            [&](std::string_view, series const& it) { any = any || (it.counts && it.train.is_on_its_way(limits_)); });
        return any;
    }
    // Where the evaluation of that loss stands, beside where its training began; unknown where it has none.
    [[nodiscard]] SPOTTER_STRICT constexpr measurement evaluated(std::string_view loss) const noexcept {
        SPOTTER_STRICT_BODY
        measurement found{};
        all_.each_named([&](std::string_view called, series const& it) {
            if (called != loss || it.eval.samples() == 0 || !(it.train.beginning() > 0)) { return; }
            found = {it.eval.level() / it.train.beginning(), true};
        });
        return found;
    }
    // The first whose evaluation is as bad as the training began, whatever it does in training; null where there is none.
    [[nodiscard]] constexpr series const* not_carried_over(std::string_view& name) const noexcept {
        series const* found = nullptr;
        all_.each_named([&](std::string_view called, series const& it) {
            if (found == nullptr && stays_behind(it)) { found = &it, name = called; }
        });
        return found;
    }

private:
    // It is what is made smaller: a loss, or what boosted trees report of theirs.
    [[nodiscard]] static constexpr bool falls(tensor_info const& tensor) noexcept {
        return tensor.role == role::loss || select::boosting_losses(tensor);
    }
    // More of it is better.
    [[nodiscard]] static constexpr bool rises(tensor_info const& tensor) noexcept {
        if (tensor.role != role::metric) { return false; }
        for (std::string_view const word : {"return", "reward", "score", "accuracy", "success"}) {
            if (tensor.name.find(word) != tensor.name.npos) { return true; }
        }
        return false;
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool stays_behind(series const& it) const noexcept {
        SPOTTER_STRICT_BODY
        if (!it.counts || it.eval.samples() < limits_.evaluations || it.train.samples() < limits_.trained) {
            return false;
        }
        double const before = it.train.beginning(), now = it.eval.level();
        // Neither gets anywhere, whatever their units.
        if (now >= limits_.stirs_not * it.eval.first() && it.train.level() >= limits_.hardly * before) { return true; }
        return before > 0 && it.eval.first() <= limits_.alike * before && now >= limits_.as_before * before &&
               now >= limits_.as_first * it.eval.first();
    }
    [[nodiscard]] constexpr progress sum_up() noexcept {
        std::uint64_t losses = 0, worsens = 0, flat = 0;
        bool better = false, evaluates_better = false, behind = false;
        all_.each([&](series const& it) {
            evaluates_better = evaluates_better || it.eval.says() == progress::improves;
            better = better || it.train.says() == progress::improves;
            if (!it.counts) { return; }
            behind = behind || stays_behind(it);
            ++losses;
            worsens += it.train.says() == progress::worsens ? 1U : 0U;
            flat += it.train.says() == progress::flat ? 1U : 0U;
        });
        if (evaluates_better || (better && !behind)) { return progress::improves; }
        if (worsens > 0) { return progress::worsens; }
        bool const stands = losses == 1 && flat == 1;  // two nets against each other stand still
        return behind || stands ? progress::flat : progress::unknown;
    }

    per_tensor<series> all_;
    bool objective_;
    detail::progress_limits limits_, returns_;
    bool any_loss_ = false, stale_ = false;
    progress says_ = progress::unknown;
};

}  // namespace spotter::inline SPOTTER_ABI
