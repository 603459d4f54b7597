// SPDX-License-Identifier: Apache-2.0
// The bodies of segment_pair.hpp.
#pragma once

#include <spotter/format/walker.hpp>
#include <spotter/record/segment_files.hpp>
#include <spotter/record/segment_image.hpp>
#include <spotter/record/segment_pair.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY segment_pair::~segment_pair() {
    close();
    give_back();
}

SPOTTER_COLD_BODY error segment_pair::create(path_text const& folder, std::uint32_t number, opened_file lock) noexcept {
    folder_ = folder;
    path_ = detail::path_of_segment(folder, number);
    number_ = number;
    if (!relocked_.open()) { lock_ = lock; }
    auto const data = files_.create(path_);
    if (!data) { return data.error(); }
    data_ = *data;
    synced_ = folder_synced_ = false;
    auto const side = files_.create(detail::path_of_segment(folder, number, layout::side_suffix));
    if (side) { side_ = *side; }
    note(side.error());
    return {};
}

SPOTTER_BODY error segment_pair::append(byte_view bytes) noexcept {
    synced_ = false;
    return files_.append(data_, bytes);
}

SPOTTER_BODY bool segment_pair::append_sidecar(byte_view bytes) noexcept {
    error const why = files_.append(side_, bytes);
    if (why) { give_up_sidecar(why); }
    return !why;
}

SPOTTER_COLD_BODY void segment_pair::give_up_sidecar(error const& why) noexcept {
    note(why);
    (void)files_.close(std::exchange(side_, {}));
}

SPOTTER_BODY void segment_pair::to_disk() noexcept {
    if (!std::exchange(synced_, true)) { note(files_.sync(data_)); }
    if (!std::exchange(folder_synced_, true)) { note(files_.sync_folder(folder_)); }
}

SPOTTER_BODY void segment_pair::end_of_flush() noexcept {
    if (sync_ == disk_sync::flushes) { to_disk(); }
}

SPOTTER_COLD_BODY void segment_pair::end_of_segment() noexcept {
    if (sync_ != disk_sync::never) { to_disk(); }
}

SPOTTER_COLD_BODY void segment_pair::close() noexcept {
    if (data_.open()) { note(files_.close(std::exchange(data_, {}))); }
    if (side_.open()) { note(files_.close(std::exchange(side_, {}))); }
}

SPOTTER_COLD_BODY void segment_pair::give_back() noexcept {
    if (relocked_.open()) { files_.unlock(std::exchange(relocked_, {})); }
}

SPOTTER_COLD_BODY whereabouts segment_pair::look() noexcept {
    auto const data = files_.is_at(data_, path_);
    note(data.error());
    if (!data) { return whereabouts::there; }
    whereabouts const otherwise = *data ? whereabouts::there : whereabouts::gone;
    if (lock_.open()) {
        path_text const lock{folder_, layout::lock_name};
        auto const held = files_.is_at(lock_, lock);
        note(held.error());
        if (!held) { return whereabouts::there; }
        if (!*held && !lock_again(lock, *data)) { return otherwise; }
    }
    return *data ? whereabouts::there : whereabouts::replaced;
}

SPOTTER_COLD_BODY std::uint64_t segment_pair::values_from(std::uint64_t offset, std::uint64_t run_id,
                                                          std::uint32_t attempt) noexcept {
    detail::segment_image segment;
    if (segment.open(files_, path_)) { return 0; }
    std::uint64_t values = 0;
    auto const head = decode_head(segment.part(0, (std::min)(segment.bytes().size(), layout::head_bytes)));
    bool const ours = head && head->run_id == run_id && head->attempt == attempt && head->number == number_;
    frame_walker walk{segment.bytes(), offset, &segment.supply()};
    for (walked what = walk.next(); ours && what != walked::end; what = walk.next()) {
        if (what == walked::rows) { values += walk.frame().values; }
    }
    return segment.trouble() ? 0 : values;
}

SPOTTER_COLD_BODY result<std::uint32_t> segment_pair::free_number(std::uint32_t from) noexcept {
    detail::number_list segments;
    if (error const why = segments.read_segments(files_, folder_)) { return why; }
    auto const next = detail::next_number(files_, folder_, segments);
    if (!next) { return next.error(); }
    std::uint32_t number = (std::max)(from, *next);
    while (segments.holds(number)) { ++number; }
    return number;
}

SPOTTER_COLD_BODY error segment_pair::moved() noexcept {
    return {errc::not_a_run,
            "a segment is no longer where it was written: the run's folder was moved or removed while it "
            "was recorded; let it stand until the end"};
}

SPOTTER_COLD_BODY error segment_pair::replaced(std::uint64_t lost) const noexcept {
    std::string_view const path = path_.view();
    error why{errc::io_error, {}};
    why.what << path.substr(path.size() > 100 ? path.size() - 100 : 0)
             << " was replaced or removed while it was written: " << lost
             << " values in it are lost, the run goes on in another segment";
    return why;
}

SPOTTER_COLD_BODY void segment_pair::note(error const& why) noexcept {
    if (!trouble_) { trouble_ = why; }
}

SPOTTER_COLD_BODY bool segment_pair::lock_again(path_text const& path, bool makes) noexcept {
    auto const kind = files_.kind_of(path);
    note(kind.error());
    if (!kind || (*kind != path_kind::file && !makes)) { return false; }
    auto const lock = files_.lock(path);
    if (!lock) {
        if (makes) { note(lock.error()); }
        return false;
    }
    give_back();
    relocked_ = lock_ = *lock;
    return true;
}

}  // namespace spotter::inline SPOTTER_ABI
