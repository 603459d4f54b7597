// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: which tensor of one side is which of the other, by name.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/workbench/diff.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Finds numbers of names: by the name itself, or where only one name is the same but for '.' and '/', by that.
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

// For each name of A the number of its partner in B, if it has one; no name of B is the partner of two.
// errc::no_such_name for a pair that names what is not there.
[[nodiscard]] result<std::vector<std::optional<std::uint32_t>>>
match_names(std::vector<std::string> const& a, std::vector<std::string> const& b, name_pairs const& pairs);

}  // namespace spotter::inline SPOTTER_ABI
