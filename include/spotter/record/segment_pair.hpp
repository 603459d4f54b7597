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
#include <spotter/record/segment_pair.ipp>
#endif
