// SPDX-License-Identifier: Apache-2.0
// Format (L1): encodes rows. The order of fields is that of docs/format.md; fields that only the writer knows come
// last.
#pragma once

#include <spotter/format/bytes.hpp>
#include <spotter/format/rows.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace layout {
// Bits of an observation's first byte: the parts that it has.
inline constexpr std::uint8_t observe_units = 1, observe_values = 2, observe_thinned = 4, observe_quantiles = 8,
                              observe_histogram = 16, observe_shape = 32, observe_delta = 64;
// Bits of a scalar's first byte: it has a step; it has its own time.
inline constexpr std::uint8_t scalar_step = 1, scalar_time = 2;
// The encoding of a feature's numbers: varints, or f64.
inline constexpr std::uint8_t feature_integers = 0, feature_numbers = 1;
inline constexpr std::uint64_t largest_integer = std::uint64_t{1} << 53;  // as a varint, which has at most 8 bytes
}  // namespace layout

// Limits in bytes for rows of these kinds without their texts, values, units, quantiles and bins. With this room a
// quick_writer needs no checks.
inline constexpr std::size_t observe_limit = 320;                   // of an observation, without place and bases
inline constexpr std::size_t scalar_limit = 64;                     // plus the bytes of a text
inline constexpr std::size_t close_limit = 48;                      // with ordinal and time
inline constexpr std::size_t place_limit = 2 * varint_limit + 1;    // of encode_place
inline constexpr std::size_t base_limit = 2 * varint_limit + 1;     // of encode_base
inline constexpr std::size_t drained_limit = 2 * varint_limit + 1;  // plus the observation in it
inline constexpr std::size_t stay_limit = 2 * sizeof(double) + varint_limit + 64;  // with a section's name of 64 bytes
inline constexpr std::size_t feature_limit = 64;                                   // plus 8 bytes for each number

// A Writer is a byte_writer or a quick_writer.
namespace detail {

template <class Writer>
inline void put_step(Writer& out, step_id step) noexcept {
    out.fixed(step.mode);
    out.varint(step.index);
}
template <class Writer>
inline void put_shape(Writer& out, extents const& shape) noexcept {
    auto const sizes = shape.view();
    out.fixed(static_cast<std::uint8_t>(sizes.size()));
    for (std::uint64_t each : sizes) { out.varint(each); }
}

}  // namespace detail

// Encodes the terms of `stats` in `mask`; `Summary` is spotter::summary. The count of elements and, if it is known,
// that of non-finite ones are always included.
template <class Writer, class Summary>
inline void encode_summary(Writer& out, Summary const& stats, std::uint32_t mask) noexcept {
    auto const known = static_cast<std::uint32_t>(stats.has) & stored_terms::all;
    std::uint32_t kept = (mask & known) | (known & stored_terms::nonfinite);
    if ((kept & stored_terms::variance) != 0) { kept |= known & stored_terms::sum; }
    auto const keeps = [kept](std::uint32_t term) { return (kept & term) != 0; };
    out.varint(kept);
    out.varint(stats.count);
    if (keeps(stored_terms::nonfinite)) {
        out.varint(stats.nan);
        out.varint(stats.pos_inf);
        out.varint(stats.neg_inf);
        if (stats.nan + stats.pos_inf + stats.neg_inf > 0) { out.varint(stats.first_bad); }
    }
    if (keeps(stored_terms::zeros)) { out.varint(stats.zeros); }
    if (keeps(stored_terms::range)) {
        out.fixed(stats.minimum);
        out.fixed(stats.maximum);
    }
    if (keeps(stored_terms::abs_range)) {
        out.fixed(stats.abs_minimum);
        out.fixed(stats.abs_maximum);
    }
    if (keeps(stored_terms::sum)) { out.fixed(stats.sum); }
    if (keeps(stored_terms::sum_abs)) { out.fixed(stats.sum_abs); }
    if (keeps(stored_terms::sum_squares)) { out.fixed(stats.sum_squares); }
    if (keeps(stored_terms::variance)) { out.fixed(stats.moment2); }
    if (keeps(stored_terms::product)) { out.fixed(stats.product); }
    if (keeps(stored_terms::delta)) {
        out.fixed(static_cast<std::uint8_t>(stats.has_previous ? 1 : 0));
        if (stats.has_previous) {
            out.varint(stats.previous_index);
            out.fixed(stats.previous_sum_squares);
            out.fixed(stats.delta_sum_squares);
            out.fixed(stats.dot);
            out.varint(stats.changed);
        }
    }
    if (keeps(stored_terms::hash)) { out.fixed(stats.hash); }
}

// The body of a row, without its kind and length; what does not fit makes the writer full.
void encode(byte_writer& out, rows::collection const& row) noexcept;
void encode(byte_writer& out, rows::coverage const& row) noexcept;
void encode(byte_writer& out, rows::run_begin const& row) noexcept;
void encode(byte_writer& out, rows::declare const& row) noexcept;
// All but the place of the values, which follows last (encode_place) where `has_values`.
template <class Writer, class Summary>
inline void encode(Writer& out, rows::observe const& row, Summary const& stats, std::uint32_t mask) noexcept {
    out.fixed(static_cast<std::uint8_t>(
        (row.units > 0 ? layout::observe_units : 0) | (row.has_values ? layout::observe_values : 0) |
        (row.thinned ? layout::observe_thinned : 0) | (row.quantiles > 0 ? layout::observe_quantiles : 0) |
        (row.bins > 0 ? layout::observe_histogram : 0) | (row.has_shape ? layout::observe_shape : 0)));
    out.varint(row.id);
    detail::put_step(out, row.step);
    encode_summary(out, stats, mask);
    if (row.units > 0) {
        out.varint(row.units);
        out.fixed(row.axis);
        out.raw(row.active);
        out.raw(row.finite);
    }
    if (row.quantiles > 0) {
        out.varint(row.quantiles);
        out.raw(row.levels);
    }
    if (row.bins > 0) {
        out.varint(row.bins);
        out.fixed(row.low);
        out.fixed(row.high);
        out.raw(row.counts);
    }
    if (row.has_shape) { detail::put_shape(out, row.shape); }
    if (row.has_values) {
        out.fixed(row.type);
        out.fixed(row.layout);
        detail::put_shape(out, row.shape);
    }
}
// Two varints and a byte: offset, bytes, planes.
void encode_place(byte_writer& out, payload_place const& place) noexcept;
// After encode_place, if the values are differences: the payloads that they build on, the nearest first, the whole one
// last. `place` is replaced by `base`.
void encode_base(byte_writer& out, payload_place& place, payload_place const& base) noexcept;
// Whether all are integers from 0 to 2^53, without -0; checks the bits.
[[nodiscard]] bool are_integers(std::span<double const> numbers) noexcept;
// Encodes `numbers` in place of the row's own.
template <class Writer>
inline void encode(Writer& out, rows::feature const& row, std::span<double const> numbers) noexcept {
    out.varint(row.id);
    detail::put_step(out, row.step);
    out.fixed(row.key);
    out.varint(numbers.size());
    bool const integers = are_integers(numbers);
    out.fixed(integers ? layout::feature_integers : layout::feature_numbers);
    if (!integers) { return out.raw(bytes_of(numbers.data(), numbers.size())); }
    for (double const each : numbers) { out.varint(static_cast<std::uint64_t>(each)); }
}
// Everything but the time, which follows last if `has_time`.
template <class Writer>
inline void encode(Writer& out, rows::scalar const& row) noexcept {
    out.fixed(
        static_cast<std::uint8_t>((row.has_step ? layout::scalar_step : 0) | (row.has_time ? layout::scalar_time : 0)));
    out.varint(row.id);
    if (row.has_step) { detail::put_step(out, row.step); }
    out.fixed(row.type);
    out.varint(row.value.size());
    out.raw(row.value);
}
// Everything but ordinal and time, which follow last (encode_stamp).
void encode(byte_writer& out, rows::close const& row) noexcept;
// The end of a close; the time in seconds since 1970.
void encode_stamp(byte_writer& out, std::uint64_t ordinal, double time) noexcept;
void encode(byte_writer& out, rows::finding const& row) noexcept;
void encode(byte_writer& out, rows::drops const& row) noexcept;
inline void encode(byte_writer& out, rows::heartbeat const& row) noexcept { out.fixed(row.time); }
// Everything but the observation, which follows last.
void encode(byte_writer& out, rows::drained const& row) noexcept;
void encode(byte_writer& out, rows::run_end const& row) noexcept;
void encode(byte_writer& out, rows::stay const& row) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void encode(byte_writer& out, rows::collection const& row) noexcept {
    out.text(row.name);
    out.text(row.what);
}

SPOTTER_BODY void encode(byte_writer& out, rows::coverage const& row) noexcept {
    out.text(row.rule);
    out.varint(row.matched);
    out.varint(row.judged);
    out.varint(row.undecided);
    out.varint(row.fired);
    out.text(row.reason);
}

SPOTTER_BODY void encode(byte_writer& out, rows::run_begin const& row) noexcept {
    out.fixed(row.run_id);
    out.varint(row.attempt);
    out.varint(row.worker);
    out.fixed(row.time);
    out.fixed(row.instant);
    out.text(row.version);
    out.varint(row.collections);
    out.raw(row.list);
    if (row.workers > 0 || !row.environment.empty()) { out.varint(row.workers); }
    if (!row.environment.empty()) { out.text(row.environment); }
}

SPOTTER_BODY void encode(byte_writer& out, rows::declare const& row) noexcept {
    tensor_info const& it = row.tensor;
    out.varint(it.id);
    out.text(it.name);
    out.fixed(it.role);
    out.fixed(it.partner_role);
    out.varint(it.partner == no_tensor ? 0 : std::uint64_t{it.partner} + 1);
    out.varint(static_cast<std::uint32_t>(it.flags));
    out.fixed(it.activation);
    out.fixed(it.type);
    detail::put_shape(out, it.shape);
    out.fixed(it.collections);
}

SPOTTER_BODY void encode_place(byte_writer& out, payload_place const& place) noexcept {
    out.fixed(place.form.bits);
    out.varint(place.offset);
    out.varint(place.bytes);
}

SPOTTER_BODY void encode_base(byte_writer& out, payload_place& place, payload_place const& base) noexcept {
    out.varint(place.offset - base.offset);
    out.varint(base.bytes);
    out.fixed(base.form.bits);
    place = base;
}

SPOTTER_BODY bool are_integers(std::span<double const> numbers) noexcept {
    constexpr auto largest = std::bit_cast<std::uint64_t>(static_cast<double>(layout::largest_integer));
    for (double const each : numbers) {
        auto const bits = std::bit_cast<std::uint64_t>(each);
        if (bits > largest ||
            std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::uint64_t>(each))) != bits) {
            return false;
        }
    }
    return true;
}

SPOTTER_BODY void encode(byte_writer& out, rows::close const& row) noexcept {
    detail::put_step(out, row.step);
    out.varint(row.left_out);
}

SPOTTER_BODY void encode_stamp(byte_writer& out, std::uint64_t ordinal, double time) noexcept {
    out.varint(ordinal);
    out.fixed(time);
}

SPOTTER_BODY void encode(byte_writer& out, rows::finding const& row) noexcept {
    detail::put_step(out, row.step);
    for (std::string_view each : {row.rule, row.reason, row.tensor, row.measure, row.remedy, row.detail}) {
        out.text(each);
    }
    out.fixed(row.measured);
    out.fixed(row.threshold);
    out.fixed(row.how);
    out.fixed(row.severity);
    out.fixed(row.decision);
    out.fixed(static_cast<std::uint8_t>(row.decision_is_set ? 1 : 0));
    out.varint(row.others);
}

SPOTTER_BODY void encode(byte_writer& out, rows::drops const& row) noexcept {
    out.varint(row.dropped);
    out.varint(row.thinned);
    out.varint(row.closes);
}

SPOTTER_BODY void encode(byte_writer& out, rows::drained const& row) noexcept {
    out.varint(row.position);
    if (row.bytes == 0) { return; }
    out.varint(row.bytes);
    out.fixed(row.form.bits);
}

SPOTTER_BODY void encode(byte_writer& out, rows::run_end const& row) noexcept {
    out.fixed(row.how);
    out.text(row.why);
    for (std::uint64_t each : {row.refused, row.stored, row.dropped, row.thinned, row.closes}) { out.varint(each); }
    out.fixed(row.time);
    out.varint(row.coverages);
    out.raw(row.list);
}

SPOTTER_BODY void encode(byte_writer& out, rows::stay const& row) noexcept {
    out.fixed(row.time);
    out.fixed(row.seconds);
    out.text(row.section);
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
