// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what decides at the start how much of a hook is at work: the environment, and the options among its arguments.
#pragma once

#include <spotter/hook/options.hpp>
#include <spotter/plan/plan.hpp>

#include <cstdlib>
#include <ctime>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

enum class switch_state : std::uint8_t { on, dry, off, unknown };

// The environment variable SPOTTER: `off` switches the hook off whole, `dry` keeps the rules and records nothing.
[[nodiscard]] inline switch_state read_switch() noexcept {
    char const* const text = std::getenv("SPOTTER");
    std::string_view const value = text == nullptr ? std::string_view{} : text;
    return value == "off"                   ? switch_state::off
           : value == "dry"                 ? switch_state::dry
           : value.empty() || value == "on" ? switch_state::on
                                            : switch_state::unknown;
}

template <class Argument>
[[nodiscard]] constexpr bool take_options(options& into, Argument const& argument) noexcept {
    if constexpr (std::same_as<Argument, options>) { into = argument; }
    if constexpr (plan_like<Argument> && requires { argument.dry_run; }) {
        into.dry_run = into.dry_run || argument.dry_run;
    }
    return true;
}
template <class... Arguments>
[[nodiscard]] constexpr options options_among(Arguments const&... each) noexcept {
    options found;
    (void)(take_options(found, each) && ... && true);
    found.dry_run = found.dry_run || read_switch() == switch_state::dry || read_switch() == switch_state::off;
    return found;
}

[[nodiscard]] inline double steady_seconds() noexcept {
    timespec now{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A further worker's: the first one chose the folder, or found none.
[[nodiscard]] constexpr options options_of_worker(options own, std::uint32_t number, bool no_folder) noexcept {
    own.worker = number;
    own.dry_run = own.dry_run || no_folder;
    if (own.existing != existing::replace) { own.existing = existing::resume; }
    return own;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
