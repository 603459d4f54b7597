// SPDX-License-Identifier: Apache-2.0
// Export (L5): one worker's record step by step, in the order of writing, also while it grows: what the writers of
// other formats read.
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/export/recorded_entry.hpp>
#include <spotter/trial/recorded_lists.hpp>
#include <spotter/trial/step_list.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What of a run is exported: everything, where nothing is said.
struct export_choice {
    std::vector<std::string> names{};     // exact, or globs
    std::optional<spotter::mode> mode{};  // none: all
    std::optional<step_id> step{};        // none: all
    std::vector<statistic> statistics{};  // none: the usual ones, as far as they were stored

    [[nodiscard]] bool has_name(std::string_view name) const;  // always, where no names are given
    [[nodiscard]] bool has_step(step_id each) const noexcept;  // of the mode and the step that are asked for
};

// What an exporter met; more of a run that is followed.
struct export_counts {
    std::uint64_t steps = 0;             // closings
    std::uint64_t values = 0;            // numbers, texts, histograms, pictures
    std::uint64_t left_out = 0;          // of these, what the format cannot say; the writer's comment says which
    std::vector<std::string> damaged{};  // "name@mode:index" of values that could not be read
};

// A closed step, and what was kept at it.
struct recorded_step {
    step_id step{};  // which
    // Of its closing, in seconds since 1970, as the writer met it: in order with scalars between steps.
    double time = 0;
    std::uint64_t ordinal = 0;           // closes of the worker before it
    std::uint32_t worker = 0;            // that closed it
    std::uint32_t attempt = 0;           // of the run, from 0
    std::optional<timed_step> timing{};  // how long it took, where the record says so
    bool again = false;                  // not beyond the last closing of its mode: a rewind, or a resumed run
};

// Goes on where it stopped, so that a run which grows is read once. `Take` has five calls:
//   step(recorded_step const&)                          begins a closed step
//   entry(recorded_step const&, recorded_entry&)        what was kept at it; of several observations of a tensor the
//   last finding(recorded_step const&, spotter::finding&)    what rules found at it end(recorded_step const&) the step
//   is whole loose(recorded_step const&, recorded_entry&)        a scalar between steps; with the last step of train,
//   or of any mode before that
class recorded_steps {
public:
    recorded_steps(worker_reader const& from, export_choice const& choice) : from_{&from}, choice_{&choice} {}

    [[nodiscard]] worker_reader const& reader() const noexcept { return *from_; }  // the worker whose record it is

    // What was closed since the last call; scalars behind the last closing once nobody writes any more.
    template <class Take>
    void advance(Take&& take) {
        worker_index const& run = from_->index();
        std::size_t const closings = run.steps().size();
        run.walk(place_, [&](std::uint32_t segment, row_view row) {
            if (closed_ == closings && from_->running()) { return false; }
            begin(run.attempt_of(segment));
            switch (row.kind) {
                case row_kind::observe:
                    keep(segment, row);
                    break;
                case row_kind::scalar:
                    if (!keep_loose(segment, row, take)) { keep(segment, row); }
                    break;
                case row_kind::finding:
                    findings_.push_back({segment, no_tensor, row.kind, bodies_.size(), row.body.size()});
                    bodies_.insert(bodies_.end(), row.body.begin(), row.body.end());
                    break;
                case row_kind::close:
                    close(row, take);
                    break;
                default:
                    break;
            }
            return true;
        });
    }

private:
    struct kept {
        std::uint32_t segment = 0;
        tensor_id id = no_tensor;
        row_kind kind{};
        std::size_t at = 0, bytes = 0;  // of its body in bodies_
    };

    void clear() noexcept;
    // What the process of an earlier attempt left open is no step.
    void begin(std::uint32_t attempt) noexcept;
    [[nodiscard]] bool wanted(tensor_id id);
    // The body of a packed row is only valid until the next one is read.
    void keep(std::uint32_t segment, row_view row);
    [[nodiscard]] row_view body_of(kept const& it) const noexcept;
    template <class Take>
    [[nodiscard]] bool keep_loose(std::uint32_t segment, row_view row, Take& take) {
        rows::scalar seen;
        if (decode(row, seen) || seen.has_step) { return false; }
        tensor_id const id = from_->index().id_of(segment, seen.id);
        if (!wanted(id) || choice_->step || (choice_->mode && *choice_->mode != before_.step.mode)) { return true; }
        recorded_entry it{*from_->index().tensors()[id], row, from_->index(), segment};
        before_.worker = from_->number();
        take.loose(before_, it);
        return true;
    }
    template <class Take>
    void close(row_view row, Take& take) {
        rows::close end;
        if (decode(row, end)) { return clear(); }
        ++closed_;
        std::optional<std::uint64_t>& before = latest_[index_of(end.step.mode)];
        auto const timing = from_->index().times().find(end.step, end.ordinal, from_->number());
        last_ = {
            end.step, end.time, end.ordinal, from_->number(), attempt_, timing, before && end.step.index <= *before};
        before = end.step.index;
        if (end.step.mode == mode::train || !latest_[index_of(mode::train)]) { before_ = last_; }
        if (choice_->has_step(end.step)) { tell(take); }
        clear();
    }
    template <class Take>
    void tell(Take& take) {
        worker_index const& run = from_->index();
        if (!kept_.empty()) { run.guard(kept_.front().segment); }
        take.step(last_);
        last_of_.resize(run.tensors().size());
        for (std::size_t i = 0; i < kept_.size(); ++i) { last_of_[kept_[i].id] = i; }
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            kept const& each = kept_[i];
            if (last_of_[each.id] != i) { continue; }
            recorded_entry it{*run.tensors()[each.id], body_of(each), run, each.segment};
            if (it) { take.entry(last_, it); }
        }
        for (kept const& each : findings_) {
            rows::finding told;
            if (decode(body_of(each), told)) { continue; }
            take.finding(last_, detail::finding_of(told, from_->number(), std::identity{}));
        }
        take.end(last_);
    }

    worker_reader const* from_;
    export_choice const* choice_;
    walk_place place_{};
    std::size_t closed_ = 0;
    std::uint32_t attempt_ = unknown_attempt;
    recorded_step last_{};    // that was closed
    recorded_step before_{};  // what scalars between steps go with: the last one of train, where there is any
    std::optional<std::uint64_t> latest_[mode_count]{};  // index of the last closing
    std::vector<bool> named_{};                          // whether a tensor is wanted, by its id
    std::vector<kept> kept_{}, findings_{};              // of the step that is open
    std::vector<std::byte> bodies_{};
    std::vector<std::size_t> last_of_{};  // which of kept_ is the last of a tensor
};

// All workers of a run, one after the other; those that begin later join.
template <class Take>
class recorded_workers {
public:
    // `make(worker_reader const&)` gives what takes a worker's steps. `choice` must outlive this.
    explicit recorded_workers(export_choice const& choice) : choice_{choice} {}

    // False where another run has taken the place of the one that was taken so far; nothing of it is, until it is to
    // `begin_anew`.
    [[nodiscard]] bool goes_on(trial const& run) noexcept {
        if (workers_.empty()) { replaced_ = run.replaced(); }
        return replaced_ == run.replaced();
    }
    void begin_anew() noexcept { workers_.clear(); }  // all that was taken is forgotten
    // Calls make(reader) for a worker that is met first, then advances all.
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
    // Calls use(take) for each worker that was met.
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
    std::uint64_t replaced_ = 0;  // trial::replaced() of that run
};

namespace detail {

[[nodiscard]] error export_of_another_run() noexcept;

// What is worth a curve, where nobody chose.
inline constexpr statistic usual_statistics[] = {minimum, maximum, mean,          stddev,   mean_abs,
                                                 l1,      l2,      zero_fraction, nonfinite};

// Calls use(statistic, value) for the chosen statistics of an entry that is no single number, or for the usual ones
// that were stored.
template <class Use>
void each_statistic(recorded_entry& it, export_choice const& choice, Use&& use) {
    bool const chosen = !choice.statistics.empty();
    terms wanted{};
    for (statistic const& each : choice.statistics) { wanted |= each.needs(); }
    summary const stats = it.stats(wanted, chosen);
    auto const give = [&](statistic which) {
        if (measurement const found = which(stats); found.known) { use(which, found.value); }
    };
    if (chosen) {
        for (statistic const& each : choice.statistics) { give(each); }
    } else {
        for (statistic const& each : usual_statistics) { give(each); }
    }
}
[[nodiscard]] std::string place_of(recorded_step const& at, std::string_view name);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/recorded_steps.ipp>
#endif
