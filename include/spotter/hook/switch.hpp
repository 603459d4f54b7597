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
#include <spotter/core/kept_text.hpp>

#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY switch_state read_switch() noexcept {
    char const* const text = std::getenv("SPOTTER");
    std::string_view const value = text == nullptr ? std::string_view{} : text;
    return value == "off"                   ? switch_state::off
           : value == "dry"                 ? switch_state::dry
           : value.empty() || value == "on" ? switch_state::on
                                            : switch_state::unknown;
}

SPOTTER_BODY error malformed_plan(pattern_fault const& bad) noexcept {
    error why{errc::bad_pattern, ""};
    why.what << bad << " is a malformed pattern of the plan; the plan is not applied, rules and scalars go on";
    return why;
}

SPOTTER_BODY std::string_view run_path(std::string_view path) noexcept {
    char const* const instead = std::getenv("SPOTTER_RUN");
    if (instead == nullptr || *instead == '\0') { return path; }
    static kept_text const first = [path] {  // the thread that comes first sets it
        kept_text its;
        (void)its.assign(path);
        return its;
    }();
    return path == first.view() ? std::string_view{instead} : path;
}

SPOTTER_BODY void take_choices(options& into, run_choices const& said) noexcept {
    auto const take = [&](run_option which, auto& member) {
        if (said.has(which)) { member = static_cast<std::remove_reference_t<decltype(member)>>(said[which]); }
    };
    take(run_option::existing, into.existing);
    take(run_option::overflow, into.overflow);
    take(run_option::copying, into.copying);
    take(run_option::disk_sync, into.disk_sync);
    take(run_option::ring_bytes, into.ring_bytes);
    take(run_option::segment_bytes, into.segment_bytes);
    take(run_option::run_bytes, into.run_bytes);
    take(run_option::flush_milliseconds, into.flush_milliseconds);
    take(run_option::compression_level, into.compression_level);
    take(run_option::compressors, into.compressors);
    take(run_option::workers, into.workers);
    take(run_option::keep, into.keep);
    take(run_option::flight_bytes, into.flight_bytes);
    take(run_option::flight_steps_after, into.flight_steps_after);
    take(run_option::ring_in, into.ring_in);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
