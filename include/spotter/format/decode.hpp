// SPDX-License-Identifier: Apache-2.0
// Format (L1): decodes rows. Invalid input gives errc::corrupt; bytes after the known fields are those of newer
// writers.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/format/encode.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

[[nodiscard]] error row_error(byte_reader const& in, std::string_view kind) noexcept;
[[nodiscard]] step_id take_step(byte_reader& in) noexcept;
[[nodiscard]] tensor_id take_id(byte_reader& in) noexcept;
[[nodiscard]] inline dtype take_dtype(byte_reader& in) noexcept { return in.choice(dtype::text); }
[[nodiscard]] bool take_flag(byte_reader& in) noexcept;

// The bytes of `count` varints, each at most `most`.
[[nodiscard]] byte_view take_varints(byte_reader& in, std::uint64_t count,
                                     std::uint64_t most = ~std::uint64_t{0}) noexcept;

// Fails for shapes whose size in bytes exceeds any memory.
[[nodiscard]] extents take_shape(byte_reader& in) noexcept;

}  // namespace detail

// Decodes encode_summary's output; fields whose term is not in `has` keep their defaults.
template <class Summary>
inline void decode_summary(byte_reader& in, Summary& stats) noexcept {
    stats = Summary{};
    auto const kept = static_cast<std::uint32_t>(in.varint(stored_terms::all));
    auto const keeps = [kept](std::uint32_t term) { return (kept & term) != 0; };
    stats.has = static_cast<decltype(stats.has)>(kept);
    stats.count = in.varint();
    if (keeps(stored_terms::nonfinite)) {
        stats.nan = in.varint(stats.count);
        stats.pos_inf = in.varint(stats.count - stats.nan);
        stats.neg_inf = in.varint(stats.count - stats.nan - stats.pos_inf);
        if (stats.nan + stats.pos_inf + stats.neg_inf > 0) { stats.first_bad = in.varint(); }
    }
    if (keeps(stored_terms::zeros)) { stats.zeros = in.varint(); }
    if (keeps(stored_terms::range)) {
        stats.minimum = in.fixed<double>();
        stats.maximum = in.fixed<double>();
    }
    if (keeps(stored_terms::abs_range)) {
        stats.abs_minimum = in.fixed<double>();
        stats.abs_maximum = in.fixed<double>();
    }
    if (keeps(stored_terms::sum)) { stats.sum = in.fixed<double>(); }
    if (keeps(stored_terms::sum_abs)) { stats.sum_abs = in.fixed<double>(); }
    if (keeps(stored_terms::sum_squares)) { stats.sum_squares = in.fixed<double>(); }
    if (keeps(stored_terms::variance)) { stats.moment2 = in.fixed<double>(); }
    if (keeps(stored_terms::product)) { stats.product = in.fixed<double>(); }
    if (keeps(stored_terms::delta)) {
        stats.has_previous = detail::take_flag(in);
        if (stats.has_previous) {
            stats.previous_index = in.varint();
            stats.previous_sum_squares = in.fixed<double>();
            stats.delta_sum_squares = in.fixed<double>();
            stats.dot = in.fixed<double>();
            stats.changed = in.varint();
        }
    }
    if (keeps(stored_terms::hash)) { stats.hash = in.fixed<std::uint64_t>(); }
}

// Reads the next collection of a run_begin's list, or coverage of a run_end's. False at the end.
[[nodiscard]] bool read_collection(byte_view& list, rows::collection& out) noexcept;
[[nodiscard]] bool read_coverage(byte_view& list, rows::coverage& out) noexcept;  // likewise

// Reads the next of an observation's bases, the nearest first. `place` is the one before it, initially the row's own,
// and is replaced. False at the end, or if the list is malformed.
[[nodiscard]] bool read_base(byte_view& list, payload_place& place) noexcept;

// Decodes a row; its texts and views point into the body. After an error `out` may be partly filled.
[[nodiscard]] error decode(row_view row, rows::run_begin& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::declare& out) noexcept;
template <class Summary>
[[nodiscard]] inline error decode(row_view row, rows::observe& out, Summary& stats) noexcept {
    byte_reader in{row.body};
    out = rows::observe{};
    auto const bits = in.fixed<std::uint8_t>();
    out.thinned = (bits & layout::observe_thinned) != 0;
    out.id = detail::take_id(in);
    out.step = detail::take_step(in);
    decode_summary(in, stats);
    if ((bits & layout::observe_units) != 0) {
        out.units = in.varint(in.left() / 8);
        out.axis = in.fixed<std::uint8_t>();
        out.active = in.raw(out.units * 4);
        out.finite = in.raw(out.units * 4);
    }
    if ((bits & layout::observe_quantiles) != 0) {
        out.quantiles = in.varint(in.left() / sizeof(double));
        out.levels = in.raw(out.quantiles * sizeof(double));
    }
    if ((bits & layout::observe_histogram) != 0) {
        out.bins = in.varint(in.left());
        out.low = in.fixed<double>();
        out.high = in.fixed<double>();
        out.counts = detail::take_varints(in, out.bins);
    }
    if ((bits & layout::observe_shape) != 0) {
        out.has_shape = true;
        out.shape = detail::take_shape(in);
    }
    if ((bits & layout::observe_values) != 0) {
        out.has_values = true;
        out.type = detail::take_dtype(in);
        out.layout = in.choice(order::column_major);
        out.shape = detail::take_shape(in);
        out.place.form.bits = in.fixed<std::uint8_t>();
        out.place.offset = in.varint();
        out.place.bytes = in.varint();
        if (!has_form(out.type, out.place.form)) { in.fail(); }
        if ((bits & layout::observe_delta) != 0) {
            out.links = in.varint(layout::longest_chain);
            byte_view const all = in.raw(in.left());
            byte_view rest = all;
            payload_place base = out.place;
            bool good = out.links > 0 && !in.bad();
            for (std::uint64_t i = 0; i < out.links && good; ++i) { good = read_base(rest, base); }
            out.bases = all.first(all.size() - rest.size());
            if (!good) { in.fail(); }
        }
    }
    return detail::row_error(in, "observe");
}
[[nodiscard]] error decode(row_view row, rows::feature& out) noexcept;
// Calls take(double) for each number of a feature.
template <class Take>
inline void each_number(rows::feature const& of, Take&& take) {
    for (byte_reader in{of.numbers}; in.left() > 0;) {
        take(of.integers ? static_cast<double>(in.varint()) : in.fixed<double>());
    }
}
[[nodiscard]] error decode(row_view row, rows::scalar& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::head& out) noexcept;  // of an observe or a scalar row
[[nodiscard]] error decode(row_view row, rows::close& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::finding& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::drops& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::heartbeat& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::drained& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::run_end& out) noexcept;
[[nodiscard]] error decode(row_view row, rows::stay& out) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/decode.ipp>
#endif
