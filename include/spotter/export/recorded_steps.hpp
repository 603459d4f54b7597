// SPDX-License-Identifier: Apache-2.0
// Export (L5): one worker's record step by step, in the order of writing, also while it grows: the input of writers of
// other formats.
#pragma once

#include <spotter/export/choice.hpp>
#include <spotter/export/recorded_entry.hpp>
#include <spotter/trial/recorded_events.hpp>

#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A closed step.
struct recorded_step {
    step_id step{};  // which
    // When the writer received the close, in seconds since 1970: in order with scalars between steps.
    double time = 0;
    std::uint64_t ordinal = 0;           // number of the worker's earlier closes
    std::uint32_t worker = 0;            // the worker that closed it
    std::uint32_t attempt = 0;           // of the run, from 0
    std::optional<timed_step> timing{};  // its duration, if it was recorded
    bool again = false;                  // not after the last close of its mode: a rewind or a resumed run
};

// Continues where it stopped, so that a growing run is read once. `Take` has five calls:
//   step(recorded_step const&)                          begins a closed step
//   entry(recorded_step const&, recorded_entry&)        what was kept at it; of several observations the last
//   finding(recorded_step const&, spotter::finding&)    what rules found at it
//   end(recorded_step const&)                           the step is complete
//   loose(recorded_step const&, recorded_entry&)        a scalar between steps; with the last step of train, or of any
//                                                       mode before there is one
class recorded_steps {
public:
    recorded_steps(worker_reader const& from, export_choice const& choice)
        : from_{&from}, choice_{&choice}, events_{from.index()} {}

    [[nodiscard]] worker_reader const& reader() const noexcept { return *from_; }  // the worker whose record is read

    // Passes on what was closed since the last call; scalars after the last close once no process writes any more.
    template <class Take>
    void advance(Take&& take) {
        std::size_t const closings = from_->index().steps().size();
        // A step that the process of an earlier attempt left open is dropped.
        events_.advance([&] { return closed_ != closings || !from_->running(); },
                        recorded_sink{[&](recorded_attempt) { clear(); },
                                      [&](recorded_row const& it) { take_row(it, take); },
                                      [&](rows::close const& end) { close(end, take); }});
    }

private:
    void clear() noexcept { kept_.clear(), findings_.clear(); }
    [[nodiscard]] bool wanted(tensor_id id) {
        auto const& tensors = from_->index().tensors();
        for (std::size_t i = named_.size(); i < tensors.size(); ++i) {
            named_.push_back(choice_->has_name(tensors[i]->name));
        }
        return id < named_.size() && named_[id];
    }
    template <class Take>
    void take_row(recorded_row const& it, Take& take) {
        if (it.row.kind == row_kind::finding) { return findings_.push(it); }
        worker_index const& run = from_->index();
        rows::head const head = head_of(run, it);
        if (!wanted(head.id)) { return; }
        if (head.has_step) { return kept_.push(it, head.id); }
        if (choice_->step || (choice_->mode && *choice_->mode != before_.step.mode)) { return; }
        recorded_entry loose{*run.tensors()[head.id], it.row, run, it.segment};
        before_.worker = from_->number();
        if (loose) { take.loose(before_, loose); }
    }
    template <class Take>
    void close(rows::close const& end, Take& take) {
        ++closed_;
        std::optional<std::uint64_t>& before = latest_[index_of(end.step.mode)];
        auto const timing = from_->index().times().find(end.step, end.ordinal, from_->number());
        bool const again = before && end.step.index <= *before;
        last_ = {end.step, end.time, end.ordinal, from_->number(), events_.attempt(), timing, again};
        before = end.step.index;
        if (end.step.mode == mode::train || !latest_[index_of(mode::train)]) { before_ = last_; }
        if (choice_->has_step(end.step)) { tell(take); }
        clear();
    }
    template <class Take>
    void tell(Take& take) {
        worker_index const& run = from_->index();
        if (kept_.size() > 0) { run.guard(kept_[0].segment); }
        take.step(last_);
        last_of_.resize(run.tensors().size());
        for (std::size_t i = 0; i < kept_.size(); ++i) { last_of_[kept_.id(i)] = i; }
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            tensor_id const id = kept_.id(i);
            if (last_of_[id] != i) { continue; }
            recorded_entry it{*run.tensors()[id], kept_[i].row, run, kept_[i].segment};
            if (it) { take.entry(last_, it); }
        }
        for (std::size_t i = 0; i < findings_.size(); ++i) {
            hand_over(run, findings_[i], [&](rows::finding const& reported) {
                take.finding(last_, detail::finding_of(reported, from_->number(), std::identity{}));
            });
        }
        take.end(last_);
    }

    worker_reader const* from_;
    export_choice const* choice_;
    recorded_events events_;
    std::size_t closed_ = 0;
    recorded_step last_{};    // the last closed one
    recorded_step before_{};  // the step passed with scalars between steps: the last one of train, if there is any
    std::optional<std::uint64_t> latest_[mode_count]{};  // index of the last close
    std::vector<bool> named_{};                          // whether a tensor is chosen, by its id
    kept_rows kept_{}, findings_{};                      // of the open step
    std::vector<std::size_t> last_of_{};                 // index in kept_ of a tensor's last row
};

// All workers of a run, one after the other. Workers that start later are added.
template <class Take>
class recorded_workers {
public:
    // `choice` must outlive this.
    explicit recorded_workers(export_choice const& choice) : choice_{choice} {}

    // False where another run has taken the place of the current one. Nothing of the new run is read before
    // `begin_anew`.
    [[nodiscard]] bool goes_on(trial const& run) noexcept {
        if (workers_.empty()) { replaced_ = run.replaced(); }
        return replaced_ == run.replaced();
    }
    void begin_anew() noexcept { workers_.clear(); }  // forgets everything read so far
    // Calls make(reader) for each new worker, then advances all.
    template <class Make>
    void advance(trial const& run, Make&& make) {
        if (!goes_on(run)) { return; }
        for (auto const& reader : run.readers()) {
            auto it = std::find_if(workers_.begin(), workers_.end(),
                                   [&](auto const& each) { return each->steps.reader().number() == reader->number(); });
            if (it == workers_.end()) {
                workers_.push_back(std::make_unique<entry>(entry{recorded_steps{*reader, choice_}, make(*reader)}));
                it = workers_.end() - 1;
            }
            (*it)->steps.advance((*it)->take);
        }
    }
    // Calls use(take) for each worker.
    template <class Use>
    void each(Use&& use) {
        for (auto const& worker : workers_) { use(worker->take); }
    }

private:
    struct entry {
        recorded_steps steps;
        Take take;
    };

    export_choice const& choice_;
    std::vector<std::unique_ptr<entry>> workers_{};
    std::uint64_t replaced_ = 0;  // value of trial::replaced() for the current run
};

namespace detail {

[[nodiscard]] inline error export_of_another_run() noexcept {
    return {errc::replaced, "another run has taken the place of the one that was exported: export it to another place"};
}

// The statistics that are plotted by default.
inline constexpr statistic usual_statistics[] = {minimum, maximum, mean,          stddev,   mean_abs,
                                                 l1,      l2,      zero_fraction, nonfinite};

// Calls use(statistic, value) for the chosen statistics of an entry that is not a single number, or for the usual ones
// that were stored.
template <class Use>
void each_statistic(recorded_entry& it, export_choice const& choice, Use&& use) {
    bool const chosen = !choice.statistics.empty();
    stats_mask wanted{};
    for (statistic const& each : choice.statistics) { wanted |= each.needs(); }
    summary const stats = it.stats(wanted, chosen);
    auto const give = [&](statistic which) {
        if (measurement const found = recorded_measurement(which, stats); found.known) { use(which, found.value); }
    };
    if (chosen) {
        for (statistic const& each : choice.statistics) { give(each); }
    } else {
        for (statistic const& each : usual_statistics) { give(each); }
    }
}
[[nodiscard]] inline std::string place_of(recorded_step const& at, std::string_view name) {
    return std::string{name} + '@' + std::string{name_of(at.step.mode)} + ':' + std::to_string(at.step.index);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
