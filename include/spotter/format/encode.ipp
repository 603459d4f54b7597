// SPDX-License-Identifier: Apache-2.0
// The bodies of encode.hpp.
#pragma once

#include <spotter/format/encode.hpp>

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
