// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a NaN or an infinity, and the tensor in which it began. docs/rules.md#non_finite
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/step_flow.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at the close of any step with a non-finite value; requests to skip the update. The finding names the first bad
// tensor in the flow of a step (step_flow.hpp), where the values became non-finite, in whatever order tensors are
// observed. If the forward pass is finite, a bad gradient comes before the weight that the update carried it into.
// `measured` is the number of its bad elements; `detail` has the index (in storage order) of the first, and the counts.
struct non_finite {
    using kind = rule_kind;
    static constexpr std::string_view name = "non_finite";
    static constexpr std::string_view remedy =
        "Do not apply this update; inspect the inputs of the named tensor at the named index.";

    selector select = &select::everything;

    // Where non-finite values began. In the first three cases no other finding of the run can be their cause.
    //   in_data            in an input, a label or a metric
    //   in_gradient_alone  in a gradient, while the observed part of the forward pass is finite
    //   in_one_element     in one element of several, and not an infinity that a layer computed: that may be the first
    //                      to overflow
    //   all_over           otherwise
    enum condition : std::uint8_t { in_data = 1, in_gradient_alone, in_one_element, all_over };

    struct bad_elements {                                 // of the first observation of a tensor in a step that has
                                                          // some
        std::uint64_t nan = 0, pos_inf = 0, neg_inf = 0;  // how many of each
        std::uint64_t first = no_index;                   // in storage order
        std::uint64_t all = 0;                            // elements of the tensor
        bool is_gradient = false;                         // by its role
        tensor_id partner = no_tensor;                    // for a gradient: its parameter
        bool is_updated = false;                          // it is shown after the step's update
        // All three kinds together.
        [[nodiscard]] constexpr std::uint64_t count() const noexcept { return nan + pos_inf + neg_inf; }
    };
    struct state {
        step_flow<bad_elements> flow;
        std::uint32_t bad = 0;  // tensors
        // In this step: whether the observed tensors of the forward pass were finite or bad, and whether a loss was
        // finite.
        bool finite_forward = false, bad_forward = false, finite_loss = false;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.flow.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        bad_elements& mine = seen.flow.see(it.tensor.id);
        bool const is_bad = it.stats.nonfinite() > 0;
        detail::stretch const where = detail::stretch_of(it.tensor.role);
        if (it.tensor.role != role::other && where >= detail::stretch::forward && where <= detail::stretch::loss) {
            (is_bad ? seen.bad_forward : seen.finite_forward) = true;
            seen.finite_loss = seen.finite_loss || (!is_bad && where == detail::stretch::loss);
        }
        if (!is_bad || mine.count() > 0) { return; }
        summary const& of = it.stats;
        bool const is_gradient = it.tensor.role == role::gradient;
        mine = {of.nan,   of.pos_inf,  of.neg_inf,        of.first_bad,
                of.count, is_gradient, it.tensor.partner, it.tensor.instant == instant::after_update};
        ++seen.bad;
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        if (!seen.flow.saw_something()) { return truth::undecided; }
        std::uint32_t const bad = std::exchange(seen.bad, 0);
        if (bad > 0) { tell(seen, bad, out); }
        seen.finite_forward = seen.bad_forward = seen.finite_loss = false;
        seen.flow.next_close();
        return truth_of(bad > 0);
    }

private:
    SPOTTER_COLD static constexpr void tell(state const& seen, std::uint32_t bad, findings& out) noexcept {
        auto const* origin = seen.flow.first([](bad_elements const& it) { return it.count() > 0; });
        if (origin == nullptr) { return; }
        // A bad weight makes everything that is computed from it bad. So if the loop observes after the update, a bad
        // gradient came before the weight. If a second net is computed from the updated weight, its gradients are bad
        // too: then the origin is the gradient whose elements the update carried into its weight.
        detail::stretch const where = detail::stretch_of(origin->role);
        bool const updated = where == detail::stretch::parameters || where == detail::stretch::optimizer;
        if (updated && (seen.bad_forward ? seen.finite_loss : seen.finite_forward)) {
            std::uint64_t const most = seen.bad_forward ? fewest_carried(seen) : no_index;
            bool const is_hidden = has_finite_gradient(seen, *origin);
            auto const* const made_of = seen.flow.first([&](bad_elements const& it) {
                return it.is_gradient && it.count() > 0 && it.count() <= most &&
                       (seen.bad_forward ? is_carried(seen, it) : !is_hidden || has_bad_weight(seen, it));
            });
            if (made_of != nullptr) { origin = made_of; }
        }
        bad_elements const& of = origin->kept;
        violation const who{origin->name, static_cast<double>(of.count()), bad};
        finding it = who.as_not_finite({reason_of(seen, *origin), condition_of(seen, *origin)});
        it.tells_origin = true;
        it.detail << "first at index " << of.first << "; nan " << of.nan << ", +inf " << of.pos_inf << ", -inf "
                  << of.neg_inf;
        out.push(it);
    }
    // The bad elements of a gradient that was carried into its weight: of several, the fewest. What is computed from a
    // bad weight is bad in all elements.
    [[nodiscard]] static constexpr std::uint64_t fewest_carried(state const& seen) noexcept {
        std::uint64_t fewest = no_index;
        (void)seen.flow.first([&](bad_elements const& it) {
            if (it.is_gradient && it.count() > 0 && it.count() < fewest && is_carried(seen, it)) {
                fewest = it.count();
            }
            return false;
        });
        return fewest;
    }
    // A ReLU may hide a bad weight from the forward pass: max(NaN, 0) is 0. Its own gradient is finite then. Gradients
    // of layers before it are bad, and their weights are not.
    [[nodiscard]] static constexpr bool has_finite_gradient(state const& seen,
                                                            step_flow<bad_elements>::entry const& weight) noexcept {
        auto const* const gradient = seen.flow.now(weight.partner);
        return gradient != nullptr && gradient->role == role::gradient && gradient->kept.count() == 0;
    }
    [[nodiscard]] static constexpr bool has_bad_weight(state const& seen, bad_elements const& gradient) noexcept {
        auto const* const weight = seen.flow.now(gradient.partner);
        return weight == nullptr || weight->kept.count() > 0;
    }
    // The gradient's weight has as many bad elements, beginning at the same index.
    [[nodiscard]] static constexpr bool is_carried(state const& seen, bad_elements const& gradient) noexcept {
        auto const* const into = seen.flow.now(gradient.partner);
        return into != nullptr && into->kept.count() == gradient.count() && into->kept.first == gradient.first;
    }
    [[nodiscard]] static constexpr condition condition_of(state const& seen,
                                                          step_flow<bad_elements>::entry const& origin) noexcept {
        bad_elements const& of = origin.kept;
        detail::stretch const where = detail::stretch_of(origin.role);
        if (where == detail::stretch::data || origin.role == role::metric) { return in_data; }
        if (of.is_gradient && seen.finite_forward && !seen.bad_forward) { return in_gradient_alone; }
        bool const may_overflow = of.nan == 0 && where != detail::stretch::parameters;
        return of.count() == 1 && of.all > 1 && !may_overflow ? in_one_element : all_over;
    }
    [[nodiscard]] static constexpr std::string_view reason_of(state const& seen,
                                                              step_flow<bad_elements>::entry const& origin) noexcept {
        switch (detail::stretch_of(origin.role)) {
            case detail::stretch::parameters:
            case detail::stretch::optimizer:
                return origin.kept.is_updated ? "arose in this step's update" : "entered from the previous step";
            case detail::stretch::data:
                return "bad input";
            default:
                return seen.flow.anything_before(origin) ? "originates here"
                                                         : "first tensor observed; its inputs were not";
        }
    }
};

}  // namespace spotter::inline SPOTTER_ABI
