// SPDX-License-Identifier: Apache-2.0
// Bodies of gradients.hpp that have no room there: examines all tensors at once, then groups, then single tensors.
#pragma once

#include <spotter/preflight/batch.hpp>
#include <spotter/preflight/gradients.hpp>
#include <spotter/preflight/repeat.hpp>

#include <iterator>

namespace spotter::inline SPOTTER_ABI::detail {

class gradient_experiment {
public:
    explicit gradient_experiment(examiner& all) : all_{all}, loop_{all.loop}, now_(loop_.parameters().size()) {}

    void run() {
        std::size_t const count = loop_.parameters().size();
        all_.gradients.assign(count, {});
        std::vector<int> wrong(count, 0);
        double const typical = all_.typical;
        for (double const part : gradient_limits::displacements) {
            tensor_group const open = unproven(wrong);
            if (open.empty() || !go(part)) { break; }
            is_first_ = part == gradient_limits::displacements[0];
            is_last_ = part == *std::prev(std::end(gradient_limits::displacements));
            refinements_ = 0, asked_ = 0;
            now_.assign(count, {});
            judge_here(open);
            for (std::size_t t = 0; t < count; ++t) { keep(t, wrong); }
            if (loop_.over()) { break; }
        }
        all_.typical = typical;
        std::erase_if(all_.suspects, [&](std::size_t t) { return all_.gradients[t].kind == gradient_kind::right; });
        all_.clips_values = clips_;
        for (std::size_t t = 0; t < count; ++t) {
            gradient_state& it = all_.gradients[t];
            bool const certain = wrong[t] > 1 || it.kind == gradient_kind::no_effect;
            bool const is_right = it.kind == gradient_kind::right && it.right_at == 1;
            if (!is_right && !certain) { it.kind = gradient_kind::unknown; }
        }
    }

private:
    // Tensors that were neither right at one point nor wrong at two.
    [[nodiscard]] tensor_group unproven(std::vector<int> const& wrong) const {
        tensor_group made;
        for (std::size_t t = 0; t < loop_.parameters().size(); ++t) {
            bool const is_known = all_.gradients[t].kind == gradient_kind::right || wrong[t] > 1;
            if (!loop_.parameters()[t].frozen && !is_known) { made.push_back(t); }
        }
        return made;
    }
    // Merges the result for a tensor at this point with those at earlier points.
    void keep(std::size_t t, std::vector<int>& wrong) {
        gradient_state& before = all_.gradients[t];
        gradient_state const& now = now_[t];
        if (before.kind == gradient_kind::right) { return; }
        bool const is_wrong = now.kind != gradient_kind::right && now.kind != gradient_kind::unknown;
        wrong[t] += is_wrong ? 1 : 0;
        if (now.kind == gradient_kind::right || before.kind == gradient_kind::unknown) { before = now; }
    }
    // Goes to a point near the start, at `share_` of its weights, where the loss is finite, and fills at_.
    [[nodiscard]] bool go(double part) {
        part_ = part;
        for (int tries = 0; tries < 4 && !loop_.over(); ++tries, part /= 4) {
            loop_.go_to(all_.displaced(part, share_));
            at_.weights = loop_.place();
            at_.loss = loop_.pass(at_.gradient);
            if (!is_finite(at_.loss) || !all_finite(at_.gradient)) { continue; }
            all_.norms.push_back(norm_of(at_.gradient));
            at_.clipped = std::numeric_limits<double>::infinity();
            at_.noise = noise_at(all_, at_.weights, at_.loss, 3);
            all_.relative_noise = (std::max)(all_.relative_noise, at_.noise / (std::max)(magnitude(at_.loss), 1e-300));
            find_clipping(at_);
            clips_ = clips_ || is_finite(at_.clipped);
            at_.decay = {};
            choose_steps(all_, at_, gradient_limits::noise_share);
            right_ = loop_.weights_are_double() && at_.noise < 1e-10 * magnitude(at_.loss)
                         ? gradient_limits::right_in_double
                         : gradient_limits::right_in_float;
            return !loop_.over();
        }
        return false;
    }
    void judge_here(tensor_group const& open) {
        tensor_group zero, other;
        for (std::size_t const t : open) {
            double const size = norm_of(loop_.parameters()[t].of(at_.gradient));
            now_[t].size = size;
            (size > 0 ? other : zero).push_back(t);
        }
        if (is_first_ && !other.empty()) { last_ = other.back(); }
        if (!other.empty()) { judge(other); }
        if (!zero.empty()) { judge_zero(zero); }
    }

    [[nodiscard]] difference_sample measure(tensor_group const& group, double times, int directions) {
        difference_sample made;
        made.first_direction = directions_ += 100, made.times = times;
        add_directions(made, group, directions);
        return made;
    }
    void add_directions(difference_sample& into, tensor_group const& group, int directions) {
        for (int i = 0; i < directions && !loop_.over(); ++i) {
            difference made =
                difference_along(all_, at_, group, into.times, into.first_direction + into.differences.size());
            if (!loop_.over()) { into.differences.push_back(std::move(made)); }
        }
    }
    void complete(difference_sample& into, tensor_group const& group) {
        add_directions(into, group, gradient_limits::all_directions - gradient_limits::first_directions);
        if (into.by_path) { follow_paths(into, group); }
    }
    // Takes the gradients along the way for the one in the middle: a kink is then known to lie between two points, and
    // a curve is followed. That takes no passes where the losses were computed with their gradients.
    void follow_paths(difference_sample& into, tensor_group const& group) {
        for (std::size_t k = 0; k < into.differences.size(); ++k) {
            difference& each = into.differences[k];
            for (double const place : {-1.0, 1.0}) {
                bool const is_known = is_finite((place < 0 ? each.path.front() : each.path.back()).slope);
                if (!is_known && !loop_.over()) { add_point_to(into, k, group, place); }
            }
            each.follow_path();
        }
        into.by_path = std::all_of(into.differences.begin(), into.differences.end(),
                                   [](difference const& each) { return is_finite(each.bent); });
    }
    void add_point_to(difference_sample& into, std::size_t k, tensor_group const& group, double place) {
        add_point(all_, at_, group, into.times, into.first_direction + k, place, into.differences[k]);
    }
    // Halves the parts of the paths where kinks add most, until they no longer hide what matters.
    void halve_parts(difference_sample& into, tensor_group const& group) {
        double const allowed = right_ / 1.5 * smallest_unit(group, into),
                     enough = allowed * allowed * static_cast<double>(into.differences.size());
        for (int i = 0; i < gradient_limits::most_points && into.by_path && !loop_.over(); ++i) {
            double kinks = 0, most = 0, place = 0;
            std::size_t worst = 0;
            for (std::size_t k = 0; k < into.differences.size(); ++k) {
                difference const& each = into.differences[k];
                for (std::size_t p = 0; p + 1 < each.path.size(); ++p) {
                    double const part = each.kink_variance(p, gradient_limits::beyond_noise * at_.pair_noise());
                    kinks += part;
                    if (part > most) { most = part, worst = k, place = (each.path[p].at + each.path[p + 1].at) / 2; }
                }
            }
            if (!(kinks > enough)) { return; }
            add_point_to(into, worst, group, place);
            into.differences[worst].follow_path();
            into.by_path = is_finite(into.differences[worst].bent);
        }
    }
    // The smallest share of a tensor that is above the noise; 0 where there is none.
    [[nodiscard]] double smallest_unit(tensor_group const& group, difference_sample const& sample) const {
        double smallest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < group.size(); ++i) {
            double const unit = sample.unit(i);
            if (unit * gradient_limits::wrong / 3 >= at_.pair_noise()) { smallest = (std::min)(smallest, unit); }
        }
        return is_finite(smallest) ? smallest : 0;
    }
    // Whether the residuals exceed what rounding, kinks and curvature cause: only a wrong gradient leaves more.
    [[nodiscard]] bool is_certain(tensor_group const& group, difference_sample const& sample) const {
        double const residual = sample.residual();
        return residual > gradient_limits::beyond_noise * at_.pair_noise() &&
               residual > gradient_limits::beyond_roughness * sample.roughness() &&
               residual > right_ / 4 * smallest_unit(group, sample);
    }
    // Marks the tensors that a sample proves right, and returns the others. The residual is multiplied by `caution`
    // first.
    [[nodiscard]] tensor_group mark(tensor_group const& group, difference_sample const& sample, double caution = 1) {
        double const residual = sample.residual() * caution, rough = (std::max)(at_.pair_noise(), sample.roughness());
        double const clean = std::sqrt((std::max)(0.0, residual * residual - rough * rough));
        tensor_group left;
        for (std::size_t i = 0; i < group.size(); ++i) {
            double const unit = sample.unit(i), noise = unit > 0 ? at_.pair_noise() / unit : 1;
            gradient_state& it = now_[group[i]];
            it.error = unit > 0 ? residual / unit : 1, it.resolution = it.noise = noise;
            bool const is_small = noise <= gradient_limits::wrong / 3 &&
                                  it.error <= std::clamp(6 * noise, right_, gradient_limits::wrong);
            bool const is_rough = unit > 0 && rough / unit <= gradient_limits::wrong / 3 && clean / unit <= right_;
            if (!is_small && is_rough) { it.error = clean / unit, it.resolution = rough / unit; }
            bool const proves = is_small || is_rough || is_left_of_decay(group[i], 0.05);
            it.kind = proves ? gradient_kind::right : gradient_kind::unknown, it.right_at = share_;
            if (!proves) { left.push_back(group[i]); }
        }
        return left;
    }

    void judge(tensor_group const& group) {
        if (group.empty() || loop_.over()) { return; }
        difference_sample sample = measure(group, 1, gradient_limits::first_directions);
        if (loop_.over() || few_do(group, sample)) { return; }
        bool const is_part = group.size() > 1 && group.size() < asked_;  // of a group with all directions
        if (!is_part) { complete(sample, group); }
        if (loop_.over()) { return; }
        if (!sample.finite()) { return divide(group); }  // the loss is not finite somewhere: smaller groups
        bool const certain = is_certain(group, sample);
        tensor_group const left = mark(group, sample), weak = weak_of(left);
        if (!certain) { return judge_rough(group, left, weak); }
        if (!left.empty() && left.size() < group.size()) { return weak == left ? judge_weak(weak) : judge(left); }
        is_part ? divide(group) : explain(group, sample);
    }
    // Whether the first directions, or shorter steps, prove at least some of a group right, or show that the loss is
    // too rough; then the group is judged. `sample` becomes the one that shows most.
    [[nodiscard]] bool few_do(tensor_group const& group, difference_sample& sample) {
        if (!sample.finite()) { return false; }
        if (!is_certain(group, sample) && is_right(group, sample)) {
            judge_weak(weak_of(group));
            return true;
        }
        follow_paths(sample, group);
        if (loop_.over()) { return true; }
        if (is_certain(group, sample)) { return false; }
        tensor_group const left = is_right(group, sample) ? tensor_group{} : left_nearer(group, sample);
        if (loop_.over()) { return true; }
        if (left.size() == group.size()) { return false; }
        judge_weak(weak_of(group));
        judge(left);
        return true;
    }
    // The loss is too rough here: judges the remaining tensors without the others, and weak ones by longer steps.
    void judge_rough(tensor_group const& group, tensor_group const& left, tensor_group const& weak) {
        judge_weak(weak);
        tensor_group const rest = without(left, weak);
        if (rest.size() < group.size()) {
            judge(rest);
        } else if (is_last_) {
            divide(rest);  // the last point: fewer tensors meet fewer kinks
        }
    }
    // Finds out why a group is certainly wrong, or which tensors of it are.
    void explain(tensor_group const& group, difference_sample const& sample) {
        if (has_common_factor(group, sample)) { return; }
        if (takes_off_decay(group, sample)) { return judge(group); }
        if (goes_to_smaller_weights(group) || has_far_factor(group, sample)) { return; }
        if (group.size() > 1) {
            all_.suspects = group;
            return divide(group);
        }
        if (is_left_of_decay(group[0], 0.2)) { return; }
        gradient_state& it = now_[group[0]];
        it.kind = gradient_kind::other;
        if (is_first_) { name_mistake(all_, at_, group[0], sample, places_++ < 2, it); }
    }
    // Whether few directions prove all tensors right but those whose share is below the noise. Doubles the residual: an
    // error three times as large passes four directions once in a thousand times.
    [[nodiscard]] bool is_right(tensor_group const& group, difference_sample const& sample) {
        tensor_group const left = mark(group, sample, 2);
        return weak_of(left).size() == left.size();
    }
    // A shorter step meets fewer kinks, and more points of its path show where they are. The tensors of the group that
    // it does not prove right, without those whose share is below the noise. All of the group where it proves none, or
    // where they are certainly wrong.
    [[nodiscard]] tensor_group left_nearer(tensor_group const& group, difference_sample& sample) {
        double all_units = 0, largest = 0;
        for (std::size_t i = 0; i < group.size(); ++i) {
            double const unit = sample.unit(i);
            all_units += unit * unit, largest = (std::max)(largest, unit);
        }
        bool const may_be_kinks = sample.residual() < 0.5 * std::sqrt(all_units);
        if (!may_be_kinks || at_.pair_noise() >= 2 * gradient_limits::noise_share * largest) { return group; }
        difference_sample nearer = measure(group, 0.25, gradient_limits::nearer_directions);
        if (loop_.over() || !nearer.finite()) { return group; }
        follow_paths(nearer, group), halve_parts(nearer, group);
        if (loop_.over() || !nearer.by_path) { return group; }
        bool const certain = is_certain(group, nearer);
        tensor_group const left = certain ? group : mark(group, nearer);
        sample = std::move(nearer);
        return certain ? left : without(left, weak_of(left));
    }
    [[nodiscard]] static tensor_group without(tensor_group const& group, tensor_group const& others) {
        tensor_group made;
        std::set_difference(group.begin(), group.end(), others.begin(), others.end(), std::back_inserter(made));
        return made;
    }
    // The tensors whose share of the loss is below its noise.
    [[nodiscard]] tensor_group weak_of(tensor_group const& group) const {
        tensor_group made;
        for (std::size_t const t : group) {
            if (now_[t].noise > gradient_limits::wrong / 3) { made.push_back(t); }
        }
        return made;
    }
    void divide(tensor_group const& group) {
        if (group.size() < 2) { return; }
        asked_ = group.size();
        if (group.size() <= gradient_limits::apart_at_once) {
            for (std::size_t i = group.size(); i-- > 0;) { judge({group[i]}); }
            return;
        }
        auto const middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
        judge({middle, group.end()});
        judge({group.begin(), middle});
    }

    // Judges tensors whose share of the loss is below its noise, all together, with steps ten times as long. Such steps
    // may prove them right, never wrong.
    void judge_weak(tensor_group const& group) {
        if (group.empty()) { return; }
        difference_sample sample = measure(group, 10, gradient_limits::first_directions);
        if (loop_.over() || !sample.finite()) { return; }
        if (sample.residual() > 2 * at_.pair_noise()) {
            follow_paths(sample, group);
            complete(sample, group);
            if (loop_.over() || !sample.finite()) { return; }
        }
        double largest = 0;
        for (std::size_t t = 0; t < loop_.parameters().size(); ++t) { largest = (std::max)(largest, effect_of(t)); }
        for (std::size_t const t : mark(group, sample)) {
            // Neither effect nor gradient, relative to other tensors: for example a bias before a normalisation.
            double const scale = all_.scale_of(loop_.parameters()[t], at_.weights),
                         bound = sample.residual() / (2 * 10 * at_.steps[t]) * scale;
            if (effect_of(t) < 1e-5 * largest && bound < 1e-3 * largest) { now_[t].kind = gradient_kind::right; }
        }
    }
    [[nodiscard]] double effect_of(std::size_t t) const noexcept {
        parameter const& it = loop_.parameters()[t];
        return norm_of(it.of(at_.gradient)) * all_.scale_of(it, at_.weights);
    }

    // Judges gradients of zero: the loss must not move. Of very many, neighbours are judged together.
    void judge_zero(tensor_group const& group, bool is_whole = true) {
        difference_sample const sample = measure(group, 1, 2);
        if (loop_.over()) { return; }
        bool still = sample.finite();
        for (difference const& each : sample.differences) {
            still = still && magnitude(each.change) <= 5 * at_.pair_noise();
        }
        std::size_t const together = group.size() / gradient_limits::apart_at_once;
        if (!still && group.size() > 1 && is_whole) {
            std::size_t const size = (std::max<std::size_t>)(together, 1);
            for (std::size_t first = 0; first < group.size() && !loop_.over(); first += size) {
                auto const begin = group.begin() + static_cast<std::ptrdiff_t>(first);
                std::size_t const count = (std::min)(size, group.size() - first);
                judge_zero({begin, begin + static_cast<std::ptrdiff_t>(count)}, false);
            }
            return;
        }
        bool const has_a_slope = !still && sample.finite() && is_beyond_rounding(group, sample);
        for (std::size_t const t : group) {
            using enum gradient_kind;
            now_[t].kind = still ? no_effect : has_a_slope ? missing : unknown;
            now_[t].error = still ? 0 : 1;
        }
    }
    // Whether the loss changes by far more than rounding, or about three times as much with steps three times as long.
    // Rounding does not grow so, and three losses may show too little of it.
    [[nodiscard]] bool is_beyond_rounding(tensor_group const& group, difference_sample const& sample) {
        double along = 0, before = 0, after = 0;
        for (std::size_t k = 0; k < sample.differences.size(); ++k) {
            double const change = sample.differences[k].change;
            if (magnitude(change) > 100 * at_.pair_noise()) { return true; }
            double const longer = difference_along(all_, at_, group, 3, sample.first_direction + k).change;
            along += change * longer, before += change * change, after += longer * longer;
        }
        return !loop_.over() && along > 1.5 * before && along > 0.9 * std::sqrt(before * after);
    }

    // Where the last gradient is wrong by itself, which may make all wrong, and the loss is saturated: judges the
    // gradients at smaller weights instead, here and at further points.
    [[nodiscard]] bool goes_to_smaller_weights(tensor_group const& group) {
        if (share_ < 1 || group.back() != last_) { return false; }
        double const share = share_at_ease();
        if (loop_.over() || share == 1) { return false; }
        tensor_group const last{group.back()};
        difference_sample const alone = measure(last, 1, gradient_limits::first_directions);
        if (!is_certain(last, alone) || alone.residual() < gradient_limits::wrong * alone.unit(0)) { return false; }
        probe const here = at_;
        share_ = share, all_.typical *= share;
        if (!go(part_)) { return true; }
        if (is_wrong_at_ease(last)) {  // no clamp makes it wrong: a slope is left out
            share_ = 1, all_.typical /= share, at_ = here;
            all_.norms.pop_back();
            loop_.go_to(at_.weights);
            return false;
        }
        judge(group);
        return true;
    }
    // Where no clamp acts the gradient is exact, or a multiple of it, so an error is its own, however small. Long steps
    // show it beside rounding. Curvature leaves a third of what following the path corrects.
    [[nodiscard]] bool is_wrong_at_ease(tensor_group const& last) {
        difference_sample sample = measure(last, 10, gradient_limits::all_directions);
        if (loop_.over() || !sample.finite()) { return false; }
        follow_paths(sample, last);
        double_list corrected;
        for (difference const& each : sample.differences) { corrected.push_back(each.bent); }
        multiple const found = multiple_of(sample);
        bool const is_multiple = magnitude(found.kappa - 1) > gradient_limits::wrong;
        double const residual = is_multiple ? found.left : sample.residual();
        return !loop_.over() && sample.by_path && residual > gradient_limits::beyond_noise * at_.pair_noise() &&
               residual > gradient_limits::beyond_roughness * sample.roughness() &&
               residual > gradient_limits::beyond_noise * rms_of(corrected);
    }
    // The largest share of the weights, to a sixteenth, at which the loss is nearly as low as at far smaller ones; 1
    // where the loss is not saturated. A slope that is left out shows least where weights are small.
    [[nodiscard]] double share_at_ease() {
        auto const loss_at = [&](double share) {
            double_list weights = at_.weights;
            for (double& each : weights) { each *= share; }
            loop_.go_to(weights);
            return loop_.loss();
        };
        double share = gradient_limits::smallest_weights;
        double const floor = loss_at(share), size = magnitude(floor);
        if (at_.loss - floor > gradient_limits::saturated * size) {
            for (share = 0.5; share > gradient_limits::smallest_weights && !loop_.over(); share /= 2) {
                if (loss_at(share) - floor <= gradient_limits::at_ease * size) { break; }
            }
            for (double step = share / 2; step > share / 16 && !loop_.over(); step /= 2) {
                if (loss_at(share + step) - floor <= gradient_limits::at_ease * size) { share += step; }
            }
        } else {
            share = 1;
        }
        loop_.go_to(at_.weights);
        return share;
    }

    // Whether one factor explains the whole group, in this sample.
    [[nodiscard]] bool has_common_factor(tensor_group const& group, difference_sample const& sample) {
        multiple const found = multiple_of(sample);
        if (!explains(found)) { return false; }
        set_factor(group, 1 / found.kappa);
        return true;
    }
    // Steps are chosen by the gradient. Where the derivative has another size, steps of another length show that, or
    // that nothing moves.
    [[nodiscard]] bool has_far_factor(tensor_group const& group, difference_sample const& sample) {
        multiple const before = multiple_of(sample);
        double const size = before.changed / before.predicted;
        if (size >= 0.1 && size <= 3) { return false; }
        double const times = size > 1 ? 1 / size : std::clamp(1 / (std::max)(size, 1e-3), 10.0, longest(group));
        difference_sample const again = measure(group, times, gradient_limits::all_directions);
        if (loop_.over() || !again.finite()) { return false; }
        multiple const found = multiple_of(again);
        if (found.changed >= (std::max)(1e-3 * found.predicted, 3 * at_.pair_noise())) {
            return has_common_factor(group, again);
        }
        set_factor(group, std::numeric_limits<double>::infinity());
        return true;
    }
    // The factor that makes the first of the steps a tenth of its weights.
    [[nodiscard]] double longest(tensor_group const& group) const {
        double most = std::numeric_limits<double>::infinity();
        for (std::size_t const t : group) {
            most = (std::min)(most, 0.1 * all_.scale_of(loop_.parameters()[t], at_.weights) / at_.steps[t]);
        }
        return (std::max)(most, 10.0);
    }
    void set_factor(tensor_group const& group, double ratio) {
        for (std::size_t const t : group) { now_[t].kind = gradient_kind::factor, now_[t].ratio = ratio; }
    }
    // Subtracts what a decay adds to the gradient, so that the rest is judged again: with smaller gradients steps are
    // longer, and show a remaining error.
    [[nodiscard]] bool takes_off_decay(tensor_group const& group, difference_sample const& sample) {
        if (refinements_ > 2) { return false; }
        decay_form const found = find_decay(loop_.parameters(), group, sample, at_.decay);
        if (found.lambda == 0) { return false; }
        ++refinements_;
        take_off(loop_.parameters(), found, at_.weights, at_.gradient);
        choose_steps(all_, at_, gradient_limits::noise_share);
        at_.decay = {at_.decay.lambda + found.lambda, found.by_signs, found.of_matrices};
        all_.decay = at_.decay.lambda;
        return true;
    }
    // The gradient of a tensor without effect is its decay alone. The decay is known to a few percent, so a rest of it
    // is no fault.
    [[nodiscard]] bool is_left_of_decay(std::size_t t, double share) const noexcept {
        parameter const& it = loop_.parameters()[t];
        double const root = std::sqrt(static_cast<double>(it.count)),
                     decay = at_.decay.lambda * (at_.decay.by_signs ? root : norm_of(it.of(at_.weights)));
        return decay > 0 && norm_of(it.of(at_.gradient)) < share * decay;
    }
    examiner& all_;
    subject& loop_;
    std::vector<gradient_state> now_;
    probe at_{};
    double part_ = 0, share_ = 1;  // relative to the weights: the displacement, and their size
    double right_ = gradient_limits::right_in_float;
    std::uint64_t directions_ = 0;
    bool is_first_ = true, is_last_ = false;
    std::size_t last_ = 0;   // the tensor nearest to the loss that has a gradient
    std::size_t asked_ = 0;  // number of tensors in the group that was divided last
    int places_ = 0, refinements_ = 0;
    bool clips_ = false;
};

SPOTTER_BODY void examine_gradients(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("gradients");
    batch_rows const rows{loop.inputs(), loop.batch()};
    if (rows && rows.samples > 1) { loop.hold_inputs(rows.rotated()); }
    gradient_experiment{all}.run();
    loop.release_batch();
    loop.go_to(loop.start());
}

}  // namespace spotter::inline SPOTTER_ABI::detail
