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

// One point of a history. If the statistic is unknown, `known` is false and `value` is NaN, so that a curve has no gap.
struct point {
    step_id step{};  // of the observation
    double value = 0;
    bool known = false;       // the statistic was stored, or follows from stored values
    bool unreadable = false;  // unknown because of damage, or because a lower worker may have it
};

// The point of a step that cannot be read.
[[nodiscard]] constexpr point unreadable_at(step_id step) noexcept {
    return {step, std::bit_cast<double>(0x7FF8000000000000ULL), false, true};
}

// Selects one of several observations of a tensor within a step: nth{0} is the first.
struct nth {
    std::size_t index = 0;  // from 0, in the order of observation
};

// Selects an attempt of a resumed run: attempt{0} is the first.
struct attempt {
    std::uint32_t number = 0;  // from 0; the last is trial::attempts() - 1
};

// A range of a tensor's elements, in memory order.
struct elements {
    std::uint64_t first = 0;  // index in memory order
    std::uint64_t count = 1;  // number of elements
};

// A scalar or text that was given to `hook.scalar` between steps.
struct loose_scalar {
    double value = 0;                  // the nearest double; 0 for a text
    double time = 0;                   // seconds since 1970, as given to hook.scalar, or else of the writer
    std::uint64_t before_ordinal = 0;  // of the next close
    dtype type = dtype::none;          // of the given value
    std::string bytes{};               // the number's bytes, or the text

    // The value with its type: to<std::int64_t>(), to<std::string>(); errc::wrong_type for any other type.
    template <class Value>
    [[nodiscard]] result<Value> to() const {
        tensor_ref view{};
        view.values.raw = bytes.data();
        view.type = type;
        view.count = type == dtype::text ? bytes.size() : 1;
        return detail::answered([&]() -> result<Value> { return tensor_from<Value>::make(view); });
    }
};

// One tensor of one worker. Reads through its trial, which must outlive it. A track of an unknown name is valid: every
// read of it is errc::no_such_name, or errc::no_such_worker for an unknown worker.
class worker_track {
public:
    // `peers`: all workers of the run, with this one.
    worker_track(worker_reader const& from, std::string_view name,
                 std::vector<std::unique_ptr<worker_reader>> const* peers = nullptr);
    worker_track(spotter::worker unknown, std::string_view name) : name_{name}, worker_{unknown.number} {}

    // The worker's number.
    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }

    // Whether this worker knows the name.
    [[nodiscard]] explicit operator bool() const noexcept { return tensor_ != nullptr; }
    // The requested name; lives with the track.
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    // Role, type, shape and partner as last declared; defaults for an unknown name.
    [[nodiscard]] tensor_info info() const noexcept { return tensor_ != nullptr ? tensor_->info : tensor_info{}; }

    // Calls take(closed_step) for each close at which something was kept (`with_values`: values), in order; once for
    // each observation.
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
    // Its data of the step may be unreadable, or was being written when the writer ended.
    [[nodiscard]] bool may_hide(step_id step) const;
    // The same for any step.
    [[nodiscard]] bool lacks_some() const;
    // The tensor was observed at the step, closed or still open.
    [[nodiscard]] bool seen_at(step_id step) const { return static_cast<bool>(find(step, nullptr)); }

    // The values at a step; if it was observed several times, the last. errc: no_such_name, no_such_step, not_yet,
    // not_in_step, no_payload (only statistics were kept; the text lists them), corrupt.
    [[nodiscard]] recorded_value at(step_id step) const { return read(step, nullptr); }
    [[nodiscard]] recorded_value at(step_id step, nth which) const { return read(step, &which); }
    // As recorded by that attempt; errc::not_in_step if that attempt did not record it.
    [[nodiscard]] recorded_value at(step_id step, attempt which) const;
    // Some of the values, flat: reads only the 256 KiB blocks that hold them. errc::bad_config if the range is too
    // long.
    [[nodiscard]] recorded_value at(step_id step, spotter::elements which) const;

    // A statistic, as stored or computed from the values. Of one element it is the element, finite or not.
    [[nodiscard]] result<double> stat(step_id step, statistic which) const;

    // Quantiles and histogram at a step (`wanted`: one or both), as stored or computed from the values.
    [[nodiscard]] result<spotter::distribution> distribution(step_id step,
                                                             stats_mask wanted = distribution_terms) const;
    // The smallest value that is not exceeded by at least the share `level`, 0 to 1, of the finite values (nearest
    // rank).
    [[nodiscard]] result<double> quantile(step_id step, double level) const;

    // Seconds since 1970: as given to hook.scalar, or else of the step's close. errc::not_yet while the step is open.
    [[nodiscard]] result<double> time(step_id step) const;

    // The shape at that step; errc as for `at`, except no_payload.
    [[nodiscard]] result<extents> shape(step_id step) const;

    // A statistic over time, as `stat` has it, at the steps that the policy selects. Every observation is a point.
    template <policy Policy>
    [[nodiscard]] std::vector<point> history(statistic which, Policy const& when) const {
        std::vector<point> found;
        (void)each_point(which, 0, when, [&](track_entry const&, point const& here) { found.push_back(here); });
        return found;
    }
    // Calls take(entry, point) for the points from observation number `first` on, in the order of writing. Returns the
    // number of observations, which is `first` of the next call after a refresh.
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
            measurement const value = stats ? recorded_measurement(which, *stats) : measurement{};
            if (value.known) { here.value = value.value, here.known = true; }
            take(entry, here);
        }
        return tensor_->entries.size();
    }

    // Scalars given between steps.
    [[nodiscard]] std::vector<loose_scalar> loose() const;

private:
    // The statistics of an entry: the stored terms, and those of `wanted` computed from the values.
    [[nodiscard]] result<summary> summary_of(track_entry const& entry, stats_mask wanted, row_finder& finder) const;
    // All values of an entry, or a range of them.
    [[nodiscard]] recorded_value values_of(track_entry const& entry, row_finder& finder,
                                           spotter::elements const* some = nullptr) const;
    [[nodiscard]] bool is_closed(track_entry const& entry) const;
    [[nodiscard]] recorded_value read(step_id step, nth const* which) const;

    // For a step that was closed twice, the latest; within a step the last observation, or the n-th.
    [[nodiscard]] result<track_entry> find(step_id step, nth const* which) const;
    // Lost rows may hold a later observation. Within the step itself, only if the tensor is known to be observed
    // several times in a step.
    [[nodiscard]] bool is_doubtful(track_entry const& entry, step_id step, std::uint32_t attempt) const;
    [[nodiscard]] error unknown(step_id step) const;
    [[nodiscard]] error missing(step_id step) const;
    [[nodiscard]] bool closed_elsewhere(step_id step) const;
    [[nodiscard]] static error superseded_by_lost() noexcept;
    [[nodiscard]] static error in_lost() noexcept;
    [[nodiscard]] static error too_few(std::uint64_t count) noexcept;
    [[nodiscard]] static error of_letters() noexcept;
    [[nodiscard]] static error undefined() noexcept;
    [[nodiscard]] static error no_payload(stats_mask stored, bool thinned = false) noexcept;
    [[nodiscard]] static error not_kept(statistic which, stats_mask stored) noexcept;
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
