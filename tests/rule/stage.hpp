// SPDX-License-Identifier: Apache-2.0
// A source of events for one rule, small enough to run in a static_assert: named values in, answers and findings out.
#pragma once

#include <spotter/core/feature_list.hpp>
#include <spotter/core/tensor_access.hpp>
#include <spotter/plan/policy.hpp>
#include <spotter/rule/adapt.hpp>
#include <spotter/rule/quantify.hpp>
#include <spotter/rules.hpp>
#include <spotter/stat/delta.hpp>
#include <spotter/stat/summarize.hpp>
#include <spotter/stat/units.hpp>

#include <tests/true_as_printed.hpp>

#include <algorithm>
#include <vector>

namespace stage {

using namespace spotter;

inline float const nan_f = std::bit_cast<float>(0x7FC00000U);
inline float const pos_infinity_f = std::bit_cast<float>(0x7F800000U);
inline float const neg_infinity_f = std::bit_cast<float>(0xFF800000U);

inline constexpr std::size_t most_tensors = 8;
inline constexpr std::size_t most_values = 1024;  // of a tensor whose units or changes are needed

// What one rule extracts, by observation. Played back, as a record without values would be, it has no values.
struct feature_log {
    struct one {
        std::uint64_t key;
        std::vector<double> numbers;
    };
    std::vector<std::vector<one>> kept{};
    bool playing = false;

    [[nodiscard]] bool empty() const {
        return std::all_of(kept.begin(), kept.end(), [](auto const& each) { return each.empty(); });
    }
    // Around an observation of the rule.
    [[nodiscard]] feature_list* begin() {
        list_.clear();
        if (!playing) { return &list_; }
        static constexpr auto no_values = []() noexcept { return tensor_ref{}; };
        list_.play_back(no_values);
        for (one const& each : kept[next_]) { (void)list_.add(each.key, each.numbers); }
        ++next_;
        return &list_;
    }
    void end() {
        if (playing) { return; }
        kept.emplace_back();
        list_.hand_on([&](std::uint64_t key, std::span<double const> numbers) {
            kept.back().push_back({key, {numbers.begin(), numbers.end()}});
        });
    }

private:
    feature_list list_{};
    std::size_t next_ = 0;
};

// Runs `Rule` as a hook would: guesses roles and partners from names, and takes the terms that the rule asks for. A
// list of n values has shape {1, n}. Names must outlive the run.
template <rule Rule>
class run {
public:
    constexpr explicit run(Rule const& rule) : machine_{rule} {}

    // May be called again for a name, with more known about it.
    constexpr void declare(tensor_info info) {
        tensor& it = find(info.name);
        info.id = it.info.id;
        it.info = info;
        tensor* const partner = bind_partner(it);
        it.needs = machine_.declare(it.info);
        if (partner != nullptr) { partner->needs = machine_.declare(partner->info); }  // it knows more now
    }
    constexpr void see(step_id at, std::string_view name, tensor_ref const& values) {
        tensor& it = find(name);
        if (it.info.type == dtype::none) { declare(guessed(name, values)); }
        summary stats = summarize(values, it.needs.mask);
        if (has(it.needs.mask, stats_mask::change)) { compare(it, at, values, stats); }
        std::array<std::uint32_t, most_values> active{}, finite{};
        unit_activity units;
        if (has(it.needs.mask, stats_mask::unit_activity)) {
            count_active(values, it.needs.unit_axis, active.data(), finite.data());
            auto const count = static_cast<std::size_t>(unit_count(values.shape, it.needs.unit_axis));
            units = {{active.data(), count}, {finite.data(), count}};
        }
        if (!any(it.needs.mask)) { return; }
        feature_list* const features = log != nullptr ? log->begin() : nullptr;
        tensor_ref const view = log != nullptr && log->playing ? tensor_ref{} : values;
        machine_.observe({it.info, at, stats, view, units, nullptr, features, stream});
        if (log != nullptr) { log->end(); }
    }
    constexpr void see(step_id at, std::string_view name, std::initializer_list<float> values) {
        see(at, name, view_of(values.begin(), {1, values.size()}));
    }
    constexpr void see(step_id at, std::string_view name, std::vector<float> const& values, extents const& shape) {
        see(at, name, view_of(values.data(), shape));
    }
    constexpr truth close(step_id at) {
        found.clear();
        truth const answer = machine_.close(at, found);
        if (!std::is_constant_evaluated()) { spotter_test::check_as_printed(found); }
        return answer;
    }
    // One tensor, one close.
    constexpr truth step(step_id at, std::string_view name, std::initializer_list<float> values) {
        see(at, name, values);
        return close(at);
    }
    [[nodiscard]] constexpr coverage covered() const {
        coverage out;
        machine_.report([&](coverage const& each) { out = each; });
        return out;
    }
    [[nodiscard]] constexpr stats_mask needs(std::string_view name) { return find(name).needs.mask; }
    [[nodiscard]] constexpr machine<Rule>& inside() { return machine_; }

    findings found;              // of the last close
    feature_log* log = nullptr;  // where features are kept, or played back from
    std::uint32_t stream = 0;    // of what is seen next

private:
    struct tensor {
        tensor_info info{};
        tensor_needs needs{};
        std::array<float, 64> previous[mode_count]{};
        std::uint64_t previous_index[mode_count]{};
        bool has_previous[mode_count]{};
    };

    constexpr tensor& find(std::string_view name) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (tensors_[i].info.name == name) { return tensors_[i]; }
        }
        tensors_[count_].info.name = name;
        tensors_[count_].info.id = static_cast<tensor_id>(count_);
        return tensors_[count_++];
    }
    // Ties a gradient and what it is the gradient of, once both are declared.
    constexpr tensor* bind_partner(tensor& fresh) {
        for (std::size_t i = 0; i < count_; ++i) {
            tensor& other = tensors_[i];
            bool const leads = gradient_of(other.info.name) == fresh.info.name;
            bool const follows = gradient_of(fresh.info.name) == other.info.name;
            if (other.info.type == dtype::none || (!leads && !follows)) { continue; }
            tensor& gradient = leads ? other : fresh;
            gradient.info.partner_role = (leads ? fresh : other).info.role;
            fresh.info.partner = other.info.id;
            other.info.partner = fresh.info.id;
            return &other;
        }
        return nullptr;
    }
    static constexpr tensor_info guessed(std::string_view name, tensor_ref const& values) {
        tensor_info info;
        info.name = name;
        info.role = guess_role(name);
        info.partner_role = guess_role(gradient_of(name));
        info.type = values.type;
        info.shape = values.shape;
        return info;
    }
    static constexpr void compare(tensor& it, step_id at, tensor_ref const& values, summary& stats) {
        std::size_t const m = index_of(at.mode);
        stats.has |= stats_mask::change;
        if (it.has_previous[m]) {
            compare_with_previous(values, view_of(it.previous[m].data(), values.shape), it.previous_index[m], stats);
        }
        for (std::size_t i = 0; i < values.count; ++i) { it.previous[m][i] = values.values.f32[i]; }
        it.previous_index[m] = at.index;
        it.has_previous[m] = true;
    }

    machine<Rule> machine_;
    std::array<tensor, most_tensors> tensors_{};
    std::size_t count_ = 0;
};

// The indices at which the rule said yes, of `steps` train steps that `observe(run, step)` fills.
template <rule Rule, class Observe>
std::vector<std::uint64_t> fired(Rule const& rule, std::uint64_t steps, Observe observe) {
    run<Rule> it{rule};
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; i < steps; ++i) {
        observe(it, train(i));
        if (it.close(train(i)) == truth::yes) { out.push_back(i); }
    }
    return out;
}
// The same with one tensor of constant values.
template <rule Rule>
std::vector<std::uint64_t> fired(Rule const& rule, std::uint64_t steps, std::string_view name,
                                 std::initializer_list<float> values) {
    return fired(rule, steps, [&](auto& it, step_id at) { it.see(at, name, values); });
}

// Each rule in a constant expression: a tensor that it watches, with values, and twice a close.
template <rule Rule>
constexpr bool runs(Rule const& rule, std::string_view name) {
    run it{rule};
    (void)it.step(train(0), name, {1, 2});
    return it.step(train(1), name, {2, 4}) != truth::yes && it.covered().matched == 1;
}

using indices = std::vector<std::uint64_t>;

}  // namespace stage
