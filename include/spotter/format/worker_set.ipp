// SPDX-License-Identifier: Apache-2.0
// The bodies of worker_set.hpp.
#pragma once

#include <spotter/format/checksum.hpp>
#include <spotter/format/worker_set.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool worker_set_writer::add(set_worker const& each) noexcept {
    std::byte bytes[layout::set_worker_bytes];
    byte_writer out{bytes, sizeof bytes};
    out.fixed(each.number);
    out.fixed(std::uint32_t{each.how});
    out.fixed(each.expected_workers);
    out.fixed(each.segments);
    out.fixed(each.last_sign);
    ++workers_;
    return entries_.append(out.view());
}

SPOTTER_BODY bool worker_set_writer::add(set_segment each) noexcept {
    std::byte bytes[layout::set_segment_bytes];
    byte_writer out{bytes, sizeof bytes};
    out.fixed(each.number);
    out.fixed(each.side_bytes);
    out.fixed(each.bytes);
    out.fixed(side_bytes_);
    side_bytes_ += each.side_bytes;
    return entries_.append(out.view());
}

SPOTTER_BODY bool worker_set_writer::seal(byte_buffer& out) noexcept {
    std::uint64_t const size =
        layout::set_head_bytes - layout::skippable_bytes + entries_.size() + sizeof(std::uint64_t);
    if (size > 0xFFFF'FFFFU) { return false; }
    std::byte head[layout::set_head_bytes];
    byte_writer put{head, sizeof head};
    put.fixed(layout::set_magic);
    put.fixed(static_cast<std::uint32_t>(size));
    put.fixed(layout::set_version);
    put.fixed(workers_);
    out.clear();
    if (!out.append(put.view()) || !out.append(entries_.view())) { return false; }
    std::uint64_t const check = checksum(out.view());
    return out.append(bytes_of(&check, 1));
}

SPOTTER_BODY worker_set_reader::worker_set_reader(byte_view file) noexcept : file_{} {
    byte_reader head{file};
    bool const ours = head.fixed<std::uint32_t>() == layout::set_magic;
    std::uint64_t const end = layout::skippable_bytes + std::uint64_t{head.fixed<std::uint32_t>()};
    bool const known = head.fixed<std::uint32_t>() == layout::set_version;
    auto const workers = head.fixed<std::uint32_t>();
    if (!ours || !known || head.bad() || end < layout::set_head_bytes + sizeof(std::uint64_t) || end > file.size()) {
        return;
    }
    byte_view const covered = file.first(static_cast<std::size_t>(end) - sizeof(std::uint64_t));
    if (load<std::uint64_t>(covered.data() + covered.size()) != checksum(covered)) { return; }
    file_ = file.subspan(static_cast<std::size_t>(end));
    in_ = byte_reader{covered.subspan(layout::set_head_bytes)};
    left_ = workers;
}

SPOTTER_BODY bool worker_set_reader::next(set_worker& into) noexcept {
    if (left_ == 0) { return false; }
    --left_;
    into.number = in_.fixed<std::uint32_t>();
    into.how = static_cast<std::uint8_t>(in_.fixed<std::uint32_t>());
    into.expected_workers = in_.fixed<std::uint32_t>();
    into.segments = in_.fixed<std::uint32_t>();
    into.last_sign = in_.fixed<double>();
    return !in_.bad() && into.segments > 0;
}

SPOTTER_BODY bool worker_set_reader::next(set_segment& into) noexcept {
    into.number = in_.fixed<std::uint32_t>();
    into.side_bytes = in_.fixed<std::uint32_t>();
    into.bytes = in_.fixed<std::uint64_t>();
    into.side_at = in_.fixed<std::uint64_t>();
    return !in_.bad();
}

SPOTTER_BODY byte_view worker_set_reader::side_of(set_segment const& each) const noexcept {
    bool const there = each.side_at <= file_.size() && each.side_bytes <= file_.size() - each.side_at;
    return there ? file_.subspan(static_cast<std::size_t>(each.side_at), each.side_bytes) : byte_view{};
}

}  // namespace spotter::inline SPOTTER_ABI
