// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one worker's record and its state: status, decided steps, and the time since its last sign.
#pragma once

#include <spotter/format/worker_set.hpp>
#include <spotter/trial/index.hpp>
#include <spotter/trial/step_list.hpp>

namespace spotter::inline SPOTTER_ABI {

// running: a live process writes it. finished: ended normally. failed: ended by an exception or hook.fail(). died: the
// writer is gone without a run_end.
enum class run_status : std::uint8_t { running, finished, failed, died };

[[nodiscard]] constexpr std::string_view name_of(run_status status) noexcept {
    constexpr std::string_view names[] = {"running", "finished", "failed", "died"};
    return names[static_cast<std::size_t>(status)];
}

// The status of a run of several workers is the worst: died, failed, running, finished.
[[nodiscard]] constexpr run_status worst_of(run_status a, run_status b) noexcept {
    constexpr auto badness = [](run_status each) { return each == run_status::finished ? -1 : static_cast<int>(each); };
    return badness(b) > badness(a) ? b : a;
}

// present: closed. absent: the run has gone past it, or is over. pending: it may still come.
enum class step_state : std::uint8_t { present, absent, pending };

// One of several threads, processes or ranks of a run, by number: `worker{2}`.
struct worker {
    std::uint32_t number = 0;  // from 0

    friend constexpr bool operator==(worker, worker) noexcept = default;
};

// A worker in a set of sidecars.
struct worker_in_set {
    set_worker who{};                  // its number, and the end of its record
    set_segment last{};                // its last segment
    std::vector<merged_side> sides{};  // its sidecars
};

// A snapshot, like its trial.
class worker_reader {
public:
    // `folder` is this worker's. The record holds the worker's number; until it is read, that is `number`. `unpacker`
    // must outlive this.
    worker_reader(std::uint32_t number, std::string_view folder, file_system& files, payload_unpacker& unpacker)
        : number_{number}, index_{folder, files, unpacker} {}
    // For a worker in a set of sidecars: its record is opened on first use. The sidecars must outlive this.
    worker_reader(worker_in_set in_set, std::string_view folder, file_system& files, payload_unpacker& unpacker);

    // Reads what was written since. After an error everything read so far is still valid. The data of a set is used
    // until the folder shows a different end of the record.
    [[nodiscard]] error refresh();

    // The number of the worker.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_ == 0 ? index_.worker() : number_; }
    // The worker's folder.
    [[nodiscard]] std::string const& path() const noexcept { return index_.path(); }
    // The record; opens it if only the set was read.
    [[nodiscard]] worker_index const& index() const noexcept {
        if (in_set_) { const_cast<worker_reader*>(this)->open(); }  // a trial has one thread
        return index_;
    }
    // The planned number of workers; 0: not specified.
    [[nodiscard]] std::uint32_t expected_workers() const noexcept;
    // Whether the file sizes show that the record ends where the set says; only before it is opened.
    [[nodiscard]] bool matches_set() const noexcept;
    // As of the last refresh.
    [[nodiscard]] run_status status() const noexcept { return status_; }
    // A process writes it.
    [[nodiscard]] bool running() const noexcept { return status_ == run_status::running; }
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }  // of the last refresh
    // There is a record, but nothing of it could be read so far.
    [[nodiscard]] bool unreadable() const noexcept { return !in_set_ && trouble_ && index_.is_empty(); }
    // This worker closed the step.
    [[nodiscard]] bool closed(step_id step) const { return ranges().contains(step); }
    // It closed a later index of that mode.
    [[nodiscard]] bool past(step_id step) const { return ranges().any_after(step); }

    // Decided once this worker has closed the step or a later index of its mode, or is over.
    [[nodiscard]] step_state state(step_id step) const;
    // Seconds from the last sign of the loop (begin, close of a step, end) to the last refresh. Heartbeats do not
    // count: the writer sends them even if the loop hangs. Before the first sign: seconds since the first refresh.
    [[nodiscard]] double age() const;

private:
    [[nodiscard]] step_ranges const& ranges() const;
    void open() noexcept;
    void look_at_clock() noexcept;

    std::uint32_t number_;
    worker_index index_;
    std::optional<worker_in_set> in_set_{};  // until the record is opened
    mutable step_ranges closed_{};
    mutable std::size_t ranged_ = 0;  // number of closes in `closed_`
    error trouble_{};
    run_status status_ = run_status::running;
    double looked_at_ = 0, first_look_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <chrono>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY worker_reader::worker_reader(worker_in_set in_set, std::string_view folder, file_system& files,
                                          payload_unpacker& unpacker)
    : number_{in_set.who.number}, index_{folder, files, unpacker}, in_set_{std::move(in_set)} {
    constexpr run_status ends[] = {run_status::died, run_status::finished, run_status::failed};
    status_ = ends[in_set_->who.how < 3 ? in_set_->who.how : 0];
    look_at_clock();
}

SPOTTER_BODY error worker_reader::refresh() {
    if (in_set_ && matches_set()) {
        look_at_clock();
        return {};
    }
    if (in_set_) { index_.take_sides(std::move(std::exchange(in_set_, std::nullopt)->sides)); }
    result<bool> const live = index_.is_locked();  // first: the next refresh then sees a run that ends now
    trouble_ = index_.refresh();
    if (index_.ended()) {
        status_ = index_.ended_how() == 1 ? run_status::finished : run_status::failed;
    } else if (live) {  // if the system cannot tell, the status is unchanged
        status_ = *live ? run_status::running : run_status::died;
    }
    if (!trouble_) { trouble_ = index_.settle_ends(!running()); }
    look_at_clock();
    return trouble_;
}

SPOTTER_BODY std::uint32_t worker_reader::expected_workers() const noexcept {
    return in_set_ ? in_set_->who.expected_workers : index_.expected_workers();
}

SPOTTER_BODY void worker_reader::open() noexcept {
    index_.take_sides(std::move(in_set_->sides));
    in_set_.reset();
    trouble_ = detail::answered([&]() -> error { return refresh(); });
}

SPOTTER_BODY bool worker_reader::matches_set() const noexcept {
    segment_folder const& folder = index_.folder();
    char name[32];
    auto const path = [&](std::uint32_t number) {
        return path_text{folder.path(), {name, name_segment(number, layout::data_suffix, name)}};
    };
    auto const bytes = folder.files().size_of(path(in_set_->last.number));
    if (!bytes || *bytes != in_set_->last.bytes) { return false; }
    auto const next = folder.files().kind_of(path(in_set_->last.number + 1));
    return next && *next == path_kind::missing;
}

SPOTTER_BODY void worker_reader::look_at_clock() noexcept {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    looked_at_ = std::chrono::duration<double>(now).count();
    if (first_look_ == 0) { first_look_ = looked_at_; }
}

SPOTTER_BODY step_state worker_reader::state(step_id step) const {
    if (closed(step)) { return step_state::present; }
    return past(step) || !running() ? step_state::absent : step_state::pending;
}

SPOTTER_BODY double worker_reader::age() const {
    if (in_set_) { return (std::max)(0.0, looked_at_ - in_set_->who.last_sign); }
    double last = index_.begun_at();
    if (!index_.steps().empty()) { last = (std::max)(last, index_.steps().back().time); }
    last = (std::max)(last, index_.ended_at());
    if (last == 0) { last = first_look_; }  // its file has no head yet
    return (std::max)(0.0, looked_at_ - last);
}

SPOTTER_BODY step_ranges const& worker_reader::ranges() const {
    auto const& steps = index().steps();
    return detail::listed([&]() -> step_ranges const& {
        for (auto it = steps.from(ranged_); it != steps.end(); ++it, ++ranged_) { closed_.add((*it).step); }
        return closed_;
    });
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
