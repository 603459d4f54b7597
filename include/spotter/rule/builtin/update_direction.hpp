// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): an optimizer that ascends. docs/rules.md#update_direction
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/nets.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/sampled_lines.hpp>
#include <spotter/rule/series.hpp>
#include <spotter/stat/change_kernel.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Pushes the scalar product of two gradients, if it is finite.
template <class Before, class Now>
constexpr void push_product(Before const& before, Now const& now, std::size_t count, feature& out) noexcept {
    struct origin {
        constexpr double operator[](std::size_t) const noexcept { return 0; }
    };
    along_sums along;
    change_along_elements(now, origin{}, before, count, along);
    double const along_it = along.products.fold();
    if (along.finite && is_finite(along_it)) { out.push(along_it); }
}

}  // namespace detail

// Compares the change of a weight between two observations with the gradient that made it: their scalar product is
// negative where the optimizer descends. A weight ascends where the product is positive in at least `share` of its last
// `window` changes, after `warmup` changes, and in more than half of all (a window of many may have it by chance, as
// under the noise of single transitions; beyond a thousand changes the older ones count half). Error when more than
// half of the weights that are judged at a step ascend, or more than half of one net's (nets.hpp; at least two weights,
// as for an actor beside its critic). A single weight may follow its weight decay. Zero changes, zero or non-finite
// gradients and rewinds are skipped. A gradient is expected to be observed before the update that it makes. If the loop
// observes after the update, set `options::instant` (or `after_update`, for this rule alone) and observe gradients
// before weights. Where that is not set, such a loop still does not ascend: a change seems to go along the gradient
// before it only where that and the next one are opposed, because the next one made it. So a weight does not ascend
// whose changes along a gradient are followed by an opposed one in `share` of the cases. A tensor that is flagged
// `negated` holds minus the gradient. Of a weight with more than 16384 elements the rule reads an eighth
// (sampled_lines): only the sign of the product matters. It keeps a copy of what it reads of each weight and gradient,
// and a second copy of gradients that are observed before their weight. Train steps only.
struct update_direction {
    using kind = rule_kind;
    static constexpr std::string_view name = "update_direction";
    static constexpr std::string_view remedy =
        "Check that the optimizer holds this parameter, that step is called, and that it subtracts.";
    static constexpr mode judged_in = mode::train;
    static constexpr bool extracts_from_memory = true;
    static constexpr std::uint64_t remembered = 1000;  // changes; then all so far count half
    // The last three are evidence for a pack's diagnosis and not reported (machine.hpp): how many weights climb. They
    // moved along their gradients in `share` of all their changes, with at least three changes, or in three quarters of
    // a hundred changes or more: momentum and the noise of batches make the share smaller.
    enum condition : std::uint8_t { ascends = 1, most_climb, some_climb, none_climbs };

    selector select = &select::weights;
    std::uint64_t warmup = 5;   // changes of a weight
    std::uint64_t window = 20;  // changes
    double share = 0.9;         // fraction of the window
    // A change is made by the gradient of the later observation, whatever options::instant says.
    bool after_update = false;
    bool hears_biases = false;  // reads biases too, as evidence; they have no vote

    // The sample of a tensor's values at one close. Floating types up to 32 bits are kept as floats, which is exact.
    struct copy {
        slot_array<float> narrow;         // the values, where float is exact
        slot_array<double> wide;          // the values otherwise
        std::uint64_t close = 0;          // 0: nothing is kept
        std::uint64_t index = 0;          // of the step
        extents shape{};                  // of the tensor
        order layout = order::row_major;  // of the tensor
        bool is_narrow = false;           // the values are in `narrow`

        // False where memory is exhausted; then nothing is kept.
        [[nodiscard]] constexpr bool keep(tensor_ref const& values, tensor_ref const& sample, std::uint64_t at,
                                          observation const& it) noexcept {
            close = 0;
            auto const count = static_cast<std::size_t>(sample.count);
            bool const as_float = is_floating(values.type) && size_of(values.type) <= sizeof(float);
            if (sample.count != sampled_lines::size_of_sample(values.count)) { return false; }
            if (!(as_float ? narrow.grow(count) : wide.grow(count))) { return false; }
            if (as_float) {
                copy_widened(sample, narrow.data());
            } else {
                copy_widened(sample, wide.data());
            }
            is_narrow = as_float;
            shape = values.shape, layout = values.layout;
            kept(at, it);
            return true;
        }
        constexpr void kept(std::uint64_t at, observation const& it) noexcept {
            index = it.step.index;
            close = it.stats.nonfinite() == 0 ? at : 0;
        }
        [[nodiscard]] constexpr double operator[](std::size_t i) const noexcept {
            return is_narrow ? widen(narrow[i]) : wide[i];
        }
        // Same shape and order, so elements correspond.
        [[nodiscard]] constexpr bool fits(tensor_ref const& other) const noexcept {
            return shape == other.shape && layout == other.layout;
        }
    };
    struct parameter {              // of one weight
        copy weight, gradients[2];  // the last observation; the last two gradients
        int newest = 0;             // index of the latest gradient
        bool watched = false, votes = false;
        bool negated = false;                    // the kept gradients are negated
        recent_values ascending;                 // 1 or 0 for each change
        std::uint64_t changes = 0, upwards = 0;  // upwards: those along the gradient
        std::uint64_t opposed = 0;               // of these, those whose next gradient is opposed
        bool is_along = false;                   // the last change; its next gradient is not known yet
        std::size_t net = 0;                     // index of its net
    };
    // The weights of this step that were judged, and those of them that ascend.
    struct votes {
        std::uint64_t judged = 0;  // weights
        violation ascending{};     // those that ascend

        // More than half of the judged ones ascend.
        [[nodiscard]] constexpr bool most_ascend() const noexcept { return 2 * ascending.count > judged; }
    };
    struct net {                 // weights with a common name
        std::uint64_t name = 0;  // hash of the name
        votes cast{};            // of its weights at this step
    };
    struct climbers {                         // over the weights with three changes or more
        std::uint64_t judged = 0, climb = 0;  // weights
        std::uint8_t testified = 0;           // the condition that was pushed last
        std::uint64_t testified_climb = 0;    // how many climbed then
        std::string_view first{};             // the latest one that began to climb
    };
    struct state {
        per_tensor<parameter> parameters;  // by the weight's tensor id
        climbers so_far{};
        slot_array<net> nets;
        sampled_lines sampled;  // of the current tensor
        std::size_t net_count = 0;
        votes all{};
        std::uint64_t close = 1;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return (select(tensor) || is_heard(tensor)) && !is_complex(tensor.type)
                   ? stats_mask::feature | stats_mask::nonfinite
                   : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        bool const wanted = tensor.role == role::gradient && !is_complex(tensor.type);
        return wanted ? stats_mask::feature | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (tensor.role == role::gradient) { return true; }
        if (seen.parameters.declare(tensor) == nullptr || !seen.nets.grow(seen.net_count + 1)) { return false; }
        parameter& mine = seen.parameters[tensor.id];
        mine.votes = select(tensor), mine.watched = mine.votes || is_heard(tensor);
        std::uint64_t const called = key_of(net_of(tensor.name));
        while (mine.net < seen.net_count && seen.nets[mine.net].name != called) { ++mine.net; }
        if (mine.net == seen.net_count) { seen.nets[seen.net_count++].name = called; }
        return mine.ascending.keep(window);
    }
    [[nodiscard]] constexpr std::uint64_t feature_key(state const&, tensor_info const& tensor) const noexcept {
        return key_of(name, is_after_update(tensor));
    }
    // For a weight pushes the scalar product of its change and the gradient, if there is one. For a gradient pushes
    // that with the gradient before, if the change since then seems to go along that one.
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        bool const is_gradient = it.tensor.role == role::gradient;
        tensor_id const id = is_gradient ? it.tensor.partner : it.tensor.id;
        if (seen.parameters.find(id) == nullptr || !seen.parameters[id].watched) { return; }
        parameter& mine = seen.parameters[id];
        if (!is_gradient && mine.weight.close == seen.close) { return; }  // once a step
        tensor_ref const sample = seen.sampled.take(values);
        bool const kept = is_gradient ? keep_gradient(seen.close, mine, it, values, sample, out)
                                      : keep_weight(seen.close, mine, it, values, sample, out);
        if (!kept) { out.give_up(); }
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (it.step.mode != mode::train || made.empty() || !is_finite(made[0]) || made[0] == 0) { return; }
        bool const is_gradient = it.tensor.role == role::gradient;
        tensor_id const id = is_gradient ? it.tensor.partner : it.tensor.id;
        if (seen.parameters.find(id) == nullptr) { return; }
        parameter& mine = seen.parameters[id];
        if (is_gradient) { return note_next(seen.so_far, mine, made[0] < 0); }
        count(seen.so_far, mine, it, made[0] > 0);
        if (made.size() > 1) { note_next(seen.so_far, mine, made[1] < 0); }
        bool const is_warm = mine.ascending.size() > 0 || mine.changes > warmup;
        if (!is_warm || !mine.votes) { return; }
        mine.ascending.add(made[0] > 0 ? 1 : 0);
        if (!mine.ascending.full()) { return; }
        if (mine.changes >= remembered) { mine.changes /= 2, mine.upwards /= 2, mine.opposed /= 2; }
        double const up = mine.ascending.mean_of(0, mine.ascending.size());
        bool const mostly = 2 * mine.upwards > mine.changes;
        for (votes* const each : {&seen.all, &seen.nets[mine.net].cast}) {
            ++each->judged;
            if (up >= share && mostly && !is_shown_after(mine)) { each->ascending.blame(it, up); }
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        ++seen.close;
        votes const all = std::exchange(seen.all, {});
        violation found = all.most_ascend() ? all.ascending : violation{};
        for (std::size_t i = 0; i < seen.net_count; ++i) {
            votes const one = std::exchange(seen.nets[i].cast, {});
            if (found.count == 0 && one.judged >= 2 && one.most_ascend()) { found = one.ascending; }
        }
        if (found.count > 0) {
            out.push(found.as_finding({"the optimizer ascends", ascends}, "share of changes along the gradient",
                                      relation::greater_equal, share, severity::error));
            return truth::yes;
        }
        testify(seen.so_far, out);
        return all.judged > 0 ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "fewer than `warmup` + `window` changes of a weight with its gradient";
    }

private:
    [[nodiscard]] constexpr bool is_after_update(tensor_info const& tensor) const noexcept {
        return after_update || tensor.instant == instant::after_update;
    }
    // False where memory is exhausted.
    [[nodiscard]] static constexpr bool keep_gradient(std::uint64_t close, parameter& mine, observation const& it,
                                                      tensor_ref const& values, tensor_ref const& sample,
                                                      feature& out) noexcept {
        mine.negated = has(it.tensor.flags, flag::negated);
        copy const& before = mine.gradients[mine.newest];
        if (before.close != close && std::exchange(mine.is_along, false) && before.close != 0 && before.fits(values)) {
            detail::push_product(before, seen_values{sample}, as_size(sample.count), out);
        }
        // The previous one is still needed, unless the weight was observed already.
        bool const in_place = before.close == close || mine.weight.close == close;
        if (!in_place) { mine.newest = 1 - mine.newest; }
        return mine.gradients[mine.newest].keep(values, sample, close, it);
    }
    // With the scalar product, where there is one. False likewise.
    [[nodiscard]] constexpr bool keep_weight(std::uint64_t close, parameter& mine, observation const& it,
                                             tensor_ref const& values, tensor_ref const& sample,
                                             feature& out) const noexcept {
        copy const* const gradient = sample.absent() ? nullptr : maker_of(close, mine, it, values);
        if (gradient == nullptr) { return mine.weight.keep(values, sample, close, it); }
        detail::along_sums along;
        bool const kept = change_along(*gradient, mine.weight, sample, along);
        double const along_it = along.products.fold();
        double const found = mine.negated ? -along_it : along_it;
        bool const finite = along.finite && it.stats.nonfinite() == 0;
        if (finite && is_finite(found)) {
            out.push(found);
            copy const& next = mine.gradients[mine.newest];
            bool const is_known = &next != gradient && next.close == close && next.fits(values);
            mine.is_along = found > 0 && !is_known && !is_after_update(it.tensor);
            if (found > 0 && is_known) { detail::push_product(*gradient, next, as_size(sample.count), out); }
        }
        if (!kept) { return mine.weight.keep(values, sample, close, it); }
        mine.weight.kept(close, it);
        return true;
    }
    // The gradient that made the change of a weight since it was last kept; null where it is not known.
    [[nodiscard]] constexpr copy const* maker_of(std::uint64_t close, parameter const& mine, observation const& it,
                                                 tensor_ref const& values) const noexcept {
        std::uint64_t const made_at = is_after_update(it.tensor) ? close : mine.weight.close;
        if (made_at == 0 || mine.weight.close == 0 || it.step.index <= mine.weight.index) { return nullptr; }
        if (!mine.weight.fits(values)) { return nullptr; }
        for (copy const& gradient : mine.gradients) {
            if (gradient.close == made_at && gradient.fits(values)) { return &gradient; }
        }
        return nullptr;
    }
    [[nodiscard]] constexpr bool is_heard(tensor_info const& tensor) const noexcept {
        return hears_biases && tensor.role == role::bias && select::parameters(tensor);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool climbs(parameter const& it) const noexcept {
        SPOTTER_STRICT_BODY
        double const all = static_cast<double>(it.changes), up = static_cast<double>(it.upwards);
        return it.changes >= 3 && (up >= share * all || (it.changes >= 100 && up >= 0.75 * all)) && !is_shown_after(it);
    }
    // The changes along a gradient were made by the next one. That of the last change may be still to come.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_shown_after(parameter const& it) const noexcept {
        SPOTTER_STRICT_BODY
        return it.opposed > 0 && static_cast<double>(it.opposed + 1) >= share * static_cast<double>(it.upwards);
    }
    constexpr void note_next(climbers& all, parameter& mine, bool is_opposed) const noexcept {
        bool const before = climbs(mine);
        mine.opposed += is_opposed ? 1 : 0;
        all.climb -= before && !climbs(mine) ? 1 : 0;
    }
    constexpr void count(climbers& all, parameter& mine, observation const& it, bool upwards) const noexcept {
        bool const before = climbs(mine);
        ++mine.changes, mine.upwards += upwards ? 1 : 0;
        bool const now = climbs(mine);
        all.judged += mine.changes == 3 ? 1 : 0;
        all.climb += now ? 1 : 0, all.climb -= before ? 1 : 0;
        if (now && !before) { all.first = it.tensor.name; }
    }
    // Pushes the condition where it or the number of climbers changed.
    constexpr void testify(climbers& all, findings& out) const noexcept {
        if (all.judged == 0) { return; }
        condition const now = 2 * all.climb > all.judged ? most_climb : all.climb > 0 ? some_climb : none_climbs;
        bool const as_many = std::exchange(all.testified_climb, all.climb) == all.climb;
        if (std::exchange(all.testified, std::uint8_t{now}) == now && as_many) { return; }
        violation const who{all.first, static_cast<double>(all.climb), static_cast<std::uint32_t>(all.climb)};
        constexpr std::string_view words[] = {"most weights go along their gradients",
                                              "some weights go along their gradients",
                                              "no weight goes along its gradients"};
        relation const how = now == none_climbs ? relation::less : relation::greater_equal;
        out.push(
            who.as_finding({words[now - most_climb], now}, "weights along their gradients", how, 1, severity::error));
    }
    // True where `before` holds the values of `now` afterwards.
    [[nodiscard]] static constexpr bool change_along(copy const& gradient, copy& before, tensor_ref const& now,
                                                     detail::along_sums& into) noexcept {
        if (now.refused != refusal::none || now.type == dtype::none || is_complex(now.type)) { return false; }
        bool const narrow = detail::is_narrow(now.type);
        bool const kept = before.is_narrow == narrow && gradient.is_narrow == narrow;
        if (!kept) {
            detail::change_along_elements(seen_values{now}, before, gradient, as_size(now.count), into);
        } else if (narrow) {
            change_along_all(now, before.narrow.data(), gradient.narrow.data(), into);
        } else {
            change_along_all(now, before.wide.data(), gradient.wide.data(), into);
        }
        return kept;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
