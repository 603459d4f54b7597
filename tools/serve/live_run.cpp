// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the bodies of live_run.hpp.
#include "live_run.hpp"

#include "../arguments.hpp"

#include <bit>

namespace spotter_tool::live {

using namespace spotter;

void live_run::touch() noexcept { touched_ = steady_seconds(); }

bool live_run::refresh_if_older(double seconds) { return steady_seconds() - refreshed_ >= seconds && refresh(); }

bool live_run::refresh() {
    refreshed_ = steady_seconds();
    std::string trouble;
    if (!run_) {
        auto opened = open_trial(path_);
        if (opened) { run_.emplace(std::move(*opened)); }
        if (!opened) { trouble = opened.error().what.view(); }
    } else if (error const why = run_->refresh(); why && why.code == errc::replaced) {
        curves_.clear();
        clocks_.clear();
        seen_ = {};
        ++version_;
    } else if (why) {
        trouble = why.what.view();
    }
    bool changed = std::exchange(trouble_, trouble) != trouble;
    if (run_) {
        std::size_t tensors = 0;
        for (auto const& each : run_->readers()) { tensors += each->index().tensors().size(); }
        auto const now = std::tuple{run_->closed_steps(), run_->status(),         run_->findings().size(),
                                    run_->attempts(),     run_->readers().size(), tensors};
        changed = std::exchange(seen_, now) != now || changed;
        follow_clock();
    }
    version_ += changed ? 1U : 0U;
    return changed;
}

worker_reader const* live_run::reader_of(std::uint32_t worker) const {
    if (!run_) { return nullptr; }
    for (auto const& each : run_->readers()) {
        if (each->number() == worker) { return each.get(); }
    }
    return nullptr;
}

std::uint64_t live_run::place_of(worker_index const& of, track_entry const& entry, axis& at) const {
    if (entry.step.mode == mode::train) { return entry.step.index; }
    step_list const& steps = of.steps();
    for (auto it = steps.from(at.closes); at.closes < steps.size(); ++it, ++at.closes) {
        closed_step const closed = *it;
        if (closed.ordinal >= entry.ordinal) { break; }
        if (closed.step.mode == mode::train) { at.last_train = closed.step.index, at.has_train = true; }
    }
    return at.has_train ? at.last_train : entry.step.index;
}

void live_run::follow(curve_name const& which, followed& from, std::uint64_t first, std::uint64_t last) const {
    worker_reader const* const reader = reader_of(which.worker);
    auto const statistic = read_statistic(which.statistic);
    if (reader == nullptr || !statistic) { return; }
    worker_index const& index = reader->index();
    worker_track const track{*reader, which.tensor};
    from.taken = track.each_point(*statistic, from.taken, always{}, [&](track_entry const& entry, point const& here) {
        std::uint64_t const place = place_of(index, entry, from.at);
        if (place < first || place > last) { return; }
        auto const mode = index_of(entry.step.mode);
        from.data.unreadable += here.unreadable ? 1U : 0U;
        // Unknown although it has values: none of them is finite.
        bool const bad = !here.known && !here.unreadable && entry.has_values;
        if (!here.known && !bad) { return; }
        if (!from.data.modes[mode]) { from.data.modes[mode].emplace(curve::columns); }
        bad ? from.data.modes[mode]->add_bad(place) : from.data.modes[mode]->add(place, here.value);
        from.data.last_step[mode] = entry.step.index;
        from.data.version = version_;
    });
}

curve const* live_run::curve_of(curve_name const& which) {
    worker_reader const* const reader = reader_of(which.worker);
    if (reader == nullptr || reader->index().find(which.tensor) == nullptr || !read_statistic(which.statistic)) {
        return nullptr;
    }
    followed& mine = curves_[which];
    follow(which, mine, 0, ~std::uint64_t{0});
    return &mine.data;
}

std::optional<curve> live_run::closer(curve_name const& which, std::uint64_t first, std::uint64_t last) {
    worker_reader const* const reader = reader_of(which.worker);
    if (reader == nullptr || reader->index().find(which.tensor) == nullptr || !read_statistic(which.statistic)) {
        return std::nullopt;
    }
    followed part;
    follow(which, part, first, last);
    part.data.version = version_;
    return std::move(part.data);
}

void live_run::follow_clock() {
    for (auto const& each : run_->readers()) {
        clock& mine = clocks_[each->number()];
        step_list const& steps = each->index().steps();
        if (mine.began == 0) { mine.began = each->index().begun_at(); }
        for (auto it = steps.from(mine.at.closes); mine.at.closes < steps.size(); ++it, ++mine.at.closes) {
            closed_step const closed = *it;
            if (mine.began == 0) { mine.began = closed.time; }
            if (closed.step.mode == mode::train) { mine.at.last_train = closed.step.index, mine.at.has_train = true; }
            std::uint64_t const place =
                closed.step.mode == mode::train || !mine.at.has_train ? closed.step.index : mine.at.last_train;
            mine.times.add(place, closed.time - mine.began);
        }
    }
}

double live_run::time_at(std::uint32_t worker, double place) const {
    constexpr double unknown = std::bit_cast<double>(0x7FF8000000000000ULL);
    auto const found = clocks_.find(worker);
    if (found == clocks_.end() || found->second.times.empty()) { return unknown; }
    auto const& buckets = found->second.times.buckets();
    html::series::bucket const* before = nullptr;
    for (html::series::bucket const& each : buckets) {
        if (each.count == 0) { continue; }
        double const middle = each.middle();
        if (middle >= place) {
            double const share = before == nullptr || middle <= before->middle()
                                     ? 1
                                     : (place - before->middle()) / (middle - before->middle());
            double const from = before == nullptr ? each.mean() : before->mean();
            return found->second.began + from + share * (each.mean() - from);
        }
        before = &each;
    }
    return before == nullptr ? unknown : found->second.began + before->mean();
}

}  // namespace spotter_tool::live
