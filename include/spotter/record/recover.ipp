// SPDX-License-Identifier: Apache-2.0
// The bodies of recover.hpp.
#pragma once

#include <spotter/format/walker.hpp>
#include <spotter/record/recover.hpp>
#include <spotter/record/shared_ring.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Whole blocks behind the last frame: `planes` frames each. The ring held a block an entry.
SPOTTER_BODY void measure_values(byte_view segment, std::uint64_t from, std::size_t ring_bytes,
                                 value_extent& into) noexcept {
    into.packed_at = from;
    into.position = into.mark.position;
    for (std::uint64_t at = from; into.done < into.mark.bytes;) {
        std::uint64_t block = 0;
        for (unsigned plane = 0; plane < into.mark.planes; ++plane) {
            frame_extent const frame = measure_frame(segment, at);
            if (frame.kind != frame_kind::values) { return; }
            at += frame.bytes;
            block += frame.content;
        }
        if (block == 0 || block > into.mark.bytes - into.done) { return; }
        into.done += block;
        into.packed = at - from;
        into.position = byte_ring::behind(into.position, static_cast<std::size_t>(block), ring_bytes);
    }
}

[[nodiscard]] SPOTTER_BODY error no_memory_to_recover() noexcept {
    return {errc::out_of_memory, "no memory to bring a ring's rest into the record; nothing was lost, try again"};
}

// Takes in one segment, the newest first. True if the one before it may know more: this one holds nothing but what it restates.
[[nodiscard]] SPOTTER_BODY result<bool> read_extent(byte_view segment, std::int64_t number, std::size_t ring_bytes,
                                                    attempt_extent& into) noexcept {
    bool begins_only = true, marked = false;
    bool const newest = !into.known;
    std::uint64_t position = 0;
    value_extent values{};
    frame_walker walk{segment};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::head && newest) {
            into.ordinal = walk.head().first_ordinal;
            into.time = walk.head().time;
        }
        if (what != walked::rows) { continue; }
        row_frame const& frame = walk.frame();
        if (newest) { into.ordinal = frame.first_ordinal + frame.closes; }
        values.mark = rows::drained{};
        row_reader rows{frame.body};
        for (row_view row{}; rows.next(row);) {
            if (row.kind == row_kind::run_begin) {
                if (into.run_begin.empty() && !into.run_begin.append(row.body)) { return no_memory_to_recover(); }
            } else if (row.kind == row_kind::declare) {
                byte_reader in{row.body};
                auto const id = static_cast<std::size_t>(in.varint(no_tensor - 1));
                if (in.bad() || id >= segment.size()) { continue; }  // a segment declares every id below its largest
                if (!into.declared.grow(id + 1)) { return no_memory_to_recover(); }
                kept_text& place = into.declared[id];
                if (place.segment > number) { continue; }
                place = {into.texts.size(), row.body.size(), number};
                if (!into.texts.append(row.body)) { return no_memory_to_recover(); }
            } else if (rows::drained mark{}; row.kind == row_kind::drained && !decode(row, mark)) {
                marked = true;
                position = mark.position;
                if (mark.bytes > 0) { values.mark = mark; }
            } else {
                begins_only = false;
                rows::close end{};
                if (newest && row.kind == row_kind::close && !decode(row, end) && end.time > into.time) {
                    into.time = end.time;
                }
            }
        }
    }
    into.known = true;
    if (values.mark.bytes > 0) {
        measure_values(segment, walk.good_end(), ring_bytes, values);
        position = values.position;
    }
    // A recovery that was broken off may have come less far than what it was copying blocks from.
    bool const same = values.mark.bytes > 0 && values.mark.bytes == into.values.mark.bytes &&
                      values.mark.position == into.values.mark.position;
    if (marked && (!into.marked || (same && values.done > into.values.done))) {
        values.observe = {into.texts.size(), values.mark.observe.size(), number};
        if (!into.texts.append(values.mark.observe)) { return no_memory_to_recover(); }
        into.marked = true;
        into.position = position;
        into.values = values;
    }
    return begins_only || !into.marked;
}

SPOTTER_BODY result<attempt_extent> extent_of(file_system& files, std::string_view folder, ring_header const& ring,
                                              number_list const& segments) noexcept {
    attempt_extent found{};
    bool more = true;
    for (std::size_t place = segments.size(); place > 0 && more; --place) {
        std::uint32_t const number = segments[place - 1];
        path_text const path = path_of_segment(folder, number);
        auto const mapped = files.map(path);
        if (!mapped && is_no_file(files, path)) { continue; }
        if (!mapped) { return mapped.error(); }
        auto const head = decode_head(mapped->bytes);
        result<bool> further{head || head.error().code == errc::not_a_run};  // killed before it had a head
        if (head && ring_owner{head->run_id, head->worker, head->attempt} == ring.owner()) {
            further = read_extent(mapped->bytes, number, ring.size(), found);
        } else if (head) {
            further = false;
        }
        files.unmap(*mapped);
        if (!further) { return further.error(); }
        more = *further;
    }
    return result<attempt_extent>{std::move(found)};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY result<recovered> recover_folder(file_system& files, std::string_view folder) noexcept {
    recovered told{};
    shared_ring left;
    if (error const why = left.open(files, folder)) {
        switch (why.code) {
            case errc::corrupt:
            case errc::unknown_version:
            case errc::busy:
            case errc::unwritable:
                told.damage = why;
                return told;
            default:
                return why;
        }
    }
    if (left.header() == nullptr) { return told; }
    ring_header& header = *left.header();
    std::uint64_t const head = header.counters.head.load(std::memory_order_acquire);
    std::uint64_t const tail = header.counters.tail.load(std::memory_order_acquire);
    detail::number_list there;
    if (error const why = there.read_segments(files, folder)) { return why; }
    auto extent = detail::extent_of(files, folder, header, there);
    if (!extent) { return extent.error(); }
    bool const in_ring = extent->position >= tail && extent->position <= head && extent->position % 8 == 0;
    std::uint64_t const from = in_ring ? extent->position : tail;
    if (extent->run_begin.empty() && head > 0) {
        told.damage =
            left.in_the_way(errc::corrupt, "leads to a ring of an attempt without a segment, which was left as it is");
        return told;
    }
    if (head > from || extent->values.mark.bytes > 0) {
        byte_ring ring;
        if (ring.reopen(header, from) != head) {
            told.damage = {errc::corrupt,
                           "the ring that a killed process left is damaged; what was before that is in the record"};
        }
        run_place place{};
        place.folder = path_text{folder, ""};
        auto const number = detail::next_number(files, folder, there);
        if (!number) { return number.error(); }
        place.number = *number;
        place.run_id = header.owner().run_id;
        place.worker = header.owner().worker;
        place.attempt = header.owner().attempt;
        place.ordinal = extent->ordinal;
        place.now = nullptr;
        place.time = header.time() > extent->time ? header.time() : extent->time;
        segment_writer segments{files, options{}};
        ring_drain drain{ring, segments, 0};
        drain.keep_until_written(from);
        byte_view const texts = extent->texts.view();
        for (std::size_t id = 0; id < extent->declared.size(); ++id) {
            auto const& each = extent->declared[id];
            if (each.size > 0) { segments.recall(texts.subspan(each.at, each.size)); }
        }
        segments.begin(place, extent->run_begin.view());
        if (in_ring && extent->values.mark.bytes > 0) {
            detail::value_extent& values = extent->values;
            auto const mapped = files.map(detail::path_of_segment(folder, values.observe.segment));
            if (!mapped) { return mapped.error(); }
            values.mark.observe = texts.subspan(values.observe.at, values.observe.size);
            auto const packed = mapped->bytes.subspan(static_cast<std::size_t>(values.packed_at),
                                                      static_cast<std::size_t>(values.packed));
            bool const good = drain.go_on(values.mark, packed, values.done);
            files.unmap(*mapped);
            if (!good) { return detail::no_memory_to_recover(); }
        }
        while (!segments.failed() && drain.take()) { ++told.entries; }
        drain.flush(0);
        segments.finish();
        if (segments.failed()) {
            if (header.counters.tail.load(std::memory_order_acquire) == tail) {  // nothing relies on what it came to
                detail::remove_segment(files, folder, place.number);
            }
            return segments.first_error();
        }
        told.closes = segments.ordinal() - extent->ordinal;
    }
    told.rings = 1;
    if (error const why = left.remove()) { return why; }
    return told;
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY result<recovered> recover_unlocked(file_system& files, std::string_view folder) noexcept {
    recovered told{};
    auto const kind = files.kind_of(path_text{folder, layout::ring_name});
    if (!kind) { return kind.error(); }
    if (*kind == path_kind::missing) { return told; }
    auto const lock = files.lock(path_text{folder, layout::lock_name});
    if (!lock) {
        if (lock.error().code != errc::busy) { return lock.error(); }
        told.live = 1;
        return told;
    }
    auto one = recover_folder(files, folder);
    files.unlock(*lock);
    return one;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY result<recovered> recover(std::string_view path, file_system& files) noexcept {
    while (path.size() > 1 && path.back() == '/') { path.remove_suffix(1); }
    recovered all{};
    auto const add_with_flight = [&](std::string_view folder) noexcept -> error {
        auto const own = detail::recover_unlocked(files, folder);
        if (!own) { return own.error(); }
        auto const flight = detail::recover_unlocked(files, path_text{folder, layout::flight_name});
        if (!flight) { return flight.error(); }
        for (recovered const* const one : {&*own, &*flight}) {
            all.rings += one->rings;
            all.entries += one->entries;
            all.closes += one->closes;
            if (!all.damage) { all.damage = one->damage; }
        }
        all.live += own->live + flight->live > 0 ? 1 : 0;
        return {};
    };
    if (error const why = add_with_flight(path)) { return why; }
    detail::number_list found;
    if (error const why = found.read_workers(files, path)) { return why; }
    for (std::size_t i = 0; i < found.size(); ++i) {
        text<longest_path> worker{path};
        worker << "/worker-" << found[i];
        if (error const why = add_with_flight(worker)) { return why; }
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
