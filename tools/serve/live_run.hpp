// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: one run that is read, and what was read of it so far. Nothing is read twice.
#pragma once

#include <page/series.hpp>

#include <spotter/trial.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace spotter_tool::live {

// What a curve is of.
struct curve_name {
    std::string tensor{};
    std::string statistic = "mean";
    std::uint32_t worker = 0;

    friend auto operator<=>(curve_name const&, curve_name const&) = default;
};

// One statistic of one tensor of one worker over the steps, in bounded memory however long the run. Steps of eval and
// predict stand at the train step that was closed before them, so that all modes have one axis.
struct curve {
    static constexpr std::size_t columns = 512;

    std::array<std::optional<spotter::html::series>, spotter::mode_count> modes{};
    std::array<std::uint64_t, spotter::mode_count> last_step{};  // its own, in each mode
    std::uint64_t version = 0;                                   // of the run when it last changed
    std::uint64_t unreadable = 0;                                // points that damage took
};

// A run and the curves that were asked of it. Every call takes its lock.
class live_run {
public:
    explicit live_run(std::string path) : path_{std::move(path)} {}

    [[nodiscard]] std::mutex& lock() noexcept { return lock_; }
    // Opens the run or takes in what was written since; true where something changed. To be called with the lock.
    bool refresh();
    // The same unless it was done less than `seconds` ago.
    bool refresh_if_older(double seconds);

    // Null while it could not be opened; `trouble` says why.
    [[nodiscard]] spotter::trial const* run() const noexcept { return run_ ? &*run_ : nullptr; }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::string const& trouble() const noexcept { return trouble_; }
    // Grows with every change.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    // The whole curve, up to what was refreshed last. Null: no such tensor, statistic or worker.
    [[nodiscard]] curve const* curve_of(curve_name const& which);
    // Steps from `first` to `last` alone, read anew; for who looks closer than a whole curve has columns.
    [[nodiscard]] std::optional<curve> closer(curve_name const& which, std::uint64_t first, std::uint64_t last);
    // Seconds since 1970 at which a place of the axis was closed, by worker; NaN where nothing is known.
    [[nodiscard]] double time_at(std::uint32_t worker, double place) const;
    // When it was asked for last, by a clock that does not jump.
    [[nodiscard]] double touched() const noexcept { return touched_; }
    void touch() noexcept;

private:
    // How far a worker's closings were read: where eval and predict stand on the axis.
    struct axis {
        std::size_t closes = 0;  // that were taken in
        std::uint64_t last_train = 0;
        bool has_train = false;
    };
    struct followed {
        curve data{};
        std::size_t taken = 0;  // observations
        axis at{};
    };
    [[nodiscard]] spotter::worker_reader const* reader_of(std::uint32_t worker) const;
    // Takes in observations from `from.taken` on, of steps on the axis from `first` to `last`.
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
        spotter::html::series times{curve::columns};  // of closings, seconds since `began`
        double began = 0;
    };
    std::map<std::uint32_t, clock> clocks_{};
    double refreshed_ = 0, touched_ = 0;
};

// Seconds by a clock that does not jump.
[[nodiscard]] double steady_seconds();

}  // namespace spotter_tool::live
