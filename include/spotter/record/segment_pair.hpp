// SPDX-License-Identifier: Apache-2.0
// Record (L4): the two files of the segment that is being written, and whether they still have their names.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/segment_files.hpp>

#include <algorithm>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Where an open segment is now, by its name.
//   there     it has its name, or nobody can say
//   replaced  another file has it, or none, in a folder that is still the recorder's
//   gone      the folder was moved or removed, and what is written goes with it; or another recorder has it
enum class whereabouts : std::uint8_t { there, replaced, gone };

// The sidecar is a cache: where it cannot be made or written the segment goes on without it. The first trouble of any of this that
// ends nothing is kept. One thread at a time.
class segment_pair {
public:
    segment_pair(file_system& files, disk_sync sync) noexcept : files_{files}, sync_{sync} {}
    segment_pair(segment_pair const&) = delete;
    segment_pair& operator=(segment_pair const&) = delete;
    ~segment_pair() {
        close();
        give_back();
    }

    // New files of that number. `lock` is that of the folder, while it is open; somebody else gives it back.
    [[nodiscard]] error create(path_text const& folder, std::uint32_t number, opened_file lock) noexcept {
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
    [[nodiscard]] bool open() const noexcept { return data_.open(); }
    [[nodiscard]] bool has_sidecar() const noexcept { return side_.open(); }

    [[nodiscard]] error append(byte_view bytes) noexcept {
        synced_ = false;
        return files_.append(data_, bytes);
    }
    // False where there is none any more.
    [[nodiscard]] bool append_sidecar(byte_view bytes) noexcept {
        error const why = files_.append(side_, bytes);
        if (why) { give_up_sidecar(why); }
        return !why;
    }
    void give_up_sidecar(error const& why) noexcept {
        note(why);
        (void)files_.close(std::exchange(side_, {}));
    }

    // Waits until what was written is on the disk, and the name of the file with it.
    void to_disk() noexcept {
        if (!std::exchange(synced_, true)) { note(files_.sync(data_)); }
        if (!std::exchange(folder_synced_, true)) { note(files_.sync_folder(folder_)); }
    }
    void end_of_flush() noexcept {
        if (sync_ == disk_sync::flushes) { to_disk(); }
    }
    void end_of_segment() noexcept {
        if (sync_ != disk_sync::never) { to_disk(); }
    }
    // A disk may say here for the first time that it could not take what was written.
    void close() noexcept {
        if (data_.open()) { note(files_.close(std::exchange(data_, {}))); }
        if (side_.open()) { note(files_.close(std::exchange(side_, {}))); }
    }

    // A lock that was taken here.
    void give_back() noexcept {
        if (relocked_.open()) { files_.unlock(std::exchange(relocked_, {})); }
    }

    // Asks the disk. Where another process has put something in the segment's place (rsync does, an editor, a restore), or in that
    // of the lock, the folder is the recorder's as long as nobody else has that lock, which is taken then.
    [[nodiscard]] whereabouts look() noexcept {
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
    // Observations and scalars that a reader finds under the segment's name from `offset` on: a write that failed may have left whole
    // frames behind, which are stored. None where the file cannot be looked at, or is another segment.
    [[nodiscard]] std::uint64_t values_from(std::uint64_t offset, std::uint64_t run_id,
                                            std::uint32_t attempt) noexcept {
        auto const mapped = files_.map(path_);
        if (!mapped) { return 0; }
        std::uint64_t values = 0;
        auto const head = decode_head(mapped->bytes);
        bool const ours = head && head->run_id == run_id && head->attempt == attempt && head->number == number_;
        frame_walker walk{mapped->bytes, offset};
        for (walked what = walk.next(); ours && what != walked::end; what = walk.next()) {
            if (what == walked::rows) { values += walk.frame().values; }
        }
        files_.unmap(*mapped);
        return values;
    }

    // From a number on, behind all segments of the folder: somebody may have put some there.
    [[nodiscard]] result<std::uint32_t> free_number(std::uint32_t from) noexcept {
        detail::number_list segments;
        if (error const why = segments.read_segments(files_, folder_)) { return why; }
        auto const next = detail::next_number(files_, folder_, segments);
        if (!next) { return next.error(); }
        std::uint32_t number = (std::max)(from, *next);
        while (segments.holds(number)) { ++number; }
        return number;
    }
    // A folder that was moved or removed meanwhile takes the open files with it and no write fails: what was written is elsewhere
    // now, or lost.
    [[nodiscard]] static error moved() noexcept {
        return {errc::not_a_run,
                "a segment is no longer where it was written: the run's folder was moved or removed while it "
                "was recorded; let it stand until the end"};
    }
    // `lost`: values that were in it and are not in what has its name now.
    [[nodiscard]] error replaced(std::uint64_t lost) const noexcept {
        std::string_view const path = path_.view();
        error why{errc::io_error, {}};
        why.what << path.substr(path.size() > 100 ? path.size() - 100 : 0)
                 << " was replaced or removed while it was written: " << lost
                 << " values in it are lost, the run goes on in another segment";
        return why;
    }
    // What went wrong first; taken away.
    [[nodiscard]] error take_trouble() noexcept { return std::exchange(trouble_, {}); }

private:
    void note(error const& why) noexcept {
        if (!trouble_) { trouble_ = why; }
    }
    // Made anew only where the segment says that it is the folder.
    [[nodiscard]] bool lock_again(path_text const& path, bool makes) noexcept {
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

    file_system& files_;
    disk_sync sync_;
    path_text folder_{};
    path_text path_{};
    std::uint32_t number_ = 0;
    opened_file data_{};
    opened_file side_{};
    opened_file lock_{};
    opened_file relocked_{};  // in the place of one that was replaced
    error trouble_{};
    bool synced_ = true;  // nothing was written since the last sync
    bool folder_synced_ = true;
};

}  // namespace spotter::inline SPOTTER_ABI
