// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a worker that is slower than the others. docs/rules.md#straggler
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/beside.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/median.hpp>

namespace spotter::inline SPOTTER_ABI {

// A worker's time for a step is its tensor `time/step`, in seconds. Its median is that over the last `window` train
// steps. Warning when the smallest median of all workers, divided by its own, is below `score` (slower than the
// fastest), or when its own smallest median so far, divided by its current one, is (slower than before). A worker is
// judged once its window is full, at steps where two such workers have a time. The finding names the slowest and lists
// the others. Times that are not finite or not above zero are skipped. If workers wait for each other within a step,
// all are as slow as the slowest: observe each worker's computing time instead. Needs `replay_side_by_side`.
struct straggler {
    using kind = rule_kind;
    static constexpr std::string_view name = "straggler";
    static constexpr std::string_view remedy = "Look at checkpoints, evaluation or the named rank at the named step.";
    static constexpr mode judged_in = mode::train;
    static constexpr bool reads_times = true;

    selector select = "time/step";
    double score = 0.75;        // NVIDIA's resiliency extension
    std::uint64_t window = 50;  // train steps; at least 2

    struct worker_times {      // of one stream
        recent_values recent;  // its last `window` times
        double median = 0;     // of a full window
        double best = 0;       // the smallest so far; 0: none yet
        bool touched = false;  // it had a time at this step
    };
    struct state {
        met_streams streams;
        slot_array<worker_times> all;  // by stream
        slot_array<std::uint64_t> scratch;
        tensor_id tensor = no_tensor;  // the first that matched; others are ignored
        std::string_view tensor_name;
        bool lacks_memory = false;  // for a worker
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum : stats_mask::none;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        std::size_t const place = seen.streams.place_of(it.stream);
        seen.lacks_memory = seen.lacks_memory || place == met_streams::none;
        if (place == met_streams::none || it.step.mode != mode::train) { return; }
        if (seen.tensor == no_tensor) { seen.tensor = it.tensor.id, seen.tensor_name = it.tensor.name; }
        measurement const time = loss_of(it);
        if (seen.tensor != it.tensor.id || !time.known || !(time.value > 0)) { return; }
        if (!seen.all.grow(place + 1) ||
            (seen.all[place].recent.size() == 0 && !keep_sortable(seen.all[place].recent, window, seen.scratch))) {
            seen.lacks_memory = true;
            return;
        }
        worker_times& mine = seen.all[place];
        mine.recent.add(time.value);
        mine.touched = true;
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        std::size_t judged = 0, fastest = 0;
        for (std::size_t i = 0; i < seen.all.size(); ++i) {
            worker_times& mine = seen.all[i];
            if (!mine.touched || !mine.recent.full()) { continue; }
            mine.median = median_of(mine.recent, seen.scratch, [](double time) { return time; });
            if (!(mine.best > 0) || mine.median < mine.best) { mine.best = mine.median; }
            fastest = judged++ == 0 || mine.median < seen.all[fastest].median ? i : fastest;
        }
        slow found{};
        if (judged > 1) { find_slow(seen, seen.all[fastest].median, found); }
        for (std::size_t i = 0; i < seen.all.size(); ++i) { seen.all[i].touched = false; }
        if (found.count == 0) { return judged > 1 ? truth::no : truth::undecided; }
        finding it;
        it.tensor = seen.tensor_name;
        it.reason = found.behind_others ? "slower than the fastest worker" : "slower than it was";
        it.measure = "score";
        it.measured = found.score;
        it.threshold = score;
        it.how = relation::less;
        it.severity = severity::warning;
        it.worker = seen.streams[found.place];
        worker_times const& mine = seen.all[found.place];
        it.detail << "worker " << it.worker << ": median " << mine.median << " s, ";
        if (found.behind_others) {
            it.detail << "worker " << seen.streams[fastest] << ": " << seen.all[fastest].median << " s";
        } else {
            it.detail << "before " << mine.best << " s";
        }
        if (found.count > 1) { it.detail << "; " << found.count - 1 << " more are slow"; }
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept { return seen.lacks_memory; }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept {
        return seen.streams.count() < 2 ? other_run_missing
                                        : "warm-up not reached: fewer than `window` times of two workers";
    }

private:
    struct slow {
        std::size_t place = 0, count = 0;
        double score = 0;
        bool behind_others = false;
    };
    SPOTTER_STRICT constexpr void find_slow(state const& seen, double least, slow& found) const noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < seen.all.size(); ++i) {
            worker_times const& mine = seen.all[i];
            if (!mine.touched || !mine.recent.full()) { continue; }
            double const among = least / mine.median;
            double const alone = mine.best / mine.median;
            double const lower = among <= alone ? among : alone;
            if (!(lower < score)) { continue; }
            if (found.count++ == 0 || lower < found.score) {
                found.place = i, found.score = lower, found.behind_others = among <= alone;
            }
        }
    }
};

}  // namespace spotter::inline SPOTTER_ABI
