// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the order in which a step computes its tensors, inferred from roles, names and the order of
// observation.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

[[nodiscard]] constexpr bool is_digit(char each) noexcept { return each >= '0' && each <= '9'; }

// The digits that a name begins with, without leading zeros.
[[nodiscard]] constexpr std::string_view number_in_front(std::string_view name) noexcept {
    while (name.starts_with('0')) { name.remove_prefix(1); }
    std::size_t end = 0;
    while (end < name.size() && is_digit(name[end])) { ++end; }
    return name.substr(0, end);
}
// Compares the numbers in two names at the first difference: below 0 or above 0, or 0 where numbers do not decide.
[[nodiscard]] constexpr int compare_numbers(std::string_view a, std::string_view b) noexcept {
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) { ++at; }
    while (at > 0 && is_digit(a[at - 1])) { --at; }
    a.remove_prefix(at), b.remove_prefix(at);
    if (a.empty() || b.empty() || !is_digit(a[0]) || !is_digit(b[0])) { return 0; }
    std::string_view const left = number_in_front(a), right = number_in_front(b);
    if (left.size() != right.size()) { return left.size() < right.size() ? -1 : 1; }
    return left.compare(right);
}

// A name without the part that marks its role: `act/fc1`, `pre/fc1` and `fc1_output` belong to the layer `fc1`.
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

// The stretch of a step in which a tensor gets its values: sources first, then forward, loss, backward. A tensor of
// unknown role counts as computed forward. Values that are only reported come last.
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

// All tensors that a rule has observed, and those of the current step. Within a stretch, layers are ordered by the
// numbers in their names, else by the order in which tensors were first observed. The names with numbers show whether
// that order is forward or backward; for gradients without numbers the order of their weights does. The order of
// observation within a step only matters for tensors without a role.
template <class Kept>
class step_flow {
public:
    struct entry {  // one tensor
        std::string_view name{};
        spotter::role role = spotter::role::other;  // decides on the stretch
        tensor_id partner = no_tensor;              // of a gradient: its weight
        std::uint64_t met = 0;                      // order of its first observation, from 1 on
        std::uint64_t close = 0;                    // of its last observation
        std::uint64_t order = 0;                    // order among that step's observations
        Kept kept{};                                // state for that step
    };

    // False where memory is exhausted.
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        std::size_t const room = tensor.id + std::size_t{1};
        if (!all_.grow(room) || !sequence_.grow(room)) { return false; }
        entry& mine = all_[tensor.id];
        mine.name = tensor.name, mine.role = tensor.role, mine.partner = tensor.partner;
        return true;
    }
    // The state of a tensor for this step: fresh at its first observation.
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
    // The tensor's entry; null if it was not observed in this step.
    [[nodiscard]] constexpr entry const* now(tensor_id id) const noexcept {
        return all_.holds(id) && all_[id].close == close_ ? &all_[id] : nullptr;
    }
    [[nodiscard]] constexpr bool saw_something() const noexcept { return observed_ > 0; }  // since the last close
    constexpr void next_close() noexcept { ++close_, observed_ = 0; }                      // ends the current step

    // The tensor of this step that comes first in the flow, among those with `is_meant(kept)`; null if there is none.
    template <class Meant>
    [[nodiscard]] SPOTTER_COLD constexpr entry const* first(Meant&& is_meant) const noexcept {
        directions const going = look();
        entry const* best = nullptr;
        each_now([&](entry const& it) {
            if (it.role == role::other || !is_meant(it.kept)) { return; }
            if (best == nullptr || before(it, *best, going)) { best = &it; }
        });
        // For a tensor without a role only the order of observation is known.
        each_now([&](entry const& it) {
            if (it.role != role::other || !is_meant(it.kept)) { return; }
            bool const source = best != nullptr && detail::stretch_of(best->role) < detail::stretch::forward;
            if (best == nullptr || (!source && it.order < best->order)) { best = &it; }
        });
        return best;
    }
    // Whether this step observed something that comes before that tensor.
    [[nodiscard]] SPOTTER_COLD constexpr bool anything_before(entry const& that) const noexcept {
        directions const going = look();
        bool found = false;
        each_now([&](entry const& it) {
            bool const by_order = it.role == role::other || that.role == role::other;
            found = found || (by_order ? it.order < that.order : before(it, that, going));
        });
        return found;
    }

private:
    // Whether tensors were first observed in the order of layers (1) or in reverse (-1).
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
    // Of neighbours in a row: how many more rise than fall.
    struct row {
        entry const* last = nullptr;
        int sum = 0;
        template <class Compare>
        constexpr void add(entry const& it, Compare&& compare) noexcept {
            int const compared = last != nullptr ? compare(*last, it) : 0;
            sum += compared < 0 ? 1 : compared > 0 ? -1 : 0;
            last = &it;
        }
    };
    // The weight that a gradient is of; null where it was not met.
    [[nodiscard]] constexpr entry const* weight_of(entry const& gradient) const noexcept {
        if (!all_.holds(gradient.partner)) { return nullptr; }
        entry const& it = all_[gradient.partner];
        return it.role == role::weight && it.met != 0 ? &it : nullptr;
    }
    [[nodiscard]] SPOTTER_COLD constexpr directions look() const noexcept {
        using namespace detail;
        auto const by_number = [](entry const& one, entry const& other) {
            return compare_numbers(layer_of(one.name), layer_of(other.name));
        };
        auto const by_meeting = [](entry const& one, entry const& other) { return one.met < other.met ? -1 : 1; };
        row parameters, forward, backward, weights;  // the last: in the order of their gradients
        for (std::size_t i = 0; i < met_; ++i) {
            entry const& it = all_[sequence_[i]];
            stretch const where = stretch_of(it.role);
            if (where == stretch::parameters) { parameters.add(it, by_number); }
            if (where == stretch::forward && it.role != role::other) { forward.add(it, by_number); }
            if (where != stretch::backward) { continue; }
            backward.add(it, by_number);
            if (entry const* const of = weight_of(it); of != nullptr) { weights.add(*of, by_meeting); }
        }
        auto const sign_of = [](int total, int none) { return total > 0 ? 1 : total < 0 ? -1 : none; };
        directions going;
        going.parameters = sign_of(parameters.sum, 1);
        going.forward = sign_of(forward.sum, 1);
        going.backward = sign_of(backward.sum, sign_of(weights.sum * going.parameters, -1));
        return going;
    }
    [[nodiscard]] SPOTTER_COLD static constexpr bool before(entry const& a, entry const& b, directions going) noexcept {
        detail::stretch const where = detail::stretch_of(a.role);
        if (where != detail::stretch_of(b.role)) { return where < detail::stretch_of(b.role); }
        bool const met_first = a.met < b.met;
        int direction = 1;  // for two that nothing else distinguishes
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
        int const compared = detail::compare_numbers(layer_a, layer_b);
        if (compared != 0) { return (compared < 0) == (where != detail::stretch::backward); }
        if (layer_a == layer_b && a.role != b.role) { return a.role == role::preactivation; }
        return met_first == (direction > 0) && a.met != b.met;
    }

    slot_array<entry> all_;           // by tensor id
    slot_array<tensor_id> sequence_;  // in the order of their first observation
    std::size_t met_ = 0;
    std::uint64_t close_ = 1, observed_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
