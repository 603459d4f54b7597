// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one tensor over time, as one worker recorded it: values, statistics and histories.
#pragma once

#include <spotter/format/zstd_codec.hpp>
#include <spotter/plan/describe.hpp>
#include <spotter/stat/statistic.hpp>
#include <spotter/stat/summarize.hpp>
#include <spotter/trial/distribution.hpp>
#include <spotter/trial/value.hpp>
#include <spotter/trial/worker_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// What `stat` and its like can answer of such terms, by the names that it is asked for by.
inline void name_statistics(terms kept, text<160>& out) noexcept {
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
    if (terms const rest = kept & (terms::hash | terms::delta | terms::unit_activity | distribution_terms); any(rest)) {
        sentence others;
        describe(rest, others);
        add(others.view());
    }
}

}  // namespace detail

// One point of a history. `value` is a NaN where the statistic is unknown there (then `known` is false), so that a curve has
// no gap.
struct point {
    step_id step{};
    double value = 0;
    bool known = false;
};

// Which of several observations of a tensor within one step: nth{0} is the first.
struct nth {
    std::size_t index = 0;
};

// Of a run that was resumed, one of its attempts: attempt{0} is the first.
struct attempt {
    std::uint32_t number = 0;
};

// Some of a tensor's elements, in the order of memory.
struct elements {
    std::uint64_t first = 0;
    std::uint64_t count = 1;
};

struct loose_scalar {
    double value = 0;                  // as near as a double comes to it; 0 for a text
    double time = 0;                   // seconds since 1970, as given to hook.scalar or else when the writer met it
    std::uint64_t before_ordinal = 0;  // of the step that closed next
    dtype type = dtype::none;          // as it was given
    std::string bytes{};               // of the number, or the text's letters

    // With its type: to<std::int64_t>(), to<std::string>(); errc::wrong_type where it has another.
    template <class Value>
    [[nodiscard]] result<Value> to() const {
        tensor_ref view{};
        view.values.raw = bytes.data();
        view.type = type;
        view.count = type == dtype::text ? bytes.size() : 1;
        return tensor_from<Value>::make(view);
    }
};

// Reads through the trial it came from, which must outlive it. A track of an unknown name is valid: every read of it is
// errc::no_such_name; so is one of an unknown worker: errc::no_such_worker.
class worker_track {
public:
    // `peers`: all workers of the run, this one among them.
    worker_track(worker_reader const& from, std::string_view name,
                 std::vector<std::unique_ptr<worker_reader>> const* peers = nullptr)
        : run_{&from.index()}, tensor_{from.index().find(name)}, name_{name}, worker_{from.number()},
          running_{from.running()}, peers_{peers} {}
    worker_track(spotter::worker unknown, std::string_view name) : name_{name}, worker_{unknown.number} {}

    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }

    [[nodiscard]] explicit operator bool() const noexcept { return tensor_ != nullptr; }
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    // Role, type, shape and partner as last declared; defaults for an unknown name.
    [[nodiscard]] tensor_info info() const noexcept { return tensor_ != nullptr ? tensor_->info : tensor_info{}; }

    // Calls take(closed_step) for each closing at which something of it was kept (`with_values`: its values), in order; of a step
    // that was observed several times as often.
    template <class Admit, class Take>
    void each_closing(Admit const& which, bool with_values, Take&& take) const {
        if (tensor_ == nullptr) { return; }
        run_->complete();
        for (track_entry const& entry : tensor_->entries) {
            if (entry.loose || !which(entry.step) || (with_values && !entry.has_values)) { continue; }
            auto const closed = run_->step_of(entry.ordinal);
            if (closed && closed->step == entry.step) { take(*closed); }
        }
    }
    // Anything was observed at the step, closed or still open.
    [[nodiscard]] bool seen_at(step_id step) const { return static_cast<bool>(find(step, nullptr)); }

    // The values at a step; of several observations the last. errc: no_such_name, no_such_step, not_yet, not_in_step,
    // no_payload (only statistics were kept; the text says which), corrupt.
    [[nodiscard]] recorded_value at(step_id step) const { return read(step, nullptr); }
    [[nodiscard]] recorded_value at(step_id step, nth which) const { return read(step, &which); }
    // As that attempt saw it. Also errc::not_in_step where it did not.
    [[nodiscard]] recorded_value at(step_id step, attempt which) const {
        if (error const why = unknown()) { return why; }
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
        row_finder finder;
        if (seen) {
            run_->guard(found.place.segment);
            return values_of(found, finder);
        }
        if (!any) { return missing(step); }
        error why{errc::not_in_step, "the step was not observed in attempt "};
        why.what << which.number << ": run.attempts() says how many there were";
        return why;
    }
    // Some of the values, flat: only the blocks of 256 KiB that hold them are read. errc::bad_config where there are not so many.
    [[nodiscard]] recorded_value at(step_id step, spotter::elements which) const {
        result<track_entry> const entry = find(step, nullptr);
        if (!entry) { return entry.error(); }
        row_finder finder;
        return values_of(*entry, finder, &which);
    }

    // A statistic, from what was stored or else from the values.
    [[nodiscard]] result<double> stat(step_id step, statistic which) const {
        result<track_entry> const entry = find(step, nullptr);
        if (!entry) { return entry.error(); }
        row_finder finder;
        result<summary> const stats = summary_of(*entry, which.needs(), finder);
        if (!stats) { return stats.error(); }
        measurement const found = which(*stats);
        if (found.known) { return found.value; }
        if (has(stats->has, which.needs())) { return undefined(); }
        return no_payload(stats->has);
    }

    // Quantiles and histogram at a step (`wanted`: one of them or both), as stored or else from the values.
    [[nodiscard]] result<spotter::distribution> distribution(step_id step, terms wanted = distribution_terms) const {
        wanted = wanted & distribution_terms;
        result<track_entry> const entry = find(step, nullptr);
        if (!entry) { return entry.error(); }
        row_finder finder;
        rows::observe row;
        summary stats;
        if (!entry->is_scalar) {
            if (error const why = decode(run_->row_at(entry->place, row_kind::observe, finder), row, stats)) {
                return why;
            }
            spotter::distribution const stored = stored_distribution(row);
            if (has(terms_of(stored), wanted)) { return stored; }
            if (!row.has_values && has(stats.has, terms::nonfinite) && stats.finite() == 0) { return undefined(); }
        }
        recorded_value const value = values_of(*entry, finder);
        if (!value) { return value.error(); }
        if (value.type() == dtype::text) { return of_letters(); }
        std::vector<std::uint64_t> scratch(static_cast<std::size_t>(value.view().count));
        spotter::distribution const taken = distribution_of(value.view(), wanted, scratch);
        if (!any(terms_of(taken))) { return undefined(); }
        return taken;
    }
    // The smallest value that at least this share of the finite values, 0 to 1, does not exceed (nearest rank).
    [[nodiscard]] result<double> quantile(step_id step, double level) const {
        double const thousandths = level * 1000;
        for (std::size_t i = 0; i < quantile_levels.size(); ++i) {
            if (magnitude(thousandths - quantile_levels[i]) > 1e-9) { continue; }
            result<spotter::distribution> const found = distribution(step, terms::quantiles);
            return found ? result<double>{found->quantiles[i]} : found.error();
        }
        return {errc::bad_config,
                "quantiles are kept at 0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, "
                "0.8, 0.9, 0.95, 0.99, 0.999 and 1; for others read the values: at()"};
    }

    // Seconds since 1970: as given to hook.scalar, or else of the step's close. errc::not_yet while the step is open.
    [[nodiscard]] result<double> time(step_id step) const {
        result<track_entry> const entry = find(step, nullptr);
        if (!entry) { return entry.error(); }
        row_finder finder;
        if (rows::scalar row;
            entry->is_scalar && !decode(run_->row_at(entry->place, row_kind::scalar, finder), row) && row.has_time) {
            return row.time;
        }
        if (is_closed(*entry)) { return run_->step_of(entry->ordinal)->time; }
        return {errc::not_yet, "the step was not closed, so it has no time"};
    }

    [[nodiscard]] result<extents> shape(step_id step) const {
        result<track_entry> const entry = find(step, nullptr);
        if (!entry) { return entry.error(); }
        if (entry->is_scalar) { return extents{}; }
        row_finder finder;
        rows::observe row;
        summary stats;
        if (error const why = decode(run_->row_at(entry->place, row_kind::observe, finder), row, stats)) { return why; }
        if (row.has_values || row.has_shape) { return row.shape; }
        return tensor_->info.shape;
    }

    // A statistic over time, at the steps that a policy lets through. Every observation is a point.
    template <policy Policy>
    [[nodiscard]] std::vector<point> history(statistic which, Policy const& when) const {
        std::vector<point> found;
        if (tensor_ == nullptr) { return found; }
        run_->complete();
        row_finder finder;
        std::uint32_t looked_at = ~std::uint32_t{0};
        for (track_entry const& entry : tensor_->entries) {
            if (entry.loose || !when(entry.step)) { continue; }
            if (std::exchange(looked_at, entry.place.segment) != entry.place.segment) { run_->guard(looked_at); }
            point here{entry.step, 0, false};
            if (result<summary> const stats = summary_of(entry, which.needs(), finder); stats) {
                measurement const value = which(*stats);
                here.value = value.value;
                here.known = value.known;
            }
            if (!here.known) { here.value = std::bit_cast<double>(0x7FF8000000000000ULL); }
            found.push_back(here);
        }
        return found;
    }

    // Scalars that were given between steps.
    [[nodiscard]] std::vector<loose_scalar> loose() const {
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
                             std::string{letters, static_cast<std::size_t>(value.view().bytes())}});
        }
        return found;
    }

private:
    // The statistics of one entry: the stored terms, and from the values those of `wanted` that were not stored.
    [[nodiscard]] result<summary> summary_of(track_entry const& entry, terms wanted, row_finder& finder) const {
        summary stats;
        if (!entry.is_scalar) {
            rows::observe row;
            if (error const why = decode(run_->row_at(entry.place, row_kind::observe, finder), row, stats)) {
                return why;
            }
            if (!any(without(wanted, stats.has)) || !row.has_values) { return stats; }
        }
        recorded_value const value = values_of(entry, finder);
        if (!value) { return value.error(); }
        if (value.type() == dtype::text) { return of_letters(); }
        return summarize(value.view(), wanted);
    }
    // All values of an entry, or some.
    [[nodiscard]] recorded_value values_of(track_entry const& entry, row_finder& finder,
                                           spotter::elements const* some = nullptr) const {
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
        tensor_ref like{};
        like.type = row.type;
        like.layout = row.layout;
        like.shape = row.shape;
        like.count = row.shape.elements();
        byte_view const segment = run_->segment_bytes(entry.place.segment);
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
        std::vector<std::byte> bytes(static_cast<std::size_t>(like.bytes()));
        payload_unpacker unpacker;
        error const why = some == nullptr ? unpacker.unpack(segment, row, bytes)
                                          : unpacker.unpack_part(segment, row, some->first * size_of(row.type), bytes);
        if (why) { return why; }
        return {std::move(bytes), like};
    }
    [[nodiscard]] bool is_closed(track_entry const& entry) const noexcept {
        auto const closed = run_->step_of(entry.ordinal);
        return closed && closed->step == entry.step;
    }
    [[nodiscard]] recorded_value read(step_id step, nth const* which) const {
        result<track_entry> const entry = find(step, which);
        row_finder finder;
        return entry ? values_of(*entry, finder) : recorded_value{entry.error()};
    }

    // Of a step that was closed twice the latest; within it the last observation, or the n-th.
    [[nodiscard]] result<track_entry> find(step_id step, nth const* which) const {
        if (error const why = unknown()) { return why; }
        bool seen = false;
        track_entry found{};
        if (which == nullptr && run_->latest_at(tensor_->info.id, step, found)) { return found; }
        run_->complete();
        tensor_->entries.each_at(step, [&](track_entry const& entry) { found = entry, seen = true; });
        if (seen && is_doubtful(found, step, unknown_attempt)) { return superseded_by_lost(); }
        if (seen && which != nullptr) {
            // Of the same step, any that are lost before it would be counted too.
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
    // Lost rows may hold what was observed later. Within a step that is so only of a tensor that is known to be observed several times in one.
    [[nodiscard]] bool is_doubtful(track_entry const& entry, step_id step, std::uint32_t attempt) const {
        lost_rows::doubt const found = run_->doubt_behind(entry, step, attempt);
        if (found != lost_rows::doubt::within_step) { return found == lost_rows::doubt::superseded; }
        std::uint64_t before = ~std::uint64_t{0};
        for (track_entry const& each : tensor_->entries) {
            if (!each.loose && std::exchange(before, each.ordinal) == each.ordinal) { return true; }
        }
        return false;
    }
    [[nodiscard]] error unknown() const noexcept {
        if (run_ == nullptr) {
            error why{errc::no_such_worker, "the run has no worker "};
            why.what << worker_ << ": run.workers() lists those it has";
            return why;
        }
        if (tensor_ != nullptr) { return {}; }
        error why{errc::no_such_name, "\""};
        why.what << name_ << "\" was never observed: run.names() lists what was";
        return why;
    }
    [[nodiscard]] error missing(step_id step) const {
        bool later = false, closed = false;
        for (closed_step const each : run_->steps()) {
            closed = closed || each.step == step;
            later = later || (each.step.mode == step.mode && each.step.index > step.index);
        }
        if (run_->may_lack(step, unknown_attempt)) {
            return {errc::corrupt,
                    "what was recorded of the step may be in bytes that cannot be read: run.damage() lists them"};
        }
        if (closed) {
            return {errc::not_in_step, "the step is there, but nothing of this tensor was kept at it: ask steps()"};
        }
        if (running_ && !later) {
            return {errc::not_yet, "the run has not come to this step: refresh() and ask again"};
        }
        if (closed_elsewhere(step)) {
            error why{errc::not_in_step, "the step is there, but worker "};
            why.what << worker_ << " has not closed it: run.steps(worker{" << worker_ << "}) lists those it has";
            return why;
        }
        return {errc::no_such_step, "the run has no such step: run.steps() lists what it has"};
    }
    [[nodiscard]] bool closed_elsewhere(step_id step) const {
        return peers_ != nullptr &&
               std::any_of(peers_->begin(), peers_->end(), [=](auto const& each) { return each->closed(step); });
    }
    [[nodiscard]] static error superseded_by_lost() noexcept {
        return {errc::corrupt, "bytes that cannot be read may hold a later one of this step: run.damage() lists them, "
                               "attempt{} asks for one "
                               "attempt, history() has all that is there"};
    }
    [[nodiscard]] static error too_few(std::uint64_t count) noexcept {
        error why{errc::bad_config, "so many elements are not there: the tensor has "};
        why.what << count << " at this step";
        return why;
    }
    [[nodiscard]] static error of_letters() noexcept {
        return {errc::not_in_step, "undefined: a text has no statistics: read it, at(step).to<std::string>()"};
    }
    [[nodiscard]] static error undefined() noexcept {
        return {errc::not_in_step, "undefined: the tensor has no finite element at this step"};
    }
    [[nodiscard]] static error no_payload(terms stored, bool thinned = false) noexcept {
        text<160> kept;  // all that there are
        detail::name_statistics(stored, kept);
        error why{errc::no_payload, "only statistics were kept at this step: ask stat(), or "};
        why.what << (thinned ? "give the run a larger ring, or a larger limit (options::run_bytes)"
                             : "let a collection keep `payload`")
                 << ". Kept: " << (kept.empty() ? std::string_view{"the shape"} : kept.view());
        return why;
    }
    [[nodiscard]] static recorded_value scalar_value(rows::scalar const& row) {
        tensor_ref like{};
        like.type = row.type;
        like.count = row.type == dtype::text ? row.value.size() : 1;
        if (row.type == dtype::text) { like.shape = extents{row.value.size()}; }
        return {std::vector<std::byte>(row.value.begin(), row.value.end()), like};
    }

    run_index const* run_ = nullptr;
    recorded_tensor const* tensor_ = nullptr;
    std::string name_;
    std::uint32_t worker_ = 0;
    bool running_ = false;
    std::vector<std::unique_ptr<worker_reader>> const* peers_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI
