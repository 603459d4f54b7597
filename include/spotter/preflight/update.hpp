// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), experiments with the first update: which weights does it move, and in which direction? Is it of a
// sensible length? Is it the same after everything was restored?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The first update that moves a weight.
struct first_step {
    double_list step{}, gradient{};  // from weights of zero
    double_list whole{};             // the step of the first update from the initial weights, including a decay
    double growth = 1;               // growth of later steps, relative to that of their gradients: momentum, a warm-up
    std::size_t at = 0;              // index of this update
    bool known = false;
};

struct update_limits {
    static constexpr int most_updates = 5;
    static constexpr int updates_of_a_copy = 200;  // for an update that keeps a copy of the weights in higher precision
    // Cosine of a tensor's step and its negative gradient. Plain descent has 1; Adam's first step, the signs, had .53
    // to .78; an optimizer that adds has -1.
    static constexpr double against = -0.05;
    static constexpr double decay = 0.9;  // least cosine of the weights and the part of the step that a decay adds
};

// Sets weights to zero before an update, so that the new weights are the step to the last bit, whatever the rate, and a
// decay has no effect. The same from the initial weights shows the decay. Makes a second update only where some weights
// did not move; five at most.
void examine_update(examiner& all, first_step& first);

// Repeats the first pass and update after `restore` (for a net that is copied: on a new copy). The loss must agree
// within a millionth, and the step within a thousandth. Otherwise `restore` does not restore something, or copies share
// it: moments, a running mean, a place in the data.
void examine_restored(examiner& all, first_step const& first);

struct rate_limits {
    // A rate is too large if the first update raises the loss of its own batch, and the loss is not below its beginning
    // after the eighth to the tenth update, with all layers alive. The first update alone proves nothing: nets that
    // train well were at five times their loss after it. Beyond `leap` it is an error.
    static constexpr int more_updates = 10, at_the_end = 3;
    static constexpr double leap = 2;  // a rise of twice the loss
    // Relative to the loss: the least gain of a shorter step. Where none gains this, the loss may jump, as a policy's
    // does.
    static constexpr double least_gain = 0.02;
    // A rate is too small if the loss is lowest at this multiple of the step, and the step gains less than the share
    // `tiny` of the largest gain along it. Multiples of development nets that train well: up to 316, with small rates
    // to 3e3, with Adam and a warm-up of a thousand steps 3e4. Rates a million times too small: 1e6 and more. A loss
    // that falls for ever along a line, as for separable samples, has no lowest point, but there a step gains its
    // share.
    static constexpr double too_small = 3e4, tiny = 1e-4;
    // `too_small` is multiplied by this where steps grow by 1.8 in five updates: momentum, a warm-up.
    static constexpr double while_steps_grow = 30;
};

// Computes the loss at the step, then at 1e5 times the step. Where that is lower, or the loss rose at the step, it goes
// through half decades.
void examine_rate(examiner& all, first_step const& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/repeat.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

class update_experiment {
public:
    update_experiment(examiner& all, first_step& first) : all_{all}, loop_{all.loop}, first_{first} {}

    void run() {
        if (!step_whole() || !step_from_zero()) { return; }
        if (keeps_copies() && !all_moved()) { go_on(); }
        if (loop_.over()) { return; }
        if (first_.known) {
            tell_directions();
            tell_decay();
        }
        tell_unmoved();
    }

private:
    // Makes the first update from the initial weights.
    [[nodiscard]] bool step_whole() {
        begin();
        loop_.update();
        if (loop_.over()) { return false; }
        loop_.read_weights(whole_);
        for (std::size_t i = 0; i < whole_.size(); ++i) { whole_[i] -= loop_.start()[i]; }
        first_.whole = whole_;
        return true;
    }
    // Begins with gradients of zero: old ones would add to the step.
    void begin() {
        loop_.go_to(loop_.start());
        loop_.prepare();
        if (loop_.has_gradients()) { loop_.write_gradients(double_list(loop_.elements(), 0.0)); }
        gradient_ = {};
        (void)loop_.bare_pass();
        if (!loop_.over()) { loop_.read_gradients(gradient_); }
    }
    [[nodiscard]] bool step_from_zero() {
        begin();
        double_list weights = loop_.start(), moved;
        for (int k = 0; k < update_limits::most_updates; ++k) {
            if (k > 0) {
                loop_.write_weights(weights);
                (void)loop_.bare_pass();
                if (loop_.over()) { return false; }
                loop_.read_gradients(gradient_);
            }
            loop_.write_weights(double_list(loop_.elements(), 0.0));
            loop_.update();
            if (loop_.over()) { return false; }
            loop_.read_weights(moved);
            if (k == 0) {
                look_at_zero(moved);
            } else {
                take_off_copies(moved, weights);
            }
            note(moved);
            for (std::size_t i = 0; i < weights.size(); ++i) { weights[i] += moved[i]; }
            if (k > 0 && all_moved()) { break; }
        }
        return true;
    }
    // Finds weights that an update from zero does not show: the update overwrites them with a copy of its own, or
    // scales its step by their size, and so gives zero or NaN. For these it takes the step from the initial weights.
    void look_at_zero(double_list& moved) {
        std::size_t const count = loop_.parameters().size();
        copied_.assign(count, false);
        for (std::size_t t = 0; t < count; ++t) {
            parameter const& each = loop_.parameters()[t];
            double gap = 0, size = 0;
            for (std::size_t i = each.first; i < each.first + each.count; ++i) {
                double const after = loop_.start()[i] + whole_[i], d = moved[i] - after;
                gap += d * d, size += after * after;
            }
            bool const begins_at_zero = norm_of(each.of(loop_.start())) == 0;
            number_view const from_zero = each.of(moved), from_there = each.of(whole_);
            copied_[t] = !begins_at_zero && size > 0 && gap <= 1e-4 * size;
            bool const stands = norm_of(from_zero) == 0 && norm_of(from_there) > 0;
            if (!copied_[t] && !stands && all_finite(from_zero)) { continue; }
            std::copy(from_there.begin(), from_there.end(), moved.begin() + static_cast<std::ptrdiff_t>(each.first));
        }
        for (std::size_t t = 0; keeps_copies() && t < count; ++t) {  // a weight of zeros cannot show a copy
            if (norm_of(loop_.parameters()[t].of(loop_.start())) == 0) { copied_[t] = true; }
        }
    }
    [[nodiscard]] bool keeps_copies() const noexcept {
        return std::any_of(copied_.begin(), copied_.end(), [](bool each) { return each; });
    }
    void take_off_copies(double_list& moved, double_list const& weights) const {
        for (std::size_t t = 0; t < copied_.size(); ++t) {
            parameter const& each = loop_.parameters()[t];
            for (std::size_t i = each.first; copied_[t] && i < each.first + each.count; ++i) { moved[i] -= weights[i]; }
        }
    }
    // Repeats the same gradient: weights of few bits follow their copy in higher precision only once that has moved by
    // one of their spacings.
    void go_on() {
        double_list before, now;
        loop_.read_weights(before);
        for (int k = 0; k < update_limits::updates_of_a_copy && !all_moved() && !loop_.over(); ++k) {
            loop_.write_gradients(gradient_);
            loop_.update();
            loop_.read_weights(now);
            for (std::size_t i = 0; i < now.size(); ++i) { now[i] -= before[i]; }
            note(now);
        }
    }
    void note(double_list const& moved) {
        std::size_t const count = loop_.parameters().size();
        moved_.resize(count, false), has_gradient_.resize(count, false);
        for (std::size_t t = 0; t < count; ++t) {
            parameter const& each = loop_.parameters()[t];
            moved_[t] = moved_[t] || norm_of(each.of(moved)) > 0;
            has_gradient_[t] = has_gradient_[t] || norm_of(each.of(gradient_)) > 0;
        }
        double const size = norm_of(moved), slope = norm_of(gradient_);
        if (!first_.known && size > 0) {
            first_.known = true, first_.step = moved, first_.gradient = gradient_, first_.at = steps_;
        } else if (first_.known && slope > 0) {
            first_.growth = size / norm_of(first_.step) / (slope / norm_of(first_.gradient));
        }
        ++steps_;
    }
    [[nodiscard]] bool all_moved() const noexcept {
        for (std::size_t t = 0; t < moved_.size(); ++t) {
            if (!moved_[t] && has_gradient_[t] && !loop_.parameters()[t].frozen) { return false; }
        }
        return first_.known;
    }

    void tell_unmoved() {
        std::size_t resting = 0, judged = 0;
        std::string_view at;
        for (std::size_t t = 0; t < moved_.size(); ++t) {
            parameter const& each = loop_.parameters()[t];
            if (each.frozen && moved_[t]) { all_.tell(preflight_cause::frozen_moves, each.name); }
            if (each.frozen || !has_gradient_[t]) { continue; }
            ++judged;
            if (moved_[t]) { continue; }
            if (at.empty()) { at = each.name; }
            ++resting;
        }
        if (resting == 0) {
            if (first_.at > 0) {
                draft& found = all_.tell(preflight_cause::warm_up, "update");
                found.measure = "updates", found.measured = static_cast<double>(first_.at);
            }
            return;
        }
        if (resting == judged) {
            all_.tell(preflight_cause::learning_rate_zero, "update");
            return;
        }
        all_.tell(preflight_cause::dead_update_path, at).others = static_cast<std::uint32_t>(resting - 1);
        for (draft& each : all_.found) {  // the optimizer does not hold these gradients, so it does not clear them
            if (each.cause == preflight_cause::gradient_not_cleared && each.place == at &&
                each.others + 1U == resting) {
                each.severity = severity::info;
            }
        }
    }
    void tell_directions() {
        std::size_t rising = 0, judged = 0;
        std::string_view at;
        double least = 1;
        for (parameter const& each : loop_.parameters()) {
            double const step = norm_of(each.of(first_.step)), slope = norm_of(each.of(first_.gradient));
            if (!(step > 0) || !(slope > 0) || each.frozen) { continue; }
            ++judged;
            double const cosine = -dot_of(each.of(first_.step), each.of(first_.gradient)) / step / slope;
            if (cosine >= update_limits::against) { continue; }
            if (at.empty()) { at = each.name; }
            least = (std::min)(least, cosine);
            ++rising;
        }
        if (rising == 0) { return; }
        draft& found = all_.tell(preflight_cause::update_direction, rising == judged ? std::string_view{"update"} : at);
        found.measure = "cosine of step and minus gradient", found.measured = least;
        found.how = relation::less, found.threshold = update_limits::against;
        found.others = static_cast<std::uint32_t>(rising == judged ? 0 : rising - 1);
    }
    // Reports what the update does to the initial weights beyond its step from zero.
    void tell_decay() {
        if (keeps_copies() || first_.at > 0) { return; }
        double_list added = whole_;
        for (std::size_t i = 0; i < added.size(); ++i) { added[i] -= first_.step[i]; }
        double_list const& weights = loop_.start();
        double const size = norm_of(added), all = norm_of(weights);
        if (!(size > 1e-6 * all) || !(all > 0)) { return; }  // rounding
        double const cosine = dot_of(added, weights) / size / all;
        if (cosine <= update_limits::decay) { return; }
        draft& found = all_.tell(preflight_cause::weight_decay_grows, "update");
        found.measure = "growth of the weights in an update", found.measured = size / all;
        found.how = relation::greater, found.threshold = 0;
    }

    examiner& all_;
    subject& loop_;
    first_step& first_;
    double_list gradient_{}, whole_{};
    std::vector<bool> moved_{}, has_gradient_{};
    std::size_t steps_ = 0;
    std::vector<bool> copied_{};  // the update writes a copy of its own over the weight
};

SPOTTER_BODY void examine_update(examiner& all, first_step& first) {
    subject& loop = all.loop;
    if (!loop.given().update) { return; }
    loop.begin_experiment("the update");
    update_experiment{all, first}.run();
    if (!loop.given().restore_each) { loop.go_to(loop.start()), loop.prepare(); }
}

SPOTTER_BODY void examine_restored(examiner& all, first_step const& first) {
    subject& loop = all.loop;
    if (!loop.given().restore || all.is_random || loop.over()) { return; }
    loop.begin_experiment("what is restored");
    loop.go_to(loop.start());
    loop.prepare();
    if (loop.has_gradients()) { loop.write_gradients(double_list(loop.elements(), 0.0)); }
    double const loss = loop.bare_pass(), before = loop.first_loss();
    if (loop.over()) { return; }
    if (!(magnitude(loss - before) <= 1e-6 * magnitude(before) + 1e-12)) {
        draft& found = all.tell(preflight_cause::not_restored, "loss");
        found.measure = "difference of the losses", found.measured = magnitude(loss - before);
        found.how = relation::greater, found.threshold = 1e-6 * magnitude(before);
        return;
    }
    if (first.whole.empty()) { return; }
    loop.update();
    double_list now;
    loop.read_weights(now);
    double apart = 0;
    for (std::size_t i = 0; i < now.size() && i < first.whole.size(); ++i) {
        double const d = now[i] - loop.start()[i] - first.whole[i];
        apart += d * d;
    }
    double const share = norm_of(first.whole) > 0 ? std::sqrt(apart) / norm_of(first.whole) : 0;
    if (loop.over() || !(share > 1e-3)) { return; }
    draft& found = all.tell(preflight_cause::not_restored, "update");
    found.measure = "relative difference of the first step and the same step later", found.measured = share;
    found.how = relation::greater, found.threshold = 1e-3;
}

class rate_experiment {
public:
    rate_experiment(examiner& all, first_step const& first) : all_{all}, loop_{all.loop}, first_{first} {}

    void run() {
        beginning_ = loop_.first_loss();
        noise_ = 3 * (all_.relative_noise > 0 ? all_.relative_noise * magnitude(beginning_)
                                              : noise_at(all_, loop_.start(), beginning_, 1));
        best_loss_ = beginning_ - noise_;
        double const at_step = loss_at(1);
        if (loop_.over()) { return; }
        double const slack = (std::max)(noise_, rate_limits::tiny * magnitude(beginning_));
        if (!is_finite(at_step) || at_step > beginning_ + slack) { return tell_large(at_step); }
        double const farther = loss_at(1e5);
        // The lowest loss is between these steps.
        if (!is_finite(farther) || !(farther < (std::min)(at_step, beginning_))) { return; }
        tell_small(at_step);
    }

private:
    [[nodiscard]] double loss_at(double times) {
        double_list weights = loop_.start();
        for (std::size_t i = 0; i < weights.size(); ++i) { weights[i] += times * first_.step[i]; }
        loop_.go_to(weights);
        double const made = loop_.loss();
        loop_.go_to(loop_.start());
        if (!loop_.over() && is_finite(made) && made < best_loss_) { best_loss_ = made, best_ = times; }
        return made;
    }
    void tell_large(double at_step) {
        double const size = (std::max)(magnitude(beginning_), 1e-300);
        double const rise =
            is_finite(at_step) ? (at_step - beginning_) / size : std::numeric_limits<double>::infinity();
        bool const leaps = !(rise < rate_limits::leap);
        for (int half_decade = -1; half_decade >= (leaps ? -16 : -8) && !loop_.over(); --half_decade) {
            (void)loss_at(std::pow(10.0, half_decade / 2.0));
            if (best_ > 0 && half_decade < -8) { break; }
        }
        if (loop_.over()) { return; }
        if (best_ == 0) {
            double const along = dot_of(first_.step, first_.gradient);
            if (along < 0) { all_.tell(preflight_cause::no_descent, "update"); }
            return;
        }
        if (beginning_ - best_loss_ < rate_limits::least_gain * size || recovers() || loop_.over()) { return; }
        draft& found =
            all_.tell(preflight_cause::learning_rate_too_large, "update", leaps ? severity::error : severity::warning);
        found.measure = "rise of the loss by one update, of it", found.measured = rise;
        found.how = relation::greater, found.threshold = 0;
        found.detail << best_ << " of the step would be best";
    }
    // Whether the next updates bring the loss below its beginning, to stay, and every layer still has a gradient: a
    // dead net has the loss of a guess.
    [[nodiscard]] bool recovers() {
        loop_.go_to(loop_.start());
        loop_.prepare();
        double_list const nothing(loop_.elements(), 0.0);
        double_list gradient;
        int below = 0;
        for (int k = 0; k <= rate_limits::more_updates && !loop_.over(); ++k) {
            if (loop_.has_gradients()) { loop_.write_gradients(nothing); }
            double const loss = loop_.bare_pass();
            below = is_finite(loss) && loss < beginning_ - noise_ ? below + 1 : 0;
            if (k == rate_limits::more_updates) { break; }
            loop_.update();
        }
        if (loop_.over() || below < rate_limits::at_the_end) { return false; }
        loop_.read_gradients(gradient);
        return none_died(gradient);
    }
    [[nodiscard]] bool none_died(double_list const& gradient) const {
        for (parameter const& each : loop_.parameters()) {
            if (norm_of(each.of(loop_.first_gradient())) > 0 && norm_of(each.of(gradient)) == 0) { return false; }
        }
        return true;
    }
    void tell_small(double at_step) {
        double rising = 0;
        for (int half_decade = 1; half_decade <= 14 && !loop_.over(); ++half_decade) {
            double const there = loss_at(std::pow(10.0, half_decade / 2.0));
            rising = !is_finite(there) || there > best_loss_ + magnitude(best_loss_) ? rising + 1 : 0;
            if (rising > 1) { break; }
        }
        double const limit = rate_limits::too_small * (first_.growth < 1.8 ? 1 : rate_limits::while_steps_grow);
        bool const is_tiny = beginning_ - at_step < rate_limits::tiny * (beginning_ - best_loss_);
        if (loop_.over() || best_ <= limit || first_.at > 0 || !is_tiny) { return; }
        draft& found = all_.tell(preflight_cause::learning_rate_too_small, "update");
        found.measure = "multiple of the step at which the loss is lowest", found.measured = best_;
        found.how = relation::greater, found.threshold = limit;
    }

    examiner& all_;
    subject& loop_;
    first_step const& first_;
    double beginning_ = 0, noise_ = 0, best_ = 0, best_loss_ = 0;
};

SPOTTER_BODY void examine_rate(examiner& all, first_step const& first) {
    if (!first.known || all.is_random) { return; }
    all.loop.begin_experiment("the rate");
    rate_experiment{all, first}.run();
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
