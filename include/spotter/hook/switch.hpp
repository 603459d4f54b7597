// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what decides at the start how much of a hook works: the environment, and the options among its arguments.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/plan/plan.hpp>
#include <spotter/plan/run_choices.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

enum class switch_state : std::uint8_t { on, dry, off, unknown };

// The environment variable SPOTTER: `off` switches the hook off completely; `dry` runs the rules and records nothing.
[[nodiscard]] switch_state read_switch() noexcept;

// The folder that a run is recorded in: `path`, or the value of the environment variable SPOTTER_RUN. The variable
// replaces only the first path of the process. Thread-safe: workers of a run call it too. The result is valid until the
// program ends.
[[nodiscard]] std::string_view run_path(std::string_view path) noexcept;

[[nodiscard]] error malformed_plan(pattern_fault const& bad) noexcept;

void take_choices(options& into, run_choices const& said) noexcept;

template <class Argument>
[[nodiscard]] constexpr bool take_options(options& into, Argument const& argument) noexcept {
    if constexpr (std::same_as<Argument, options>) { into = argument; }
    if constexpr (plan_like<Argument> && requires { argument.dry_run; }) {
        into.dry_run = into.dry_run || argument.dry_run;
    }
    if constexpr (plan_like<Argument> && requires { argument.run; }) { take_choices(into, argument.run); }
    if constexpr (plan_like<Argument> && requires { argument.first(); }) { (void)take_options(into, argument.first()); }
    return true;
}
template <class... Arguments>
[[nodiscard]] constexpr options options_among(Arguments const&... each) noexcept {
    options found;
    (void)(take_options(found, each) && ... && true);
    found.dry_run = found.dry_run || read_switch() == switch_state::dry || read_switch() == switch_state::off;
    return found;
}

// The options of a further worker: it uses the folder of the first one, or none, and runs no task beside the writer.
[[nodiscard]] constexpr options options_of_worker(options own, std::uint32_t number, bool no_folder) noexcept {
    own.worker = number;
    own.beside = nullptr;
    own.dry_run = own.dry_run || no_folder;
    if (own.existing != existing::replace) { own.existing = existing::resume; }
    return own;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/switch.ipp>
#endif
