// SPDX-License-Identifier: Apache-2.0
// The bodies of gradients.hpp: findings from the results of all gradients.
#pragma once

#include <spotter/preflight/gradients.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

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

}  // namespace spotter::inline SPOTTER_ABI::detail
