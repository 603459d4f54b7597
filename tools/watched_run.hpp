// SPDX-License-Identifier: Apache-2.0
// Command line, `watch`: one run that is followed, and what is done about its findings.
#pragma once

#include "findings.hpp"
#include "verbs.hpp"

#include <spotter/replay.hpp>
#include <spotter/response.hpp>
#include <spotter/rule/dynamic_rule.hpp>
#include <spotter/trial.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spotter_tool {

// Belongs to one thread, which calls `advance` again and again.
class watched_run {
public:
    using tell = std::function<void(json const&)>;  // each event, once

    watched_run(std::string path, spotter::dynamic_rule const& rules, watch_options const& wanted, tell const& out)
        : path_{std::move(path)}, rules_{rules}, wanted_{wanted}, out_{out} {}
    watched_run(watched_run const&) = delete;
    watched_run& operator=(watched_run const&) = delete;

    // Looks what is new at `now` (seconds, steady), judges it, and acts.
    void advance(double now);

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] bool begun() const noexcept { return run_.has_value(); }
    [[nodiscard]] bool over() const noexcept { return run_ && run_->over(); }
    [[nodiscard]] bool stalled() const noexcept { return stalled_; }
    [[nodiscard]] bool stopping() const noexcept { return stop_asked_; }
    [[nodiscard]] bool ill() const noexcept { return warnings_ > 0 || bad_end(); }
    [[nodiscard]] spotter::run_status status() const noexcept { return run_->status(); }
    [[nodiscard]] spotter::error const& trouble() const noexcept { return trouble_; }
    [[nodiscard]] spotter::trial const& record() const noexcept { return *run_; }
    [[nodiscard]] double steps_per_second() const noexcept { return rate_; }
    // The last hundreds of the training loss; empty where none is recorded.
    struct curve {
        std::string name{};
        std::vector<double> values{};
        std::vector<bool> known{};
    };
    [[nodiscard]] curve loss() const;
    [[nodiscard]] std::vector<spotter::finding> const& findings() const noexcept {
        return following_->so_far().findings;
    }

private:
    // What the follower tells, finding by finding.
    struct listener {
        watched_run* to;
        void operator()(spotter::finding const& found) const { to->hear(found); }
        void attempt_begins() const { to->begin_attempt(); }
    };

    void hear(spotter::finding const& found);
    void begin_attempt() noexcept;
    void act();
    void respond(spotter::finding const& found);
    void ask_to_stop(spotter::finding const& found);
    void watch_for_stalls();
    void tell_status();
    void measure_rate(double now);
    [[nodiscard]] json event(std::string_view what) const { return {{"event", std::string{what}}, {"path", path_}}; }
    [[nodiscard]] bool bad_end() const noexcept {
        return run_ && (run_->status() == spotter::run_status::died || run_->status() == spotter::run_status::failed);
    }

    std::string path_;
    spotter::dynamic_rule const& rules_;
    watch_options const& wanted_;
    tell const& out_;
    listener listener_{this};
    std::optional<spotter::trial> run_{};
    std::unique_ptr<spotter::follower<spotter::dynamic_rule, listener>> following_{};
    std::vector<spotter::finding> pending_{};  // of the attempt at hand, with nothing done about them yet
    std::uint64_t warnings_ = 0;
    std::optional<spotter::run_status> told_{};
    spotter::error trouble_{};
    bool stalled_ = false, stop_asked_ = false;
    std::deque<std::pair<double, std::uint64_t>> closed_{};  // when, and how many steps were closed by then
    double rate_ = 0;
};

}  // namespace spotter_tool
