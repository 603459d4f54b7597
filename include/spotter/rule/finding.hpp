// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a rule's finding with its evidence, and the alarm that closing a step returns.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/text.hpp>
#include <spotter/rule/list.hpp>
#include <spotter/stat/predicate.hpp>

#include <new>
#include <string_view>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// How severe a finding is. note: no alarm; warning: an alarm; error: an alarm that requests a stop. `info` is an older
// name of `note`.
enum class severity : std::uint8_t { note = 0, warning = 1, error = 2, info = note };

// What a finding requests of the loop, mildest first: apply the update, skip it, end the run.
enum class decision : std::uint8_t { proceed = 0, skip_update = 1, stop = 2 };

[[nodiscard]] constexpr std::string_view name_of(severity level) noexcept {
    constexpr std::string_view names[] = {"note", "warning", "error"};
    return names[static_cast<std::size_t>(level)];
}
[[nodiscard]] constexpr std::string_view name_of(decision what) noexcept {
    constexpr std::string_view names[] = {"proceed", "skip_update", "stop"};
    return names[static_cast<std::size_t>(what)];
}

// Which of a rule's conditions holds: in words, and for a rule with several also as a value of its enumeration
// `condition`, which begins at 1.
struct why_found {
    std::string_view text{};     // a literal
    std::uint8_t condition = 0;  // 0: the rule has only one

    template <std::convertible_to<std::string_view> Words>
    constexpr why_found(Words const& words) noexcept : text{words} {}
    template <class Condition>
    constexpr why_found(std::string_view words, Condition which) noexcept
        : text{words}, condition{static_cast<std::uint8_t>(which)} {}
};

using evidence_text = text<240>;

// Evidence of one rule at one step. The views live as long as the rule's literals and the source (hook or trial).
struct finding {
    std::string_view rule{};        // its name, or the one given with `named`
    std::string_view reason{};      // which of the rule's conditions holds
    std::string_view tensor{};      // the first violating tensor, in observation order; empty for a negation
    std::string_view measure{};     // what was measured: "mean_abs", "share of dead units"
    std::string_view remedy{};      // one sentence: what to do
    step_id step{};                 // the step at whose close it was found; for evidence of another mode, that mode's
                                    // last step
    double measured = 0;            // in the unit of `measure`
    double threshold = 0;           // that was exceeded, in the same unit
    relation how = relation::none;  // how `measured` relates to `threshold`
    spotter::severity severity = spotter::severity::warning;  // the rule's own, or set by an adaptor
    spotter::decision decision = spotter::decision::proceed;  // what it requests; valid after response_of was applied
    bool decision_is_set = false;   // set by `on(rule, ...)`; otherwise the decision follows from the severity
    bool tells_non_finite = false;  // it reports values that are not finite
    bool tells_origin = false;      // `tensor` is where values became not finite first
    bool leads = false;             // it names a cause: it comes before all findings of the same or a lower severity
    rule_id id = rule_id::other;    // the rule that found it, whatever its name with `named`; not recorded
    std::uint8_t condition = 0;     // a value of that rule's enumeration `condition`; 0: it has only one
    std::uint32_t others = 0;       // number of further tensors that violate
    std::uint32_t worker = 0;       // the worker that it was found in, where a run has several
    evidence_text detail{};         // more evidence in words

    static constexpr std::size_t most_responses = 4;  // per finding; further ones are left out
    // The numbers of its responses, one for each `on` that the finding passed through, in the order in which they run.
    // Two findings that are merged have the responses of both. 0: no more.
    std::uint16_t responses[most_responses]{};
    // Attributes the finding to that rule, under the rule's name.
    constexpr void attribute_to(rule_id who) noexcept { id = who, rule = name_of(who); }
    constexpr void give(why_found why) noexcept { reason = why.text, condition = why.condition; }  // the reason
    // Turns an alarm into a note; `why` is put first in its detail.
    constexpr void become_note(std::string_view why) noexcept {
        evidence_text words;
        words << why;
        if (!detail.empty()) { words << "; " << detail.view(); }
        detail = words;
        severity = spotter::severity::info;
        decision = spotter::decision::proceed, decision_is_set = true;
        leads = false;
    }
    // Whether that rule found it, by that condition: `is<dead_update_path>(dead_update_path::no_effect)`.
    template <class Rule>
    [[nodiscard]] constexpr bool is(typename Rule::condition which) const noexcept {
        return id == rule_id_of<Rule> && condition == static_cast<std::uint8_t>(which);
    }

    // The number of responses that are set.
    [[nodiscard]] constexpr std::size_t response_count() const noexcept {
        std::size_t count = 0;
        while (count < most_responses && responses[count] != 0) { ++count; }
        return count;
    }
};

// The decision that a finding requests: the one that was set, else the one of its severity.
[[nodiscard]] constexpr decision response_of(finding const& it) noexcept {
    if (it.decision_is_set) { return it.decision; }
    return it.severity == severity::error ? decision::stop : decision::proceed;
}

// Whether `a` is reported before `b`: the more severe first, then the one that names a cause, then the one that
// requests the stronger decision. Otherwise findings keep their order of arrival.
[[nodiscard]] constexpr bool is_reported_before(finding const& a, finding const& b) noexcept {
    if (a.severity != b.severity) { return a.severity > b.severity; }
    if (a.leads != b.leads) { return a.leads; }
    return response_of(a) > response_of(b);
}

class response_desk;  // the services that a hook offers to responses (rule/respond.hpp)

// A response to a reported finding, as the machine of `on(rule, response)` keeps it. Does not throw.
struct response_call {
    // Runs the response; `response` points to its value.
    error (*run)(void const* response, finding const&, response_desk&) noexcept = nullptr;
    void const* response = nullptr;  // the value; lives with its machine
    std::uint16_t number = 0;        // by which findings refer to it; 0 until a finding has requested it
    response_call* next = nullptr;   // the one that was requested before it
};

// Where a rule puts its findings at a close. The owner of the machines keeps one list and clears it. A composite
// truncates what its parts pushed. Where there is no room the strongest findings stay, and among equals the first; the
// list counts the others.
class findings {
public:
    static constexpr std::size_t capacity = 16;  // findings kept of one rule

    // Conditions that hold but are not reported again because an adaptor thins them: whether there are any, and the
    // highest severity among them.
    class unreported {
    public:
        [[nodiscard]] constexpr bool any() const noexcept { return rank_ > 0; }  // there is at least one
        // The highest among them; note where there is none.
        [[nodiscard]] constexpr spotter::severity severity() const noexcept {
            return rank_ > 0 ? static_cast<spotter::severity>(rank_ - 1) : spotter::severity::info;
        }
        // Replaces the previous value.
        constexpr void set(spotter::severity level) noexcept { rank_ = static_cast<std::uint8_t>(level) + 1U; }
        // The more severe of both.
        constexpr void join(unreported other) noexcept { rank_ = other.rank_ > rank_ ? other.rank_ : rank_; }
        constexpr void join(spotter::severity level) noexcept {
            unreported one;
            one.set(level);
            join(one);
        }

    private:
        std::uint8_t rank_ = 0;  // severity + 1; 0: none
    };

    // Findings keep their order of arrival; the weakest is dropped where there is no room.
    constexpr void push(finding const& one) noexcept {
        bool const is_full = count_ == room;
        if (is_full) {
            std::size_t const weakest = weakest_one();
            if (now_.floor == count_ || !is_reported_before(one, list_[weakest])) { return leave_out(one); }
            leave_out(list_[weakest]);
            erase(weakest);
        }
        list_[count_++] = one;
        if (!is_full) { drop_weakest(); }
    }
    // Keeps the first `count` findings. Those that were left out came later, so their count is reset too.
    constexpr void truncate(std::size_t count) noexcept {
        if (count >= count_) { return; }
        count_ = count;
        now_.left_out = 0;
        now_.asked = decision::proceed;
    }
    constexpr void clear() noexcept {
        count_ = 0;
        now_ = {};
    }

    // For a composite: a part whose close follows the closes of other parts. What this part pushes, and may truncate,
    // takes no room from the others' findings until the part leaves. What the others hold without a report is kept
    // separate.
    struct part {
        std::uint32_t floor = 0;             // index of its first finding
        std::uint32_t left_out = 0;          // number of its findings that were left out
        decision asked = decision::proceed;  // the strongest decision that those request
        unreported held{};                   // what this part holds but does not report
    };
    // Begins a part. Pass the returned value to `leave`.
    [[nodiscard]] constexpr part enter() noexcept {
        return std::exchange(now_, part{static_cast<std::uint32_t>(count_)});
    }
    // Ends the part; its findings follow those of the parts before.
    constexpr void leave(part const& before) noexcept {
        now_.floor = before.floor;
        now_.held.join(before.held);
        if (before.left_out > 0) {
            now_.left_out += before.left_out;
            now_.asked = before.asked > now_.asked ? before.asked : now_.asked;
        }
        while (drop_weakest()) {}
    }

    // The findings from `first` on request a response, whose machine must live as long as this list is used. The first
    // 65535 responses get numbers; further ones are left out.
    constexpr void ask_for(response_call& it, std::size_t first) noexcept {
        if (it.number == 0) {
            std::uint32_t const number = responses_ != nullptr ? responses_->number + 1U : 1U;
            if (number > std::uint16_t{0xFFFF}) { return; }
            it.number = static_cast<std::uint16_t>(number);
            it.next = std::exchange(responses_, &it);
        }
        for (std::size_t i = first; i < count_; ++i) {
            std::size_t const before = list_[i].response_count();
            if (before < finding::most_responses) { list_[i].responses[before] = it.number; }
        }
    }
    // Runs the responses that a finding requests, whether it was found now or earlier. Calls `report(error)` once for
    // each response; a success has no error code.
    template <class Report>
    void respond(finding const& found, response_desk& desk, Report&& report) const {
        for (std::uint16_t const number : found.responses) {
            for (response_call const* each = responses_; each != nullptr; each = each->next) {
                if (each->number == number) { report(each->run(each->response, found, desk)); }
            }
        }
    }

    // What the current rule, or the part that closed last, holds but does not report.
    [[nodiscard]] constexpr unreported held() const noexcept { return now_.held; }
    constexpr void hold(unreported it) noexcept { now_.held = it; }  // replaces the previous value
    // The severity of what holds and is not reported again.
    [[nodiscard]] constexpr severity held_back() const noexcept { return now_.held.severity(); }
    // The strongest decision that a left-out finding requests.
    [[nodiscard]] constexpr decision asked_by_left_out() const noexcept { return now_.asked; }

    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }
    // The number of findings without room.
    [[nodiscard]] constexpr std::uint32_t left_out() const noexcept { return now_.left_out; }
    [[nodiscard]] constexpr finding* begin() noexcept { return list_; }
    [[nodiscard]] constexpr finding* end() noexcept { return list_ + count_; }
    [[nodiscard]] constexpr finding const* begin() const noexcept { return list_; }
    [[nodiscard]] constexpr finding const* end() const noexcept { return list_ + count_; }
    [[nodiscard]] constexpr finding& operator[](std::size_t index) noexcept { return list_[index]; }
    [[nodiscard]] constexpr finding const& operator[](std::size_t index) const noexcept { return list_[index]; }

private:
    static constexpr std::size_t room = 2 * capacity;  // includes room for the findings of the current part

    [[nodiscard]] constexpr std::size_t weakest_one() const noexcept {
        std::size_t weakest = count_ - 1;
        for (std::size_t i = weakest; i-- > now_.floor;) {
            weakest = is_reported_before(list_[weakest], list_[i]) ? i : weakest;
        }
        return weakest;
    }
    constexpr void leave_out(finding const& one) noexcept {
        ++now_.left_out;
        now_.asked = response_of(one) > now_.asked ? response_of(one) : now_.asked;
    }
    constexpr void erase(std::size_t place) noexcept {
        --count_;
        for (std::size_t i = place; i < count_; ++i) { list_[i] = list_[i + 1]; }
    }
    // Whether the part had one finding too many.
    constexpr bool drop_weakest() noexcept {
        if (count_ - now_.floor <= capacity) { return false; }
        std::size_t const weakest = weakest_one();
        leave_out(list_[weakest]);
        erase(weakest);
        return true;
    }

    finding list_[room]{};
    std::size_t count_ = 0;
    part now_{};
    response_call* responses_ = nullptr;  // responses requested so far, the latest first
};

// What closing a step returns: up to eight findings, strongest first, by value. Converts to true when one is a warning
// or an error. It allocates nothing, and an alarm without findings costs one counter. Its texts live as long as the
// hook or trial. Responses are not part of it: the hook runs them earlier, while the machines that own them exist.
class [[nodiscard]] step_alarm {
public:
    // Findings that are kept; further ones are only counted.
    static constexpr std::size_t capacity = 8;

    step_alarm() noexcept : nothing_{} {}
    step_alarm(step_alarm const& other) noexcept
        : nothing_{}, count_{0}, left_out_{other.left_out_}, decision_{other.decision_} {
        for (finding const& each : other) { ::new (static_cast<void*>(list_ + count_++)) finding(each); }
    }
    step_alarm& operator=(step_alarm const& other) noexcept {
        if (this != &other) {
            this->~step_alarm();
            ::new (static_cast<void*>(this)) step_alarm(other);
        }
        return *this;
    }
    ~step_alarm() = default;

    // Keeps the eight strongest, strongest first; equals stay in the order of arrival.
    void add(finding const& one) noexcept {
        decision_ = one.decision > decision_ ? one.decision : decision_;
        std::size_t place = count_;
        while (place > 0 && is_reported_before(one, list_[place - 1])) { --place; }
        if (count_ == capacity) { ++left_out_; }
        if (place == capacity) { return; }
        if (count_ < capacity) { ::new (static_cast<void*>(list_ + count_++)) finding{}; }
        for (std::size_t i = count_ - 1; i > place; --i) { list_[i] = list_[i - 1]; }
        list_[place] = one;
        for (std::uint16_t& each : list_[place].responses) { each = 0; }
    }
    void add(findings const& many) noexcept {
        for (finding const& each : many) { add(each); }
        add_left_out(many);
    }
    // Adds only the findings that were left out of `many`: their count and their decision.
    void add_left_out(findings const& many) noexcept {
        left_out_ += many.left_out();
        decision_ = many.asked_by_left_out() > decision_ ? many.asked_by_left_out() : decision_;
    }
    void add(step_alarm const& other) noexcept {
        for (finding const& each : other) { add(each); }
        left_out_ += other.left_out_;
        decision_ = other.decision_ > decision_ ? other.decision_ : decision_;
    }

    [[nodiscard]] explicit operator bool() const noexcept {
        return count_ > 0 && list_[0].severity >= severity::warning;
    }
    // The strongest decision that any finding requests, left out or not; proceed when nothing was found.
    [[nodiscard]] spotter::decision decision() const noexcept { return decision_; }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::uint32_t left_out() const noexcept { return left_out_; }  // findings beyond the eight
    [[nodiscard]] finding const* begin() const noexcept { return list_; }
    [[nodiscard]] finding const* end() const noexcept { return list_ + count_; }
    [[nodiscard]] finding const& operator[](std::size_t index) const noexcept { return list_[index]; }
    [[nodiscard]] finding const& front() const noexcept { return list_[0]; }

private:
    union {
        finding list_[capacity];
        char nothing_;
    };
    std::size_t count_ = 0;
    std::uint32_t left_out_ = 0;
    spotter::decision decision_ = spotter::decision::proceed;
};

}  // namespace spotter::inline SPOTTER_ABI
