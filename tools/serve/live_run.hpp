// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: one run, and what was read of it so far. Nothing is read twice.
#pragma once

#include <page/series.hpp>

#include <spotter/core/clock.hpp>
#include <spotter/trial.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace spotter_tool::live {

using spotter::detail::steady_seconds;

// What identifies a curve.
struct curve_name {
    std::string tensor{};
    std::string statistic = "mean";
    std::uint32_t worker = 0;

    friend auto operator<=>(curve_name const&, curve_name const&) = default;
};

// One statistic of one tensor of one worker over the steps, in bounded memory. Steps of eval and predict are placed at
// the train step that was closed before them, so that all modes share one axis.
struct curve {
    static constexpr std::size_t columns = 512;

    std::array<std::optional<spotter::html::series>, spotter::mode_count> modes{};
    std::array<std::uint64_t, spotter::mode_count> last_step{};  // the last step index in each mode
    std::uint64_t version = 0;                                   // the run's version at the last change
    std::uint64_t unreadable = 0;                                // points lost by damage
};

// A run and the curves requested of it. Callers must hold its lock.
class live_run {
public:
    explicit live_run(std::string path) : path_{std::move(path)} {}

    [[nodiscard]] std::mutex& lock() noexcept { return lock_; }
    // Opens the run, or reads what was written since; true where something changed. Requires the lock.
    bool refresh();
    // The same unless it was done less than `seconds` ago.
    bool refresh_if_older(double seconds);

    // Null while it could not be opened; `trouble` has the reason.
    [[nodiscard]] spotter::trial const* run() const noexcept { return run_ ? &*run_ : nullptr; }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::string const& trouble() const noexcept { return trouble_; }
    // Increases with every change.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    // The whole curve, up to the last refresh. Null: unknown tensor, statistic or worker.
    [[nodiscard]] curve const* curve_of(curve_name const& which);
    // Only the steps from `first` to `last`, read anew, for more detail than the columns of the whole curve.
    [[nodiscard]] std::optional<curve> closer(curve_name const& which, std::uint64_t first, std::uint64_t last);
    // When a position of the axis was closed, in seconds since 1970, by worker; NaN where unknown.
    [[nodiscard]] double time_at(std::uint32_t worker, double place) const;
    // Time of the last request, on a monotonic clock.
    [[nodiscard]] double touched() const noexcept { return touched_; }
    void touch() noexcept;

private:
    // How far a worker's closes were read: gives the positions of eval and predict on the axis.
    struct axis {
        std::size_t closes = 0;  // closes read so far
        std::uint64_t last_train = 0;
        bool has_train = false;
    };
    struct followed {
        curve data{};
        std::size_t taken = 0;  // observations read so far
        axis at{};
    };
    [[nodiscard]] spotter::worker_reader const* reader_of(std::uint32_t worker) const;
    // Reads observations from `from.taken` on, of steps on the axis from `first` to `last`.
    void follow(curve_name const& which, followed& from, std::uint64_t first, std::uint64_t last) const;
    [[nodiscard]] std::uint64_t place_of(spotter::worker_index const& of, spotter::track_entry const& entry,
                                         axis& at) const;
    void follow_clock();

    std::string path_;
    std::mutex lock_{};
    std::optional<spotter::trial> run_{};
    std::string trouble_{};
    std::uint64_t version_ = 0;
    std::tuple<std::uint64_t, spotter::run_status, std::size_t, std::uint32_t, std::size_t, std::size_t> seen_{};
    std::map<curve_name, followed> curves_{};
    struct clock {
        axis at{};
        spotter::html::series times{curve::columns};  // of closes, in seconds since `began`
        double began = 0;
    };
    std::map<std::uint32_t, clock> clocks_{};
    double refreshed_ = 0, touched_ = 0;
};

}  // namespace spotter_tool::live
