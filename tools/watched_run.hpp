// SPDX-License-Identifier: Apache-2.0
// Command line, `watch`: follows one run and acts on its findings.
#pragma once

#include "findings.hpp"
#include "outcome.hpp"
#include "verbs.hpp"

#include <spotter/hook/capture.hpp>
#include <spotter/replay.hpp>
#include <spotter/response.hpp>
#include <spotter/rule/dynamic_rule.hpp>
#include <spotter/trial.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spotter_tool {

// Use it in one thread, which calls `advance` repeatedly.
class watched_run {
public:
    using tell = std::function<void(json const&)>;  // receives each event once

    watched_run(std::string path, spotter::dynamic_rule const& rules, watch_options const& wanted, tell const& out)
        : path_{std::move(path)}, rules_{rules}, wanted_{wanted}, out_{out} {}
    watched_run(watched_run const&) = delete;
    watched_run& operator=(watched_run const&) = delete;

    // Reads and judges what is new at `now` (seconds, monotonic), and acts.
    void advance(double now);

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] bool begun() const noexcept { return run_.has_value(); }
    [[nodiscard]] bool over() const noexcept { return run_ ? run_->over() : unreadable(); }
    [[nodiscard]] bool stalled() const noexcept { return stalled_; }
    [[nodiscard]] bool stopping() const noexcept { return run_ && asked_in_attempt_ == run_->attempts(); }
    [[nodiscard]] bool ill() const noexcept;
    void judge_end(outcome& how) const;  // adds its result to the exit code
    // Reports the rules' coverage and what they lacked; nothing is judged afterwards.
    void conclude();
    [[nodiscard]] spotter::run_status status() const noexcept { return run_->status(); }
    [[nodiscard]] spotter::error const& trouble() const noexcept { return trouble_; }
    [[nodiscard]] spotter::trial const& record() const noexcept { return *run_; }
    [[nodiscard]] double steps_per_second() const noexcept { return rate_; }
    // The last few hundred values of the training loss; empty where none is recorded.
    struct curve {
        std::string name{};
        std::vector<double> values{};
        std::vector<bool> known{};
    };
    [[nodiscard]] curve loss() const;
    // Seconds since 1970: when its step was closed, or now if that is unknown.
    [[nodiscard]] double time_of(spotter::finding const& found) const;
    [[nodiscard]] std::vector<spotter::finding> const& findings() const noexcept {
        return following_->so_far().findings;
    }

private:
    // Receives the follower's findings one by one.
    struct listener {
        watched_run* to;
        void operator()(spotter::finding const& found) const { to->hear(found); }
        void attempt_begins(std::uint32_t worker) const { to->begin_attempt(worker); }
        void run_replaced() const { to->begin_anew(); }
    };

    // The services for responses. It cannot capture tensors of a run that another process records.
    struct desk final : spotter::response_desk {
        spotter::pending_responses begun{};
        spotter::finding_origin from{};
        void capture(wish const&, std::uint64_t) noexcept override {}
        void await(spotter::pending_response const& it) noexcept override { begun.add(it); }
        [[nodiscard]] spotter::finding_origin origin() const noexcept override { return from; }
    };

    void hear(spotter::finding const& found);
    void begin_attempt(std::uint32_t worker) noexcept;
    void begin_anew();
    void note_trouble(spotter::error const& why);
    void act();
    void hear_of_commands(bool at_the_end);
    [[nodiscard]] std::uint32_t attempt_of(std::uint32_t worker) const;
    [[nodiscard]] json event_of(spotter::finding const& found) const;
    void respond(spotter::finding const& found);
    void ask_to_stop(spotter::finding const& found);
    void watch_for_stalls();
    void tell_status();
    void measure_rate(double now);
    [[nodiscard]] json event(std::string_view what) const { return {{"event", std::string{what}}, {"path", path_}}; }
    [[nodiscard]] bool unreadable() const noexcept { return !run_ && trouble_; }

    std::string path_;
    spotter::dynamic_rule rules_;
    watch_options const& wanted_;
    tell const& out_;
    listener listener_{this};
    desk desk_{};
    std::optional<spotter::trial> run_{};
    std::unique_ptr<spotter::follower<spotter::dynamic_rule, listener>> following_{};
    std::vector<spotter::finding> pending_{};            // of the current attempt, not acted on yet
    std::map<std::uint32_t, std::uint64_t> warnings_{};  // by worker, in its current attempt
    std::optional<spotter::run_status> reported_status_{};
    spotter::error trouble_{};
    bool stalled_ = false;
    std::uint32_t asked_in_attempt_ = 0;                     // the attempt that was asked to stop, counted from 1
    std::deque<std::pair<double, std::uint64_t>> closed_{};  // times, with the number of steps closed by then
    double rate_ = 0;
};

}  // namespace spotter_tool
