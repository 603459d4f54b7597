// SPDX-License-Identifier: Apache-2.0
// Trial (L4): decodes the rows of one worker's record as events, in the order of writing, for replays, exports and
// pages.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/stat/summary.hpp>
#include <spotter/trial/index.hpp>

namespace spotter::inline SPOTTER_ABI {

// A sink receives the events that it can be called with; other rows are not decoded. `id` is the trial's. Besides the
// types below an event is
//   rows::run_begin      at the head of each segment
//   tensor_info          a declaration, with the trial's ids; each segment declares its tensors again
//   rows::finding, rows::close
// Malformed rows, and rows of undeclared tensors, are left out.

// A further attempt begins.
struct recorded_attempt {
    std::uint32_t number = 0;  // from 1
};
// What a rule extracted from the values of the observation that follows.
struct recorded_feature {
    tensor_id id = no_tensor;  // of the observation's tensor
    rows::feature row{};       // as stored
};
// Use read_values for its values.
struct recorded_observation {
    tensor_id id = no_tensor;   // of the tensor
    std::uint32_t segment = 0;  // the segment with its values
    rows::observe row{};        // as stored
    summary stats{};            // the stored statistics
};
// A number or a text, at a step or between two.
struct recorded_scalar {
    tensor_id id = no_tensor;  // of the name
    rows::scalar row{};        // as stored
};
// An undecoded row: declaration, feature, observation, scalar or finding; decode it with hand_over if needed.
struct recorded_row {
    std::uint32_t segment = 0;  // the segment of the row
    row_view row{};             // as stored; a view
};

// Combines callables: the matching one receives the event. recorded_sink{[&](rows::close const&) { ... }, ...}.
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

// Hands over an event of a tensor, under the trial's id.
template <class Event, class Sink>
void hand_over_named(worker_index const& run, recorded_row const& from, Sink& sink) {
    if constexpr (takes_event<Sink, Event>) {
        Event it;
        if constexpr (std::same_as<Event, recorded_observation>) {
            it.segment = from.segment;
            if (decode(from.row, it.row, it.stats)) { return; }
        } else if (decode(from.row, it.row)) {
            return;
        }
        it.id = run.id_of(from.segment, it.row.id);
        if (it.id != no_tensor) { sink(std::as_const(it)); }
    }
}

}  // namespace detail

// The head of an observation's or scalar's row, with the trial's id; no_tensor for any other row.
[[nodiscard]] rows::head head_of(worker_index const& run, recorded_row const& from) noexcept;

// Decodes one row and passes it to a sink.
template <class Sink>
void hand_over(worker_index const& run, recorded_row const& from, Sink&& sink) {
    row_view const& row = from.row;
    switch (row.kind) {
        case row_kind::run_begin:
            return detail::hand_over_as<rows::run_begin>(row, sink);
        case row_kind::finding:
            return detail::hand_over_as<rows::finding>(row, sink);
        case row_kind::close:
            return detail::hand_over_as<rows::close>(row, sink);
        case row_kind::declare:
            if constexpr (detail::takes_event<Sink, tensor_info>) {
                rows::declare declaration;
                if (decode(row, declaration)) { return; }
                tensor_info const it = detail::declared_tensor(run, from.segment, declaration.tensor);
                if (it.id != no_tensor) { sink(it); }
            }
            return;
        case row_kind::feature:
            return detail::hand_over_named<recorded_feature>(run, from, sink);
        case row_kind::observe:
            return detail::hand_over_named<recorded_observation>(run, from, sink);
        case row_kind::scalar:
            return detail::hand_over_named<recorded_scalar>(run, from, sink);
        default:
            return;
    }
}

// Reads a record once, also while it grows. A copy continues from the same position.
class recorded_events {
public:
    explicit recorded_events(worker_index const& run) noexcept : run_{&run} {}

    // Continues while `more()` is true; it is called before each row. Views in an event are valid during its call.
    template <class More, class Sink>
    void advance(More&& more, Sink&& sink) {
        run_->walk(place_, [&](std::uint32_t segment, row_view row) {
            if (!more()) { return false; }
            // The head shows a new attempt, too: the run_begin row may be lost.
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
    // The attempt of the last row; unknown_attempt if the record does not show it.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }

private:
    worker_index const* run_;
    walk_place place_{};
    std::uint32_t attempt_ = unknown_attempt;
};

// Copies of rows for later; values stay in the record.
class kept_rows {
public:
    // Appends a row; `id` is stored with it.
    void push(recorded_row const& it, tensor_id id = no_tensor);
    void clear() noexcept { rows_.clear(), bytes_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }  // size of all bodies
    // Valid until the next push.
    [[nodiscard]] recorded_row operator[](std::size_t i) const noexcept;
    [[nodiscard]] tensor_id id(std::size_t i) const noexcept { return rows_[i].id; }  // given to push()

private:
    struct one {
        std::uint32_t segment = 0;
        row_kind kind{};
        tensor_id id = no_tensor;
        std::size_t at = 0, size = 0;  // its body in bytes_
    };
    std::vector<one> rows_{};
    std::vector<std::byte> bytes_{};
};

// Reads the values of an observation into `into`, and sets `view` to them; on an error `view` is unchanged. Call
// worker_index::guard for the segment before.
[[nodiscard]] error read_values(worker_index const& run, std::uint32_t segment, rows::observe const& row,
                                payload_unpacker& unpacker, std::vector<std::byte>& into, tensor_ref& view);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/trial/value.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY tensor_info detail::declared_tensor(worker_index const& run, std::uint32_t segment,
                                                 tensor_info const& stored) {
    tensor_info it = stored;
    it.id = run.id_of(segment, stored.id);
    if (it.id == no_tensor) { return it; }
    it.name = run.tensors()[it.id]->name;
    it.partner = run.id_of(segment, stored.partner);
    it.instant = run.instant_of(segment);
    return it;
}

SPOTTER_BODY rows::head head_of(worker_index const& run, recorded_row const& from) noexcept {
    rows::head it;
    bool const is_value = from.row.kind == row_kind::observe || from.row.kind == row_kind::scalar;
    if (!is_value || decode(from.row, it)) { return {}; }
    it.id = run.id_of(from.segment, it.id);
    return it;
}

SPOTTER_BODY void kept_rows::push(recorded_row const& it, tensor_id id) {
    rows_.push_back({it.segment, it.row.kind, id, bytes_.size(), it.row.body.size()});
    bytes_.insert(bytes_.end(), it.row.body.begin(), it.row.body.end());
}

SPOTTER_BODY recorded_row kept_rows::operator[](std::size_t i) const noexcept {
    one const& it = rows_[i];
    byte_view const body{bytes_.data() + it.at, it.size};
    return {it.segment, {it.kind, body, body, whole_row}};
}

SPOTTER_BODY error read_values(worker_index const& run, std::uint32_t segment, rows::observe const& row,
                               payload_unpacker& unpacker, std::vector<std::byte>& into, tensor_ref& view) {
    tensor_ref like = detail::view_without_values(row);
    auto const bytes = run.segment_with(row, segment);
    if (!bytes) { return bytes.error(); }
    if (!detail::can_hold(*bytes, row.place, like.bytes())) {
        return {errc::corrupt, "an observation claims more values than its segment has room for"};
    }
    into.resize(as_size(like.bytes()));
    if (error const why = unpacker.unpack(*bytes, row, into)) { return why; }
    detail::make_sound(into, like.type);
    like.values.raw = into.data();
    view = like;
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
