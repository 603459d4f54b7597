// SPDX-License-Identifier: Apache-2.0
// Diff (L6): which tensor of one side is which of the other, by name.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/diff/fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Pairs of a name of A and the name of the same tensor in B.
using name_pairs = std::vector<std::pair<std::string, std::string>>;

namespace detail {

// PyTorch writes fc1.weight where others write fc1/weight.
[[nodiscard]] inline std::string with_slashes(std::string name) {
    for (char& letter : name) { letter = letter == '.' ? '/' : letter; }
    return name;
}

// Finds numbers of names: by the name itself, or where only one name is the same but for '.' and '/', by that.
class name_finder {
public:
    explicit name_finder(std::vector<std::string> const& names) {
        for (std::uint32_t i = 0; i < names.size(); ++i) {
            exact_.emplace(names[i], i);
            auto const [at, is_new] = alike_.try_emplace(with_slashes(names[i]), i);
            if (!is_new) { at->second = several; }
        }
    }
    [[nodiscard]] std::optional<std::uint32_t> exactly(std::string_view name) const {
        auto const found = exact_.find(name);
        return found == exact_.end() ? std::nullopt : std::optional{found->second};
    }
    [[nodiscard]] std::optional<std::uint32_t> operator()(std::string_view name) const {
        if (auto const found = exactly(name)) { return found; }
        auto const found = alike_.find(with_slashes(std::string{name}));
        return found == alike_.end() || found->second == several ? std::nullopt : std::optional{found->second};
    }

private:
    static constexpr std::uint32_t several = 0xFFFFFFFFU;

    std::map<std::string, std::uint32_t, std::less<>> exact_{}, alike_{};
};

}  // namespace detail

// For each name of A the number of its partner in B, if it has one; no name of B is the partner of two. errc::no_such_name for a pair that
// names what is not there.
[[nodiscard]] inline result<std::vector<std::optional<std::uint32_t>>>
match_names(std::vector<std::string> const& a, std::vector<std::string> const& b, name_pairs const& pairs) {
    detail::name_finder const in_a{a}, in_b{b};
    std::vector<std::optional<std::uint32_t>> partners(a.size());
    std::vector<bool> taken(b.size());
    for (auto const& [name_a, name_b] : pairs) {
        auto const first = in_a(name_a), second = in_b(name_b);
        if (!first || !second) {
            error why{errc::no_such_name, "the map pairs \""};
            why.what << std::string_view{first ? name_b : name_a}.substr(0, 80) << "\", which is no name of "
                     << (first ? "B: write a name of A, = and a name of B" : "A: write a name of A, = and a name of B");
            return why;
        }
        if (partners[*first] || taken[*second]) {
            error why{errc::bad_config, "the map pairs \""};
            why.what << std::string_view{partners[*first] ? name_a : name_b}.substr(0, 80) << "\" twice";
            return why;
        }
        partners[*first] = second;
        taken[*second] = true;
    }
    for (bool const exact : {true, false}) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (partners[i]) { continue; }
            auto const found = exact ? in_b.exactly(a[i]) : in_b(a[i]);
            if (!found || taken[*found]) { continue; }
            partners[i] = found;
            taken[*found] = true;
        }
    }
    return partners;
}

}  // namespace spotter::inline SPOTTER_ABI
