// SPDX-License-Identifier: Apache-2.0
// The bodies of switch.hpp.
#pragma once

#include <spotter/core/kept_text.hpp>
#include <spotter/hook/switch.hpp>
#include <spotter/plan/run_choices.hpp>

#include <atomic>
#include <cstdlib>
#include <ctime>
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

// Taken once: the first path that a process records at.
struct first_path {
    std::atomic<int> state{0};  // 1: is written, 2: is there
    kept_text path{};

    [[nodiscard]] bool is(std::string_view asked) noexcept {
        int none = 0;
        if (state.compare_exchange_strong(none, 1, std::memory_order_acquire)) {
            bool const kept = path.assign(asked);
            state.store(2, std::memory_order_release);
            return kept;
        }
        while (state.load(std::memory_order_acquire) != 2) {}
        return path.view() == asked;
    }
};

SPOTTER_BODY std::string_view run_path(std::string_view path) noexcept {
    static first_path first;
    char const* const instead = std::getenv("SPOTTER_RUN");
    if (instead == nullptr || *instead == '\0' || path == instead || !first.is(path)) { return path; }
    return instead;
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

SPOTTER_BODY double steady_seconds() noexcept {
    timespec now{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
