// SPDX-License-Identifier: Apache-2.0
// Plan (L2): a plan made while the program runs: from a settings file (ext/json.hpp), or collection by collection.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/plan/plan.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// What one node of an expression asks. Patterns first, then policies, then what joins either kind.
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

// A node of an expression. Its texts and lists lie in the plan.
struct question {
    asked what = asked::never;
    std::uint32_t left = 0, right = 0;    // of both and either; `left` of negated
    std::uint64_t first = 0, second = 0;  // numbers; of texts and lists the offset and the length; the role; the mode
    std::uint32_t depth = 0;              // how many more stand below it, one in another
};

// How regular expressions are understood, so that this header needs none.
struct text_matcher {
    pattern_fault (*fault)(std::string_view expression) noexcept;
    bool (*matches)(std::string_view expression, tensor_info const& tensor) noexcept;
};
template <class Expression>
inline constexpr text_matcher matcher_of{
    [](std::string_view text) noexcept { return malformed_part(Expression{text}); },
    [](std::string_view text, tensor_info const& tensor) noexcept { return Expression{text}(tensor); }};

// Owns its texts: nothing needs to outlive it. Taken by a hook like a constant plan; in a step it neither allocates nor throws.
// `every{0}` becomes `never`, and contents are completed to what is recorded anyway (the counts beside any statistic, the sum
// beside the variance), so that two plans that keep the same are equal. What does not fit, 64 collections, `deepest` or the memory,
// is told by `whole()` and by a hook as a malformed plan, of which nothing is applied.
class dynamic_plan {
public:
    static constexpr std::size_t limit = 64;
    // How many `and`, `or` and `not` may stand one in another: each takes a frame of the stack where it is asked.
    static constexpr std::uint32_t deepest = 256;

    // A node, by its number.
    struct part {
        std::uint32_t index = 0;
    };
    struct entry {
        std::uint64_t name = 0, name_size = 0;
        part which{}, when{};
        terms what = terms::none;
    };

    dynamic_plan() noexcept = default;
    template <class... Collections>
    explicit dynamic_plan(plan<Collections...> const& constant) noexcept {
        constant.collections.each([&](auto const& it, std::size_t) { add(it); });
    }

    // Patterns that are functions are not data, and do not compile here.
    template <class Pattern, class Policy>
    void add(collection<Pattern, Policy> const& it) noexcept {
        part const which = keep(it.which);
        part const when = keep(it.when);
        add(it.name, which, when, it.what);
    }
    void add(std::string_view name, part which, part when, terms what) noexcept {
        if (count_ == limit || !entries_.grow(count_ + 1)) {
            whole_ = false;
            return;
        }
        if (any(what & (pass_terms | terms::delta))) { what |= terms::nonfinite; }
        if (has(what, terms::variance)) { what |= terms::sum; }
        entries_[count_++] = {put(name), name.size(), which, when, what};
    }

    // What a hook asks (plan_like).
    [[nodiscard]] std::uint64_t due(step_id step) const noexcept {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < size(); ++i) { bits |= std::uint64_t{answer(entries_[i].when, step)} << i; }
        return bits;
    }
    [[nodiscard]] std::uint64_t members(tensor_info const& tensor) const noexcept {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < size(); ++i) { bits |= std::uint64_t{answer(entries_[i].which, tensor)} << i; }
        return bits;
    }
    [[nodiscard]] terms wanted(std::uint64_t set) const noexcept {
        terms all = terms::none;
        for (std::size_t i = 0; i < size(); ++i) {
            if ((set >> i & 1) != 0) { all = detail::together(all, entries_[i].what); }
        }
        return all;
    }
    [[nodiscard]] pattern_fault malformed() const noexcept {
        if (too_deep_) { return "(expressions nested more than 256 deep)"; }
        if (!whole()) { return "(more than 64 collections, or no memory for them)"; }
        for (std::size_t i = 0; i < questions_count_; ++i) {
            question const& it = questions_[i];
            pattern_fault bad;
            if (it.what == asked::glob) { bad = detail::glob_matcher::fault_in(text(it)); }
            if (it.what == asked::regex) {
                bad = matcher_ == nullptr ? pattern_fault{text(it)} : matcher_->fault(text(it));
            }
            if (!bad.empty()) { return bad; }
        }
        return {};
    }
    template <class Use>
    void list(Use&& use) const noexcept {
        for (std::size_t i = 0; i < size(); ++i) {
            sentence out;
            tell(entries_[i].which, out);
            out << ", ";
            tell(entries_[i].when, out);
            out << ": ";
            describe(entries_[i].what, out);
            use(collection_info{name(i), out});
        }
    }
    // Rules run, nothing is written: as options{.dry_run = true}.
    bool dry_run = false;

    // False where something did not fit.
    [[nodiscard]] bool whole() const noexcept {
        return whole_ && entries_.size() >= count_ && questions_.size() >= questions_count_ &&
               letters_.size() >= letters_count_ && numbers_.size() >= numbers_count_;
    }
    // That it is not whole because expressions nest beyond `deepest`.
    [[nodiscard]] bool too_deep() const noexcept { return too_deep_; }
    friend bool operator==(dynamic_plan const& a, dynamic_plan const& b) noexcept {
        if (a.size() != b.size() || a.dry_run != b.dry_run || a.whole() != b.whole()) { return false; }
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

    // Expressions, node by node; operands first.
    [[nodiscard]] part keep(glob const& it) noexcept {
        return put({asked::glob, 0, 0, put(it.pattern), it.pattern.size()});
    }
    [[nodiscard]] part keep(of_role const& it) noexcept {
        return put({asked::role, 0, 0, static_cast<std::uint64_t>(it.wanted), 0});
    }
    template <std::size_t Count>
    [[nodiscard]] part keep(names<Count> const& it) noexcept {
        return keep_names(it.list);
    }
    template <pattern Expression>
    requires requires(Expression const& it) { it.well_formed(), Expression{it.pattern}; }
    [[nodiscard]] part keep(Expression const& it) noexcept { return keep_regex(it.pattern, matcher_of<Expression>); }
    [[nodiscard]] part keep_regex(std::string_view expression, text_matcher const& how) noexcept {
        matcher_ = &how;
        return put({asked::regex, 0, 0, put(expression), expression.size()});
    }
    [[nodiscard]] part keep_names(std::span<std::string_view const> list) noexcept {
        std::uint64_t const begin = numbers_count_;
        for (std::string_view const each : list) {
            put(put(each));
            put(std::uint64_t{each.size()});
        }
        return put({asked::names, 0, 0, begin, list.size()});
    }

    [[nodiscard]] part keep(always const&) noexcept { return put({asked::always}); }
    [[nodiscard]] part keep(never const&) noexcept { return put({asked::never}); }
    [[nodiscard]] part keep(every const& it) noexcept {
        return it.interval == 0 ? keep(never{}) : put({asked::every, 0, 0, it.interval, 0});
    }
    [[nodiscard]] part keep(from const& it) noexcept { return put({asked::from, 0, 0, it.first, 0}); }
    [[nodiscard]] part keep(before const& it) noexcept { return put({asked::before, 0, 0, it.end, 0}); }
    [[nodiscard]] part keep(between const& it) noexcept { return put({asked::between, 0, 0, it.first, it.end}); }
    [[nodiscard]] part keep(during const& it) noexcept { return put({asked::during, 0, 0, index_of(it.mode), 0}); }
    template <std::size_t Count>
    [[nodiscard]] part keep(at<Count> const& it) noexcept {
        return keep_at(it.indices);
    }
    [[nodiscard]] part keep_at(std::span<std::uint64_t const> indices) noexcept {
        std::uint64_t const begin = numbers_count_;
        for (std::uint64_t const each : indices) { put(each); }
        return put({asked::at, 0, 0, begin, indices.size()});
    }
    template <policy Policy>
    [[nodiscard]] part keep(by_default<Policy> const& it) noexcept {
        return keep(it.policy);
    }

    template <class Left, class Right>
    [[nodiscard]] part keep(both<Left, Right> const& it) noexcept {
        part const left = keep(it.left);
        return join(asked::both, left, keep(it.right));
    }
    template <class Left, class Right>
    [[nodiscard]] part keep(either<Left, Right> const& it) noexcept {
        part const left = keep(it.left);
        return join(asked::either, left, keep(it.right));
    }
    template <class Inner>
    [[nodiscard]] part keep(negated<Inner> const& it) noexcept {
        return negate(keep(it.inner));
    }
    [[nodiscard]] part join(asked how, part left, part right) noexcept {
        if (!whole()) { return {}; }
        std::uint32_t const of_left = questions_[left.index].depth, of_right = questions_[right.index].depth;
        return put_above({how, left.index, right.index}, of_left > of_right ? of_left : of_right);
    }
    [[nodiscard]] part negate(part inner) noexcept {
        return whole() ? put_above({asked::negated, inner.index}, questions_[inner.index].depth) : part{};
    }

    // What an expression that was kept says, in a collection or not.
    [[nodiscard]] bool matches(part which, tensor_info const& tensor) const noexcept { return answer(which, tensor); }
    [[nodiscard]] bool admits(part when, step_id step) const noexcept { return answer(when, step); }

    // For who writes a plan down. Views live until the plan changes.
    [[nodiscard]] std::size_t size() const noexcept { return whole() ? count_ : 0; }
    [[nodiscard]] entry const& operator[](std::size_t i) const noexcept { return entries_[i]; }
    [[nodiscard]] std::string_view name(std::size_t i) const noexcept {
        return view(entries_[i].name, entries_[i].name_size);
    }
    [[nodiscard]] question const& at_node(part it) const noexcept { return questions_[it.index]; }
    [[nodiscard]] std::string_view text(question const& it) const noexcept { return view(it.first, it.second); }
    [[nodiscard]] std::string_view name_of_list(question const& it, std::size_t i) const noexcept {
        return view(numbers_[it.first + 2 * i], numbers_[it.first + 2 * i + 1]);
    }
    [[nodiscard]] std::span<std::uint64_t const> indices(question const& it) const noexcept {
        return {numbers_.data() + it.first, static_cast<std::size_t>(it.second)};
    }

private:
    [[nodiscard]] part put_above(question it, std::uint32_t below) noexcept {
        if (below >= deepest) {
            too_deep_ = true;
            whole_ = false;
            return {};
        }
        it.depth = below + 1;
        return put(it);
    }
    [[nodiscard]] part put(question const& it) noexcept {
        if (!questions_.grow(questions_count_ + 1)) {
            whole_ = false;
            return {};
        }
        questions_[questions_count_] = it;
        return {static_cast<std::uint32_t>(questions_count_++)};
    }
    [[nodiscard]] std::uint64_t put(std::string_view letters) noexcept {
        std::size_t const begin = letters_count_;
        if (!letters_.grow(begin + letters.size())) {
            whole_ = false;
            return 0;
        }
        for (char const each : letters) { letters_[letters_count_++] = each; }
        return begin;
    }
    void put(std::uint64_t number) noexcept {
        if (numbers_.grow(numbers_count_ + 1)) {
            numbers_[numbers_count_++] = number;
        } else {
            whole_ = false;
        }
    }
    [[nodiscard]] std::string_view view(std::uint64_t begin, std::uint64_t size) const noexcept {
        return {letters_.data() + begin, static_cast<std::size_t>(size)};
    }

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
    [[nodiscard]] bool leaf(question const& it, step_id step) const noexcept {
        switch (it.what) {
            case asked::always:
                return true;
            case asked::every:
                return every{it.first}(step);
            case asked::from:
                return from{it.first}(step);
            case asked::before:
                return before{it.first}(step);
            case asked::between:
                return between{it.first, it.second}(step);
            case asked::during:
                return index_of(step.mode) == it.first;
            case asked::at:
                for (std::uint64_t const each : indices(it)) {
                    if (each == step.index) { return true; }
                }
                return false;
            default:
                return false;
        }
    }
    [[nodiscard]] bool leaf(question const& it, tensor_info const& tensor) const noexcept {
        switch (it.what) {
            case asked::glob:
                return glob{text(it)}(tensor);
            case asked::regex:
                return matcher_ != nullptr && matcher_->matches(text(it), tensor);
            case asked::role:
                return static_cast<std::uint64_t>(tensor.role) == it.first;
            case asked::names:
                for (std::size_t i = 0; i < it.second; ++i) {
                    if (name_of_list(it, i) == tensor.name) { return true; }
                }
                return false;
            default:
                return false;
        }
    }

    void tell(part at, sentence& out) const noexcept {
        question const& it = questions_[at.index];
        char const* comma = "";
        switch (it.what) {
            case asked::glob:
                return describe(glob{text(it)}, out);
            case asked::regex:
                out << "regex{\"" << text(it) << "\"}";
                return;
            case asked::role:
                return describe(of_role{static_cast<role>(it.first)}, out);
            case asked::names:
                out << "names{";
                for (std::size_t i = 0; i < it.second; ++i) {
                    out << comma << name_of_list(it, i);
                    comma = ", ";
                }
                out << '}';
                return;
            case asked::always:
                return describe(always{}, out);
            case asked::never:
                return describe(never{}, out);
            case asked::every:
                return describe(every{it.first}, out);
            case asked::from:
                return describe(from{it.first}, out);
            case asked::before:
                return describe(before{it.first}, out);
            case asked::between:
                return describe(between{it.first, it.second}, out);
            case asked::during:
                return describe(during{static_cast<mode>(it.first)}, out);
            case asked::at:
                out << "at{";
                for (std::uint64_t const each : indices(it)) {
                    out << comma << each;
                    comma = ", ";
                }
                out << '}';
                return;
            case asked::negated:
                out << '!';
                return tell(part{it.left}, out);
            case asked::both:
            case asked::either:
                out << '(';
                tell(part{it.left}, out);
                out << (it.what == asked::both ? " && " : " || ");
                tell(part{it.right}, out);
                out << ')';
                return;
        }
    }

    [[nodiscard]] static bool same(dynamic_plan const& a, part at_a, dynamic_plan const& b, part at_b) noexcept {
        question const& left = a.at_node(at_a);
        question const& right = b.at_node(at_b);
        if (left.what != right.what) { return false; }
        switch (left.what) {
            case asked::glob:
            case asked::regex:
                return a.text(left) == b.text(right);
            case asked::both:
            case asked::either:
                return same(a, {left.left}, b, {right.left}) && same(a, {left.right}, b, {right.right});
            case asked::negated:
                return same(a, {left.left}, b, {right.left});
            case asked::names:
            case asked::at:
                if (left.second != right.second) { return false; }
                for (std::size_t i = 0; i < left.second; ++i) {
                    bool const equal = left.what == asked::at ? a.indices(left)[i] == b.indices(right)[i]
                                                              : a.name_of_list(left, i) == b.name_of_list(right, i);
                    if (!equal) { return false; }
                }
                return true;
            default:
                return left.first == right.first && left.second == right.second;
        }
    }

    slots<entry> entries_{};
    slots<question> questions_{};
    slots<char> letters_{};
    slots<std::uint64_t> numbers_{};
    std::size_t count_ = 0, questions_count_ = 0, letters_count_ = 0, numbers_count_ = 0;
    text_matcher const* matcher_ = nullptr;  // of the regular expressions
    bool whole_ = true, too_deep_ = false;
};

static_assert(plan_like<dynamic_plan>);

}  // namespace spotter::inline SPOTTER_ABI
