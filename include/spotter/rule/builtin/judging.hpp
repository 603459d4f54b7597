// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the skeleton of a rule that judges each observation for itself, and what such rules share.
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a rule says of one observation, and by which number.
struct judged_value {
    truth holds = truth::undecided;  // undecided: it does not count
    double measured = 0;             // what the finding tells, of the first that is blamed

    constexpr judged_value() noexcept = default;
    constexpr judged_value(double value, bool is_so) noexcept : holds{truth_of(is_so)}, measured{value} {}
    constexpr judged_value(measurement const& value, bool is_so) noexcept
        : holds{value.known ? truth_of(is_so) : truth::undecided}, measured{value.value} {}
};

// A rule that judges observations one by one and blames the first tensor of which it says yes. It is an aggregate of
// parameters like any rule (machine.hpp), and in place of a state, `declare`, `observe` and `close` it has
//     static constexpr terms watched;                  what it needs of the tensors that `select` selects; or `needs`
//     constexpr judged_value judge(observation const& it) const;          or a type derived from that, with more
//     evidence in it constexpr finding tell(culprit const& who) const;                   or (who, first): what `judge`
//     returned of that tensor
// and optionally
//     struct kept { ... };                             of each tensor; `judge` takes it first. A once_a_step is told
//     the step struct scratch { ... };                          of all of them; `judge` takes it second constexpr bool
//     prepare([kept&,] [scratch&,] tensor_info const&) const;    takes memory; false where there is none std::uint64_t
//     patience;                          a parameter: yes of so many in a row of a tensor and mode; where there is
//     static constexpr bool counts_patience = true;    its patience is something else, and its own to count
//     static constexpr mode judged_in;                 observations in other modes are not judged
//     static constexpr std::string_view not_finite;    a reason: elements that are not finite are an error at once
//     static constexpr bool softens = true;            a warning is info once training has settled
//     static constexpr bool by_majority = true;        yes where it says so of more than half of those that it decided
//     constexpr std::string_view silence() const;      why it decided nothing though tensors matched
// One that reads values has `feature_key`, `extract([kept&, | scratch&,] it, values, out)`, and `judge` takes the
// feature last.
template <class Value>
concept judging_rule = rule<Value> && requires { &Value::judge; } && !requires { typename Value::state; };

namespace detail {

struct nothing_kept {};

template <class Rule>
struct kept_by {
    using type = nothing_kept;
};
template <class Rule>
    requires requires { typename Rule::kept; }
struct kept_by<Rule> {
    using type = typename Rule::kept;
};
template <class Rule>
struct scratch_of {
    using type = nothing_kept;
};
template <class Rule>
    requires requires { typename Rule::scratch; }
struct scratch_of<Rule> {
    using type = typename Rule::scratch;
};

template <class Rule, class Kept, class Scratch>
[[nodiscard]] constexpr auto ask(Rule const& it, [[maybe_unused]] Kept& kept, [[maybe_unused]] Scratch& scratch,
                                 observation const& seen, [[maybe_unused]] std::span<double const> made) noexcept {
    if constexpr (requires { it.judge(kept, scratch, seen, made); }) {
        return it.judge(kept, scratch, seen, made);
    } else if constexpr (requires { it.judge(kept, scratch, seen); }) {
        return it.judge(kept, scratch, seen);
    } else if constexpr (requires { it.judge(kept, seen, made); }) {
        return it.judge(kept, seen, made);
    } else if constexpr (requires { it.judge(kept, seen); }) {
        return it.judge(kept, seen);
    } else if constexpr (requires { it.judge(seen, made); }) {
        return it.judge(seen, made);
    } else {
        return it.judge(seen);
    }
}

// What is the same whatever the rule: compiled once for all of them.
struct judging_book {
    std::uint64_t close = 1;
    std::uint32_t decided_on = 0;  // observations of this step
    culprit found, not_finite;
    settled_context settled;

    // Whether that is the first to be blamed.
    SPOTTER_COLD constexpr bool blame(observation const& it, double measured) noexcept {
        bool const first = found.count == 0;
        found.blame(it, measured);
        return first;
    }
    constexpr truth take(culprit& who, bool by_majority) noexcept {
        ++close;
        std::uint32_t const judged = std::exchange(decided_on, 0);
        if (found.count == 0) { return judged > 0 ? truth::no : truth::undecided; }  // mostly, and nothing to move
        who = std::exchange(found, {});
        if (by_majority && std::uint64_t{2} * who.count <= judged) { who = {}; }
        return who.count > 0 ? truth::yes : judged > 0 ? truth::no : truth::undecided;
    }
};

}  // namespace detail

// The rule with what the skeleton adds: a leaf, whose machine is that of the rule.
template <judging_rule Rule>
struct judged_rule : Rule {
    // What is kept of each tensor; empty where the rule keeps nothing.
    using kept_type = typename detail::kept_by<Rule>::type;
    using scratch_type = typename detail::scratch_of<Rule>::type;  // what is kept of all of them; empty likewise
    // What `judge` returns: a judged_value, or what is derived from it.
    using said_type =
        decltype(detail::ask(std::declval<Rule const&>(), std::declval<kept_type&>(), std::declval<scratch_type&>(),
                             std::declval<observation const&>(), std::span<double const>{}));
    // It counts `patience` here.
    static constexpr bool patient = requires(Rule const& it) { it.patience; } && !requires { Rule::counts_patience; };
    // The loss is watched, too, and a warning may become info.
    static constexpr bool softens = requires { Rule::softens; };
    static constexpr bool reads_values = requires { &Rule::extract; };  // `judge` takes a feature

    struct entry {                               // of one tensor
        [[no_unique_address]] kept_type kept{};  // the rule's own
        // How often in a row it held.
        [[no_unique_address]] std::conditional_t<patient, detail::streak, detail::nothing_kept> row{};
        bool watched = false;
    };
    struct state {
        slot_array<entry> all;  // by tensor id
        detail::judging_book book;
        said_type first{};  // of the tensor that is blamed
        [[no_unique_address]] scratch_type scratch{};
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        if constexpr (requires { Rule::needs(tensor); }) {
            return Rule::needs(tensor);
        } else {
            return this->select(tensor) ? Rule::watched : terms::none;
        }
    }
    [[nodiscard]] constexpr terms context(tensor_info const& tensor) const noexcept
        requires softens
    {
        return settled_context::needs(tensor);
    }
    [[nodiscard]] constexpr bool declare(state& seen, [[maybe_unused]] tensor_info const& tensor) const noexcept {
        if (!seen.all.grow(tensor.id + std::size_t{1})) { return false; }
        entry& mine = seen.all[tensor.id];
        mine.watched = any(needs(tensor));
        if constexpr (requires { Rule::prepare(mine.kept, seen.scratch, tensor); }) {
            return !mine.watched || Rule::prepare(mine.kept, seen.scratch, tensor);
        } else if constexpr (requires { Rule::prepare(mine.kept, tensor); }) {
            return !mine.watched || Rule::prepare(mine.kept, tensor);
        } else if constexpr (requires { Rule::prepare(seen.scratch, tensor); }) {
            return !mine.watched || Rule::prepare(seen.scratch, tensor);
        }
        return true;
    }
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept
        requires reads_values
    {
        if constexpr (requires { Rule::extract(it, values, out); }) {
            Rule::extract(it, values, out);
        } else if constexpr (requires { Rule::extract(seen.scratch, it, values, out); }) {
            Rule::extract(seen.scratch, it, values, out);
        } else if (seen.all.holds(it.tensor.id)) {
            entry& mine = seen.all[it.tensor.id];
            if constexpr (requires { mine.kept.now; }) { mine.kept.now = seen.book.close; }
            Rule::extract(mine.kept, it, values, out);
        }
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if constexpr (softens) { seen.book.settled.observe(it); }
        if constexpr (requires { Rule::judged_in; }) {
            if (it.step.mode != Rule::judged_in) { return; }
        }
        if (!seen.all.holds(it.tensor.id) || !seen.all[it.tensor.id].watched) { return; }
        entry& mine = seen.all[it.tensor.id];
        if constexpr (requires { Rule::not_finite; }) {
            if (it.stats.nonfinite() > 0) { seen.book.not_finite.blame(it, static_cast<double>(it.stats.nonfinite())); }
        }
        if constexpr (requires { mine.kept.now; }) { mine.kept.now = seen.book.close; }
        said_type const one = detail::ask(static_cast<Rule const&>(*this), mine.kept, seen.scratch, it, made);
        seen.book.decided_on += decided(one.holds) ? 1U : 0U;
        bool holds = one.holds == truth::yes;
        if constexpr (patient) {
            holds = mine.row.count(it.step.mode, seen.book.close, one.holds) >= this->patience && holds;
        }
        if (!holds) { return; }
        if (seen.book.blame(it, one.measured)) {
            seen.first = one;
        } else if constexpr (requires { seen.first.join(one); }) {
            seen.first.join(one);
        }
    }
    constexpr void observe(state& seen, observation const& it) const noexcept
        requires(!reads_values)
    {
        observe(seen, it, {});
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept
        requires requires(Rule const& it) { it.silence(); }
    {
        return Rule::silence();
    }
    constexpr truth close(state& seen, step_id at, findings& out) const noexcept {
        culprit who;
        truth const answer = seen.book.take(who, requires { Rule::by_majority; });
        if constexpr (requires { Rule::not_finite; }) {
            if (seen.book.not_finite.count > 0) {
                culprit const bad = std::exchange(seen.book.not_finite, {});
                out.push(bad.as_not_finite(Rule::not_finite));
                return truth::yes;
            }
        }
        if (answer == truth::yes) { out.push(told(seen, who, at)); }
        return answer;
    }

private:
    [[nodiscard]] SPOTTER_COLD constexpr finding told(state const& seen, culprit const& who,
                                                      [[maybe_unused]] step_id at) const noexcept {
        finding it;
        if constexpr (requires { Rule::tell(who, seen.first, at); }) {
            it = Rule::tell(who, seen.first, at);
        } else if constexpr (requires { Rule::tell(who, seen.first); }) {
            it = Rule::tell(who, seen.first);
        } else {
            it = Rule::tell(who);
        }
        if constexpr (softens) { it.severity = seen.book.settled.soften(it.severity); }
        return it;
    }
};

template <judging_rule Rule>
class machine<Rule> : public machine<judged_rule<Rule>> {
public:
    constexpr explicit machine(Rule const& rule) noexcept : machine<judged_rule<Rule>>{judged_rule<Rule>{rule}} {}
};

}  // namespace spotter::inline SPOTTER_ABI
