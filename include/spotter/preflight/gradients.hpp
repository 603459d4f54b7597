// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), experiments: is every gradient the derivative of the loss? What is the sign of the gradients of a
// random loss?
#pragma once

#include <spotter/preflight/differences.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The limits within which a gradient is right, and the method.
//
// The residual is the change of the loss less what the gradient predicts. Along directions of random signs it is
// normal, with deviation |gradient - derivative| times the step (a Rademacher projection; Spall 1992 estimates
// gradients so). So a few directions show the relative error of a tensor of any size. The gradient's own direction
// would not: a gradient with two rows exchanged agrees with itself. All tensors move at once: the residual bounds the
// error of each, and rounding adds no more than for one tensor. Only where that fails, groups and single tensors are
// examined. The bends L(w + d) + L(w - d) - 2 L(w), from the same losses, contain rounding and kinks and no gradient.
//
// With many tensors that have kinks, these hide an error. The gradients along the way then replace the one in the
// middle: the integral of the slope, by trapezoids, is the change of the loss if the gradient is right. A kink that
// changes the slope by J in a part of length s leaves J s u, with u uniform between -1/2 and 1/2.
//
// If the last gradient is wrong and the loss is far above its value at small weights, the loss may be clamped or
// saturated, as by raw inputs. A right gradient of the loss without the clamp disagrees with the derivative there, so
// smaller weights are examined, where the clamp does not act. What is wrong there as well, by however little, is no
// clamp: a slope that is left out is near to one at small weights.
struct gradient_limits {
    // Limits of the relative error. Of the right gradients of the development nets, 99 in 100 were within .026; planted
    // faults were beyond .05. In double, noise is 1e-8.
    static constexpr double right_in_float = 0.03, right_in_double = 0.002;
    static constexpr double wrong = 0.1;  // above: an error; between: a warning
    // A certain error exceeds the noise and the roughness by these factors. A kink adds to a residual up to 1.7 times
    // what it adds to the roughness, so with nine directions chance exceeds the factor a few times in a thousand. An
    // alarm needs it at two of three points. The error may then be a quarter of what is otherwise right.
    static constexpr double beyond_noise = 3, beyond_roughness = 4;
    static constexpr double noise_share = 0.005;  // rounding, of a tensor's share: a sixth of right_in_float
    // Relative to the weights: a start of zeros hides faults, and an alarm needs several points.
    static constexpr double displacements[] = {0.05, 0.1, 0.3};
    static constexpr int first_directions = 4, all_directions = 9;
    static constexpr int nearer_directions = 5;  // with a quarter of the step, where kinks may explain the first four
    static constexpr int most_points = 16;       // of their paths, in all, between the ends and the middle
    static constexpr std::size_t apart_at_once = 12;  // tensors examined singly; larger groups are halved first
    // Where the loss is saturated: the smallest share of the weights that is examined. The loss is saturated if it is
    // above the one there by `saturated` times that, and at ease within `at_ease` times.
    static constexpr double smallest_weights = 0x1p-12, saturated = 1, at_ease = 0.1;
};

// Whether a factor explains the changes of the loss: a tenth of its prediction is left at most, and a third of what was
// wrong.
[[nodiscard]] inline bool explains(multiple const& it) noexcept {
    double const size = magnitude(it.kappa) * it.predicted;
    return it.left < 0.1 * size && it.left <= magnitude(it.kappa - 1) * it.predicted / 3;
}

// Fills all.gradients; reports nothing. Uses the inputs of the next sample where it can write them, so that state from
// an earlier batch shows.
void examine_gradients(examiner& all);

// For a wrong gradient and the sample that showed it: finds the simple mistake that predicts it, and where it is. Takes
// no passes, except for the place: 30 at most. Gradients of other tensors are those of the probe.
void name_mistake(examiner& all, probe const& at, std::size_t tensor, difference_sample const& sample,
                  bool looks_for_place, gradient_state& into);

// Reports the results of all gradients: causes that many tensors share first.
void tell_gradients(examiner& all);

// Checks whether the loss falls along its gradient, with 16 pairs of losses along the mean of eight gradients, by a
// step that predicts a tenth of the loss. Reported where the mean slope is five of its standard errors below zero.
// Nothing else can be proven for a random loss.
void examine_random_gradients(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI::detail {

// Findings from the results of all gradients.

// Tensors by the result for their gradients. Each list is in the order shown: from input to output.
struct sorted_gradients {
    tensor_group right{}, wrong{}, without_effect{}, unknown{};

    explicit sorted_gradients(examiner const& all) {
        for (std::size_t t = 0; t < all.gradients.size(); ++t) {
            if (all.loop.parameters()[t].frozen) { continue; }
            switch (all.gradients[t].kind) {
                case gradient_kind::right:
                    right.push_back(t);
                    break;
                case gradient_kind::unknown:
                    unknown.push_back(t);
                    break;
                case gradient_kind::no_effect:
                    without_effect.push_back(t);
                    break;
                default:
                    wrong.push_back(t);
            }
        }
    }
};

class gradient_findings {
public:
    explicit gradient_findings(examiner& all) : all_{all}, of_{all} {}

    void tell() {
        tell_notes();
        tell_without_effect();
        tell_saturated();
        if (of_.wrong.empty()) { return tell_suspects(); }
        if (all_are(gradient_kind::missing) && of_.right.empty()) {
            (void)made(preflight_cause::no_gradient, "all");
        } else if (!tell_common_factor()) {
            tell_place();
        }
    }

private:
    [[nodiscard]] std::vector<parameter> const& tensors() const noexcept { return all_.loop.parameters(); }
    [[nodiscard]] gradient_state const& state(std::size_t t) const noexcept { return all_.gradients[t]; }
    [[nodiscard]] bool all_are(gradient_kind kind) const noexcept {
        return std::all_of(of_.wrong.begin(), of_.wrong.end(), [&](std::size_t t) { return state(t).kind == kind; });
    }
    // The tensor with the largest error.
    [[nodiscard]] std::size_t worst() const noexcept {
        return *std::max_element(of_.wrong.begin(), of_.wrong.end(),
                                 [&](std::size_t a, std::size_t b) { return state(a).error < state(b).error; });
    }
    draft& made(preflight_cause cause, std::string_view place) {
        draft& found = all_.tell(cause, place);
        found.others = static_cast<std::uint32_t>(of_.wrong.size() - 1);
        found.measure = "relative error", found.measured = state(worst()).error;
        found.how = relation::greater, found.threshold = gradient_limits::wrong;
        return found;
    }

    void tell_notes() {
        if (all_.clips_values) {
            all_.tell(preflight_cause::clipped_gradient, "gradients").detail = "elements that were cut are not proven";
        }
        if (all_.decay > 0) {
            draft& found = all_.tell(preflight_cause::decay_in_gradient, "gradients");
            found.measure = "multiple", found.measured = all_.decay;
        }
        if (!of_.unknown.empty()) {
            gradient_state const& first = state(of_.unknown[0]);
            draft& found = all_.tell(preflight_cause::not_proven, tensors()[of_.unknown[0]].name);
            found.others = static_cast<std::uint32_t>(of_.unknown.size() - 1);
            found.detail = first.right_at < 1 ? "it is right at smaller weights; the loss is clamped or saturated"
                           : all_.is_random   ? "its loss is random"
                           : all_.loop.ended() == ending::budget ? "the passes that were allowed were used up"
                           : first.resolution > 0.03 ? "its derivative is too small beside the rounding of the loss"
                                                     : "its derivative is too rough, or the loss is not finite near by";
        }
    }
    // These were proven wrong as a group, and the budget ended before it was clear which of them is.
    void tell_suspects() {
        if (all_.suspects.empty() || all_.loop.ended() != ending::budget || is_clipped()) { return; }
        draft& found = all_.tell(preflight_cause::wrong_backward, tensors()[all_.suspects[0]].name);
        found.others = static_cast<std::uint32_t>(all_.suspects.size() - 1);
        found.detail = "at least one of these; more passes (.forwards) show which";
    }
    // A bias without effect next to a weight with effect is no fault: a normalisation may follow.
    [[nodiscard]] bool is_beside_effect(std::size_t t) const {
        for (std::size_t const other : {t - 1, t + 1}) {
            bool const is_larger = other < tensors().size() && tensors()[other].count > tensors()[t].count;
            if (is_larger && state(other).kind != gradient_kind::no_effect) { return true; }
        }
        return false;
    }
    void tell_without_effect() {
        tensor_group dead;
        for (std::size_t const t : of_.without_effect) {
            if (!is_beside_effect(t)) { dead.push_back(t); }
        }
        if (dead.empty()) { return; }
        draft& found = all_.tell(preflight_cause::no_effect, tensors()[dead[0]].name);
        found.others = static_cast<std::uint32_t>(dead.size() - 1);
    }

    // These are right at smaller weights alone: the loss is clamped, or a slope is left out that is one there.
    void tell_saturated() {
        for (std::size_t const t : of_.unknown) {
            if (state(t).right_at == 1) { continue; }
            all_.tell(preflight_cause::loss_flat, "loss", severity::warning).detail << "at " << state(t).right_at
                                                                                    << " of the weights it does";
            return;
        }
    }

    // Reports where all wrong gradients are the same multiple of the derivative, or the loss does not move at all.
    [[nodiscard]] bool tell_common_factor() {
        bool const everywhere = of_.right.empty();
        std::size_t factors = 0;
        double_list ratios;
        for (std::size_t const t : of_.wrong) {
            if (state(t).kind != gradient_kind::factor) { continue; }
            ++factors;
            if (is_finite(state(t).ratio)) { ratios.push_back(state(t).ratio); }
        }
        if (factors == of_.wrong.size() && ratios.empty() && everywhere) {
            all_.tell(preflight_cause::loss_flat, "loss").detail = "it hardly moves at all";
            return true;
        }
        // Where no gradient is right, three quarters are enough: the others are too small to be exact.
        bool const most = everywhere ? 4 * factors >= 3 * of_.wrong.size() : factors == of_.wrong.size();
        if (!most || ratios.size() < factors || ratios.empty()) { return false; }
        auto const [low, high] = std::minmax_element(ratios.begin(), ratios.end());
        double const spread = *high - *low, times = middle_of(ratios);
        // Clipping by the norm divides by another number at each point.
        bool const is_common = spread <= 0.15 * magnitude(times) || (*low > 0 && is_clipped());
        // Where others are right, only minus one counts: another factor is the backward pass of a layer.
        if (!is_common || (!everywhere && magnitude(times + 1) > 0.1)) { return false; }
        tell_factor(times, everywhere);
        return true;
    }
    void tell_factor(double times, bool everywhere) {
        std::string_view const place =
            everywhere ? std::string_view{"all"} : std::string_view{tensors()[of_.wrong[0]].name};
        double const batch = static_cast<double>(all_.loop.batch());
        auto const is_about = [](double a, double b) { return magnitude(a / b - 1) < 0.1; };
        auto cause = preflight_cause::wrong_factor;
        if (times < 0) {
            cause = preflight_cause::negated_gradient;
        } else if (everywhere && is_clipped()) {
            cause = preflight_cause::clipped_gradient;
            for (std::size_t const t : of_.wrong) { all_.gradients[t].kind = gradient_kind::right; }
        } else if (everywhere && batch > 1 && is_about(times, batch)) {
            cause = preflight_cause::sum_for_mean;
        } else if (everywhere && batch > 1 && is_about(times * batch, 1)) {
            cause = preflight_cause::mean_for_sum;
        }
        draft& found = all_.tell(cause, place);
        found.measure = "gradient over derivative", found.measured = times;
        found.others = static_cast<std::uint32_t>(everywhere ? 0 : of_.wrong.size() - 1);
        if (cause == preflight_cause::sum_for_mean || cause == preflight_cause::mean_for_sum) {
            found.detail << "a batch of " << all_.loop.batch();
        }
    }
    // The norm of the whole gradient is the same at several points.
    [[nodiscard]] bool is_clipped() const noexcept {
        double low = norm_of(all_.loop.first_gradient()), high = low;
        for (double const each : all_.norms) { low = (std::min)(low, each), high = (std::max)(high, each); }
        return !all_.norms.empty() && high - low < 1e-3 * high;
    }

    // The first right tensor, where all wrong ones come before all right ones; otherwise the number of tensors.
    [[nodiscard]] std::size_t first_right() const noexcept {
        std::size_t const last = of_.wrong.back(), none = tensors().size();
        bool const in_front = of_.wrong.size() > 1 && !of_.right.empty() && of_.right.front() > last;
        return in_front ? of_.right.front() : none;
    }
    [[nodiscard]] preflight_cause cause_at_place(bool is_between, bool is_mild) const noexcept {
        bool const whole = of_.right.empty() && of_.unknown.empty() && of_.without_effect.empty();
        if (all_are(gradient_kind::missing)) {
            return is_between ? preflight_cause::detached : preflight_cause::missing_gradient;
        }
        if (is_mild) { return preflight_cause::inexact_gradient; }
        return whole && tensors().size() > 1 ? preflight_cause::wrong_loss_gradient : preflight_cause::wrong_backward;
    }
    void tell_place() {
        std::size_t const last = of_.wrong.back(), next = first_right();
        bool const is_between = next < tensors().size();
        bool const named_so =
            std::any_of(of_.wrong.begin(), of_.wrong.end(), [&](std::size_t t) { return state(t).is_misplaced; });
        bool const is_mild = state(worst()).error < gradient_limits::wrong && !named_so;
        preflight_cause const cause = cause_at_place(is_between, is_mild);
        std::size_t const named = is_between ? last : of_.wrong[0];
        bool const is_of_loss = cause == preflight_cause::wrong_loss_gradient;
        draft& found = made(cause, is_of_loss ? std::string_view{"loss"} : std::string_view{tensors()[named].name});
        if (is_mild) { found.threshold = gradient_limits::right_in_float; }
        auto const shorter = [](std::string const& name) { return std::string_view{name}.substr(0, 30); };
        if (is_between) {
            found.detail << "between " << shorter(tensors()[last].name) << " and " << shorter(tensors()[next].name);
        }
        if (!state(named).words.empty()) {
            found.detail << (is_between ? "; it " : "it ") << state(named).words.view();
        } else if (!is_between && state(named).kind == gradient_kind::factor) {
            found.detail << "it is " << state(named).ratio << " times the derivative";
        }
    }

    examiner& all_;
    sorted_gradients of_;
};

SPOTTER_BODY void tell_gradients(examiner& all) { gradient_findings{all}.tell(); }

// The simple mistake that explains a wrong gradient.

// Compares the measured differences with gradients that may have been meant. Takes no passes.
class mistake_search {
public:
    mistake_search(examiner& all, probe const& at, std::size_t tensor, difference_sample const& sample)
        : all_{all}, at_{at}, it_{all.loop.parameters()[tensor]}, tensor_{tensor}, sample_{sample} {}

    // Words for it: transposed, rows shifted, or the gradient of another tensor of this size; empty where it is none of
    // these.
    [[nodiscard]] text<80> misplaced() {
        if (it_.count < 4) { return {}; }
        remember_directions();
        text<80> words;
        if (it_.is_matrix()) {  // its first extent, and the product of the others
            words = as_rows(static_cast<std::size_t>(it_.shape.size[0]));
        } else if (it_.count <= 4096) {  // a flat vector: every number of rows that divides it
            for (std::size_t rows = 2; words.empty() && rows <= it_.count; ++rows) {
                if (it_.count % rows == 0) { words = as_rows(rows); }
            }
        }
        return words.empty() ? as_other_tensor() : words;
    }
    // Words for the rows, or elements, that hold most of the error; empty where it is everywhere. Bisects, with three
    // directions for each half: by chance, one half holds a quarter of the other or less in three of a hundred.
    [[nodiscard]] text<80> place(double error) {
        bool const by_rows = it_.is_matrix() && it_.shape.size[0] > 1;
        std::size_t const unit = by_rows ? it_.count / static_cast<std::size_t>(it_.shape.size[0]) : 1;
        std::size_t from = 0, to = it_.count / unit;
        double const all = error * sample_.unit(0);
        for (int level = 0; level < 6 && to - from > 1 && all_.loop.has_left(40); ++level) {
            std::size_t const middle = from + (to - from) / 2;
            double const low = residual_within(from * unit, middle * unit);
            double const high = low < 0.15 * all ? all : residual_within(middle * unit, to * unit);
            bool const in_low = high < 0.25 * low, in_high = low < 0.25 * high;  // both false for NaN
            if (all_.loop.over() || !is_finite(low) || !is_finite(high) || in_low == in_high) { break; }
            (in_low ? to : from) = middle;
        }
        if (2 * (to - from) * unit > it_.count) { return {}; }  // halved at most once
        return words_for(from, to, by_rows ? "row" : "element", it_.count / unit);
    }

private:
    [[nodiscard]] static text<80> words_for(std::size_t from, std::size_t to, std::string_view unit,
                                            std::size_t count) {
        text<80> words;
        words << "is wrong in " << unit << (to - from == 1 ? " " : "s ") << from;
        if (to - from > 1) { words << " to " << to - 1; }
        return words << " of " << count;
    }
    [[nodiscard]] text<80> as_rows(std::size_t rows) const {
        std::size_t const n = it_.count, cols = n / rows;
        number_view const g = it_.of(at_.gradient);
        double_list guess(n);
        for (std::size_t i = 0; i < n; ++i) { guess[i] = g[i % cols * rows + i / cols]; }
        if (rows > 1 && cols > 1 && predicts(guess)) {
            return rows == cols ? "is transposed" : "is laid out transposed";
        }
        std::rotate_copy(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(cols % n), g.end(), guess.begin());
        if (predicts(guess)) { return "is shifted by a row: row 1 holds that of row 0"; }
        std::rotate_copy(g.begin(), g.end() - static_cast<std::ptrdiff_t>(cols), g.end(), guess.begin());
        return predicts(guess) ? text<80>{"is shifted by a row: row 0 holds that of row 1"} : text<80>{};
    }
    [[nodiscard]] text<80> as_other_tensor() const {
        text<80> words;
        for (parameter const& other : all_.loop.parameters()) {
            if (&other == &it_ || other.count != it_.count || !predicts(other.of(at_.gradient))) { continue; }
            return words << "is that of " << std::string_view{other.name}.substr(0, 60);
        }
        return words;
    }
    [[nodiscard]] double residual_within(std::size_t from, std::size_t to) {
        double_list residuals;
        for (int i = 0; i < 3; ++i) {
            std::uint64_t const direction = sample_.first_direction + 50 + places_++;
            residuals.push_back(difference_along(all_, at_, {tensor_}, 1, direction, from, to).residual());
        }
        return rms_of(residuals);
    }
    // Computes again how far the weights moved in each direction.
    void remember_directions() {
        double_list up = at_.weights, down = at_.weights;
        for (std::size_t k = 0; k < sample_.differences.size(); ++k) {
            move_ends(all_, at_, tensor_, sample_.times, sample_.first_direction + k, up, down);
            double_list apart(it_.count);
            for (std::size_t i = 0; i < it_.count; ++i) { apart[i] = up[it_.first + i] - down[it_.first + i]; }
            apart_.push_back(std::move(apart));
        }
    }
    [[nodiscard]] bool predicts(number_view guess) const {
        if (!(norm_of(guess) > 0)) { return false; }
        double left = 0, all = 0;
        for (std::size_t k = 0; k < apart_.size(); ++k) {
            double const change = sample_.differences[k].change, rest = change - dot_of(guess, apart_[k]);
            left += rest * rest, all += change * change;
        }
        return left <= 0.02 * all;  // by chance one in ten million, with nine directions
    }

    examiner& all_;
    probe const& at_;
    parameter const& it_;
    std::size_t tensor_;
    difference_sample const& sample_;
    std::vector<double_list> apart_{};
    std::uint64_t places_ = 0;
};

SPOTTER_BODY void name_mistake(examiner& all, probe const& at, std::size_t tensor, difference_sample const& sample,
                               bool looks_for_place, gradient_state& into) {
    multiple const factor = multiple_of(sample);
    if (explains(factor)) {
        into.kind = gradient_kind::factor, into.ratio = 1 / factor.kappa;
        return;
    }
    mistake_search search{all, at, tensor, sample};
    into.words = search.misplaced();
    into.is_misplaced = !into.words.empty();
    if (into.words.empty() && looks_for_place && into.error < 0.9) { into.words = search.place(into.error); }
}

SPOTTER_BODY void examine_random_gradients(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("gradients of a random loss");
    all.gradients.assign(loop.parameters().size(), {});
    loop.go_to(all.displaced(gradient_limits::displacements[0]));
    double_list const weights = loop.place();
    double_list gradient, sum(loop.elements(), 0.0);
    double loss = 0;
    for (int i = 0; i < 8; ++i) {  // each with another mask or batch
        loss += loop.pass(gradient) / 8;
        for (std::size_t j = 0; j < sum.size(); ++j) { sum[j] += gradient[j] / 8; }
    }
    double const size = dot_of(sum, sum);
    if (loop.over() || !(size > 0) || !is_finite(loss)) { return; }
    double const step = 0.1 * (std::max)(magnitude(loss), 1e-12) / size;  // predicts a tenth of the loss
    double_list ratios, up = weights, down = weights;
    for (std::size_t j = 0; j < sum.size(); ++j) { up[j] += step * sum[j], down[j] -= step * sum[j]; }
    for (int i = 0; i < 16; ++i) {
        loop.go_to(up);
        double const high = loop.loss();
        loop.go_to(down);
        ratios.push_back((high - loop.loss()) / (2 * step * size));
    }
    loop.go_to(loop.start());
    if (loop.over() || !all_finite(ratios)) { return; }
    mean_and_deviation const of{ratios};
    double const mean = of.mean, error = of.deviation / std::sqrt(static_cast<double>(ratios.size()));
    if (mean + 5 * error < 0 && mean < -0.2) {
        draft& found = all.tell(preflight_cause::negated_gradient, "all");
        found.measure = "derivative along the gradient, over its own", found.measured = mean;
        found.how = relation::less, found.threshold = 0;
        found.detail << "by the mean of 16 random losses, within " << error;
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#include <spotter/preflight/gradients.ipp>
#endif
