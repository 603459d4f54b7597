// SPDX-License-Identifier: Apache-2.0
// Record (L4): the shared memory of a ring, and the file `ring` in the worker's folder that holds its name.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/ring/ring_header.hpp>

namespace spotter::inline SPOTTER_ABI {

// The file is created before the memory and removed after it, so that no memory is left behind unnoticed. Each ring has
// a new random name. A copy of the folder names the same ring, which is busy while its creator lives.
//
// The destructor only unmaps the memory; `remove` deletes it.
class shared_ring {
public:
    shared_ring() noexcept = default;
    shared_ring(shared_ring const&) = delete;
    shared_ring& operator=(shared_ring const&) = delete;
    ~shared_ring() { let_go(); }

    // Creates a ring of `bytes` for the recording in `folder`, which is locked.
    [[nodiscard]] error make(file_system& files, std::string_view folder, ring_owner const& owner,
                             std::uint64_t bytes) noexcept;

    // Opens the ring that an ended process left; the folder is locked. No ring is no error: header() is then null. A
    // name without memory (the machine was switched off) or an unfinished ring (killed before it had begun) is removed.
    // errc::unwritable if a non-file has the file's name. Every error sentence names the obstacle.
    [[nodiscard]] error open(file_system& files, std::string_view folder) noexcept;

    // Deletes the memory and the file; the content of the ring is lost.
    error remove() noexcept;

    // In a forked child: memory and lock belong to the parent.
    void leave_to_parent() noexcept;
    // Removes any ring that the recording in `folder` has left; the folder is locked.
    [[nodiscard]] static error discard(file_system& files, std::string_view folder) noexcept;

    [[nodiscard]] ring_header* header() const noexcept { return header_; }  // null if not open; valid while mapped
    // The error for an unusable ring, with the names of file and memory.
    [[nodiscard]] error in_the_way(errc code, std::string_view why) const noexcept;

private:
    static constexpr std::string_view prefix = "spotter-";
    static constexpr std::size_t name_size = prefix.size() + 16;
    using name_text = text<name_size>;

    [[nodiscard]] static name_text new_name() noexcept;
    // Only memory whose name begins as spotter's do is opened and removed, whatever the file says.
    [[nodiscard]] static bool begins_name(std::string_view text) noexcept;
    [[nodiscard]] error open_header() noexcept;  // of the open memory
    void let_go() noexcept;

    file_system* files_ = nullptr;
    path_text file_{};
    name_text name_{};
    shared_memory memory_{};
    ring_header* header_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/shared_ring.ipp>
#endif
