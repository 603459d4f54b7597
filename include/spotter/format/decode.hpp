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
namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY error row_error(byte_reader const& in, std::string_view kind) noexcept {
    if (!in.bad()) { return {}; }
    error why{errc::corrupt, {}};
    why.what << "a record's row of kind '" << kind
             << "' is malformed; it was left out, the rest of the segment can be read";
    return why;
}

SPOTTER_BODY step_id take_step(byte_reader& in) noexcept {
    auto const which = in.choice(mode::predict);
    return {which, in.varint()};
}

SPOTTER_BODY tensor_id take_id(byte_reader& in) noexcept { return static_cast<tensor_id>(in.varint(no_tensor - 1)); }

SPOTTER_BODY bool take_flag(byte_reader& in) noexcept { return in.choice(order::column_major) != order::row_major; }

SPOTTER_BODY byte_view take_varints(byte_reader& in, std::uint64_t count, std::uint64_t most) noexcept {
    byte_reader ahead = in;
    for (std::uint64_t i = 0; i < count && !ahead.bad(); ++i) { (void)ahead.varint(most); }
    return in.raw(ahead.bad() ? in.left() + 1 : in.left() - ahead.left());
}

SPOTTER_BODY extents take_shape(byte_reader& in) noexcept {
    extents shape{};
    auto const rank = in.fixed<std::uint8_t>();
    if (rank > max_rank) {
        in.fail();
        return shape;
    }
    shape.rank = rank;
    std::uint64_t product = 1;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        std::uint64_t const size = in.varint();
        shape.size[axis] = size;
        if (size != 0 && product > (std::uint64_t{1} << 56) / size) { in.fail(); }
        product *= size;
    }
    return shape;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool read_collection(byte_view& list, rows::collection& out) noexcept {
    byte_reader in{list};
    out.name = in.text();
    out.what = in.text();
    if (in.bad() || list.empty()) { return false; }
    list = list.last(in.left());
    return true;
}

SPOTTER_BODY bool read_coverage(byte_view& list, rows::coverage& out) noexcept {
    byte_reader in{list};
    out.rule = in.text();
    out.matched = in.varint();
    out.judged = in.varint();
    out.undecided = in.varint();
    out.fired = in.varint();
    out.reason = in.text();
    if (in.bad() || list.empty()) { return false; }
    list = list.last(in.left());
    return true;
}

SPOTTER_BODY bool read_base(byte_view& list, payload_place& place) noexcept {
    byte_reader in{list};
    std::uint64_t const distance = in.varint(place.offset);
    place.offset -= distance;
    place.bytes = in.varint();
    place.form.bits = in.fixed<std::uint8_t>();
    if (in.bad() || distance == 0) { return false; }
    list = list.last(in.left());
    return true;
}

SPOTTER_BODY error decode(row_view row, rows::run_begin& out) noexcept {
    byte_reader in{row.body};
    out.run_id = in.fixed<std::uint64_t>();
    out.attempt = static_cast<std::uint32_t>(in.varint(0xFFFFFFFFU));
    out.worker = static_cast<std::uint32_t>(in.varint(0xFFFFFFFFU));
    out.time = in.fixed<double>();
    out.instant = in.fixed<std::uint8_t>();
    out.version = in.text();
    out.collections = in.varint();
    out.list = in.raw(in.left());
    byte_view rest = out.list;
    for (std::uint64_t i = 0; i < out.collections && !in.bad(); ++i) {
        rows::collection each{};
        if (!read_collection(rest, each)) { in.fail(); }
    }
    if (!in.bad()) { out.list = out.list.first(out.list.size() - rest.size()); }
    out.workers = 0;
    out.environment = {};
    if (!in.bad() && !rest.empty()) {
        byte_reader tail{rest};
        out.workers = static_cast<std::uint32_t>(tail.varint(0xFFFFFFFFU));
        if (!tail.bad() && tail.left() > 0) { out.environment = tail.text(); }
        if (tail.bad()) { in.fail(); }
    }
    return detail::row_error(in, "run_begin");
}

SPOTTER_BODY error decode(row_view row, rows::declare& out) noexcept {
    byte_reader in{row.body};
    tensor_info& it = out.tensor;
    it.id = detail::take_id(in);
    it.name = in.text();
    auto const known_role = [](std::uint8_t value) {
        return value < role_count ? static_cast<role>(value) : role::other;
    };
    it.role = known_role(in.fixed<std::uint8_t>());
    it.partner_role = known_role(in.fixed<std::uint8_t>());
    std::uint64_t const partner = in.varint(no_tensor);
    it.partner = partner == 0 ? no_tensor : static_cast<tensor_id>(partner - 1);
    it.flags = static_cast<flag>(in.varint(0xFFFFFFFFU));
    auto const activation = in.fixed<std::uint8_t>();
    it.activation = activation <= static_cast<std::uint8_t>(activation_kind::other)
                        ? static_cast<activation_kind>(activation)
                        : activation_kind::other;
    it.type = detail::take_dtype(in);
    it.shape = detail::take_shape(in);
    it.collections = in.fixed<std::uint64_t>();
    return detail::row_error(in, "declare");
}

SPOTTER_BODY error decode(row_view row, rows::feature& out) noexcept {
    byte_reader in{row.body};
    out = rows::feature{};
    out.id = detail::take_id(in);
    out.step = detail::take_step(in);
    out.key = in.fixed<std::uint64_t>();
    out.count = in.varint(in.left());
    auto const form = in.fixed<std::uint8_t>();
    out.integers = form == layout::feature_integers;
    out.numbers = out.integers ? detail::take_varints(in, out.count, layout::largest_integer)
                               : in.raw(out.count * sizeof(double));
    if (form > layout::feature_numbers) { in.fail(); }
    return detail::row_error(in, "feature");
}

SPOTTER_BODY error decode(row_view row, rows::scalar& out) noexcept {
    byte_reader in{row.body};
    out = rows::scalar{};
    auto const bits = in.fixed<std::uint8_t>();
    out.has_step = (bits & layout::scalar_step) != 0;
    out.has_time = (bits & layout::scalar_time) != 0;
    out.id = detail::take_id(in);
    if (out.has_step) { out.step = detail::take_step(in); }
    out.type = detail::take_dtype(in);
    out.value = in.raw(in.varint());
    if (out.has_time) { out.time = in.fixed<double>(); }
    if (out.type == dtype::none || (out.type != dtype::text && out.value.size() != size_of(out.type))) { in.fail(); }
    return detail::row_error(in, "scalar");
}

SPOTTER_BODY error decode(row_view row, rows::head& out) noexcept {
    byte_reader in{row.body};
    auto const bits = in.fixed<std::uint8_t>();
    out.id = detail::take_id(in);
    out.has_step = row.kind == row_kind::observe || (bits & layout::scalar_step) != 0;
    if (out.has_step) { out.step = detail::take_step(in); }
    return detail::row_error(in, "head");
}

SPOTTER_BODY error decode(row_view row, rows::close& out) noexcept {
    byte_reader in{row.body};
    out.step = detail::take_step(in);
    out.left_out = static_cast<std::uint32_t>(in.varint(0xFFFFFFFFU));
    out.ordinal = in.varint();
    out.time = in.fixed<double>();
    return detail::row_error(in, "close");
}

SPOTTER_BODY error decode(row_view row, rows::finding& out) noexcept {
    byte_reader in{row.body};
    out.step = detail::take_step(in);
    for (std::string_view* each : {&out.rule, &out.reason, &out.tensor, &out.measure, &out.remedy, &out.detail}) {
        *each = in.text();
    }
    out.measured = in.fixed<double>();
    out.threshold = in.fixed<double>();
    out.how = in.fixed<std::uint8_t>();
    out.severity = in.fixed<std::uint8_t>();
    out.decision = in.fixed<std::uint8_t>();
    out.decision_is_set = detail::take_flag(in);
    out.others = static_cast<std::uint32_t>(in.varint(0xFFFFFFFFU));
    if (out.how > 4 || out.severity > 2 || out.decision > 2) { in.fail(); }
    return detail::row_error(in, "finding");
}

SPOTTER_BODY error decode(row_view row, rows::drops& out) noexcept {
    byte_reader in{row.body};
    for (std::uint64_t* each : {&out.dropped, &out.thinned, &out.closes}) { *each = in.varint(); }
    return detail::row_error(in, "drops");
}

SPOTTER_BODY error decode(row_view row, rows::heartbeat& out) noexcept {
    byte_reader in{row.body};
    out.time = in.fixed<double>();
    return detail::row_error(in, "heartbeat");
}

SPOTTER_BODY error decode(row_view row, rows::drained& out) noexcept {
    byte_reader in{row.body};
    out = rows::drained{};
    out.position = in.varint();
    if (in.left() == 0) { return detail::row_error(in, "drained"); }
    out.bytes = in.varint();
    out.form.bits = in.fixed<std::uint8_t>();
    out.observe = in.raw(in.left());
    if (!out.form.known() || out.bytes == 0 || out.observe.empty()) { in.fail(); }
    return detail::row_error(in, "drained");
}

SPOTTER_BODY error decode(row_view row, rows::run_end& out) noexcept {
    byte_reader in{row.body};
    out.how = in.fixed<std::uint8_t>();
    out.why = in.text();
    for (std::uint64_t* each : {&out.refused, &out.stored, &out.dropped, &out.thinned, &out.closes}) {
        *each = in.varint();
    }
    out.time = in.fixed<double>();
    out.coverages = in.varint();
    out.list = in.raw(in.left());
    byte_view rest = out.list;
    for (std::uint64_t i = 0; i < out.coverages && !in.bad(); ++i) {
        rows::coverage each{};
        if (!read_coverage(rest, each)) { in.fail(); }
    }
    if (!in.bad()) { out.list = out.list.first(out.list.size() - rest.size()); }
    if (out.how != 1 && out.how != 2) { in.fail(); }
    return detail::row_error(in, "run_end");
}

SPOTTER_BODY error decode(row_view row, rows::stay& out) noexcept {
    byte_reader in{row.body};
    out.time = in.fixed<double>();
    out.seconds = in.fixed<double>();
    out.section = in.text();
    return detail::row_error(in, "stay");
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
