// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the choices of a run. Every field has a default that is right for most loops.
#pragma once

#include <spotter/hook/sink.hpp>

namespace spotter::inline SPOTTER_ABI {

struct section_observer;
class writer_task;

// What to do when the folder already holds a run.
//   next     a finished run is left as it is and this one goes to `path-2`, `-3`, ...; an unfinished one is resumed
//   refuse   errc::exists for a finished run: nothing is recorded, the rules still judge
//   replace  the old run's files are removed first
//   resume   this run continues in the same folder as a further attempt, whatever the state of the old one
enum class existing : std::uint8_t { next, refuse, replace, resume };

// What to do when the ring is full: wait for the writer (nothing is lost), keep the statistics and drop the payload, or
// drop the observation. Drops are counted, in the record and in health().
enum class overflow : std::uint8_t { block, thin, drop };

// Who moves bytes from the ring to the files: a thread of the recorder's, or the program in hook.poll().
enum class drain : std::uint8_t { thread, poll };

// How more than 16 KiB of values are copied into the ring: through the caches, past them (which leaves the loop's data
// there and saves memory traffic), or whichever is faster here, as measured once before the first of them.
enum class copying : std::uint8_t { automatic, cached, streaming };

// When the writer waits until what it wrote is on the disk (fsync): never, whenever a segment is closed, or at each
// flush. What is in the file survives the death of the process anyway; this is against power cuts. The training thread
// does not wait, unless the ring fills meanwhile.
enum class disk_sync : std::uint8_t { never, segments, flushes };

// Where the ring is that carries what is observed to the writer. In shared memory (Linux: /dev/shm; Windows: a file in
// the user's folder for temporary ones) it outlives the process: nothing that a hook's call took before a SIGKILL is
// lost, however far the writer was behind; the next run into the folder, or spotter::recover, brings what is left in it
// into the record. Handing over costs the same. The ring then keeps what is not in the file yet, so that tensors larger
// than a quarter of it are better with a larger one (ring_bytes). Where there is no shared memory, or no room in it,
// the ring is in plain memory and health().first_error says why.
enum class ring_in : std::uint8_t { memory, shared_memory };

// Where a ring in plain memory gets it from; the standard library's aligned operator new where nothing is given.
struct memory_source {
    void* (*take)(std::size_t bytes, std::size_t alignment, void* context) noexcept = nullptr;  // null: there is none
    // Once, where the hook ends; with the bytes that were asked for.
    void (*give_back)(void* memory, std::size_t bytes, void* context) noexcept = nullptr;
    void* context = nullptr;  // handed to both
};

// Which of several workers record: each of them, or number 0 alone; the others then only judge.
enum class recording_workers : std::uint8_t { all, one };

// What may be said of a run beside its plan and its rules: `hook watch{"runs/a", keep, options{.ring_bytes = 1 << 20},
// rules...}`, at any place among the rules. A settings file may say some of them, too (run_choices). docs/record.md
// tells what each does.
struct options {
    spotter::existing existing = spotter::existing::next;        // where the folder holds a run already
    spotter::overflow overflow = spotter::overflow::block;       // where the ring is full
    spotter::drain drain = spotter::drain::thread;               // who writes
    spotter::instant instant = spotter::instant::before_update;  // when the loop shows its tensors
    spotter::copying copying = spotter::copying::automatic;      // of large values, into the ring
    spotter::disk_sync disk_sync = spotter::disk_sync::never;    // against power cuts
    bool dry_run = false;                                        // rules run, nothing is written
    // Rounded up to a power of two; 64 KiB at least. In plain memory it is taken once something is recorded.
    std::uint64_t ring_bytes = 64ULL << 20;
    std::uint64_t segment_bytes = 256ULL << 20;  // a segment is closed and the next begun beyond this size
    // What the run may take on the disk, of each worker, without its flights; 0: without limit. Beyond it the oldest
    // segments lose the values of their tensors (retention), but never scalars, statistics, findings, or the values
    // that a finding is about. Segments are then a quarter of it at most; while a step goes on, the open one may be
    // larger and the run with it.
    std::uint64_t run_bytes = 0;
    std::uint32_t flush_milliseconds = 20;  // a closed step is visible to readers after this time at most
    // zstd's, for byte planes in which sequences come back; the others are Huffman-coded or copied at any level.
    int compression_level = 1;
    // Threads that compress, the writer's included, 16 at most. More than one where one writes less than the training
    // saves; each takes about 2 MiB. What is written does not depend on it.
    std::uint32_t compressors = 1;
    std::uint32_t worker = 0;  // of several threads, processes or ranks of one run: each its own number
    // How many workers the run has, for readers: they wait for one that has not begun yet. 0: they know of those that
    // have begun.
    std::uint32_t workers = 0;
    recording_workers keep = recording_workers::all;  // of several workers
    // Flight recorder: so many bytes of the latest steps, everything observed with its values, are kept in shared
    // memory beside the record, and written to the run's folder `flight` once a warning or error is told, with so many
    // steps after it; 0: none. It is written again for a later one if nothing was told at the close before that;
    // run_bytes does not count it. What is in the memory when the process is killed is brought there by the next run
    // into the folder, or by spotter::recover.
    std::uint64_t flight_bytes = 0;
    std::uint32_t flight_steps_after = 10;  // closed steps; the run's end comes before that
    // Seconds since 1970, for the record; called by the writer, and in the loop where a step or a section begins and
    // ends. Null: the system's time of day for the record, its monotonic clock, from the time of day at the start on,
    // for the loop.
    double (*clock)() noexcept = nullptr;
    spotter::ring_in ring_in = spotter::ring_in::memory;  // what outlives a kill
    section_observer const* sections = nullptr;           // that shows them elsewhere; must outlive the hook
    writer_task* beside = nullptr;  // done by who writes, beside it: a system_sampler; must outlive the hook
    memory_source memory{};         // of the ring, the one large piece of memory; asked once, at the start
    // Of a hook with a device: closes until the findings of a step are told, at least, 6 at most; then they come with
    // the first close that has them. 0: a close waits for the device.
    std::uint32_t device_lag = 1;
};

}  // namespace spotter::inline SPOTTER_ABI
