// SPDX-License-Identifier: Apache-2.0
// Rule (L2): `&&`, `||` and `!` of rules. Both sides see every event, whatever the other answers.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

template <class Left, class Right>
struct both_rules {  // `a && b`: holds where both hold; both see every event
    using kind = rule_kind;
    Left left;    // its finding is the one that is reported
    Right right;  // contributes its severity and response to that finding
};
template <class Left, class Right>
struct either_rule {  // `a || b`: holds where one of them holds; both see every event
    using kind = rule_kind;
    Left left;    // its findings come first
    Right right;  // its findings follow
};
template <class Inner>
struct not_rule {  // `!a`: holds where `a` says no; undecided where `a` is undecided
    using kind = rule_kind;
    Inner inner;  // its own findings are not reported
};

namespace detail {

// Closes one of several parts that push into one list. Findings that a part pushes with an answer other than yes are
// removed.
template <class Part>
constexpr truth close_beside(Part& part, step_id step, findings& out) {
    findings::part const others = out.enter();
    std::size_t const start = out.size();
    truth const answer = part.close(step, out);
    if (answer != truth::yes) { out.truncate(start); }
    out.leave(others);
    return answer;
}

// What the parts of a machine need of a tensor: the union of their needs, and which parts watch it.
class needs_of_parts {
public:
    constexpr void add(tensor_needs needs, tensor_info const& tensor) noexcept {
        if (!joined_.agrees(needs, tensor)) { needs.mask = stats_mask::none; }  // units are counted along one axis
        joined_.join(needs);
        watching_ |= std::uint64_t{any(needs.mask)} << count_++;
    }
    // The needs of the whole machine. `watching`, by tensor id, has at least one bit for each part.
    template <class Bits>
    [[nodiscard]] constexpr tensor_needs note(slot_array<Bits>& watching, tensor_id id) const noexcept {
        if (watching_ == 0 && !watching.holds(id)) { return joined_; }
        if (!watching.grow(id + std::size_t{1})) { return tensor_needs::without_memory(); }
        watching[id] = static_cast<Bits>(watching_);
        return joined_;
    }

private:
    tensor_needs joined_{};
    std::uint64_t watching_ = 0;
    std::size_t count_ = 0;
};

// Two machines side by side: the common part of `&&` and `||`.
template <class Left, class Right>
class two_machines {
public:
    constexpr two_machines(Left const& left, Right const& right) noexcept : left_{left}, right_{right} {}

    constexpr tensor_needs declare(tensor_info const& tensor) {
        needs_of_parts both;
        both.add(left_.declare(tensor), tensor);
        both.add(right_.declare(tensor), tensor);
        return both.note(watching_, tensor.id);
    }
    constexpr void observe(observation const& it) {
        int const watching = watching_[it.tensor.id];
        if ((watching & 1) != 0) { left_.observe(it); }
        if ((watching & 2) != 0) { right_.observe(it); }
    }
    [[nodiscard]] constexpr bool due(step_id step) const { return left_.due(step) || right_.due(step); }
    static constexpr bool polls = machine<Left>::polls || machine<Right>::polls;
    static constexpr bool reads_times = machine<Left>::reads_times || machine<Right>::reads_times;
    constexpr void poll(double const& now) {
        left_.poll(now);
        right_.poll(now);
    }
    template <class Use>
    constexpr void report(Use&& use) const {
        left_.report(use);
        right_.report(use);
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        pattern_fault const left = left_.malformed();
        return left.empty() ? pattern_fault{right_.malformed()} : left;
    }

protected:
    machine<Left> left_;
    machine<Right> right_;

private:
    slot_array<std::uint8_t> watching_;  // by tensor id: bit 0 for the left machine, bit 1 for the right one
};

}  // namespace detail

// Yes when both say yes. Reports the left one's finding, or the right one's where the left has none (a negation). The
// finding has the larger severity of the two and the stronger response.
template <class Left, class Right>
class machine<both_rules<Left, Right>> : public detail::two_machines<Left, Right> {
public:
    constexpr explicit machine(both_rules<Left, Right> const& rule) noexcept
        : detail::two_machines<Left, Right>{rule.left, rule.right} {}

    constexpr truth close(step_id step, findings& out) {
        std::size_t const start = out.size();
        truth const answer_left = this->left_.close(step, out);
        std::size_t const middle = out.size();
        findings::part const of_left = out.enter();
        truth const answer_right = this->right_.close(step, out);
        findings::unreported const held_left = of_left.held, held_right = out.held();
        truth const answer = conjunction(answer_left, answer_right);
        for (std::size_t i = start + 1; i < out.size(); ++i) { weigh(out[start], out[i]); }
        bool const left_holds = answer_left == truth::yes || held_left.any();
        bool const right_holds = answer_right == truth::yes || held_right.any();
        findings::unreported held;
        if (left_holds && right_holds) {
            held.join(held_left);
            held.join(held_right);
            if (answer != truth::yes && out.size() > start) { held.join(out[start].severity); }
        }
        // Where the left one has findings, the right one's only add severity and response to them.
        out.truncate(middle > start ? middle : start + 1);
        out.leave(of_left);
        if (answer != truth::yes) { out.truncate(start); }
        out.hold(held);
        return answer;
    }

private:
    static constexpr void weigh(finding& into, finding const& other) noexcept {
        bool const is_set = into.decision_is_set || other.decision_is_set;
        if (is_set && response_of(other) > response_of(into)) {
            into.decision = response_of(other);
            into.decision_is_set = true;
        }
        if (other.severity > into.severity) { into.severity = other.severity; }
    }
};

// Yes when either says yes; the findings of both.
template <class Left, class Right>
class machine<either_rule<Left, Right>> : public detail::two_machines<Left, Right> {
public:
    constexpr explicit machine(either_rule<Left, Right> const& rule) noexcept
        : detail::two_machines<Left, Right>{rule.left, rule.right} {}

    constexpr truth close(step_id step, findings& out) {
        truth const answer_left = detail::close_beside(this->left_, step, out);
        truth const answer_right = detail::close_beside(this->right_, step, out);
        return disjunction(answer_left, answer_right);
    }
};

// Yes when the inner rule says no; its finding names no tensor.
template <class Inner>
class machine<not_rule<Inner>> {
public:
    constexpr explicit machine(not_rule<Inner> const& rule) noexcept : inner_{rule.inner} {}

    constexpr tensor_needs declare(tensor_info const& tensor) { return inner_.declare(tensor); }
    constexpr void observe(observation const& it) { inner_.observe(it); }
    constexpr truth close(step_id step, findings& out) {
        std::size_t const start = out.size();
        truth const answer = negation(inner_.close(step, out));
        out.truncate(start);
        out.hold({});  // where the inner rule holds, this one does not
        if (answer == truth::yes) {
            finding found;
            found.rule = "not";
            found.reason = "the negated rule does not hold";
            found.step = step;
            out.push(found);
        }
        return answer;
    }
    [[nodiscard]] constexpr bool due(step_id step) const { return inner_.due(step); }
    static constexpr bool polls = machine<Inner>::polls, reads_times = machine<Inner>::reads_times;
    constexpr void poll(double const& now) { inner_.poll(now); }
    template <class Use>
    constexpr void report(Use&& use) const {
        inner_.report(use);
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return inner_.malformed(); }

private:
    machine<Inner> inner_;
};

}  // namespace spotter::inline SPOTTER_ABI
