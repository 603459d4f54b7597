// SPDX-License-Identifier: Apache-2.0
// Core (L0): which tensors: predicates on a name (or a role), asked once a tensor, never a step.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/event.hpp>

#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

struct pattern_kind : stateless_kind {};

namespace detail {

// Glob: `*` any run of characters (also `/`), `?` one character, `[a-z]` and `[!a-z]` one of a class, `{a,b}` one of the
// alternatives, `\x` the character x. Both texts are walked once; the recursion is as deep as the pattern has `*` and `{`.
class glob_matcher {
public:
    [[nodiscard]] static constexpr bool well_formed(std::string_view glob) noexcept {
        int depth = 0;
        for (std::size_t i = 0; i < glob.size(); ++i) {
            switch (glob[i]) {
                case '\\':
                    if (++i == glob.size()) { return false; }
                    break;
                case '[': {
                    std::size_t const end = class_end(glob, i);
                    if (end == glob.npos) { return false; }
                    i = end;
                    break;
                }
                case '{': ++depth; break;
                case '}':
                    if (--depth < 0) { return false; }
                    break;
                default: break;
            }
        }
        return depth == 0;
    }

    // Whether `glob` followed by `rest` matches all of `name`.
    [[nodiscard]] static constexpr bool match(std::string_view glob, std::string_view name, std::string_view rest = {}) noexcept {
        while (!glob.empty()) {
            char const head = glob[0];
            if (head == '*') {
                for (std::size_t skip = 0; skip <= name.size(); ++skip) {
                    if (match(glob.substr(1), name.substr(skip), rest)) { return true; }
                }
                return false;
            }
            if (head == '{') { return match_alternatives(glob, name, rest); }
            if (name.empty()) { return false; }
            std::size_t used = 1;
            if (head == '[') {
                std::size_t const end = class_end(glob, 0);
                if (!in_class(glob.substr(1, end - 1), name[0])) { return false; }
                used = end + 1;
            } else if (head == '\\') {
                if (glob[1] != name[0]) { return false; }
                used = 2;
            } else if (head != '?' && head != name[0]) {
                return false;
            }
            glob.remove_prefix(used);
            name.remove_prefix(1);
        }
        return rest.empty() ? name.empty() : match(rest, name);
    }

private:
    [[nodiscard]] static constexpr std::size_t class_end(std::string_view glob, std::size_t open) noexcept {
        std::size_t i = open + 1;
        if (i < glob.size() && glob[i] == '!') { ++i; }
        if (i < glob.size() && glob[i] == ']') { ++i; }  // a `]` in first place is a member
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
    [[nodiscard]] static constexpr bool match_alternatives(std::string_view glob, std::string_view name, std::string_view rest) noexcept {
        int depth = 0;
        std::size_t start = 1;
        std::size_t starts[16]{};
        std::size_t ends[16]{};
        std::size_t count = 0;
        std::size_t close = 0;
        for (std::size_t i = 0; i < glob.size(); ++i) {
            char const letter = glob[i];
            if (letter == '\\') {
                ++i;
            } else if (letter == '[') {
                i = class_end(glob, i);
            } else if (letter == '{') {
                ++depth;
            } else if ((letter == ',' && depth == 1) || (letter == '}' && --depth == 0)) {
                if (count < 16) {
                    starts[count] = start;
                    ends[count++] = i;
                }
                start = i + 1;
                if (letter == '}') {
                    close = i;
                    break;
                }
            }
        }
        // A pattern inside braces is followed by what stands behind them; two continuations never nest deeper than this.
        std::string_view const tail = glob.substr(close + 1);
        for (std::size_t i = 0; i < count; ++i) {
            std::string_view const option = glob.substr(starts[i], ends[i] - starts[i]);
            for (std::size_t cut = 0; cut <= name.size(); ++cut) {
                if (match(option, name.substr(0, cut)) && match(tail, name.substr(cut), rest)) { return true; }
            }
        }
        return false;
    }
};

// Called where a pattern is malformed during constant evaluation; declared only, so that its name is the error message.
void malformed_glob_pattern_see_docs_core();

}  // namespace detail

// A glob over the whole name. The text must outlive it (a literal does). A malformed one does not compile where it is a
// constant, and is errc::bad_pattern when a hook starts otherwise.
struct glob {
    using kind = pattern_kind;
    std::string_view pattern{};

    constexpr glob(char const* pattern_text) noexcept : glob{std::string_view{pattern_text}} {}
    constexpr explicit glob(std::string_view pattern_text) noexcept : pattern{pattern_text} {
        if (std::is_constant_evaluated() && !well_formed()) { detail::malformed_glob_pattern_see_docs_core(); }
    }
    [[nodiscard]] constexpr bool well_formed() const noexcept { return detail::glob_matcher::well_formed(pattern); }
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept { return (*this)(tensor.name); }
    [[nodiscard]] constexpr bool operator()(std::string_view name) const noexcept {
        return well_formed() && detail::glob_matcher::match(pattern, name);
    }
};

// Exactly these names.
template <std::size_t Count>
struct names {
    using kind = pattern_kind;
    std::array<std::string_view, Count> list;

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

// Every tensor of a role, given at declaration or guessed from the name.
struct of_role {
    using kind = pattern_kind;
    role wanted;
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept { return tensor.role == wanted; }
};

// A user's own question about a name.
template <class Ask>
struct by_name {
    using kind = pattern_kind;
    Ask ask;
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const { return ask(tensor.name); }
};

template <class Value>
concept pattern = expression<Value> && std::same_as<typename Value::kind, pattern_kind>;

template <class Value>
concept pattern_source = pattern<Value> || std::convertible_to<Value, char const*> || std::same_as<Value, role> ||
                         std::predicate<Value const&, std::string_view>;

// What a user writes where a pattern is wanted: a literal is a glob, a role its tensors, a callable is asked the name.
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
template <pattern_source Source>
using pattern_for = decltype(as_pattern(std::declval<Source>()));

// The first malformed glob or expression in a pattern, or an empty text.
template <pattern Pattern>
[[nodiscard]] constexpr std::string_view malformed_part(Pattern const& it) noexcept {
    if constexpr (requires { it.left; it.right; }) {
        std::string_view const left = malformed_part(it.left);
        return left.empty() ? malformed_part(it.right) : left;
    } else if constexpr (requires { it.inner; }) {
        return malformed_part(it.inner);
    } else if constexpr (requires { { it.well_formed() } -> std::same_as<bool>; }) {
        return it.well_formed() ? std::string_view{} : it.pattern;
    } else {
        return {};
    }
}

}  // namespace spotter::inline SPOTTER_ABI
