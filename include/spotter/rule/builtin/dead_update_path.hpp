// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): parameters that updates do not change. docs/rules.md#dead_update_path
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/step_gradients.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The part of the name that a layer's parameters share: `fc1` of `fc1/w` and `fc1.bias`, and of `fc1_b`; the number of
// `w1` and `b1`.
[[nodiscard]] constexpr std::string_view layer_of_parameter(std::string_view name) noexcept {
    for (std::string_view const separators : {"/.", "_"}) {
        std::size_t const end = name.find_last_of(separators);
        if (end != name.npos) { return name.substr(0, end); }
    }
    return name.substr(name.find_last_not_of("0123456789") + 1);
}

}  // namespace detail

// Warning, with one of six reasons.
// - No effect: a parameter has never changed, although its gradient was finite and not all zero, `patience` times
//   in a row.
// - Came to rest: it has changed before, and has the same bits as before `rested` times in a row, under such gradients;
//   where no gradient of a weight is known, over as many steps in which another parameter changes. (A bias of a few
//   elements comes to rest where training has converged, too.)
// - No gradient: its gradient is known, but all zero or absent for `never_trained` steps in which another parameter has
//   a non-zero one. Next to none counts, too: the root mean square of a weight's gradient is below `faint`, and below
//   `faint` times the largest of that step. Adam's epsilon is as large (Kingma & Ba 2015).
// - Not in optimizer: no gradient of it is known, and it has never changed over `never_trained` steps in which another
//   parameter changes.
// - Undone: a weight has the bits of its first observation again after `least_away` others or more, for the
//   `returns`-th time. A step index that goes back begins anew.
// What others do counts since the step that showed the parameter before: several nets may be trained in turn.
// A gradient below `noise` of the largest in its layer (layer_of_parameter) is only rounding error, as for a bias
// before a batch normalisation (Ioffe & Szegedy 2015, section 3.2). Then no change is expected, and the count of "no
// effect" starts anew. The change between two observations is compared with the gradients from the first observation on
// and before the second. Non-finite gradients (steps that loss scaling skips) decide nothing. Train steps only.
struct dead_update_path {
    using kind = rule_kind;
    static constexpr std::string_view name = "dead_update_path";
    static constexpr std::string_view remedy =
        "Check that the optimizer holds this parameter, that step is called, and that it subtracts.";
    static constexpr mode judged_in = mode::train;
    static constexpr std::uint64_t least_away = 5;  // observations: a weight that goes to and fro is not set back
    // The reasons above.
    enum condition : std::uint8_t { no_effect = 1, no_gradient, not_in_optimizer, came_to_rest, undone };

    selector select = &select::parameters;
    std::uint64_t patience = 3;        // expected changes; allows for a learning rate that warms up from 0
    std::uint64_t period = 1;          // observations of a parameter for each update (gradient accumulation)
    std::uint64_t rested = 100;        // expected changes, once it has moved; allows for a rate that decays to 0
    std::uint64_t never_trained = 20;  // steps
    std::uint64_t returns = 3;         // of a weight to its first values
    double noise = 1e-6;               // times the l2 norm of the layer's largest gradient: float32 has 24 bits
    double faint = 1e-8;               // root mean square of a weight's gradient; also times the largest

    struct parameter {                   // of one weight or bias
        tensor_id gradient = no_tensor;  // no_tensor where none is known
        std::size_t layer = 0;           // index of its layer
        bool watched = false, is_weight = false;
        std::uint64_t elements = 0;
        std::uint64_t hash = 0, index = 0;  // of the last observation
        bool finite = false;                // the last observation was finite
        bool known = false;                 // the observation that it is compared with exists
        std::uint64_t first_hash = 0, first_index = 0,
                      sights = 0;               // observations since that one
        bool at_work = false, spoiled = false;  // some gradient was effective; some was not finite
        bool ever = false;                      // changed since it was first observed
        std::uint64_t no_effect = 0, no_gradient = 0, not_in_optimizer = 0;  // in a row, for each reason
        std::uint64_t judged_at = 0;                                         // the close before that judged it
        std::uint64_t initial_hash = 0, returned = 0;                        // of its first values; how often to them
        std::uint64_t away = 0;                                              // observations in a row with others
    };
    struct layer {
        std::uint64_t key = 0;  // hash of its name
        double squares = 0;     // squared norm of the largest gradient of this step
    };
    struct state {
        per_tensor<parameter> all;
        step_gradients gradients;
        slot_array<layer> layers;
        std::size_t layer_count = 0;
        // The latest closes at which some parameter had changed, and at which one had a gradient.
        std::uint64_t closes = 0, change_at = 0, gradient_at = 0;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return tensor.role != role::gradient && select(tensor) ? stats_mask::hash | stats_mask::nonfinite
                                                               : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return tensor.role == role::gradient ? step_gradients::needs | stats_mask::sum_squares : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (tensor.role == role::gradient) { return seen.gradients.declare(tensor); }
        if (seen.all.declare(tensor) == nullptr) { return false; }
        parameter& mine = seen.all[tensor.id];
        mine.watched = select(tensor), mine.is_weight = select::weights(tensor);
        mine.elements = tensor.shape.elements();
        mine.gradient = tensor.partner;
        return find_layer(seen, key_of(detail::layer_of_parameter(tensor.name)), mine.layer);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train) { return; }
        if (it.tensor.role == role::gradient) { return seen.gradients.observe(it); }
        if (seen.all.find(it.tensor.id) == nullptr || !has(it.stats.has, stats_mask::hash) || it.stats.count == 0) {
            return;
        }
        parameter& mine = seen.all[it.tensor.id];
        if (!mine.watched) { return; }
        seen.all.touch(it.tensor.id);
        mine.hash = it.stats.hash;
        mine.index = it.step.index;
        mine.finite = it.stats.nonfinite() == 0;
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        found all;
        ++seen.closes;
        for (tensor_id const id : seen.all.touched()) { count(seen, seen.all[id], all); }
        for (tensor_id const id : seen.all.touched()) {
            all.name = seen.all.name_of(id);
            judge(seen, seen.all[id], all);
        }
        seen.all.clear();
        for (layer& each : seen.layers) { each.squares = 0; }
        seen.gradients.next_close();
        bool fires = false;
        auto const report = [&](violation const& of, why_found why, std::string_view measure, std::uint64_t least,
                                std::string_view advice = {}) {
            if (of.count == 0) { return; }
            finding it = of.as_finding(why, measure, relation::greater_equal, static_cast<double>(least));
            it.remedy = advice, fires = true;
            out.push(it);
        };
        report(all.no_effect, {"updates do not change it", no_effect}, "updates without effect", patience);
        report(all.came_to_rest, {"updates no longer change it", came_to_rest}, "updates without effect", rested);
        report(all.no_gradient, {"no gradient arrives", no_gradient}, "steps without a gradient", never_trained,
               "Look for dead units, a detached layer or a missing term of the backward pass behind it.");
        report(all.faint, {"next to no gradient", no_gradient}, "steps with next to no gradient", never_trained,
               "Look for saturated units, tiny weights or a wrong factor in the backward pass behind it.");
        report(all.not_in_optimizer, {"it never changes", not_in_optimizer}, "steps without a change", never_trained,
               "No gradient of it was shown: it is cut off from the loss, or the optimizer does not hold it.");
        report(all.undone, {"it has its first values again", undone}, "returns to its first values", returns,
               "Look inside the loop for a checkpoint that is loaded, or for weights that are initialised.");
        return fires ? truth::yes : all.judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no parameter was seen in two train steps, or none with a gradient";
    }

private:
    struct found {
        violation no_effect, came_to_rest, no_gradient, faint, not_in_optimizer, undone;
        std::string_view name{};  // of the current parameter
        double largest = 0;       // mean square of a weight's gradient
        bool judged = false;      // some parameter was
    };

    constexpr void count(state& seen, parameter& mine, found& all) const noexcept {
        ++mine.sights;
        if (due(mine) && mine.hash != mine.first_hash) { seen.change_at = seen.closes; }
        gradient_snapshot const gradient = seen.gradients.of(mine.gradient);
        if (gradient.at_work()) { seen.gradient_at = seen.closes; }
        layer& its = seen.layers[mine.layer];
        its.squares = gradient.squares > its.squares ? gradient.squares : its.squares;
        double const squared = mine.is_weight && gradient.at_work() ? mean_square(mine, gradient) : 0;
        all.largest = squared > all.largest ? squared : all.largest;
    }
    [[nodiscard]] static constexpr double mean_square(parameter const& mine, gradient_snapshot gradient) noexcept {
        return gradient.squares / static_cast<double>(mine.elements);
    }
    // Others have changed, or had a gradient, since it was judged before: several nets may be trained in turn.
    constexpr void judge(state& seen, parameter& mine, found& all) const noexcept {
        gradient_snapshot const gradient = seen.gradients.of(mine.gradient);
        judge_gradient(mine, gradient, seen.gradient_at > mine.judged_at, all);
        if (due(mine)) { judge_change(mine, seen.change_at > mine.judged_at, all); }
        if (mine.is_weight) { judge_return(mine, all); }
        mine.judged_at = seen.closes;
        if (due(mine) || !continues(mine)) { begin(mine); }
        bool const is_noise = gradient.squares < noise * noise * seen.layers[mine.layer].squares;
        mine.at_work = mine.at_work || (gradient.at_work() && !is_noise);
        if (gradient.at_work() && is_noise) { mine.no_effect = 0; }  // noise is above the limit now and then
        mine.spoiled = mine.spoiled || !gradient.finite;
    }

    // False where memory is lacking.
    [[nodiscard]] static constexpr bool find_layer(state& seen, std::uint64_t key, std::size_t& number) noexcept {
        for (number = 0; number < seen.layer_count; ++number) {
            if (seen.layers[number].key == key) { return true; }
        }
        if (!seen.layers.grow(number + 1)) { return false; }
        seen.layers[seen.layer_count++].key = key;
        return true;
    }
    // Whether the last two observations can be compared: no rewind, and both values finite.
    [[nodiscard]] static constexpr bool continues(parameter const& mine) noexcept {
        return mine.known && mine.finite && mine.index > mine.first_index;
    }
    [[nodiscard]] constexpr bool due(parameter const& mine) const noexcept {
        return continues(mine) && mine.sights >= period;
    }
    static constexpr void begin(parameter& mine) noexcept {
        mine.known = mine.finite;
        mine.first_hash = mine.hash;
        mine.first_index = mine.index;
        mine.sights = 0;
        mine.at_work = mine.spoiled = false;
    }
    constexpr void judge_gradient(parameter& mine, gradient_snapshot gradient, bool others, found& all) const noexcept {
        bool const any = gradient.at_work();
        if (mine.gradient == no_tensor || !gradient.finite || !(any || others)) { return; }
        double const largest = all.largest < 1 ? all.largest : 1;
        bool const is_faint =
            any && mine.is_weight && gradient.squares > 0 && mean_square(mine, gradient) < faint * faint * largest;
        all.judged = true;
        mine.no_gradient = any && !is_faint ? 0 : mine.no_gradient + 1;
        if (mine.no_gradient < never_trained) { return; }
        (is_faint ? all.faint : all.no_gradient).blame(all.name, static_cast<double>(mine.no_gradient));
    }
    constexpr void judge_change(parameter& mine, bool others, found& all) const noexcept {
        if (mine.hash != mine.first_hash) {
            mine.no_effect = mine.not_in_optimizer = 0;
            mine.ever = true;
            all.judged = true;
        } else if (mine.gradient == no_tensor) {
            bool const may_have_converged = mine.ever && !mine.is_weight;
            if (!others || may_have_converged) { return; }
            all.judged = true;
            mine.not_in_optimizer += mine.sights;
            if (mine.not_in_optimizer < (mine.ever ? rested : never_trained)) { return; }
            (mine.ever ? all.came_to_rest : all.not_in_optimizer)
                .blame(all.name, static_cast<double>(mine.not_in_optimizer));
        } else if (mine.at_work && !mine.spoiled) {
            all.judged = true;
            if (++mine.no_effect < (mine.ever ? rested : patience)) { return; }
            (mine.ever ? all.came_to_rest : all.no_effect).blame(all.name, static_cast<double>(mine.no_effect));
        }
    }
    constexpr void judge_return(parameter& mine, found& all) const noexcept {
        if (!continues(mine)) {
            mine.initial_hash = mine.hash, mine.returned = mine.away = 0;
        } else if (mine.hash != mine.initial_hash) {
            ++mine.away;
        } else if (std::exchange(mine.away, 0) >= least_away && ++mine.returned >= returns) {
            all.judged = true;
            all.undone.blame(all.name, static_cast<double>(mine.returned));
        }
    }
};

}  // namespace spotter::inline SPOTTER_ABI
