// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of name_map.hpp.
#include "diff/name_map.hpp"

#include "error_of.hpp"

namespace spotter::inline SPOTTER_ABI::detail {

// PyTorch writes fc1.weight where other programs write fc1/weight.
[[nodiscard]] static std::string with_slashes(std::string name) {
    for (char& letter : name) { letter = letter == '.' ? '/' : letter; }
    return name;
}

name_finder::name_finder(std::vector<std::string> const& names) {
    for (std::uint32_t i = 0; i < names.size(); ++i) {
        exact_.emplace(names[i], i);
        auto const [at, is_new] = alike_.try_emplace(with_slashes(names[i]), i);
        if (!is_new) { at->second = several; }
    }
}

std::optional<std::uint32_t> name_finder::exactly(std::string_view name) const {
    auto const found = exact_.find(name);
    return found == exact_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<std::uint32_t> name_finder::operator()(std::string_view name) const {
    if (auto const found = exactly(name)) { return found; }
    auto const found = alike_.find(with_slashes(std::string{name}));
    return found == alike_.end() || found->second == several ? std::nullopt : std::optional{found->second};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

result<std::vector<std::optional<std::uint32_t>>>
match_names(std::vector<std::string> const& a, std::vector<std::string> const& b, name_pairs const& pairs) {
    detail::name_finder const in_a{a}, in_b{b};
    std::vector<std::optional<std::uint32_t>> partners(a.size());
    std::vector<bool> taken(b.size());
    for (auto const& [name_a, name_b] : pairs) {
        auto const first = in_a(name_a), second = in_b(name_b);
        if (!first || !second) {
            return error_of(errc::no_such_name, "the map pairs \"",
                            std::string_view{first ? name_b : name_a}.substr(0, 80), "\", which is no name of ",
                            first ? "B: write a name of A, = and a name of B"
                                  : "A: write a name of A, = and a name of B");
        }
        if (partners[*first] || taken[*second]) {
            return error_of(errc::bad_config, "the map pairs \"",
                            std::string_view{partners[*first] ? name_a : name_b}.substr(0, 80), "\" twice");
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
