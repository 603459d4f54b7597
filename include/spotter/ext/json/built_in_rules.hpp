// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: the packs by name, in addition to the catalogue.
#pragma once

#include <spotter/core/fwd.hpp>
#include <spotter/rules.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

// Converts to the initialiser of any member.
struct any_member {
    template <class Member>
    operator Member() const noexcept;
};

template <class Aggregate, class... Members>
[[nodiscard]] consteval std::size_t count_members() noexcept {
    if constexpr (requires { Aggregate{std::declval<Members>()..., std::declval<any_member>()}; }) {
        return count_members<Aggregate, Members..., any_member>();
    } else {
        return sizeof...(Members);
    }
}

// The number of members. An aggregate with an array must specialise it, since an array's elements would be counted.
template <class Aggregate>
inline constexpr std::size_t member_count = count_members<Aggregate>();

inline constexpr std::size_t most_members = 14;

// References to all members, in the order of their declaration.
template <class Aggregate>
[[nodiscard]] constexpr auto members_of(Aggregate& it) noexcept {
    constexpr std::size_t count = member_count<std::remove_const_t<Aggregate>>;
    static_assert(count <= most_members, "spotter: members_of knows aggregates of fourteen members at most");
    if constexpr (count == 0) {
        return std::tie();
    } else if constexpr (count == 1) {
        auto& [a] = it;
        return std::tie(a);
    } else if constexpr (count == 2) {
        auto& [a, b] = it;
        return std::tie(a, b);
    } else if constexpr (count == 3) {
        auto& [a, b, c] = it;
        return std::tie(a, b, c);
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = it;
        return std::tie(a, b, c, d);
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = it;
        return std::tie(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, f] = it;
        return std::tie(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        auto& [a, b, c, d, e, f, g] = it;
        return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (count == 8) {
        auto& [a, b, c, d, e, f, g, h] = it;
        return std::tie(a, b, c, d, e, f, g, h);
    } else if constexpr (count == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = it;
        return std::tie(a, b, c, d, e, f, g, h, i);
    } else if constexpr (count == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (count == 11) {
        auto& [a, b, c, d, e, f, g, h, i, j, k] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (count == 12) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
    } else if constexpr (count == 13) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
    } else {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    }
}

// A member as a template argument: its name is part of the name of the function that takes it.
template <class Pointer>
struct member_address {
    Pointer to;
};
template <class Pointer>
member_address(Pointer) -> member_address<Pointer>;

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
// Never defined: the compiler only needs the addresses of its members.
template <class Aggregate>
struct imagined {
    Aggregate it;
};
template <class Aggregate>
extern imagined<Aggregate> const imagination;

template <class Aggregate, std::size_t Index>
[[nodiscard]] consteval auto address_of_member() noexcept {
    return member_address{&std::get<Index>(members_of(imagination<Aggregate>.it))};
}
template <member_address Address>
[[nodiscard]] consteval std::string_view function_name() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
    return __FUNCSIG__;
#else
    return __PRETTY_FUNCTION__;
#endif
}
// g++ writes "...::patience)}; std::string_view = ...", clang "{&imagination.it.patience}]".
template <class Aggregate, std::size_t Index>
[[nodiscard]] consteval std::string_view member_name() noexcept {
    std::string_view all = function_name<address_of_member<Aggregate, Index>()>();
    all = all.substr(0, all.find('}'));
    if (all.ends_with(')')) { all.remove_suffix(1); }
    return all.substr(all.find_last_of(".:") + 1);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

// Calls use(name, member) for each member.
template <class Aggregate, class Use>
constexpr void each_member(Aggregate& it, Use&& use) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        [[maybe_unused]] auto const members = members_of(it);
        (use(member_name<std::remove_const_t<Aggregate>, Index>(), std::get<Index>(members)), ...);
    }(std::make_index_sequence<member_count<std::remove_const_t<Aggregate>>>{});
}

template <>
inline constexpr std::size_t member_count<nlp_sequence_ratio> = 5;

// Calls use(name, pack) for each pack.
template <class Use>
void each_pack(Use&& use) {
    use(std::string_view{"supervised"}, packs::supervised);
    use(std::string_view{"rl"}, packs::rl);
    use(std::string_view{"boosting"}, packs::boosting);
    use(std::string_view{"system"}, packs::system);
    use(std::string_view{"sagemaker"}, packs::sagemaker);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
