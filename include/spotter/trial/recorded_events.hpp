// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the rows of one worker's record as events, in the order of writing: what replays, exports and pages read.
// The one place that decodes them in that order.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/stat/summary.hpp>
#include <spotter/trial/index.hpp>

namespace spotter::inline SPOTTER_ABI {

// A sink is called with the events that it takes; rows of others are not decoded. `id` is the trial's. Beside those
// below an event is
//   rows::run_begin      at the head of each segment
//   tensor_info          a declaration, under the trial's ids; each segment declares again what it holds
//   rows::finding, rows::close
// What is malformed, or of a tensor that no declaration names, is left out.

// A further attempt begins.
struct recorded_attempt {
    std::uint32_t number = 0;  // from 1
};
// What a rule extracted of the values of the observation that follows.
struct recorded_feature {
    tensor_id id = no_tensor;  // of the observation's tensor
    rows::feature row{};       // as stored
};
// Its values are read by read_values.
struct recorded_observation {
    tensor_id id = no_tensor;   // of its tensor
    std::uint32_t segment = 0;  // that holds its values
    rows::observe row{};        // as stored
    summary stats{};            // those that were stored
};
// A number or a text; without a step it was given between two.
struct recorded_scalar {
    tensor_id id = no_tensor;  // of its name
    rows::scalar row{};        // as stored
};
// For who decodes later, by hand_over, or not at all: declarations, features, observations, scalars and findings.
struct recorded_row {
    std::uint32_t segment = 0;  // that it stands in
    row_view row{};             // as stored; a view
};

// Events to the first of several callables that takes them: recorded_sink{[&](rows::close const&) { ... }, ...}.
template <class... Sinks>
struct recorded_sink : Sinks... {
    using Sinks::operator()...;
};
template <class... Sinks>
recorded_sink(Sinks...) -> recorded_sink<Sinks...>;

namespace detail {

template <class Sink, class Event>
concept takes_event = requires(Sink& sink, Event const& event) { sink(event); };

[[nodiscard]] constexpr bool is_of_step(row_kind it) noexcept {
    return it == row_kind::declare || it == row_kind::feature || it == row_kind::observe || it == row_kind::scalar ||
           it == row_kind::finding;
}
[[nodiscard]] tensor_info declared_tensor(worker_index const& run, std::uint32_t segment, tensor_info const& stored);

template <class Event, class Sink>
void hand_over_as(row_view row, Sink& sink) {
    if constexpr (takes_event<Sink, Event>) {
        if (Event it; !decode(row, it)) { sink(it); }
    }
}

}  // namespace detail

// How a row of an observation or a scalar begins, under the trial's id; of any other no_tensor.
[[nodiscard]] rows::head head_of(worker_index const& run, recorded_row const& from) noexcept;

// Decodes one row for a sink.
template <class Sink>
void hand_over(worker_index const& run, recorded_row const& from, Sink&& sink) {
    row_view const& row = from.row;
    auto const named = [&](auto& it) {
        it.id = run.id_of(from.segment, it.row.id);
        if (it.id != no_tensor) { sink(std::as_const(it)); }
    };
    switch (row.kind) {
        case row_kind::run_begin:
            return detail::hand_over_as<rows::run_begin>(row, sink);
        case row_kind::finding:
            return detail::hand_over_as<rows::finding>(row, sink);
        case row_kind::close:
            return detail::hand_over_as<rows::close>(row, sink);
        case row_kind::declare:
            if constexpr (detail::takes_event<Sink, tensor_info>) {
                rows::declare told;
                if (decode(row, told)) { return; }
                tensor_info const it = detail::declared_tensor(run, from.segment, told.tensor);
                if (it.id != no_tensor) { sink(it); }
            }
            return;
        case row_kind::feature:
            if constexpr (detail::takes_event<Sink, recorded_feature>) {
                recorded_feature it;
                if (!decode(row, it.row)) { named(it); }
            }
            return;
        case row_kind::observe:
            if constexpr (detail::takes_event<Sink, recorded_observation>) {
                recorded_observation it;
                it.segment = from.segment;
                if (!decode(row, it.row, it.stats)) { named(it); }
            }
            return;
        case row_kind::scalar:
            if constexpr (detail::takes_event<Sink, recorded_scalar>) {
                recorded_scalar it;
                if (!decode(row, it.row)) { named(it); }
            }
            return;
        default:
            return;
    }
}

// Reads a record once, also while it grows; a copy goes on from the same place.
class recorded_events {
public:
    explicit recorded_events(worker_index const& run) noexcept : run_{&run} {}

    // Goes on while `more()`, which is asked before each row. Views in an event last as long as its call.
    template <class More, class Sink>
    void advance(More&& more, Sink&& sink) {
        run_->walk(place_, [&](std::uint32_t segment, row_view row) {
            if (!more()) { return false; }
            // Each attempt begins with a segment, whose head says so too: its run_begin may be lost.
            if (std::uint32_t const its = run_->attempt_of(segment); its != attempt_ && its != unknown_attempt) {
                bool const further = std::exchange(attempt_, its) != unknown_attempt;
                if constexpr (detail::takes_event<Sink, recorded_attempt>) {
                    if (further) { sink(recorded_attempt{its}); }
                }
            }
            if constexpr (detail::takes_event<Sink, recorded_row>) {
                if (detail::is_of_step(row.kind)) { return sink(recorded_row{segment, row}), true; }
            }
            hand_over(*run_, {segment, row}, sink);
            return true;
        });
    }
    template <class Sink>
    void advance(Sink&& sink) {
        advance([] { return true; }, sink);
    }
    // Of what was read last; unknown_attempt where nothing says.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }

private:
    worker_index const* run_;
    walk_place place_{};
    std::uint32_t attempt_ = unknown_attempt;
};

// Rows for later; their bodies are copied, values stay where they are.
class kept_rows {
public:
    // Behind the others; `id` is kept with it.
    void push(recorded_row const& it, tensor_id id = no_tensor);
    void clear() noexcept { rows_.clear(), bytes_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }  // of their bodies
    // Valid until the next push.
    [[nodiscard]] recorded_row operator[](std::size_t i) const noexcept;
    [[nodiscard]] tensor_id id(std::size_t i) const noexcept { return rows_[i].id; }  // that it was pushed with

private:
    struct one {
        std::uint32_t segment = 0;
        row_kind kind{};
        tensor_id id = no_tensor;
        std::size_t at = 0, size = 0;  // of its body in bytes_
    };
    std::vector<one> rows_{};
    std::vector<std::byte> bytes_{};
};

// The values of an observation into `into`, and a view of them; on an error the view is as it was. The segment is to be
// guarded (worker_index::guard).
[[nodiscard]] error read_values(worker_index const& run, std::uint32_t segment, rows::observe const& row,
                                payload_unpacker& unpacker, std::vector<std::byte>& into, tensor_ref& view);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/recorded_events.ipp>
#endif
