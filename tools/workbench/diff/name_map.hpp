// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: matches the tensors of both sides by name.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/workbench/diff.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Finds the index of a name: an exact match, or else the only name that is equal except for '.' and '/'.
class name_finder {
public:
    explicit name_finder(std::vector<std::string> const& names);
    [[nodiscard]] std::optional<std::uint32_t> exactly(std::string_view name) const;
    [[nodiscard]] std::optional<std::uint32_t> operator()(std::string_view name) const;

private:
    static constexpr std::uint32_t several = 0xFFFFFFFFU;

    std::map<std::string, std::uint32_t, std::less<>> exact_{}, alike_{};
};

}  // namespace detail

// For each name of A the index of its partner in B, if there is one; no name of B is the partner of two.
// errc::no_such_name for a pair with an unknown name.
[[nodiscard]] result<std::vector<std::optional<std::uint32_t>>>
match_names(std::vector<std::string> const& a, std::vector<std::string> const& b, name_pairs const& pairs);

}  // namespace spotter::inline SPOTTER_ABI
