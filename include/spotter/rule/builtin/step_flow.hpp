// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): which of a step's tensors is made of which, as far as roles, names and the order of observing
// tell.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

[[nodiscard]] constexpr bool is_digit(char each) noexcept { return each >= '0' && each <= '9'; }

// Which of two names has the smaller number at the first place where they differ: below 0, above 0, or 0 where numbers
// do not tell.
[[nodiscard]] constexpr int compare_numbers(std::string_view a, std::string_view b) noexcept {
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) { ++at; }
    while (at > 0 && is_digit(a[at - 1])) { --at; }
    auto const number = [at](std::string_view name) {
        std::size_t first = at;
        while (first < name.size() && name[first] == '0') { ++first; }
        std::size_t end = first;
        while (end < name.size() && is_digit(name[end])) { ++end; }
        return end == at ? std::string_view{} : name.substr(first, end - first);
    };
    if (at >= a.size() || at >= b.size() || !is_digit(a[at]) || !is_digit(b[at])) { return 0; }
    std::string_view const left = number(a), right = number(b);
    if (left.size() != right.size()) { return left.size() < right.size() ? -1 : 1; }
    return left.compare(right);
}

// A name without what says its role: `act/fc1`, `pre/fc1` and `fc1_output` are of the layer `fc1`.
[[nodiscard]] constexpr std::string_view layer_of(std::string_view name) noexcept {
    for (std::string_view const prefix : {"grad/", "grads/", "gradient/", "grad for ", "pre/", "act/", "relu/"}) {
        if (name.starts_with(prefix)) {
            name.remove_prefix(prefix.size());
            break;
        }
    }
    for (std::string_view const suffix : {".grad", "_input", "_output"}) {
        if (name.ends_with(suffix)) {
            name.remove_suffix(suffix.size());
            break;
        }
    }
    return name;
}

// In which stretch of a step a tensor has its values: sources first, then forward, loss, backward. What nobody knows
// the role of is taken to be computed forward, and what is only reported comes last.
enum class stretch : std::uint8_t { data, parameters, optimizer, forward, predictions, loss, backward, reports };
[[nodiscard]] constexpr stretch stretch_of(role what) noexcept {
    switch (what) {
        case role::input:
        case role::label:
        case role::hyperparameter:
            return stretch::data;
        case role::weight:
        case role::bias:
            return stretch::parameters;
        case role::optimizer:
            return stretch::optimizer;
        case role::preactivation:
        case role::activation:
        case role::other:
            return stretch::forward;
        case role::prediction:
            return stretch::predictions;
        case role::loss:
            return stretch::loss;
        case role::gradient:
            return stretch::backward;
        default:
            return stretch::reports;
    }
}

}  // namespace detail

// The tensors that a rule has met, and those of the step at hand. Within a stretch of the step layers go by the numbers
// in their names, and where these do not tell by the order in which tensors were first met; whether that is forward or
// backward is told by the names that have numbers, of gradients else by the order of their weights. Nothing depends on
// the order of observing within a step but the place of tensors without a role.
template <class Kept>
class step_flow {
public:
    struct entry {  // one tensor
        std::string_view name{};
        spotter::role role = spotter::role::other;  // says in which stretch of a step it is
        tensor_id partner = no_tensor;              // of a gradient its weight
        std::uint64_t met = 0;                      // in which place it was first observed, from 1 on
        std::uint64_t close = 0;                    // at which it was observed last
        std::uint64_t order = 0;                    // among the observations of that step
        Kept kept{};                                // of that step
    };

    // False where memory is exhausted.
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        std::size_t const room = tensor.id + std::size_t{1};
        if (!all_.grow(room) || !sequence_.grow(room)) { return false; }
        entry& mine = all_[tensor.id];
        mine.name = tensor.name, mine.role = tensor.role, mine.partner = tensor.partner;
        return true;
    }
    // What is kept of a tensor at this step: fresh at its first observation.
    constexpr Kept& see(tensor_id id) noexcept {
        entry& mine = all_[id];
        ++observed_;
        if (mine.close != close_) { mine.close = close_, mine.order = observed_, mine.kept = {}; }
        if (mine.met == 0) {
            sequence_[met_++] = id;
            mine.met = met_;
        }
        return mine.kept;
    }
    // That tensor, where it was observed in this step.
    [[nodiscard]] constexpr entry const* now(tensor_id id) const noexcept {
        return all_.holds(id) && all_[id].close == close_ ? &all_[id] : nullptr;
    }
    [[nodiscard]] constexpr bool saw_something() const noexcept { return observed_ > 0; }  // since the last close
    constexpr void next_close() noexcept { ++close_, observed_ = 0; }                      // the step at hand is over

    // Of the tensors of this step for which `is_meant(kept)` the one that comes first in the flow; null where there is
    // none.
    template <class Meant>
    [[nodiscard]] constexpr entry const* first(Meant&& is_meant) const noexcept {
        directions const going = look();
        entry const* best = nullptr;
        each_now([&](entry const& it) {
            if (it.role == role::other || !is_meant(it.kept)) { return; }
            if (best == nullptr || before(it, *best, going)) { best = &it; }
        });
        // Of a tensor without a role only the order of observing is known.
        each_now([&](entry const& it) {
            if (it.role != role::other || !is_meant(it.kept)) { return; }
            bool const source = best != nullptr && detail::stretch_of(best->role) < detail::stretch::forward;
            if (best == nullptr || (!source && it.order < best->order)) { best = &it; }
        });
        return best;
    }
    // Whether something was observed in this step that comes before that tensor.
    [[nodiscard]] constexpr bool anything_before(entry const& that) const noexcept {
        directions const going = look();
        bool found = false;
        each_now([&](entry const& it) {
            bool const by_order = it.role == role::other || that.role == role::other;
            found = found || (by_order ? it.order < that.order : before(it, that, going));
        });
        return found;
    }

private:
    // Whether tensors were first met in the order of the layers (1) or against it (-1).
    struct directions {
        int parameters = 1, forward = 1, backward = -1;
    };

    template <class Use>
    constexpr void each_now(Use&& use) const noexcept {
        for (std::size_t i = 0; i < met_; ++i) {
            entry const& it = all_[sequence_[i]];
            if (it.close == close_) { use(it); }
        }
    }
    [[nodiscard]] constexpr directions look() const noexcept {
        struct count {
            entry const* last = nullptr;
            int sum = 0;
            constexpr void take(entry const& it) noexcept {
                int const told = last == nullptr
                                     ? 0
                                     : detail::compare_numbers(detail::layer_of(last->name), detail::layer_of(it.name));
                sum += told < 0 ? 1 : told > 0 ? -1 : 0;
                last = &it;
            }
        };
        count parameters, forward, backward;
        entry const* last = nullptr;  // a weight, of the gradient before
        int along_weights = 0;
        for (std::size_t i = 0; i < met_; ++i) {
            entry const& it = all_[sequence_[i]];
            detail::stretch const where = detail::stretch_of(it.role);
            if (where == detail::stretch::parameters) { parameters.take(it); }
            if (where == detail::stretch::forward && it.role != role::other) { forward.take(it); }
            if (where != detail::stretch::backward) { continue; }
            backward.take(it);
            if (!all_.holds(it.partner) || all_[it.partner].role != role::weight) { continue; }
            entry const& weight = all_[it.partner];
            if (weight.met == 0) { continue; }
            if (last != nullptr) { along_weights += last->met < weight.met ? 1 : -1; }
            last = &weight;
        }
        directions going;
        going.parameters = parameters.sum < 0 ? -1 : 1;
        going.forward = forward.sum < 0 ? -1 : 1;
        int const told = backward.sum != 0 ? backward.sum : along_weights * going.parameters;
        going.backward = told > 0 ? 1 : -1;
        return going;
    }
    [[nodiscard]] static constexpr bool before(entry const& a, entry const& b, directions going) noexcept {
        detail::stretch const where = detail::stretch_of(a.role);
        if (where != detail::stretch_of(b.role)) { return where < detail::stretch_of(b.role); }
        bool const met_first = a.met < b.met;
        int direction = 1;  // of two that differ in nothing else
        switch (where) {
            case detail::stretch::parameters:
                direction = going.parameters;
                break;
            case detail::stretch::forward:
                direction = going.forward;
                break;
            case detail::stretch::backward:
                direction = -going.backward;  // the last layer's gradient is the first
                break;
            default:
                return met_first;
        }
        std::string_view const layer_a = detail::layer_of(a.name), layer_b = detail::layer_of(b.name);
        int const told = detail::compare_numbers(layer_a, layer_b);
        if (told != 0) { return (told < 0) == (where != detail::stretch::backward); }
        if (layer_a == layer_b && a.role != b.role) { return a.role == role::preactivation; }
        return met_first == (direction > 0) && a.met != b.met;
    }

    slot_array<entry> all_;           // by tensor id
    slot_array<tensor_id> sequence_;  // in the order of their first observation
    std::size_t met_ = 0;
    std::uint64_t close_ = 1, observed_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
