// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the loss along the loop's own first update: is the update of a sensible length?
#pragma once

#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

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
