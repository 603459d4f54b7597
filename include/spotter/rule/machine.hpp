// SPDX-License-Identifier: Apache-2.0
// Rule (L2): the definition of a rule, and the machine that runs one: the rule's value with its state.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/event.hpp>
#include <spotter/core/feature_list.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/rule/leaf_book.hpp>

#include <bit>
#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

template <class Left, class Right>
struct both_rules;
template <class Left, class Right>
struct either_rule;
template <class Inner>
struct not_rule;

// A rule's `kind`, which provides `&&`, `||` and `!` of rules.
struct rule_kind {
    template <class Left, class Right>
    using both = both_rules<Left, Right>;  // `a && b`
    template <class Left, class Right>
    using either = either_rule<Left, Right>;  // `a || b`
    template <class Inner>
    using negated = not_rule<Inner>;  // `!a`
};

// A value that finds faults: a leaf, a composite or an adapted rule.
template <class Value>
concept rule = expression<Value> && std::same_as<typename Value::kind, rule_kind>;

// The numbers that a rule extracts from a tensor's values, in the rule's own order. Its memory only grows.
class feature {
public:
    // Where memory is exhausted the feature is given up.
    constexpr void push(double value) noexcept {
        if (values_.grow(count_ + 1)) {
            values_[count_++] = value;
        } else {
            give_up();
        }
    }
    // For lack of memory the rule does not see this observation; its coverage reports that.
    constexpr void give_up() noexcept { complete_ = false; }
    [[nodiscard]] constexpr bool complete() const noexcept { return complete_; }  // nothing was given up since `clear`
    // Of the values from `first` on, keeps every `step`-th.
    constexpr void thin(std::size_t first, std::size_t step) noexcept {
        std::size_t kept = first;
        for (std::size_t i = first; i < count_; i += step) { values_[kept++] = values_[i]; }
        count_ = kept < count_ ? kept : count_;
    }
    constexpr void cut(std::size_t size) noexcept { count_ = size < count_ ? size : count_; }  // drops what follows
    [[nodiscard]] constexpr double& operator[](std::size_t index) noexcept { return values_[index]; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
    constexpr void clear() noexcept { count_ = 0, complete_ = true; }
    // Valid until the feature grows or is destroyed.
    [[nodiscard]] constexpr std::span<double const> all() const noexcept { return {values_.data(), count_}; }

private:
    slot_array<double> values_;
    std::size_t count_ = 0;
    bool complete_ = true;
};

// A rule written by hand, built-in ones included: an aggregate of parameters with
//     using kind = rule_kind;
//     static constexpr std::string_view name, remedy;             remedy is optional
//     struct state { ... };                                       the machine that runs the rule default-constructs it
//     constexpr terms needs(tensor_info const&) const;            stats_mask::none: this tensor is not watched
//     constexpr void observe(state&, observation const&) const;   only tensors that are watched
//     constexpr truth close(state&, step_id, findings&) const;    once a step; pushes a finding when it answers yes.
//                                                                 What it pushes with another answer is not reported:
//                                                                 only the diagnosis of a pack reads it, as evidence
// and optionally
//     constexpr terms context(tensor_info const&) const;          tensors that it reads but does not judge (a loss, for
//                                                                 a baseline)
//     constexpr bool declare(state&, tensor_info const&) const;   may allocate in the state's slots; may return void.
//                                                                 False: no memory for the tensor. It is then not
//                                                                 watched, and the coverage says so
//     constexpr bool short_of_memory(state const&) const;         it lacked memory later and did not judge everything
//     constexpr pattern_fault malformed() const;                  the malformed pattern; empty: none
//     constexpr int unit_axis;                                    a parameter, with stats_mask::unit_activity
//     std::string_view silence(state const&) const;               why nothing was judged though tensors matched
//     static constexpr bool reads_times = true;                   it reads `time/step`: if the loop does not observe
//                                                                 it, the hook measures it
//     static constexpr mode judged_in;                            the only mode whose observations it judges
//     constexpr truth poll(state&, double const& now) const;      called before and after every close, with the time in
//                                                                 seconds. `close` reports what poll found; what poll
//                                                                 returns is only for direct callers
//     constexpr std::string_view gap(tensor_info const&) const;   why it cannot judge a tensor that it should; or empty
// A rule that reads values has, in place of that `observe`,
//     constexpr std::uint64_t feature_key() const;          identifies what it extracts, parameters included (key_of)
//     constexpr void extract(state&, observation const&, tensor_ref const& values, feature& out) const;
//     constexpr void observe(state&, observation const&, std::span<double const> feature) const;
// and returns stats_mask::feature among its needs. The record keeps what `extract` wrote; a replay passes it to
// `observe` without calling `extract`. For watched tensors without stats_mask::feature the span is empty. Nothing is
// extracted in modes other than `judged_in`, or where
//     constexpr bool looks(state const&, observation const&) const;
// is false. If the extraction depends on the tensor, the key is
//     constexpr std::uint64_t feature_key(state const&, tensor_info const&) const;
// A rule whose `extract` uses earlier observations from its state declares
//     static constexpr bool extracts_from_memory = true;
// A call that throws switches the rule off and is reported; the loop goes on. Several machines may run the same value.
template <class Value>
concept extracting_rule = requires(Value const& it, typename Value::state& state, observation const& seen,
                                   tensor_ref const& values, feature& out, std::span<double const> made) {
    requires requires {
        { it.feature_key() } -> std::same_as<std::uint64_t>;
    } || requires {
        { it.feature_key(state, seen.tensor) } -> std::same_as<std::uint64_t>;
    };
    it.extract(state, seen, values, out);
    it.observe(state, seen, made);
};
// A rule with the members above: neither a composite nor adapted.
template <class Value>
concept leaf_rule = rule<Value> && requires(Value const& it, typename Value::state& state, tensor_info const& tensor,
                                            observation const& seen, findings& out) {
    { Value::name } -> std::convertible_to<std::string_view>;
    requires std::default_initializable<typename Value::state>;
    { it.needs(tensor) } -> std::same_as<stats_mask>;
    requires extracting_rule<Value> || requires { it.observe(state, seen); };
    { it.close(state, step_id{}, out) } -> std::same_as<truth>;
};

// The key of a feature: its name, and the numbers that decide what is extracted.
template <class... Numbers>
[[nodiscard]] constexpr std::uint64_t key_of(std::string_view name, Numbers... numbers) noexcept {
    std::uint64_t key = 0xCBF29CE484222325U;  // FNV-1a, 64 bits
    auto const mix = [&](std::uint64_t next) { key = (key ^ next) * 0x100000001B3U; };
    for (char const each : name) { mix(static_cast<unsigned char>(each)); }
    [[maybe_unused]] auto const mix_number = [&](double number) {
        auto const bits = std::bit_cast<std::uint64_t>(number);
        for (int shift = 0; shift < 64; shift += 8) { mix(bits >> shift & 0xFF); }
    };
    (mix_number(static_cast<double>(numbers)), ...);
    return key;
}

// A number for everything that a rule which extracts from memory has observed. A recorded feature is usable only if it
// was extracted with equal memory. The same rule under different adaptors has different numbers. Each has the same
// number in the loop and in a replay.
class seen_so_far {
public:
    constexpr bool declare(tensor_info const& tensor) noexcept {
        if (!names_.grow(tensor.id + std::size_t{1})) { return false; }
        names_[tensor.id] = key_of(tensor.name);
        return true;
    }
    constexpr void observe(observation const& it) noexcept { mix(names_[it.tensor.id]); }
    // The number does not change within a step, so that keys compress.
    constexpr void close(step_id step) noexcept {
        mix(index_of(step.mode)), mix(step.index);
        before_ = now_;
    }
    // The number of all closed steps; equal for equal histories.
    [[nodiscard]] constexpr std::uint64_t number() const noexcept { return before_; }

    bool behind = false;  // a feature came from the record, so the rule's own memory lacks that observation

private:
    constexpr void mix(std::uint64_t word) noexcept {
        now_ = (now_ ^ word) * 0x9E3779B97F4A7C15U;
        now_ ^= now_ >> 29;
    }
    slot_array<std::uint64_t> names_;  // hash of the name, by tensor id: ids differ between a loop and a replay
    std::uint64_t now_ = 0, before_ = 0;
};

// Runs one rule over the events of one source. Composites and adaptors have machines of their own (compound.hpp,
// adapt.hpp). If the type is no rule, its instantiation names the member that is wrong (wrong_member.hpp).
template <class Rule>
class machine;

namespace detail {
template <class Rule>
struct right_choices;
}

template <leaf_rule Rule>
class machine<Rule> {
    static_assert(sizeof(detail::right_choices<Rule>) > 0);

public:
    constexpr explicit machine(Rule const& rule) noexcept : rule_{rule} {}

    // May allocate. Called when a tensor is declared, and again when more becomes known about it.
    SPOTTER_COLD constexpr tensor_needs declare(tensor_info const& tensor) {
        if (has(tensor.flags, flag::unasked) && !reads_times) { return {}; }
        tensor_needs needs{rule_.needs(tensor), default_axis};
        bool const judged = any(needs.mask);
        if constexpr (requires { rule_.gap(tensor); }) { book_.fill_gap(rule_.gap(tensor)); }
        if (!judged && tensor.shape.rank == 1 && tensor.shape.size[0] > 1) {  // would it be judged as a matrix?
            tensor_info matrix = tensor;
            matrix.shape = extents{1, tensor.shape.size[0]};
            if (any(rule_.needs(matrix))) { book_.be_flat(); }
        }
        if constexpr (requires { rule_.context(tensor); }) { needs.mask |= rule_.context(tensor); }
        if constexpr (requires { rule_.unit_axis; }) { needs.unit_axis = rule_.unit_axis; }
        if (!book_.admit(tensor, needs)) { return needs; }
        bool const kept = !any(needs.mask) || declare_to_rule(tensor);
        return book_.enter(tensor.id, judged, kept, needs);
    }

    // Only for tensors that the rule watches.
    constexpr void observe(observation const& it) {
        if constexpr (remembers) { memory_.observe(it); }
        if (!has_context || (book_.mark_of(it.tensor.id) & detail::leaf_book::is_judged) != 0) {
            book_.met(it.step.mode);
        }
        if constexpr (extracting_rule<Rule>) {
            if ((book_.mark_of(it.tensor.id) & detail::leaf_book::by_feature) != 0 && looks(it)) {
                observe_feature(it);
            } else {
                rule_.observe(state_, it, std::span<double const>{});
            }
        } else {
            rule_.observe(state_, it);
        }
    }

    constexpr truth close(step_id step, findings& out) {
        std::size_t const first = out.size();
        truth const answer = rule_.close(state_, step, out);
        if constexpr (remembers) { memory_.close(step); }
        if (out.size() > first) { book_.sign(out, first, step, rule_id_of<Rule>, Rule::name, remedy()); }
        book_.close(answer);
        return answer;
    }

    [[nodiscard]] constexpr bool due(step_id) const noexcept { return true; }

    static constexpr bool reads_times = requires { requires Rule::reads_times; };
    // Whether the rule needs the time.
    static constexpr bool polls =
        requires(Rule const& it, typename Rule::state& state, double const& now) { it.poll(state, now); };
    constexpr void poll([[maybe_unused]] double const& now) {
        if constexpr (polls) { (void)rule_.poll(state_, now); }
    }

    // Calls `use(coverage)` for each leaf.
    template <class Use>
    constexpr void report(Use&& use) const {
        use(covered());
    }

    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        if constexpr (requires { rule_.malformed(); }) {
            return rule_.malformed();
        } else if constexpr (requires { rule_.select.malformed(); }) {
            return rule_.select.malformed();
        } else {
            return {};
        }
    }
    // The rule with its parameters; lives with the machine.
    [[nodiscard]] constexpr Rule const& rule() const noexcept { return rule_; }

private:
    static constexpr bool has_context = requires(Rule const& it, tensor_info const& tensor) { it.context(tensor); };
    static constexpr bool remembers = requires { requires Rule::extracts_from_memory; };
    struct nothing {};

    // False where memory for the tensor is lacking.
    [[nodiscard]] constexpr bool declare_to_rule([[maybe_unused]] tensor_info const& tensor) {
        if constexpr (remembers) {
            if (!memory_.declare(tensor)) { return false; }
        }
        if constexpr (requires {
                          { rule_.declare(state_, tensor) } -> std::same_as<bool>;
                      }) {
            return rule_.declare(state_, tensor);
        } else if constexpr (requires { rule_.declare(state_, tensor); }) {
            rule_.declare(state_, tensor);
        }
        return true;
    }

    [[nodiscard]] constexpr std::uint64_t key(tensor_info const& tensor) const noexcept {
        std::uint64_t found = 0;
        if constexpr (requires { rule_.feature_key(state_, tensor); }) {
            found = rule_.feature_key(state_, tensor);
        } else {
            found = rule_.feature_key();
        }
        if constexpr (remembers) { found ^= memory_.number(); }
        return found;
    }
    [[nodiscard]] constexpr bool looks([[maybe_unused]] observation const& it) const noexcept {
        if constexpr (requires { Rule::judged_in; }) {
            if (it.step.mode != Rule::judged_in) { return false; }
        }
        if constexpr (requires { rule_.looks(state_, it); }) {
            return rule_.looks(state_, it);
        } else {
            return true;
        }
    }
    // Uses the feature that was extracted before, or else extracts it from the values. Without either the rule does not
    // see the tensor. A rule with a memory extracts whenever it has values, because its memory needs them next time.
    // Once it took a feature from the record, it cannot extract any more.
    constexpr void observe_feature(observation const& it) {
        feature_list* const all = it.features;
        if (all == nullptr) {
            if (!it.view.absent() && extract(it, it.view)) { rule_.observe(state_, it, feature_.all()); }
            return;
        }
        std::uint64_t const place = key(it.tensor);
        std::span<double const> made;
        bool const found = all->find(place, made);
        if (found && !(remembers && all->live())) {
            if constexpr (remembers) { memory_.behind = true; }
            return rule_.observe(state_, it, made);
        }
        tensor_ref const values = all->values(it.view);
        if constexpr (remembers) {
            if (memory_.behind) { return all->lack(); }
        }
        if (values.absent()) { return; }
        if (!extract(it, values)) { return all->lack(); }
        // Other machines may use the feature, unless it came from a memory: their own would lack it in a replay.
        if (!found && (!remembers || all->live())) { all->keep(place, feature_.all()); }
        rule_.observe(state_, it, feature_.all());
    }
    // False where memory is lacking.
    constexpr bool extract(observation const& it, tensor_ref const& values) {
        feature_.clear();
        rule_.extract(state_, it, values, feature_);
        if (feature_.complete()) { return true; }
        (void)book_.lack();
        return false;
    }

    [[nodiscard]] static constexpr std::string_view remedy() noexcept {
        if constexpr (requires { Rule::remedy; }) {
            return Rule::remedy;
        } else {
            return {};
        }
    }
    [[nodiscard]] SPOTTER_COLD constexpr coverage covered() const {
        mode const* where = nullptr;
        if constexpr (requires { Rule::judged_in; }) { where = &Rule::judged_in; }
        std::string_view why = "matched, but nothing could be decided";
        if constexpr (requires { rule_.silence(state_); }) { why = rule_.silence(state_); }
        bool lacking = false;
        if constexpr (requires { rule_.short_of_memory(state_); }) { lacking = rule_.short_of_memory(state_); }
        return book_.covered(Rule::name, where, why, lacking);
    }

    Rule rule_;
    typename Rule::state state_{};
    detail::leaf_book book_;
    // The one being extracted.
    [[no_unique_address]] std::conditional_t<extracting_rule<Rule>, feature, nothing> feature_;
    [[no_unique_address]] std::conditional_t<remembers, seen_so_far, nothing> memory_;
};

template <class Rule>
machine(Rule) -> machine<Rule>;

// The first violating tensor of a step, and the number of violating ones: the evidence of most rules. A tensor that is
// observed several times in a row counts once.
struct violation {
    std::string_view tensor{};   // the first one
    double measured = 0;         // the value of the first one
    std::uint32_t count = 0;     // violating tensors
    tensor_id last = no_tensor;  // the latest one, so that it counts once

    SPOTTER_COLD constexpr void blame(observation const& it, double value) noexcept {
        if (std::exchange(last, it.tensor.id) != it.tensor.id) { blame(it.tensor.name, value); }
    }
    // For callers without an observation at hand; they must pass each tensor once.
    SPOTTER_COLD constexpr void blame(std::string_view name, double value) noexcept {
        if (count++ == 0) {
            tensor = name;
            measured = value;
        }
    }
    // The first tensor, with the number of further ones in `others`; the machine adds the rule and the step.
    [[nodiscard]] constexpr finding as_finding(std::string_view measure, relation how, double threshold,
                                               severity level) const noexcept {
        finding found;
        found.tensor = tensor;
        found.measure = measure;
        found.measured = measured;
        found.threshold = threshold;
        found.how = how;
        found.severity = level;
        found.others = count > 0 ? count - 1 : 0;
        return found;
    }
    [[nodiscard]] SPOTTER_COLD constexpr finding as_finding(why_found why, std::string_view measure, relation how,
                                                            double threshold,
                                                            severity level = severity::warning) const noexcept {
        finding found = as_finding(measure, how, threshold, level);
        found.give(why);
        return found;
    }
    // Pushes a finding if a tensor violates; returns whether one does.
    SPOTTER_COLD constexpr bool tell(findings& out, why_found why, std::string_view measure, relation how,
                                     double threshold, severity level = severity::warning) const noexcept {
        if (count > 0) { out.push(as_finding(why, measure, how, threshold, level)); }
        return count > 0;
    }
    // An error that requests to skip the update.
    [[nodiscard]] SPOTTER_COLD constexpr finding
    as_not_finite(why_found why, std::string_view measure = "non-finite elements") const noexcept {
        finding found = as_finding(measure, relation::greater, 0, spotter::severity::error);
        found.give(why);
        found.decision = decision::skip_update;
        found.decision_is_set = true;
        found.tells_non_finite = true;
        return found;
    }
};
using culprit [[deprecated("culprit is violation since 0.2")]] = violation;

}  // namespace spotter::inline SPOTTER_ABI

#include <spotter/rule/wrong_member.hpp>
