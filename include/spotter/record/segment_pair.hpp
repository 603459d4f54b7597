// SPDX-License-Identifier: Apache-2.0
// Record (L4): the two files of the segment that is being written, and whether they still have their names.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/hook/options.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Where an open segment is now, by its name.
//   there     it has its name, or nobody can say
//   replaced  another file has it, or none, in a folder that is still the recorder's
//   gone      the folder was moved or removed, and what is written goes with it; or another recorder has it
enum class whereabouts : std::uint8_t { there, replaced, gone };

// The sidecar is a cache: where it cannot be made or written the segment goes on without it. The first trouble of any
// of this that ends nothing is kept. One thread at a time.
class segment_pair {
public:
    segment_pair(file_system& files, disk_sync sync) noexcept : files_{files}, sync_{sync} {}
    segment_pair(segment_pair const&) = delete;
    segment_pair& operator=(segment_pair const&) = delete;
    ~segment_pair();

    // New files of that number. `lock` is that of the folder, while it is open; somebody else gives it back.
    [[nodiscard]] error create(path_text const& folder, std::uint32_t number, opened_file lock) noexcept;
    [[nodiscard]] bool open() const noexcept { return data_.open(); }         // there is a segment to append to
    [[nodiscard]] bool has_sidecar() const noexcept { return side_.open(); }  // it could be made, and was not given up

    [[nodiscard]] error append(byte_view bytes) noexcept;  // at the end of the segment
    // False where there is none any more.
    [[nodiscard]] bool append_sidecar(byte_view bytes) noexcept;
    void give_up_sidecar(error const& why) noexcept;  // the segment goes on without

    // Waits until what was written is on the disk, and the name of the file with it.
    void to_disk() noexcept;
    void end_of_flush() noexcept;    // to the disk, where disk_sync says at each flush
    void end_of_segment() noexcept;  // to the disk, where disk_sync says at each segment
    // A disk may say here for the first time that it could not take what was written.
    void close() noexcept;

    // A lock that was taken here.
    void give_back() noexcept;

    // Asks the disk. Where another process has put something in the segment's place (rsync does, an editor, a restore),
    // or in that of the lock, the folder is the recorder's as long as nobody else has that lock, which is taken then.
    [[nodiscard]] whereabouts look() noexcept;
    // Observations and scalars that a reader finds under the segment's name from `offset` on: a write that failed may
    // have left whole frames behind, which are stored. None where the file cannot be looked at, or is another segment.
    [[nodiscard]] std::uint64_t values_from(std::uint64_t offset, std::uint64_t run_id, std::uint32_t attempt) noexcept;

    // From a number on, behind all segments of the folder: somebody may have put some there.
    [[nodiscard]] result<std::uint32_t> free_number(std::uint32_t from) noexcept;
    // A folder that was moved or removed meanwhile takes the open files with it and no write fails: what was written is
    // elsewhere now, or lost.
    [[nodiscard]] static error moved() noexcept;
    // `lost`: values that were in it and are not in what has its name now.
    [[nodiscard]] error replaced(std::uint64_t lost) const noexcept;
    // What went wrong first; taken away.
    [[nodiscard]] error take_trouble() noexcept { return std::exchange(trouble_, {}); }

private:
    void note(error const& why) noexcept;
    // Made anew only where the segment says that it is the folder.
    [[nodiscard]] bool lock_again(path_text const& path, bool makes) noexcept;

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

#if SPOTTER_BODIES
#include <spotter/record/segment_pair.ipp>
#endif
