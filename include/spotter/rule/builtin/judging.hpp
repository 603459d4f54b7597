// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the common frame of rules that judge each observation separately.
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// A rule's verdict on one observation, with the measured number.
struct judged_value {
    truth holds = truth::undecided;  // undecided: the observation does not count
    double measured = 0;             // the number in the finding, of the first blamed tensor

    constexpr judged_value() noexcept = default;
    constexpr judged_value(double value, bool is_so) noexcept : holds{truth_of(is_so)}, measured{value} {}
    constexpr judged_value(measurement const& value, bool is_so) noexcept
        : holds{value.known ? truth_of(is_so) : truth::undecided}, measured{value.value} {}
};

// A rule that judges observations one by one and blames the first tensor for which it says yes. It is an aggregate of
// parameters like any rule (machine.hpp). In place of a state, `declare`, `observe` and `close` it has
//     static constexpr terms watched;                    what it needs of selected tensors (`select`); or `needs`
//     constexpr judged_value judge(observation const& it) const;     or a derived type with more evidence
//     constexpr finding tell(violation const& who) const;  or (who, first), with what `judge` returned of that tensor
// and optionally
//     struct kept { ... };                               for each tensor, the first argument of `judge`. The frame
//                                                        passes the step to a once_a_step
//     struct scratch { ... };                            for all tensors, the second argument of `judge`
//     constexpr bool prepare([kept&,] [scratch&,] tensor_info const&) const;   allocates; false: no memory
//     std::uint64_t patience;                            a parameter: so many yes in a row, by tensor and mode; unless
//     static constexpr bool counts_patience = true;      its patience means something else and the rule counts itself
//     static constexpr mode judged_in;                   observations in other modes are not judged
//     static constexpr std::string_view not_finite;      a reason: elements that are not finite are an error at once
//     static constexpr bool softens = true;              a warning becomes a note once training has settled
//     constexpr void testify(scratch&, findings&) const; asked at a close with a no: evidence that is no finding
//     constexpr std::string_view silence() const;        why it decided nothing though tensors matched
// The type that `judge` returns may have
//     void join(Said const& later);                      asked of the first blamed one for each later one; or
//     bool outranks(Said const& first) const;            it takes the place of the first blamed one
//     bool needs_majority() const;                       asked of the first blamed one: yes only if more than half of
//                                                        the decided ones say yes
// One that reads values has `feature_key` and `extract([kept&, | scratch&,] it, values, out)`; `judge` takes the
// feature as its last argument.
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

// The part that does not depend on the rule's type: compiled once for all.
struct judging_book {
    std::uint64_t close = 1;
    std::uint32_t decided_on = 0;  // observations of this step
    violation found, not_finite;
    settled_context settled;

    // Returns whether this is the first tensor to be blamed.
    SPOTTER_COLD constexpr bool blame(observation const& it, double measured) noexcept {
        bool const first = found.count == 0;
        found.blame(it, measured);
        return first;
    }
    constexpr truth take(violation& who, bool by_majority) noexcept {
        ++close;
        std::uint32_t const judged = std::exchange(decided_on, 0);
        if (found.count == 0) { return judged > 0 ? truth::no : truth::undecided; }  // the usual case: nothing to reset
        who = std::exchange(found, {});
        if (by_majority && std::uint64_t{2} * who.count <= judged) { who = {}; }
        return who.count > 0 ? truth::yes : judged > 0 ? truth::no : truth::undecided;
    }
};

}  // namespace detail

// The rule within its frame: a leaf, which machine<> runs.
template <judging_rule Rule>
struct judged_rule : Rule {
    // The rule's state for each tensor; empty where it keeps none.
    using kept_type = typename detail::kept_by<Rule>::type;
    using scratch_type = typename detail::scratch_of<Rule>::type;  // the rule's memory for all tensors; empty where it
                                                                   // keeps none
    // What `judge` returns: a judged_value or a type derived from it.
    using said_type =
        decltype(detail::ask(std::declval<Rule const&>(), std::declval<kept_type&>(), std::declval<scratch_type&>(),
                             std::declval<observation const&>(), std::span<double const>{}));
    // The frame counts `patience`.
    static constexpr bool patient = requires(Rule const& it) { it.patience; } && !requires { Rule::counts_patience; };
    // The loss is watched too, and a warning may become a note.
    static constexpr bool softens = requires { Rule::softens; };
    static constexpr bool reads_values = requires { &Rule::extract; };  // `judge` takes a feature

    struct entry {                               // of one tensor
        [[no_unique_address]] kept_type kept{};  // the rule's own state
        // The number of yes in a row.
        [[no_unique_address]] std::conditional_t<patient, detail::streak, detail::nothing_kept> row{};
        bool watched = false;
    };
    struct state {
        slot_array<entry> all;  // by tensor id
        detail::judging_book book;
        said_type first{};  // of the blamed tensor
        [[no_unique_address]] scratch_type scratch{};
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        if constexpr (requires { Rule::needs(tensor); }) {
            return Rule::needs(tensor);
        } else {
            return this->select(tensor) ? Rule::watched : stats_mask::none;
        }
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept
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
        if constexpr (requires { one.outranks(seen.first); }) {
            if (seen.book.found.count > 0 && one.outranks(seen.first)) { seen.book.found = {}; }
        }
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
        violation who;
        bool majority = false;
        if constexpr (requires { seen.first.needs_majority(); }) { majority = seen.first.needs_majority(); }
        truth const answer = seen.book.take(who, majority);
        if constexpr (requires { Rule::not_finite; }) {
            if (seen.book.not_finite.count > 0) {
                violation const bad = std::exchange(seen.book.not_finite, {});
                out.push(bad.as_not_finite(Rule::not_finite));
                return truth::yes;
            }
        }
        if (answer == truth::yes) { out.push(make_finding(seen, who, at)); }
        if constexpr (requires { Rule::testify(seen.scratch, out); }) {
            if (answer == truth::no) { Rule::testify(seen.scratch, out); }
        }
        return answer;
    }

private:
    [[nodiscard]] SPOTTER_COLD constexpr finding make_finding(state const& seen, violation const& who,
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
