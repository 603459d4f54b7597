// SPDX-License-Identifier: Apache-2.0
// Record (L4): a ring's shared memory, and the file `ring` in the worker's folder that names it.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/ring/ring_header.hpp>

namespace spotter::inline SPOTTER_ABI {

// The file comes before the memory and goes after it, so memory that nobody knows of is never left behind. The name is
// drawn anew for each ring. A copy of the folder names the same one: it is busy for as long as its maker lives.
//
// Lets go of the memory in its destructor; only `remove` takes it out of the machine.
class shared_ring {
public:
    shared_ring() noexcept = default;
    shared_ring(shared_ring const&) = delete;
    shared_ring& operator=(shared_ring const&) = delete;
    ~shared_ring() { let_go(); }

    // A ring of `bytes` for the recording in `folder`, which is locked.
    [[nodiscard]] error make(file_system& files, std::string_view folder, ring_owner const& owner,
                             std::uint64_t bytes) noexcept;

    // The one that is there, left by a process that ended: the folder is locked. None is no error; header() is null
    // then, and where there is a name but nothing behind it (the machine was switched off) or in it (killed before it
    // had begun), that has been removed. errc::unwritable where something else than a file has that name; every
    // sentence names what is in the way.
    [[nodiscard]] error open(file_system& files, std::string_view folder) noexcept;

    // The memory and the file. What is in the ring is gone.
    error remove() noexcept;

    // In a forked child: neither the memory nor its lock is the child's.
    void leave_to_parent() noexcept;
    // Whatever ring the recording in `folder`, which is locked, has left.
    [[nodiscard]] static error discard(file_system& files, std::string_view folder) noexcept;

    [[nodiscard]] ring_header* header() const noexcept { return header_; }  // null: none is open; mapped until it goes
    // Why what is there cannot be used, with the names of both.
    [[nodiscard]] error in_the_way(errc code, std::string_view why) const noexcept;

private:
    static constexpr std::string_view prefix = "spotter-";
    static constexpr std::size_t name_size = prefix.size() + 16;
    using name_text = text<name_size>;

    [[nodiscard]] static name_text new_name() noexcept;
    // Whatever the file says, nothing but a ring of ours is opened and removed.
    [[nodiscard]] static bool begins_name(std::string_view text) noexcept;
    [[nodiscard]] error open_header() noexcept;  // of the memory that is open
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
