// SPDX-License-Identifier: Apache-2.0
// Core (L0): predicates on a tensor's name or role, evaluated once for each tensor, never at a step.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/event.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/text.hpp>

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Longer patterns are refused: this limits the cost of a match, which is pattern times name.
inline constexpr std::size_t longest_pattern = 16 * 1024;

// The fault of a malformed pattern; empty if there is none. Converts to the pattern's text. The views live as long as
// the pattern.
struct pattern_fault {
    std::string_view pattern{};  // its text
    std::string_view why{};      // the fault; empty if unknown
    std::size_t at = 0;          // position in `pattern`, from 0

    constexpr pattern_fault() noexcept = default;
    constexpr pattern_fault(std::string_view text, std::string_view reason = {}, std::size_t place = 0) noexcept
        : pattern{text}, why{reason}, at{place} {}
    constexpr pattern_fault(char const* text) noexcept : pattern{text} {}
    [[nodiscard]] constexpr bool empty() const noexcept { return pattern.empty(); }
    // The pattern's text.
    constexpr operator std::string_view() const noexcept { return pattern; }
    friend constexpr bool operator==(pattern_fault const& it, std::string_view text) noexcept {
        return it.pattern == text;
    }
};

// For example `"grad/(" (at 5: the ( is not closed)`. A long pattern is cut.
template <std::size_t Capacity>
constexpr text<Capacity>& operator<<(text<Capacity>& out, pattern_fault const& it) noexcept {
    constexpr std::size_t shown = 60;
    out << '"' << it.pattern.substr(0, shown) << (it.pattern.size() > shown ? "...\"" : "\"");
    if (!it.why.empty()) { out << " (at " << it.at << ": " << it.why << ')'; }
    return out;
}

// The kind of patterns: they combine with each other by `&&`, `||` and `!`.
struct pattern_kind : stateless_kind {};

namespace detail {

// The set of prefixes of a name that a pattern can match: at[i] is true if it can match the first i characters. The
// heap is used only for unusually long names; where memory is exhausted such a name matches nothing.
class name_positions {
public:
    constexpr explicit name_positions(std::size_t name_size) noexcept : size_{name_size + 1} {
        if (size_ > near_size && !far_.grow(size_)) { size_ = 0; }
    }
    [[nodiscard]] constexpr bool* at() noexcept { return size_ > near_size ? far_.data() : near_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    constexpr void assign(bool const* from) noexcept {
        for (std::size_t i = 0; i < size_; ++i) { at()[i] = from[i]; }
    }

private:
    static constexpr std::size_t near_size = 256;
    bool near_[near_size]{};
    slot_array<bool> far_{};
    std::size_t size_;
};

// Glob: `*` any run of characters (also `/`), `?` one character, `[a-z]` and `[!a-z]` one of a class, `{a,b}` one of
// the alternatives, `\x` the character x. The matcher walks the pattern once, with the set of reachable positions in
// the name. The cost is pattern times name for any pattern; backtracking would be exponential in the number of `*`.
// Each nested brace takes a stack frame, so the depth is limited.
class glob_matcher {
public:
    static constexpr std::size_t deepest = 32;

    [[nodiscard]] static constexpr pattern_fault fault_in(std::string_view glob) noexcept {
        if (glob.size() > longest_pattern) { return {glob, "it is longer than 16384 characters", longest_pattern}; }
        std::size_t open[deepest]{};
        std::size_t depth = 0;
        for (std::size_t i = 0; i < glob.size(); ++i) {
            switch (glob[i]) {
                case '\\':
                    if (++i == glob.size()) { return {glob, "it ends in a backslash", i - 1}; }
                    break;
                case '[': {
                    std::size_t const end = class_end(glob, i);
                    if (end == glob.npos) { return {glob, "the [ is not closed", i}; }
                    i = end;
                    break;
                }
                case '{':
                    if (depth == deepest) { return {glob, "braces are nested more than 32 deep", i}; }
                    open[depth++] = i;
                    break;
                case '}':
                    if (depth == 0) { return {glob, "the } closes nothing", i}; }
                    --depth;
                    break;
                default:
                    break;
            }
        }
        return depth == 0 ? pattern_fault{} : pattern_fault{glob, "the { is not closed", open[depth - 1]};
    }

    // Whether `glob` is well-formed and matches all of `name`. `steps`, if given, counts the cost in positions.
    [[nodiscard]] static constexpr bool match(std::string_view glob, std::string_view name,
                                              std::uint64_t* steps = nullptr) noexcept {
        if (!fault_in(glob).empty()) { return false; }
        name_positions reached{name.size()};
        if (reached.size() == 0) { return false; }
        reached.at()[0] = true;
        advance(glob, name, reached.at(), steps);
        return reached.at()[name.size()];
    }

private:
    // Advances every position in `at` over `glob`.
    static constexpr void advance(std::string_view glob, std::string_view name, bool* at,
                                  std::uint64_t* steps) noexcept {
        while (!glob.empty()) {
            if (steps != nullptr) { *steps += name.size() + 1; }
            std::size_t used = 1;
            if (glob[0] == '*') {
                for (std::size_t i = 0; i < name.size(); ++i) { at[i + 1] = at[i + 1] || at[i]; }
            } else if (glob[0] == '{') {
                used = advance_over_one_of(glob, name, at, steps);
            } else {
                used = glob[0] == '[' ? class_end(glob, 0) + 1 : glob[0] == '\\' ? 2 : 1;
                std::string_view const head = glob.substr(0, used);
                for (std::size_t i = name.size(); i > 0; --i) { at[i] = at[i - 1] && is_one(head, name[i - 1]); }
                at[0] = false;
            }
            glob.remove_prefix(used);
        }
    }
    // Advances over the `{a,b}` that `glob` begins with; returns its length.
    [[nodiscard]] static constexpr std::size_t advance_over_one_of(std::string_view glob, std::string_view name,
                                                                   bool* at, std::uint64_t* steps) noexcept {
        name_positions before{name.size()};
        name_positions option{name.size()};
        if (before.size() == 0 || option.size() == 0) { return glob.size(); }
        before.assign(at);
        for (std::size_t i = 0; i <= name.size(); ++i) { at[i] = false; }
        int depth = 0;
        std::size_t start = 1;
        for (std::size_t i = 0; i < glob.size(); ++i) {
            char const letter = glob[i];
            if (letter == '\\') {
                ++i;
            } else if (letter == '[') {
                i = class_end(glob, i);
            } else if (letter == '{') {
                ++depth;
            } else if ((letter == ',' && depth == 1) || (letter == '}' && --depth == 0)) {
                option.assign(before.at());
                if (steps != nullptr) { *steps += name.size() + 1; }
                advance(glob.substr(start, i - start), name, option.at(), steps);
                for (std::size_t k = 0; k <= name.size(); ++k) { at[k] = at[k] || option.at()[k]; }
                start = i + 1;
                if (letter == '}') { break; }
            }
        }
        return start;
    }
    // Whether `head`, a pattern for one character, matches `letter`.
    [[nodiscard]] static constexpr bool is_one(std::string_view head, char letter) noexcept {
        switch (head[0]) {
            case '[':
                return in_class(head.substr(1, head.size() - 2), letter);
            case '\\':
                return head[1] == letter;
            case '?':
                return true;
            default:
                return head[0] == letter;
        }
    }
    [[nodiscard]] static constexpr std::size_t class_end(std::string_view glob, std::size_t open) noexcept {
        std::size_t i = open + 1;
        if (i < glob.size() && glob[i] == '!') { ++i; }
        if (i < glob.size() && glob[i] == ']') { ++i; }  // a first `]` is a member
        return glob.find(']', i);
    }
    [[nodiscard]] static constexpr bool in_class(std::string_view members, char letter) noexcept {
        bool const inverted = members.starts_with('!');
        if (inverted) { members.remove_prefix(1); }
        bool found = false;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i + 2 < members.size() && members[i + 1] == '-') {
                found = found || (members[i] <= letter && letter <= members[i + 2]);
                i += 2;
            } else {
                found = found || members[i] == letter;
            }
        }
        return found != inverted;
    }
};

// `fault_in` and `match` of glob_matcher at run time. In the linked mode they are compiled once.
[[nodiscard]] pattern_fault find_fault_in_glob(std::string_view glob) noexcept;
[[nodiscard]] bool match_glob(std::string_view glob, std::string_view name) noexcept;

// The fault of a glob and its position; empty if it is well-formed.
[[nodiscard]] constexpr pattern_fault fault_in_glob(std::string_view glob) noexcept {
    return std::is_constant_evaluated() ? glob_matcher::fault_in(glob) : find_fault_in_glob(glob);
}

// Called for a malformed pattern during constant evaluation. Not constexpr, so the compiler stops there and shows this
// name. Defined, because a build without optimization refers to it.
inline void malformed_glob_pattern_see_docs_plan() noexcept {}

}  // namespace detail

// A glob over the whole name. Does not own its text, which must outlive it (as a literal does). A malformed glob in a
// constant does not compile; otherwise it is errc::bad_pattern when a hook starts.
struct glob {
    using kind = pattern_kind;
    std::string_view pattern{};  // not owned

    constexpr glob(char const* pattern_text) noexcept : glob{std::string_view{pattern_text}} {}
    constexpr explicit glob(std::string_view pattern_text) noexcept : pattern{pattern_text} {
        if (std::is_constant_evaluated() && !well_formed()) { detail::malformed_glob_pattern_see_docs_plan(); }
    }
    // Whether it has no fault.
    [[nodiscard]] constexpr bool well_formed() const noexcept { return fault().empty(); }
    // The fault and its position; empty if the glob is well-formed.
    [[nodiscard]] constexpr pattern_fault fault() const noexcept { return detail::fault_in_glob(pattern); }
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept { return (*this)(tensor.name); }
    [[nodiscard]] constexpr bool operator()(std::string_view name) const noexcept {
        return std::is_constant_evaluated() ? detail::glob_matcher::match(pattern, name)
                                            : detail::match_glob(pattern, name);
    }
};

// Matches exactly these names.
template <std::size_t Count>
struct names {
    using kind = pattern_kind;
    std::array<std::string_view, Count> list;  // not owned

    template <class... Name>
    constexpr explicit names(Name... each) noexcept : list{std::string_view{each}...} {}
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept {
        for (std::string_view each : list) {
            if (each == tensor.name) { return true; }
        }
        return false;
    }
};
template <class... Name>
names(Name...) -> names<sizeof...(Name)>;

// Matches every tensor of a role, given at declaration or guessed from the name.
struct of_role {
    using kind = pattern_kind;
    role wanted;  // the role
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept { return tensor.role == wanted; }
};

// A user's predicate on a name.
template <class Ask>
struct by_name {
    using kind = pattern_kind;
    Ask ask;  // called with the name, once for each declaration
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const { return ask(tensor.name); }
};

// A predicate on a tensor; evaluated once for each declaration, never at a step.
template <class Value>
concept pattern = expression<Value> && std::same_as<typename Value::kind, pattern_kind>;

// The arguments of as_pattern.
template <class Value>
concept pattern_source = pattern<Value> || std::convertible_to<Value, char const*> || std::same_as<Value, role> ||
                         std::predicate<Value const&, std::string_view>;

// Converts what a user writes: a literal is a glob, a role matches its tensors, a callable gets the name.
template <pattern_source Source>
[[nodiscard]] constexpr auto as_pattern(Source source) noexcept {
    if constexpr (pattern<Source>) {
        return source;
    } else if constexpr (std::convertible_to<Source, char const*>) {
        return glob{static_cast<char const*>(source)};
    } else if constexpr (std::same_as<Source, role>) {
        return of_role{source};
    } else {
        return by_name<Source>{source};
    }
}
// The result type of as_pattern.
template <pattern_source Source>
using pattern_for = decltype(as_pattern(std::declval<Source>()));

// The first malformed glob or regular expression in a pattern, or an empty fault. A user's pattern may have `fault()`,
// or else `well_formed()` and `pattern`.
template <pattern Pattern>
[[nodiscard]] constexpr pattern_fault malformed_part(Pattern const& it) noexcept {
    if constexpr (requires {
                      it.left;
                      it.right;
                  }) {
        pattern_fault const left = malformed_part(it.left);
        return left.empty() ? malformed_part(it.right) : left;
    } else if constexpr (requires { it.inner; }) {
        return malformed_part(it.inner);
    } else if constexpr (requires {
                             { it.fault() } -> std::same_as<pattern_fault>;
                         }) {
        return it.fault();
    } else if constexpr (requires {
                             { it.well_formed() } -> std::same_as<bool>;
                         }) {
        return it.well_formed() ? pattern_fault{} : pattern_fault{it.pattern};
    } else {
        return {};
    }
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY pattern_fault find_fault_in_glob(std::string_view glob) noexcept {
    return glob_matcher::fault_in(glob);
}

SPOTTER_COLD_BODY bool match_glob(std::string_view glob, std::string_view name) noexcept {
    return glob_matcher::match(glob, name);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
