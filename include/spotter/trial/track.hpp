// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one tensor over time, as one worker recorded it: values, statistics and histories.
#pragma once

#include <spotter/plan/describe.hpp>
#include <spotter/stat/statistic.hpp>
#include <spotter/trial/distribution.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/value.hpp>
#include <spotter/trial/worker_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// One point of a history. `value` is a NaN where the statistic is unknown there (then `known` is false), so that a
// curve has no gap.
struct point {
    step_id step{};           // where it was observed
    double value = 0;         // of the statistic
    bool known = false;       // the statistic was kept there, or follows from kept values
    bool unreadable = false;  // it is not known for what cannot be read: damage, or what a lower worker may have had
};

// Of a step of which nothing can be said.
[[nodiscard]] constexpr point unreadable_at(step_id step) noexcept {
    return {step, std::bit_cast<double>(0x7FF8000000000000ULL), false, true};
}

// Which of several observations of a tensor within one step: nth{0} is the first.
struct nth {
    std::size_t index = 0;  // from 0, in the order of observation
};

// Of a run that was resumed, one of its attempts: attempt{0} is the first.
struct attempt {
    std::uint32_t number = 0;  // from 0; the last is trial::attempts() - 1
};

// Some of a tensor's elements, in the order of memory.
struct elements {
    std::uint64_t first = 0;  // index in the order of memory
    std::uint64_t count = 1;  // how many, from there on
};

// A scalar or text that was given to `hook.scalar` between steps.
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
        return detail::answered([&]() -> result<Value> { return tensor_from<Value>::make(view); });
    }
};

// What one worker has of one tensor. Reads through the trial it came from, which must outlive it. A track of an unknown
// name is valid: every read of it is errc::no_such_name; so is one of an unknown worker: errc::no_such_worker.
class worker_track {
public:
    // `peers`: all workers of the run, this one among them.
    worker_track(worker_reader const& from, std::string_view name,
                 std::vector<std::unique_ptr<worker_reader>> const* peers = nullptr);
    worker_track(spotter::worker unknown, std::string_view name) : name_{name}, worker_{unknown.number} {}

    // Whose it is.
    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }

    // Whether this worker knows the name.
    [[nodiscard]] explicit operator bool() const noexcept { return tensor_ != nullptr; }
    // As it was asked for; lives with the track.
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    // Role, type, shape and partner as last declared; defaults for an unknown name.
    [[nodiscard]] tensor_info info() const noexcept { return tensor_ != nullptr ? tensor_->info : tensor_info{}; }

    // Calls take(closed_step) for each closing at which something of it was kept (`with_values`: its values), in order;
    // of a step that was observed several times as often.
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
    // What it recorded of the step may be in what cannot be read, or was being written when it ended.
    [[nodiscard]] bool may_hide(step_id step) const;
    // The same of anything at all.
    [[nodiscard]] bool lacks_some() const;
    // Anything was observed at the step, closed or still open.
    [[nodiscard]] bool seen_at(step_id step) const { return static_cast<bool>(find(step, nullptr)); }

    // The values at a step; of several observations the last. errc: no_such_name, no_such_step, not_yet, not_in_step,
    // no_payload (only statistics were kept; the text says which), corrupt.
    [[nodiscard]] recorded_value at(step_id step) const { return read(step, nullptr); }
    [[nodiscard]] recorded_value at(step_id step, nth which) const { return read(step, &which); }
    // As that attempt saw it. Also errc::not_in_step where it did not.
    [[nodiscard]] recorded_value at(step_id step, attempt which) const;
    // Some of the values, flat: only the blocks of 256 KiB that hold them are read. errc::bad_config where there are
    // not so many.
    [[nodiscard]] recorded_value at(step_id step, spotter::elements which) const;

    // A statistic, from what was stored or else from the values.
    [[nodiscard]] result<double> stat(step_id step, statistic which) const;

    // Quantiles and histogram at a step (`wanted`: one of them or both), as stored or else from the values.
    [[nodiscard]] result<spotter::distribution> distribution(step_id step, terms wanted = distribution_terms) const;
    // The smallest value that at least this share of the finite values, 0 to 1, does not exceed (nearest rank).
    [[nodiscard]] result<double> quantile(step_id step, double level) const;

    // Seconds since 1970: as given to hook.scalar, or else of the step's close. errc::not_yet while the step is open.
    [[nodiscard]] result<double> time(step_id step) const;

    // The sizes at that step; errc as for `at`, but for no_payload.
    [[nodiscard]] result<extents> shape(step_id step) const;

    // A statistic over time, at the steps that a policy lets through. Every observation is a point.
    template <policy Policy>
    [[nodiscard]] std::vector<point> history(statistic which, Policy const& when) const {
        std::vector<point> found;
        (void)each_point(which, 0, when, [&](track_entry const&, point const& here) { found.push_back(here); });
        return found;
    }
    // The same, handed to take(entry, point), from the observation of that number on, in the order of writing. Gives
    // how many there are now: who keeps that number goes on there after a refresh.
    template <class Admit, class Take>
    std::size_t each_point(statistic which, std::size_t first, Admit const& when, Take&& take) const {
        if (tensor_ == nullptr) { return first; }
        run_->complete();
        row_finder finder;
        std::uint32_t looked_at = ~std::uint32_t{0};
        auto const end = tensor_->entries.end();
        for (auto it = tensor_->entries.from(first); !(it == end); ++it) {
            track_entry const entry = *it;
            if (entry.loose || !when(entry.step)) { continue; }
            if (std::exchange(looked_at, entry.place.segment) != entry.place.segment) { run_->guard(looked_at); }
            point here = unreadable_at(entry.step);
            result<summary> const stats = summary_of(entry, which.needs(), finder);
            here.unreadable = !stats && stats.error().code == errc::corrupt;
            measurement const value = stats ? which(*stats) : measurement{};
            if (value.known) { here.value = value.value, here.known = true; }
            take(entry, here);
        }
        return tensor_->entries.size();
    }

    // Scalars that were given between steps.
    [[nodiscard]] std::vector<loose_scalar> loose() const;

private:
    // The statistics of one entry: the stored terms, and from the values those of `wanted` that were not stored.
    [[nodiscard]] result<summary> summary_of(track_entry const& entry, terms wanted, row_finder& finder) const;
    // All values of an entry, or some.
    [[nodiscard]] recorded_value values_of(track_entry const& entry, row_finder& finder,
                                           spotter::elements const* some = nullptr) const;
    [[nodiscard]] bool is_closed(track_entry const& entry) const;
    [[nodiscard]] recorded_value read(step_id step, nth const* which) const;

    // Of a step that was closed twice the latest; within it the last observation, or the n-th.
    [[nodiscard]] result<track_entry> find(step_id step, nth const* which) const;
    // Lost rows may hold what was observed later. Within a step that is so only of a tensor that is known to be
    // observed several times in one.
    [[nodiscard]] bool is_doubtful(track_entry const& entry, step_id step, std::uint32_t attempt) const;
    [[nodiscard]] error unknown(step_id step) const;
    [[nodiscard]] error missing(step_id step) const;
    [[nodiscard]] bool closed_elsewhere(step_id step) const;
    [[nodiscard]] static error superseded_by_lost() noexcept;
    [[nodiscard]] static error in_lost() noexcept;
    [[nodiscard]] static error too_few(std::uint64_t count) noexcept;
    [[nodiscard]] static error of_letters() noexcept;
    [[nodiscard]] static error undefined() noexcept;
    [[nodiscard]] static error no_payload(terms stored, bool thinned = false) noexcept;
    [[nodiscard]] static error not_kept(statistic which, terms stored) noexcept;
    [[nodiscard]] static recorded_value scalar_value(rows::scalar const& row);

    worker_reader const* from_ = nullptr;
    worker_index const* run_ = nullptr;
    recorded_tensor const* tensor_ = nullptr;
    std::string name_;
    std::uint32_t worker_ = 0;
    bool running_ = false;
    std::vector<std::unique_ptr<worker_reader>> const* peers_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/track.ipp>
#endif
