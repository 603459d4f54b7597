// SPDX-License-Identifier: Apache-2.0
// The bodies of switch.hpp.
#pragma once

#include <spotter/core/kept_text.hpp>
#include <spotter/hook/switch.hpp>
#include <spotter/plan/run_choices.hpp>

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
