// SPDX-License-Identifier: Apache-2.0
// The bodies of gradients.hpp: all at once, groups, one by one.
#pragma once

#include <spotter/preflight/gradients.hpp>
#include <spotter/preflight/repeat.hpp>
#include <spotter/preflight/volley.hpp>

#include <iterator>

namespace spotter::inline SPOTTER_ABI::detail {

class gradient_experiment {
public:
    explicit gradient_experiment(examiner& all) : all_{all}, loop_{all.loop}, now_(loop_.parameters().size()) {}

    void run() {
        std::size_t const count = loop_.parameters().size();
        all_.gradients.assign(count, {});
        std::vector<int> wrong(count, 0);
        for (double const part : gradient_limits::displacements) {
            tensor_group open = unproven(wrong);
            if (open.empty() || !go(part)) { break; }
            is_first_ = part == gradient_limits::displacements[0];
            is_last_ = part == *std::prev(std::end(gradient_limits::displacements));
            refinements_ = 0, asked_ = 0;
            now_.assign(count, {});
            settle_all(std::move(open));
            for (std::size_t t = 0; t < count; ++t) { keep(t, wrong); }
            if (loop_.over()) { break; }
        }
        std::erase_if(all_.suspects, [&](std::size_t t) { return all_.gradients[t].kind == gradient_kind::right; });
        all_.clips_values = clips_;
        for (std::size_t t = 0; t < count; ++t) {
            gradient_state& it = all_.gradients[t];
            bool const certain = wrong[t] > 1 || it.kind == gradient_kind::no_effect;
            if (it.kind != gradient_kind::right && !certain) { it.kind = gradient_kind::unknown; }
        }
    }

private:
    // Neither right at one place nor wrong at two.
    [[nodiscard]] tensor_group unproven(std::vector<int> const& wrong) const {
        tensor_group made;
        for (std::size_t t = 0; t < loop_.parameters().size(); ++t) {
            bool const is_known = all_.gradients[t].kind == gradient_kind::right || wrong[t] > 1;
            if (!loop_.parameters()[t].frozen && !is_known) { made.push_back(t); }
        }
        return made;
    }
    // What one place said of a tensor beside what those before said.
    void keep(std::size_t t, std::vector<int>& wrong) {
        gradient_state& before = all_.gradients[t];
        gradient_state const& now = now_[t];
        if (before.kind == gradient_kind::right) { return; }
        bool const is_wrong = now.kind != gradient_kind::right && now.kind != gradient_kind::unknown;
        wrong[t] += is_wrong ? 1 : 0;
        if (now.kind == gradient_kind::right || before.kind == gradient_kind::unknown) { before = now; }
    }
    // To a place near the start where the loss is finite, and what is known there.
    [[nodiscard]] bool go(double part) {
        for (int tries = 0; tries < 4 && !loop_.over(); ++tries, part /= 4) {
            loop_.go_to(all_.displaced(part));
            at_.weights = loop_.place();
            at_.loss = loop_.pass(at_.gradient);
            if (!is_finite(at_.loss) || !all_finite(at_.gradient)) { continue; }
            all_.norms.push_back(norm_of(at_.gradient));
            at_.clipped = std::numeric_limits<double>::infinity();
            at_.noise = noise_at(all_, at_.weights, at_.loss, 3);
            all_.relative_noise = (std::max)(all_.relative_noise, at_.noise / (std::max)(magnitude(at_.loss), 1e-300));
            find_clipping(at_);
            clips_ = clips_ || is_finite(at_.clipped);
            decay_ = {};
            choose_steps(all_, at_, gradient_limits::noise_share);
            right_ = is_double() && at_.noise < 1e-10 * magnitude(at_.loss) ? gradient_limits::right_in_double
                                                                            : gradient_limits::right_in_float;
            return !loop_.over();
        }
        return false;
    }
    [[nodiscard]] bool is_double() const noexcept {
        return std::all_of(loop_.parameters().begin(), loop_.parameters().end(),
                           [](parameter const& each) { return each.type == dtype::f64; });
    }
    void settle_all(tensor_group open) {
        tensor_group zero, other;
        for (std::size_t const t : open) {
            double const size = norm_of(loop_.parameters()[t].of(at_.gradient));
            now_[t].size = size;
            (size > 0 ? other : zero).push_back(t);
        }
        if (!other.empty()) { settle(other); }
        if (!zero.empty()) { settle_zero(zero); }
    }

    [[nodiscard]] volley fire_volley(tensor_group const& group, double times, int shots, std::uint64_t direction) {
        volley made;
        made.first_direction = direction, made.times = times;
        add_shots(made, group, shots);
        return made;
    }
    void add_shots(volley& into, tensor_group const& group, int shots) {
        for (int i = 0; i < shots && !loop_.over(); ++i) {
            std::uint64_t const direction = into.first_direction + into.shots.size();
            shot made = fire(all_, at_, group, into.times, direction);
            if (!loop_.over()) { into.shots.push_back(std::move(made)); }
        }
    }
    // What rounding, kinks and bends make of what is not foreseen; and whether more than that is left, which only a
    // gradient that is wrong can leave.
    [[nodiscard]] double roughness(volley const& fired) const {
        return (std::max)(at_.pair_noise(), fired.roughness());
    }
    [[nodiscard]] bool is_certain(tensor_group const& group, volley const& fired) const {
        double smallest = std::numeric_limits<double>::infinity();  // of those that do not drown in the noise
        for (std::size_t i = 0; i < group.size(); ++i) {
            double const unit = fired.unit(i);
            if (unit * gradient_limits::wrong / 3 >= at_.pair_noise()) { smallest = (std::min)(smallest, unit); }
        }
        double const spread = fired.spread(), least = is_finite(smallest) ? right_ / 4 * smallest : 0;
        return spread > gradient_limits::beyond_noise * at_.pair_noise() &&
               spread > gradient_limits::beyond_roughness * fired.roughness() && spread > least;
    }
    // Marks what a volley proves right, and returns the others. `caution` times what was seen is believed.
    [[nodiscard]] tensor_group mark(tensor_group const& group, volley const& fired, double caution = 1) {
        double const spread = fired.spread() * caution, rough = roughness(fired);
        double const clean = std::sqrt((std::max)(0.0, spread * spread - rough * rough));
        tensor_group left;
        for (std::size_t i = 0; i < group.size(); ++i) {
            double const unit = fired.unit(i), noise = unit > 0 ? at_.pair_noise() / unit : 1;
            gradient_state& it = now_[group[i]];
            it.error = unit > 0 ? spread / unit : 1, it.resolution = it.noise = noise;
            bool const is_small = noise <= gradient_limits::wrong / 3 &&
                                  it.error <= std::clamp(6 * noise, right_, gradient_limits::wrong);
            bool const is_rough = unit > 0 && rough / unit <= gradient_limits::wrong / 3 && clean / unit <= right_;
            if (!is_small && is_rough) { it.error = clean / unit, it.resolution = rough / unit; }
            bool const proves = is_small || is_rough || is_left_of_decay(group[i], 0.05);
            it.kind = proves ? gradient_kind::right : gradient_kind::unknown;
            if (!proves) { left.push_back(group[i]); }
        }
        return left;
    }

    void settle(tensor_group const& group) {
        if (loop_.over()) { return; }
        volley fired = fire_volley(group, 1, gradient_limits::first_shots, next_direction());
        if (loop_.over()) { return; }
        if (fired.finite() && !is_certain(group, fired)) {
            bool const all_right = is_right(group, fired);
            tensor_group const left = all_right ? tensor_group{} : left_nearer(group, fired);
            if (loop_.over()) { return; }
            if (left.size() < group.size()) {
                tensor_group const weak = weak_of(group);
                if (!weak.empty()) { settle_weak(weak); }
                if (!left.empty()) { settle(left); }
                return;
            }
        }
        bool const is_part = group.size() > 1 && group.size() < asked_;  // of a group that was looked at thoroughly
        if (!is_part) { add_shots(fired, group, gradient_limits::all_shots - gradient_limits::first_shots); }
        if (loop_.over()) { return; }
        if (!fired.finite()) {  // the loss ends somewhere: by smaller groups
            if (group.size() > 1) { divide(group); }
            return;
        }
        bool const certain = is_certain(group, fired);
        tensor_group const left = mark(group, fired);
        tensor_group const weak = weak_of(left);
        if (!certain) {  // too rough here: those that are left alone, what is weak by longer steps
            if (!weak.empty()) { settle_weak(weak); }
            tensor_group rest;
            std::set_difference(left.begin(), left.end(), weak.begin(), weak.end(), std::back_inserter(rest));
            if (rest.size() < group.size()) {
                if (!rest.empty()) { settle(rest); }
            } else if (is_last_ && rest.size() > 1) {
                divide(rest);  // no place is left that may be smoother; fewer tensors meet fewer kinks
            }
            return;
        }
        if (!left.empty() && weak.size() == left.size() && weak.size() < group.size()) { return settle_weak(weak); }
        if (!left.empty() && left.size() < group.size()) { return settle(left); }
        if (is_part) { return divide(group); }
        if (has_common_factor(group, fired)) { return; }
        if (takes_off_decay(group, fired)) { return settle(group); }
        if (has_far_factor(group, fired)) { return; }
        if (group.size() > 1) {
            all_.suspects = group;
            return divide(group);
        }
        if (is_left_of_decay(group[0], 0.2)) { return; }
        gradient_state& it = now_[group[0]];
        it.kind = gradient_kind::other;
        if (is_first_) { name_mistake(all_, at_, group[0], fired.shots, fired.first_direction, places_++ < 2, it); }
    }
    // Whether few shots prove all but those whose share drowns in the noise: twice what was seen is believed of them.
    // Of four that is one in a thousand times where the error is three times as large.
    [[nodiscard]] bool is_right(tensor_group const& group, volley const& fired) {
        tensor_group const left = mark(group, fired, 2);
        return weak_of(left).size() == left.size();
    }
    // A shorter step meets fewer kinks: what of the group it does not prove right, but for what drowns in the noise.
    // All of it where a shorter step says no more.
    [[nodiscard]] tensor_group left_nearer(tensor_group const& group, volley const& fired) {
        double all_units = 0, resolution = 0;
        for (std::size_t i = 0; i < group.size(); ++i) {
            all_units += fired.unit(i) * fired.unit(i);
            double const noise = at_.pair_noise() / (std::max)(fired.unit(i), 1e-300);
            if (noise <= gradient_limits::wrong / 3) { resolution = (std::max)(resolution, noise); }
        }
        bool const may_be_kinks = fired.spread() < 0.5 * std::sqrt(all_units);
        if (!may_be_kinks || resolution >= 2 * gradient_limits::noise_share) { return group; }
        volley const nearer = fire_volley(group, 0.25, gradient_limits::nearer_shots, next_direction());
        if (loop_.over() || !nearer.finite() || is_certain(group, nearer)) { return group; }
        tensor_group const left = mark(group, nearer), weak = weak_of(left);
        tensor_group made;
        std::set_difference(left.begin(), left.end(), weak.begin(), weak.end(), std::back_inserter(made));
        return made;
    }
    // Those whose share of the loss drowns in its noise.
    [[nodiscard]] tensor_group weak_of(tensor_group const& group) const {
        tensor_group made;
        for (std::size_t const t : group) {
            if (now_[t].noise > gradient_limits::wrong / 3) { made.push_back(t); }
        }
        return made;
    }
    void divide(tensor_group const& group) {
        asked_ = group.size();
        if (group.size() <= gradient_limits::apart_at_once) {
            for (std::size_t i = group.size(); i-- > 0;) { settle({group[i]}); }
            return;
        }
        auto const middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
        settle({middle, group.end()});
        settle({group.begin(), middle});
    }

    // Tensors whose share of the loss drowns in its noise: by steps ten times as long, together. Such steps may prove
    // them right; what is wrong shows by the others.
    void settle_weak(tensor_group const& group) {
        volley fired = fire_volley(group, 10, gradient_limits::first_shots, next_direction());
        if (loop_.over() || !fired.finite()) { return; }
        if (fired.spread() > 2 * at_.pair_noise()) {
            add_shots(fired, group, gradient_limits::all_shots - gradient_limits::first_shots);
            if (loop_.over() || !fired.finite()) { return; }
        }
        double largest = 0;
        for (std::size_t t = 0; t < loop_.parameters().size(); ++t) { largest = (std::max)(largest, effect_of(t)); }
        for (std::size_t const t : mark(group, fired)) {
            // Neither effect nor gradient beside the other tensors, as of a bias in front of a normalisation.
            double const scale = all_.scale_of(loop_.parameters()[t], at_.weights),
                         bound = fired.spread() / (2 * 10 * at_.steps[t]) * scale;
            if (effect_of(t) < 1e-5 * largest && bound < 1e-3 * largest) { now_[t].kind = gradient_kind::right; }
        }
    }
    [[nodiscard]] double effect_of(std::size_t t) const noexcept {
        parameter const& it = loop_.parameters()[t];
        return norm_of(it.of(at_.gradient)) * all_.scale_of(it, at_.weights);
    }

    // Gradients of zero: the loss must not move.
    void settle_zero(tensor_group const& group) {
        volley const fired = fire_volley(group, 1, 2, next_direction());
        if (loop_.over()) { return; }
        bool still = fired.finite();
        for (shot const& each : fired.shots) { still = still && magnitude(each.moved) <= 5 * at_.pair_noise(); }
        if (!still && group.size() > 1) {
            for (std::size_t const t : group) { settle_zero({t}); }
            return;
        }
        for (std::size_t const t : group) {
            now_[t].kind = still            ? gradient_kind::no_effect
                           : fired.finite() ? gradient_kind::missing
                                            : gradient_kind::unknown;
            now_[t].error = still ? 0 : 1;
        }
    }

    // One factor of all of a group. Told by the shots at hand.
    [[nodiscard]] bool has_common_factor(tensor_group const& group, volley const& fired) {
        multiple const found = multiple_of(fired);
        if (!explains_factor(found.kappa, found.unit, found.left)) { return false; }
        set_factor(group, 1 / found.kappa);
        return true;
    }
    // Steps go by the gradient: where the derivative is of another size, steps of another length show it, or that
    // nothing moves.
    [[nodiscard]] bool has_far_factor(tensor_group const& group, volley const& fired) {
        multiple const before = multiple_of(fired);
        double const size = before.moved / before.unit;
        if (size >= 0.1 && size <= 3) { return false; }
        double const times = size > 1 ? 1 / size : std::clamp(1 / (std::max)(size, 1e-3), 10.0, longest(group));
        volley const again = fire_volley(group, times, gradient_limits::all_shots, next_direction());
        if (loop_.over() || !again.finite()) { return false; }
        multiple const found = multiple_of(again);
        if (found.moved >= (std::max)(1e-3 * found.unit, 3 * at_.pair_noise())) {
            return has_common_factor(group, again);
        }
        set_factor(group, std::numeric_limits<double>::infinity());
        return true;
    }
    // How much longer steps may be until the first of them is a tenth of its weights.
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
    // What a decay adds is taken off the gradient, and the rest asked again: with shorter gradients steps are longer,
    // and what is left of it shows.
    [[nodiscard]] bool takes_off_decay(tensor_group const& group, volley const& fired) {
        if (refinements_ > 2) { return false; }
        decay_form const found = find_decay(loop_.parameters(), group, fired, decay_);
        if (found.lambda == 0) { return false; }
        ++refinements_;
        take_off(found);
        decay_ = {decay_.lambda + found.lambda, found.by_signs, found.of_matrices};
        all_.decay = decay_.lambda;
        return true;
    }
    // A tensor without effect holds its decay alone; what a decay that is known within percents leaves of it is no
    // mistake.
    [[nodiscard]] bool is_left_of_decay(std::size_t t, double share) const noexcept {
        parameter const& it = loop_.parameters()[t];
        double const root = std::sqrt(static_cast<double>(it.count)),
                     decay = decay_.lambda * (decay_.by_signs ? root : norm_of(it.of(at_.weights)));
        return decay > 0 && norm_of(it.of(at_.gradient)) < share * decay;
    }
    void take_off(decay_form const& it) {
        for (parameter const& each : loop_.parameters()) {
            if (it.of_matrices && !each.is_matrix()) { continue; }
            for (std::size_t i = each.first; i < each.first + each.count; ++i) {
                double const w = at_.weights[i];
                at_.gradient[i] -= it.lambda * (it.by_signs ? (w > 0 ? 1.0 : w < 0 ? -1.0 : 0.0) : w);
            }
        }
        choose_steps(all_, at_, gradient_limits::noise_share);
    }
    [[nodiscard]] std::uint64_t next_direction() noexcept { return directions_ += 100; }

    examiner& all_;
    subject& loop_;
    std::vector<gradient_state> now_;
    probe at_{};
    double right_ = gradient_limits::right_in_float;
    std::uint64_t directions_ = 0;
    bool is_first_ = true, is_last_ = false;
    std::size_t asked_ = 0;  // tensors of the group that was divided last
    int places_ = 0, refinements_ = 0;
    bool clips_ = false;
    decay_form decay_{};
};

SPOTTER_BODY void examine_gradients(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("gradients");
    tensor_ref const x = loop.inputs();
    std::size_t const samples = loop.batch();
    if (!x.absent() && samples > 1 && x.count % samples == 0) {
        auto const* const first = static_cast<unsigned char const*>(x.values.raw);
        std::vector<unsigned char> rotated(first, first + x.bytes());
        std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(rotated.size() / samples),
                    rotated.end());
        loop.hold_inputs(std::move(rotated));
    }
    gradient_experiment{all}.run();
    loop.release_batch();
    loop.go_to(loop.start());
}

}  // namespace spotter::inline SPOTTER_ABI::detail
