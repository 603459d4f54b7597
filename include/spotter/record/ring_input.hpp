// SPDX-License-Identifier: Apache-2.0
// Record (L4): the producer's end of a ring: its memory, room for entries, and what happens when there is none.
#pragma once

#include <spotter/record/ring_pages.hpp>
#include <spotter/record/shared_ring.hpp>
#include <spotter/record/value_copier.hpp>

namespace spotter::inline SPOTTER_ABI {

class run_writer;
struct run_place;

// What makes room in a full ring, in place of a writer; false where it gives up.
struct room_maker {
    bool (*make)(void* context) noexcept = nullptr;  // asked by the training thread, again until there is room
    void* context = nullptr;
};

// Observations and scalars of a step that made room, which has its close unless it was still open.
struct discarded_step {
    std::uint64_t values = 0;  // that are gone with it
    bool closed = false;       // it had a close
};

// Called by the training thread. Where the ring is full it waits for the writer, or is the writer itself.
class ring_input {
public:
    // All of it must outlive this; `writer` may begin later.
    ring_input(file_system& files, options const& choices, run_writer& writer) noexcept
        : files_{files}, choices_{choices}, writer_{writer}, policy_{choices.overflow} {}
    ring_input(ring_input const&) = delete;
    ring_input& operator=(ring_input const&) = delete;
    ~ring_input();

    // Once, before anything else: of the user's, shared with who comes after this process, or plain. False where there
    // is none.
    [[nodiscard]] bool take_memory(run_place const& place) noexcept;
    // Where the ring outlives the process: what is left in it is gone, or somebody else's.
    void remove_shared() noexcept { (void)shared_.remove(); }
    // In a forked child: the memory is the parent's.
    void leave_to_parent() noexcept { shared_.leave_to_parent(); }
    [[nodiscard]] byte_ring& ring() noexcept { return ring_; }                    // for the writer
    [[nodiscard]] ring_pages& pages() noexcept { return pages_; }                 // likewise
    [[nodiscard]] shared_ring const& shared() const noexcept { return shared_; }  // its header is null in plain memory

    [[nodiscard]] overflow policy() const noexcept { return policy_; }   // where the ring is full
    [[nodiscard]] std::size_t block() const noexcept { return block_; }  // bytes of values in one entry, at most
    // Bytes that are free at least, headers and padding among them.
    [[nodiscard]] std::uint64_t room() noexcept { return ring_.room(); }
    // What observations and scalars leave free for declarations and closes.
    [[nodiscard]] std::size_t spare() const noexcept { return ring_.size() / 16; }
    // Bytes of an entry that may ever fit.
    [[nodiscard]] std::size_t largest() const noexcept { return ring_.largest() - spare(); }

    void ask_for_room() noexcept;  // the writer is to give back what it holds; nobody waits for it

    // Before so many bytes of values are copied, and before memory is claimed for them.
    void choose_copying(std::size_t bytes) noexcept { copier_.choose(ring_, bytes); }
    // Values into memory that was claimed.
    void copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept {
        copier_.copy(into, from, bytes);
    }
    // Memory for an entry, or null: there is no room and the policy does not wait for it.
    [[nodiscard]] std::byte* claim(std::size_t bytes, std::size_t spare_bytes) noexcept;
    // Of what was claimed last.
    void commit(std::size_t bytes, std::uint32_t tag) noexcept { ring_.commit(bytes, tag); }

    // A tensor was declared: there is something to write, and its step ends with what is done once.
    void declared() noexcept;
    void end_step() noexcept;  // behind its close

    void flush() noexcept;  // waits until what was committed is in the file
    void show() noexcept;   // the same, for as long as a loop may wait that was told an alarm

    void when_full(room_maker const& make) noexcept;  // without a `make`: the ring is drained
    // Takes entries out up to the next close, for good. Where no thread drains the ring.
    discarded_step discard_step() noexcept;

    void note(error const& why) noexcept;                                     // what went wrong here; the first is kept
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }  // the first

private:
    static constexpr std::uint64_t smallest_ring = 64U << 10;
    static constexpr std::uint64_t patience_milliseconds = 2000;
    static constexpr std::uint64_t no_entry = ~std::uint64_t{0};

    [[nodiscard]] std::uint64_t ring_bytes() const noexcept {
        return choices_.ring_bytes < smallest_ring ? smallest_ring : choices_.ring_bytes;
    }
    [[nodiscard]] bool take_plain_memory() noexcept;
    [[nodiscard]] bool share_memory(run_place const& place) noexcept;
    std::byte* wait(std::size_t bytes, std::size_t spare_bytes) noexcept;
    std::byte* wait_for_writer(std::size_t bytes, std::size_t spare_bytes) noexcept;
    static void pause(int round, int yields) noexcept;

    file_system& files_;
    options const& choices_;
    run_writer& writer_;
    overflow policy_;
    room_maker make_{};
    std::byte* given_ = nullptr;  // memory of the user's for the ring
    shared_ring shared_;          // or memory that outlives the process; before the ring, which uses it
    byte_ring ring_;
    ring_pages pages_{ring_};
    value_copier copier_{};
    std::size_t block_ = 0;
    std::uint64_t declared_at_ = 0;  // in the ring, the open step did; the first of all ends as if it did
    error trouble_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/ring_input.ipp>
#endif
