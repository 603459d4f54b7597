// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one worker's record and how it stands: its status, which steps it has decided, how long it has been silent.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/step_ranges.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

// running: a live process writes it. finished: closed normally. failed: ended by an exception or hook.fail(). died: the writer
// is gone without a word.
enum class run_status : std::uint8_t { running, finished, failed, died };

[[nodiscard]] constexpr std::string_view name_of(run_status status) noexcept {
    constexpr std::string_view names[] = {"running", "finished", "failed", "died"};
    return names[static_cast<std::size_t>(status)];
}

// Of several workers the run takes the worst: died, then failed, then running, then finished.
[[nodiscard]] constexpr run_status worst_of(run_status a, run_status b) noexcept {
    constexpr auto badness = [](run_status each) { return each == run_status::finished ? -1 : static_cast<int>(each); };
    return badness(b) > badness(a) ? b : a;
}

// present: closed. absent: the run has gone past it, or is over, without it. pending: it may still come.
enum class step_state : std::uint8_t { present, absent, pending };

// One of several threads, processes or ranks of a run, by its number: `worker{2}`.
struct worker {
    std::uint32_t number = 0;

    friend constexpr bool operator==(worker, worker) noexcept = default;
};

// A snapshot like the trial that it belongs to.
class worker_reader {
public:
    // `folder` is this worker's own. Whose it is stands in the record; until that is read it is `number`.
    worker_reader(std::uint32_t number, std::string_view folder, file_system& files)
        : number_{number}, index_{folder, files} {}

    // Takes in what was written meanwhile. After an error everything read so far still holds.
    [[nodiscard]] error refresh() {
        result<bool> const live =
            index_.is_locked();  // asked first: a run that ends now is still seen as ended next time
        trouble_ = index_.refresh();
        if (index_.ended()) {
            status_ = index_.ended_how() == 1 ? run_status::finished : run_status::failed;
        } else if (live) {  // where the system cannot tell, it stays what it was
            status_ = *live ? run_status::running : run_status::died;
        }
        auto const now = std::chrono::system_clock::now().time_since_epoch();
        looked_at_ = std::chrono::duration<double>(now).count();
        return trouble_;
    }

    [[nodiscard]] std::uint32_t number() const noexcept { return number_ == 0 ? index_.worker() : number_; }
    [[nodiscard]] run_index const& index() const noexcept { return index_; }
    [[nodiscard]] run_status status() const noexcept { return status_; }
    [[nodiscard]] bool running() const noexcept { return status_ == run_status::running; }
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }  // of the last refresh
    [[nodiscard]] bool closed(step_id step) const { return ranges().contains(step); }
    [[nodiscard]] bool past(step_id step) const { return ranges().any_after(step); }

    // Decided once this worker closed it or a later index of its mode, or is over.
    [[nodiscard]] step_state state(step_id step) const {
        if (closed(step)) { return step_state::present; }
        return past(step) || !running() ? step_state::absent : step_state::pending;
    }
    // Seconds from the last sign of the loop (begun, closed a step, ended) to the last refresh. Heartbeats do not count: the
    // writer sends them also while the loop hangs.
    [[nodiscard]] double age() const {
        double last = index_.begun_at();
        if (!index_.steps().empty()) { last = (std::max)(last, index_.steps().back().time); }
        last = (std::max)(last, index_.ended_at());
        return (std::max)(0.0, looked_at_ - last);
    }

private:
    [[nodiscard]] step_ranges const& ranges() const {
        auto const& steps = index_.steps();
        for (auto it = steps.from(ranged_); it != steps.end(); ++it, ++ranged_) { closed_.add((*it).step); }
        return closed_;
    }

    std::uint32_t number_;
    run_index index_;
    mutable step_ranges closed_{};
    mutable std::size_t ranged_ = 0;  // closings that `closed_` knows
    error trouble_{};
    run_status status_ = run_status::running;
    double looked_at_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
