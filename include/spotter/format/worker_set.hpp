// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecars of many workers in one file, `workers.spotx`: a cache, like each sidecar.
#pragma once

#include <spotter/format/buffer.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI {

// An ended worker: what a reader needs before it reads the record.
struct set_worker {
    std::uint32_t number = 0;            // the number in its folder's name
    std::uint8_t how = 0;                // from its run_end; 0: there is none
    std::uint32_t expected_workers = 0;  // planned number of workers; 0: not specified
    std::uint32_t segments = 0;          // number of segments, at least one
    double last_sign = 0;                // time of its last sign: begin, close of a step, or end
};

struct set_segment {               // a segment of the worker; its size shows whether the sidecar is current
    std::uint32_t number = 0;      // of the segment
    std::uint64_t bytes = 0;       // of the segment
    std::uint64_t side_at = 0;     // of its sidecar, from the end of the directory; set by the writer
    std::uint32_t side_bytes = 0;  // of its sidecar
};

// Writes the directory, then the sidecars; all workers must be added before the first byte is written.
class worker_set_writer {
public:
    // False where memory is exhausted.
    [[nodiscard]] bool add(set_worker const& each) noexcept;
    // A segment of the last added worker; call it `segments` times. The sidecars follow in the same order.
    [[nodiscard]] bool add(set_segment each) noexcept;
    // Writes the directory to `out`, replacing its content; the sidecars must follow it. False where memory is
    // exhausted, or if the directory would exceed 4 GiB.
    [[nodiscard]] bool seal(byte_buffer& out) noexcept;

private:
    byte_buffer entries_{};
    std::uint64_t side_bytes_ = 0;
    std::uint32_t workers_ = 0;
};

// Reads the directory. If it is damaged or of an unknown version, it has no workers.
class worker_set_reader {
public:
    explicit worker_set_reader(byte_view file) noexcept;

    // Ascending by number, as added.
    [[nodiscard]] bool next(set_worker& into) noexcept;
    // The next segment of the last worker; call it `segments` times.
    [[nodiscard]] bool next(set_segment& into) noexcept;
    // The sidecar; empty if the file ends before it.
    [[nodiscard]] byte_view side_of(set_segment const& each) const noexcept;

private:
    byte_view file_;
    byte_reader in_{{}};
    std::uint32_t left_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/checksum.hpp>

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

#endif
