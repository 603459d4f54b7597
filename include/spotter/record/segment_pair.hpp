// SPDX-License-Identifier: Apache-2.0
// Record (L4): the two files of the segment being written, and whether they still have their names.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/hook/options.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

// The state of an open segment's name.
//   there     the segment has its name, or that cannot be determined
//   replaced  another file, or none, has its name, in a folder that is still the recorder's
//   gone      the folder was moved or removed together with the open files; or another recorder has it
enum class whereabouts : std::uint8_t { there, replaced, gone };

// The sidecar is a cache: if it cannot be created or written, the segment goes on without it. Keeps the first error
// that does not end writing. Used by one thread at a time.
class segment_pair {
public:
    segment_pair(file_system& files, disk_sync sync) noexcept : files_{files}, sync_{sync} {}
    segment_pair(segment_pair const&) = delete;
    segment_pair& operator=(segment_pair const&) = delete;
    ~segment_pair();

    // Creates the files of that number. `lock` is the folder's, if open; the caller unlocks it.
    [[nodiscard]] error create(path_text const& folder, std::uint32_t number, opened_file lock) noexcept;
    [[nodiscard]] bool open() const noexcept { return data_.open(); }         // there is a segment to append to
    [[nodiscard]] bool has_sidecar() const noexcept { return side_.open(); }  // it was created and not given up

    [[nodiscard]] error append(byte_view bytes) noexcept;  // to the segment
    // False if there is no sidecar any more.
    [[nodiscard]] bool append_sidecar(byte_view bytes) noexcept;
    void give_up_sidecar(error const& why) noexcept;  // the segment goes on without it

    // Syncs the file and its name to the disk.
    void to_disk() noexcept;
    void end_of_flush() noexcept;    // syncs if disk_sync is flushes
    void end_of_segment() noexcept;  // syncs unless disk_sync is never
    // A disk may report only here that it could not store the data.
    void close() noexcept;

    // Releases a lock taken by lock_again().
    void give_back() noexcept;

    // Checks the disk. Another process (rsync, an editor, a restore) may have replaced the segment or the lock file.
    // The folder is still the recorder's unless another recorder holds the lock; a replaced lock is then taken again.
    [[nodiscard]] whereabouts look() noexcept;
    // Counts observations and scalars in the file of the segment's name, from `offset` on: a failed write may have
    // stored whole frames. 0 if the file cannot be read, or is another segment.
    [[nodiscard]] std::uint64_t values_from(std::uint64_t offset, std::uint64_t run_id, std::uint32_t attempt) noexcept;

    // A free number >= `from`, larger than all segments of the folder: another process may have added some.
    [[nodiscard]] result<std::uint32_t> free_number(std::uint32_t from) noexcept;
    // The error for a folder that was moved or removed: the open files moved with it, and no write fails. The data is
    // elsewhere or lost.
    [[nodiscard]] static error moved() noexcept;
    // `lost`: values of the segment that the file of its name does not have.
    [[nodiscard]] error replaced(std::uint64_t lost) const noexcept;
    // Returns the first error, and clears it.
    [[nodiscard]] error take_trouble() noexcept { return std::exchange(trouble_, {}); }

private:
    void note(error const& why) noexcept;
    // Takes the lock again. `makes`: creates it, because the segment shows that it is the folder.
    [[nodiscard]] bool lock_again(path_text const& path, bool makes) noexcept;

    file_system& files_;
    disk_sync sync_;
    path_text folder_{};
    path_text path_{};
    std::uint32_t number_ = 0;
    opened_file data_{};
    opened_file side_{};
    opened_file lock_{};
    opened_file relocked_{};  // taken again after the lock file was replaced
    error trouble_{};
    bool synced_ = true;  // nothing was written since the last sync
    bool folder_synced_ = true;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/walker.hpp>
#include <spotter/record/segment_files.hpp>
#include <spotter/record/segment_image.hpp>

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
             << (lost == 1 ? " value in it is" : " values in it are") << " lost, the run goes on in another segment";
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
#endif
