// SPDX-License-Identifier: Apache-2.0
// Plan (L2), opt-in: patterns by regular expression (ECMAScript, unanchored search), like SageMaker Debugger's
// include_regex.
#pragma once

#include <spotter/core/describe.hpp>
#include <spotter/plan/regex_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Called for a malformed expression during constant evaluation, where the compiler stops and shows this name.
inline void malformed_regular_expression_see_docs_plan() noexcept {}

}  // namespace detail

// Refers to the text, which must outlive it. Compiled when a tensor is declared, never in a step. The time of a match
// is the length of the expression times that of the name. A malformed expression in a constant does not compile;
// otherwise it is errc::bad_pattern when the hook starts. docs/plan.md lists the supported syntax.
struct regex {
    using kind = pattern_kind;
    std::string_view pattern{};  // the expression; not owned

    constexpr regex(char const* text) noexcept : regex{std::string_view{text}} {}
    constexpr explicit regex(std::string_view text) noexcept : pattern{text} {
        if (std::is_constant_evaluated() && !well_formed()) { detail::malformed_regular_expression_see_docs_plan(); }
    }

    // The fault and its position; empty if the expression is well-formed.
    [[nodiscard]] constexpr pattern_fault fault() const noexcept {
        detail::regex_program ignored;
        return detail::regex_reader::read(pattern, ignored);
    }
    // Whether it has no fault.
    [[nodiscard]] constexpr bool well_formed() const noexcept { return fault().empty(); }
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept { return (*this)(tensor.name); }
    [[nodiscard]] constexpr bool operator()(std::string_view name) const noexcept {
        detail::regex_program program;
        return detail::regex_reader::read(pattern, program).empty() && program.search(name);
    }
};
constexpr void describe(regex const& it, sentence& out) noexcept { out << "regex{\"" << it.pattern << "\"}"; }

}  // namespace spotter::inline SPOTTER_ABI
