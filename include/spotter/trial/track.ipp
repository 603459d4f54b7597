// SPDX-License-Identifier: Apache-2.0
// The bodies of track.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/stat/lanes.hpp>
#include <spotter/stat/summarize.hpp>
#include <spotter/trial/track.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Lists the statistics that can be read from these terms, by their query names.
SPOTTER_BODY void name_statistics(stats_mask kept, text<160>& out) noexcept {
    char const* comma = "";
    auto const add = [&](std::string_view name) {
        out << comma << name;
        comma = ", ";
    };
    for (auto i = static_cast<int>(statistic_id::minimum); i <= static_cast<int>(statistic_id::zero_fraction); ++i) {
        statistic const each{static_cast<statistic_id>(i)};
        if (has(kept, each.needs())) { add(each.name()); }
    }
    for (statistic const each : std::initializer_list<statistic>{of_abs(minimum), of_abs(maximum), mean_abs}) {
        if (has(kept, each.needs())) { add(each.name()); }
    }
    if (stats_mask const rest =
            kept & (stats_mask::hash | stats_mask::change | stats_mask::unit_activity | distribution_terms);
        any(rest)) {
        sentence others;
        describe(rest, others);
        add(others.view());
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY worker_track::worker_track(worker_reader const& from, std::string_view name,
                                        std::vector<std::unique_ptr<worker_reader>> const* peers)
    : from_{&from}, run_{&from.index()}, tensor_{from.index().find(name)}, name_{name}, worker_{from.number()},
      running_{from.running()}, peers_{peers} {}

SPOTTER_BODY recorded_value worker_track::at(step_id step, attempt which) const {
    if (error const why = unknown(step)) { return why; }
    run_->complete();
    bool any = false, seen = false, unsure = false;
    track_entry found{};
    tensor_->entries.each_at(step, [&](track_entry const& entry) {
        std::uint32_t const its = run_->attempt_of(entry.place.segment);
        if (its == which.number) { found = entry, seen = true; }
        any = true;
        unsure = unsure || its == unknown_attempt;
    });
    unsure = unsure || (seen ? is_doubtful(found, step, which.number) : run_->may_lack(step, which.number));
    if (unsure) { return superseded_by_lost(); }
    if (seen) {
        run_->guard(found.place.segment);
        return values_of(found, run_->finder());
    }
    if (!any) { return missing(step); }
    error why{errc::not_in_step, "the step was not observed in attempt "};
    why.what << which.number << ": run.attempts() says how many there were";
    return why;
}

SPOTTER_BODY recorded_value worker_track::at(step_id step, spotter::elements which) const {
    result<track_entry> const entry = find(step, nullptr);
    if (!entry) { return entry.error(); }
    return values_of(*entry, run_->finder(), &which);
}

SPOTTER_BODY result<double> worker_track::stat(step_id step, statistic which) const {
    result<track_entry> const entry = find(step, nullptr);
    if (!entry) { return entry.error(); }
    result<summary> const stats = summary_of(*entry, which.needs(), run_->finder());
    if (!stats) { return stats.error(); }
    measurement const found = recorded_measurement(which, *stats);
    if (found.known) { return found.value; }
    if (has(stats->has, which.needs())) { return undefined(); }
    return not_kept(which, stats->has);
}

SPOTTER_BODY result<spotter::distribution> worker_track::distribution(step_id step, stats_mask wanted) const {
    wanted = wanted & distribution_terms;
    result<track_entry> const entry = find(step, nullptr);
    if (!entry) { return entry.error(); }
    row_finder& finder = run_->finder();
    rows::observe row;
    summary stats;
    if (!entry->is_scalar) {
        if (error const why = decode(run_->row_at(entry->place, row_kind::observe, finder), row, stats)) { return why; }
        spotter::distribution const stored = stored_distribution(row);
        if (has(terms_of(stored), wanted)) { return stored; }
        if (!row.has_values && has(stats.has, stats_mask::nonfinite) && stats.finite() == 0) { return undefined(); }
    }
    recorded_value const value = values_of(*entry, finder);
    if (!value) { return value.error(); }
    if (value.type() == dtype::text) { return of_letters(); }
    std::vector<std::uint64_t> scratch(static_cast<std::size_t>(value.view().count));
    spotter::distribution const taken = distribution_of(value.view(), wanted, scratch);
    if (!any(terms_of(taken))) { return undefined(); }
    return taken;
}

SPOTTER_BODY result<double> worker_track::quantile(step_id step, double level) const {
    double const thousandths = level * 1000;
    for (std::size_t i = 0; i < quantile_levels.size(); ++i) {
        if (!(magnitude(thousandths - quantile_levels[i]) <= 1e-9)) { continue; }
        result<spotter::distribution> const found = distribution(step, stats_mask::quantiles);
        return found ? result<double>{found->quantiles[i]} : found.error();
    }
    return {errc::bad_config,
            "quantiles are kept at 0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, "
            "0.8, 0.9, 0.95, 0.99, 0.999 and 1; for others read the values: at()"};
}

SPOTTER_BODY result<double> worker_track::time(step_id step) const {
    result<track_entry> const entry = find(step, nullptr);
    if (!entry) { return entry.error(); }
    row_finder& finder = run_->finder();
    if (rows::scalar row;
        entry->is_scalar && !decode(run_->row_at(entry->place, row_kind::scalar, finder), row) && row.has_time) {
        return row.time;
    }
    if (is_closed(*entry)) { return run_->step_of(entry->ordinal)->time; }
    return {errc::not_yet, "the step was not closed, so it has no time"};
}

SPOTTER_BODY result<extents> worker_track::shape(step_id step) const {
    result<track_entry> const entry = find(step, nullptr);
    if (!entry) { return entry.error(); }
    if (entry->is_scalar) { return extents{}; }
    row_finder& finder = run_->finder();
    rows::observe row;
    summary stats;
    if (error const why = decode(run_->row_at(entry->place, row_kind::observe, finder), row, stats)) { return why; }
    if (row.has_values || row.has_shape) { return row.shape; }
    return tensor_->info.shape;
}

SPOTTER_BODY std::vector<loose_scalar> worker_track::loose() const {
    std::vector<loose_scalar> found;
    if (tensor_ == nullptr) { return found; }
    run_->complete();
    row_finder finder;
    std::uint32_t looked_at = ~std::uint32_t{0};
    for (track_entry const& entry : tensor_->entries) {
        rows::scalar row;
        if (!entry.loose) { continue; }
        if (std::exchange(looked_at, entry.place.segment) != entry.place.segment) { run_->guard(looked_at); }
        if (decode(run_->row_at(entry.place, row_kind::scalar, finder), row)) { continue; }
        recorded_value const value = scalar_value(row);
        double number = 0;
        if (row.type != dtype::text) {
            visit_values(value.view(), [&](auto values) { number = detail::see(values[0]).value; });
        }
        auto const* const letters = static_cast<char const*>(value.view().values.raw);
        found.push_back({number, row.has_time ? row.time : 0, entry.ordinal, row.type,
                         std::string{letters, as_size(value.view().bytes())}});
    }
    return found;
}

SPOTTER_BODY result<summary> worker_track::summary_of(track_entry const& entry, stats_mask wanted,
                                                      row_finder& finder) const {
    summary stats;
    if (!entry.is_scalar) {
        rows::observe row;
        if (error const why = decode(run_->row_at(entry.place, row_kind::observe, finder), row, stats)) { return why; }
        if (!any(without(wanted, stats.has)) || !row.has_values) { return stats; }
    }
    recorded_value const value = values_of(entry, finder);
    if (!value) { return value.error(); }
    if (value.type() == dtype::text) { return of_letters(); }
    return summarize(value.view(), wanted);
}

SPOTTER_BODY recorded_value worker_track::values_of(track_entry const& entry, row_finder& finder,
                                                    spotter::elements const* some) const {
    if (entry.is_scalar) {
        rows::scalar row;
        if (error const why = decode(run_->row_at(entry.place, row_kind::scalar, finder), row)) { return why; }
        if (some != nullptr && (some->first > 0 || some->count > 1)) { return too_few(1); }
        return scalar_value(row);
    }
    rows::observe row;
    summary stats;
    if (error const why = decode(run_->row_at(entry.place, row_kind::observe, finder), row, stats)) { return why; }
    if (!row.has_values) { return no_payload(stats.has | terms_of(stored_distribution(row)), row.thinned); }
    tensor_ref like = detail::view_without_values(row);
    auto const there = run_->segment_with(row, entry.place.segment);
    if (!there) { return there.error(); }
    byte_view const segment = *there;
    if (!detail::can_hold(segment, row.place, like.bytes())) {
        return error{errc::corrupt,
                     "an observation claims more values than its segment has room for; all others can be read"};
    }
    if (some != nullptr) {
        if (some->first > like.count || some->count > like.count - some->first) { return too_few(like.count); }
        like.shape = extents{some->count};
        like.count = some->count;
        like.layout = order::row_major;
    }
    std::vector<std::byte> bytes(as_size(like.bytes()));
    payload_unpacker& unpacker = run_->unpacker();
    error const why = some == nullptr ? unpacker.unpack(segment, row, bytes)
                                      : unpacker.unpack_part(segment, row, some->first * size_of(row.type), bytes);
    if (why) { return why; }
    return {std::move(bytes), like};
}

SPOTTER_BODY bool worker_track::is_closed(track_entry const& entry) const {
    auto const closed = run_->step_of(entry.ordinal);
    return closed && closed->step == entry.step;
}

SPOTTER_BODY recorded_value worker_track::read(step_id step, nth const* which) const {
    result<track_entry> const entry = find(step, which);
    return entry ? values_of(*entry, run_->finder()) : recorded_value{entry.error()};
}

SPOTTER_BODY result<track_entry> worker_track::find(step_id step, nth const* which) const {
    if (error const why = unknown(step)) { return why; }
    bool seen = false;
    track_entry found{};
    if (which == nullptr && run_->latest_at(tensor_->info.id, step, found)) { return found; }
    run_->complete();
    tensor_->entries.each_at(step, [&](track_entry const& entry) { found = entry, seen = true; });
    if (seen && is_doubtful(found, step, unknown_attempt)) { return superseded_by_lost(); }
    if (seen && which != nullptr) {
        // Lost observations of the step before it would count, too.
        if (run_->may_lack(step, run_->attempt_of(found.place.segment))) { return superseded_by_lost(); }
        std::size_t left = which->index + 1;
        std::uint64_t const ordinal = found.ordinal;
        tensor_->entries.each_at(step, [&](track_entry const& entry) {
            if (entry.ordinal == ordinal && left > 0 && --left == 0) { found = entry; }
        });
        seen = left == 0;
    }
    if (!seen) { return missing(step); }
    run_->guard(found.place.segment);
    return found;
}

SPOTTER_BODY bool worker_track::is_doubtful(track_entry const& entry, step_id step, std::uint32_t attempt) const {
    lost_rows::doubt const found = run_->doubt_behind(entry, step, attempt);
    if (found != lost_rows::doubt::within_step) { return found == lost_rows::doubt::superseded; }
    std::uint64_t before = ~std::uint64_t{0};
    for (track_entry const& each : tensor_->entries) {
        if (!each.loose && std::exchange(before, each.ordinal) == each.ordinal) { return true; }
    }
    return false;
}

SPOTTER_BODY bool worker_track::may_hide(step_id step) const {
    return run_ != nullptr && (from_->unreadable() || run_->may_hide(step));
}

SPOTTER_BODY bool worker_track::lacks_some() const {
    return run_ != nullptr && (from_->unreadable() || run_->lacks_some());
}

SPOTTER_BODY error worker_track::unknown(step_id step) const {
    if (run_ == nullptr) {
        error why{errc::no_such_worker, "the run has no worker "};
        why.what << worker_ << ": run.workers() lists those it has";
        return why;
    }
    if (from_->unreadable()) {
        bool const is_away = detail::is_trouble(from_->trouble()) && from_->trouble().code != errc::unknown_version;
        error why{is_away ? from_->trouble().code : errc::corrupt, "nothing of worker "};
        why.what << worker_ << " can be read, which may hold it: of(worker{...}) reads another. "
                 << from_->trouble().what.view();
        return why;
    }
    if (tensor_ != nullptr) { return {}; }
    if (run_->may_lack(step, unknown_attempt)) { return in_lost(); }
    error why{errc::no_such_name, "\""};
    why.what << name_ << "\" was never observed: run.names() lists what was";
    return why;
}

SPOTTER_BODY error worker_track::missing(step_id step) const {
    bool later = false, closed = false;
    for (closed_step const each : run_->steps()) {
        closed = closed || each.step == step;
        later = later || (each.step.mode == step.mode && each.step.index > step.index);
    }
    if (run_->may_lack(step, unknown_attempt)) { return in_lost(); }
    if (closed) {
        return {errc::not_in_step, "the step is there, but nothing of this tensor was kept at it: ask steps()"};
    }
    if (running_ && !later) { return {errc::not_yet, "the run has not come to this step: refresh() and ask again"}; }
    if (closed_elsewhere(step)) {
        error why{errc::not_in_step, "the step is there, but worker "};
        why.what << worker_ << " has not closed it: run.steps(worker{" << worker_ << "}) lists those it has";
        return why;
    }
    return {errc::no_such_step, "the run has no such step: run.steps() lists what it has"};
}

SPOTTER_BODY bool worker_track::closed_elsewhere(step_id step) const {
    return peers_ != nullptr &&
           std::any_of(peers_->begin(), peers_->end(), [=](auto const& each) { return each->closed(step); });
}

SPOTTER_BODY error worker_track::superseded_by_lost() noexcept {
    return {errc::corrupt,
            "bytes that cannot be read, or that were not written to their end, may hold a later one of this step: "
            "run.damage() lists what is damaged, attempt{} asks for one attempt, history() has all that is there"};
}

SPOTTER_BODY error worker_track::in_lost() noexcept {
    return {errc::corrupt,
            "what was recorded of the step may be in bytes that cannot be read: run.damage() lists them"};
}

SPOTTER_BODY error worker_track::too_few(std::uint64_t count) noexcept {
    error why{errc::bad_config, "the tensor does not have that many elements: it has "};
    why.what << count << " at this step";
    return why;
}

SPOTTER_BODY error worker_track::of_letters() noexcept {
    return {errc::not_in_step, "undefined: a text has no statistics: read it, at(step).to<std::string>()"};
}

SPOTTER_BODY error worker_track::undefined() noexcept {
    return {errc::not_in_step, "undefined: the tensor has no finite element at this step"};
}

SPOTTER_BODY error worker_track::no_payload(stats_mask stored, bool thinned) noexcept {
    text<160> kept;  // the names of all of them
    detail::name_statistics(stored, kept);
    error why{errc::no_payload, "only statistics were kept at this step: ask stat(), or "};
    why.what << (thinned ? "give the run a larger ring, or a larger limit (options::run_bytes)"
                         : "let a collection keep `payload`")
             << ". Kept: " << (kept.empty() ? std::string_view{"the shape"} : kept.view());
    return why;
}

SPOTTER_BODY error worker_track::not_kept(statistic which, stats_mask stored) noexcept {
    text<160> kept;
    detail::name_statistics(stored, kept);
    error why{errc::no_payload, ""};
    why.what << which.name() << " was not kept at this step, nor values: let a collection keep it, or `payload`. Kept: "
             << (kept.empty() ? std::string_view{"the shape"} : kept.view());
    return why;
}

SPOTTER_BODY recorded_value worker_track::scalar_value(rows::scalar const& row) {
    tensor_ref like{};
    like.type = row.type;
    like.count = row.type == dtype::text ? row.value.size() : 1;
    if (row.type == dtype::text) { like.shape = extents{row.value.size()}; }
    return {std::vector<std::byte>(row.value.begin(), row.value.end()), like};
}

}  // namespace spotter::inline SPOTTER_ABI
