// SPDX-License-Identifier: Apache-2.0
// Plan (L2): a plan that is made at run time: from a settings file (ext/json.hpp), or collection by collection.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/plan/plan.hpp>
#include <spotter/plan/run_choices.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// The kind of an expression's node: patterns, then policies, then operators of both.
enum class asked : std::uint8_t {
    glob,
    regex,
    role,
    names,
    always,
    never,
    every,
    from,
    before,
    between,
    at,
    during,
    both,
    either,
    negated
};

// A node of an expression. The plan stores its texts and lists.
struct question {
    asked what = asked::never;            // the kind; it decides what the other members mean
    std::uint32_t left = 0, right = 0;    // operands of both and either; `left` of negated
    std::uint64_t first = 0, second = 0;  // numbers; of texts and lists offset and length; a role; a mode
    std::uint32_t depth = 0;              // nesting depth below the node
};

// How regular expressions are matched, so that this header does not include them.
struct text_matcher {
    pattern_fault (*fault)(std::string_view expression) noexcept;  // the fault; empty if well-formed
    // Whether it matches the tensor's name; false for a malformed one.
    bool (*matches)(std::string_view expression, tensor_info const& tensor) noexcept;
};
// The matcher for a type of expressions, such as `regex`.
template <class Expression>
inline constexpr text_matcher matcher_of{
    [](std::string_view text) noexcept { return malformed_part(Expression{text}); },
    [](std::string_view text, tensor_info const& tensor) noexcept { return Expression{text}(tensor); }};

// Owns its texts: nothing needs to outlive it. A hook takes it like a constant plan; in a step it neither allocates nor
// throws. `every{0}` becomes `never`. Contents are extended by what is recorded anyway (the counts with any statistic,
// the sum with the variance), so that plans that keep the same are equal. If the plan exceeds 64 collections, `deepest`
// or the memory, `whole()` is false; a hook then reports a malformed plan and applies none of it.
class dynamic_plan {
public:
    // The most collections (`plan_like`).
    static constexpr std::size_t limit = 64;
    // The limit for nested `and`, `or` and `not`: each takes a stack frame when it is evaluated.
    static constexpr std::uint32_t deepest = 256;

    // A node, by number.
    struct part {
        std::uint32_t index = 0;  // among all nodes of the plan
    };
    // A collection. Its name is stored in the plan.
    struct entry {
        std::uint64_t name = 0, name_size = 0;  // offset and bytes
        part which{}, when{};                   // the pattern and the policy
        stats_mask what = stats_mask::none;     // what is kept
    };

    dynamic_plan() noexcept = default;
    template <class... Collections>
    explicit dynamic_plan(plan<Collections...> const& constant) noexcept {
        constant.collections.each([&](auto const& it, std::size_t) { add(it); });
    }

    // Patterns that are functions cannot be stored, and do not compile here.
    template <class Pattern, class Policy>
    void add(collection<Pattern, Policy> const& it) noexcept {
        part const which = keep(it.which);
        part const when = keep(it.when);
        add(it.name, which, when, it.what);
    }
    void add(std::string_view name, part which, part when, stats_mask what) noexcept;

    // The calls of a hook (plan_like).
    [[nodiscard]] std::uint64_t due(step_id step) const noexcept;
    // Bit i: the tensor is a member of collection i.
    [[nodiscard]] std::uint64_t members(tensor_info const& tensor) const noexcept;
    // The union of what a set of collections wants.
    [[nodiscard]] stats_mask wanted(std::uint64_t set) const noexcept;
    // The first malformed pattern, or the fault of an incomplete plan; empty: neither.
    [[nodiscard]] pattern_fault malformed() const noexcept;
    // Calls use(collection_info) for each collection, in order.
    template <class Use>
    void list(Use&& use) const noexcept {
        for (std::size_t i = 0; i < size(); ++i) {
            sentence out;
            tell(entries_[i].which, out);
            out << ", ";
            tell(entries_[i].when, out);
            out << ": ";
            describe(entries_[i].what, out);
            use(collection_info{name(i), std::move(out)});
        }
    }
    // Rules run, nothing is written: as options{.dry_run = true}.
    bool dry_run = false;
    // Further options of the run; they take precedence over the hook's options.
    run_choices run{};

    // False if something did not fit.
    [[nodiscard]] bool whole() const noexcept;
    // The reason is an expression deeper than `deepest`.
    [[nodiscard]] bool too_deep() const noexcept { return too_deep_; }
    friend bool operator==(dynamic_plan const& a, dynamic_plan const& b) noexcept {
        if (a.size() != b.size() || a.dry_run != b.dry_run || a.run != b.run || a.whole() != b.whole()) {
            return false;
        }
        for (std::size_t i = 0; i < a.size(); ++i) {
            entry const& left = a.entries_[i];
            entry const& right = b.entries_[i];
            if (a.name(i) != b.name(i) || left.what != right.what || !same(a, left.which, b, right.which) ||
                !same(a, left.when, b, right.when)) {
                return false;
            }
        }
        return true;
    }

    // Adds expressions node by node, operands first.
    [[nodiscard]] part keep(glob const& it) noexcept;
    [[nodiscard]] part keep(of_role const& it) noexcept;
    template <std::size_t Count>
    [[nodiscard]] part keep(names<Count> const& it) noexcept {
        return keep_names(it.list);
    }
    template <pattern Expression>
        requires requires(Expression const& it) { it.well_formed(), Expression{it.pattern}; }
    [[nodiscard]] part keep(Expression const& it) noexcept {
        return keep_regex(it.pattern, matcher_of<Expression>);
    }
    // Adds a regular expression with its matcher; the plan copies the text.
    [[nodiscard]] part keep_regex(std::string_view expression, text_matcher const& how) noexcept;
    // Adds a list of names, which the plan copies.
    [[nodiscard]] part keep_names(std::span<std::string_view const> list) noexcept;

    [[nodiscard]] part keep(always const&) noexcept { return put({asked::always}); }
    [[nodiscard]] part keep(never const&) noexcept { return put({asked::never}); }
    [[nodiscard]] part keep(every const& it) noexcept;
    [[nodiscard]] part keep(from const& it) noexcept { return put({asked::from, 0, 0, it.first, 0}); }
    [[nodiscard]] part keep(before const& it) noexcept { return put({asked::before, 0, 0, it.end, 0}); }
    [[nodiscard]] part keep(between const& it) noexcept { return put({asked::between, 0, 0, it.first, it.end}); }
    [[nodiscard]] part keep(during const& it) noexcept { return put({asked::during, 0, 0, index_of(it.mode), 0}); }
    template <std::size_t Count>
    [[nodiscard]] part keep(at<Count> const& it) noexcept {
        return keep_at(it.indices);
    }
    // Adds a list of indices, which the plan copies.
    [[nodiscard]] part keep_at(std::span<std::uint64_t const> indices) noexcept;
    template <policy Policy>
    [[nodiscard]] part keep(by_default<Policy> const& it) noexcept {
        return keep(it.policy);
    }

    template <class Left, class Right>
    [[nodiscard]] part keep(both_expressions<Left, Right> const& it) noexcept {
        part const left = keep(it.left);
        return join(asked::both, left, keep(it.right));
    }
    template <class Left, class Right>
    [[nodiscard]] part keep(either_expression<Left, Right> const& it) noexcept {
        part const left = keep(it.left);
        return join(asked::either, left, keep(it.right));
    }
    template <class Inner>
    [[nodiscard]] part keep(not_expression<Inner> const& it) noexcept {
        return negate(keep(it.inner));
    }
    // Both or either of two expressions of one kind.
    [[nodiscard]] part join(asked how, part left, part right) noexcept;
    // The negation of an expression.
    [[nodiscard]] part negate(part inner) noexcept;

    // Evaluates an expression, whether it is in a collection or not.
    [[nodiscard]] bool matches(part which, tensor_info const& tensor) const noexcept { return answer(which, tensor); }
    // Likewise for a policy.
    [[nodiscard]] bool admits(part when, step_id step) const noexcept { return answer(when, step); }

    // For writers of a plan. Views are valid until the plan changes.
    [[nodiscard]] std::size_t size() const noexcept { return whole() ? count_ : 0; }
    [[nodiscard]] entry const& operator[](std::size_t i) const noexcept { return entries_[i]; }
    [[nodiscard]] std::string_view name(std::size_t i) const noexcept;
    // A node of an expression.
    [[nodiscard]] question const& at_node(part it) const noexcept { return questions_[it.index]; }
    // The text of a glob or a regular expression.
    [[nodiscard]] std::string_view text(question const& it) const noexcept { return view(it.first, it.second); }
    // The i-th name of a list of names.
    [[nodiscard]] std::string_view name_of_list(question const& it, std::size_t i) const noexcept;
    // The indices of an `at`.
    [[nodiscard]] std::span<std::uint64_t const> indices(question const& it) const noexcept;

private:
    [[nodiscard]] part put_above(question it, std::uint32_t below) noexcept;
    [[nodiscard]] part put(question const& it) noexcept;
    [[nodiscard]] std::uint64_t put(std::string_view letters) noexcept;
    void put(std::uint64_t number) noexcept;
    [[nodiscard]] std::string_view view(std::uint64_t begin, std::uint64_t size) const noexcept;

    template <class Asked>
    [[nodiscard]] bool answer(part at, Asked const& of) const noexcept {
        question const& it = questions_[at.index];
        switch (it.what) {
            case asked::both:
                return answer(part{it.left}, of) && answer(part{it.right}, of);
            case asked::either:
                return answer(part{it.left}, of) || answer(part{it.right}, of);
            case asked::negated:
                return !answer(part{it.left}, of);
            default:
                return leaf(it, of);
        }
    }
    [[nodiscard]] bool leaf(question const& it, step_id step) const noexcept;
    [[nodiscard]] bool leaf(question const& it, tensor_info const& tensor) const noexcept;

    void tell(part at, sentence& out) const noexcept;
    void tell_leaf(question const& it, sentence& out) const noexcept;

    [[nodiscard]] static bool same(dynamic_plan const& a, part at_a, dynamic_plan const& b, part at_b) noexcept;

    slot_array<entry> entries_{};
    slot_array<question> questions_{};
    slot_array<char> letters_{};
    slot_array<std::uint64_t> numbers_{};
    std::size_t count_ = 0, questions_count_ = 0, letters_count_ = 0, numbers_count_ = 0;
    text_matcher const* matcher_ = nullptr;  // for regular expressions
    bool whole_ = true, too_deep_ = false;
};

static_assert(plan_like<dynamic_plan>);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/plan/dynamic_plan.ipp>
#endif
