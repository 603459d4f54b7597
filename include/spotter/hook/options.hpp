// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the options of a run. Every default is right for most loops.
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

// Who moves bytes from the ring to the files: the recorder's own thread, or the program by hook.poll().
enum class drain : std::uint8_t { thread, poll };

// How more than 16 KiB of values are copied into the ring: through the caches; past them, which keeps the loop's data
// in the caches and saves memory traffic; or the faster of the two, measured once before the first such copy.
enum class copying : std::uint8_t { automatic, cached, streaming };

// When the writer calls fsync: never, at the end of each segment, or at each flush. The file's data survives the death
// of the process anyway; fsync protects against power cuts. The training thread waits only if the ring fills meanwhile.
enum class disk_sync : std::uint8_t { never, segments, flushes };

// Where the ring between the loop and the writer is. In shared memory (Linux: /dev/shm; Windows: a file in the user's
// folder for temporary files) it survives the process. Nothing that a hook's call took before a SIGKILL is lost,
// however far behind the writer was: the next run into the folder, or spotter::recover, writes the rest into the
// record. The cost for the loop is the same. The ring then holds all data that is not in the file yet. Tensors larger
// than a quarter of it need a larger ring (ring_bytes). Where shared memory is missing or full, the ring is in plain
// memory and health().first_error says why.
enum class ring_in : std::uint8_t { memory, shared_memory };

// The allocator of a ring in plain memory; by default the standard library's aligned operator new.
struct memory_source {
    void* (*take)(std::size_t bytes, std::size_t alignment, void* context) noexcept = nullptr;  // null: the default
    // Called once, when the hook ends, with the size of the request.
    void (*give_back)(void* memory, std::size_t bytes, void* context) noexcept = nullptr;
    void* context = nullptr;  // passed to both
};

// Which of several workers record: all, or only number 0; the others then only judge.
enum class recording_workers : std::uint8_t { all, one };

// The options of a run, beside its plan and its rules: `hook watch{"runs/a", keep, options{.ring_bytes = 1 << 20},
// rules...}`, anywhere among the rules. A settings file can set some of them too (run_choices). docs/hook.md#options
// explains each.
struct options {
    spotter::existing existing = spotter::existing::next;        // if the folder already holds a run
    spotter::overflow overflow = spotter::overflow::block;       // if the ring is full
    spotter::drain drain = spotter::drain::thread;               // who moves bytes to the files
    spotter::instant instant = spotter::instant::before_update;  // when, within a step, the loop observes
    spotter::copying copying = spotter::copying::automatic;      // of large values, into the ring
    spotter::disk_sync disk_sync = spotter::disk_sync::never;    // against power cuts
    bool dry_run = false;                                        // rules run, nothing is written
    // Rounded up to a power of two; at least 64 KiB. Plain memory is allocated when the first thing is recorded.
    std::uint64_t ring_bytes = 64ULL << 20;
    std::uint64_t segment_bytes = 256ULL << 20;  // the next segment begins beyond this size
    // The disk limit of the run, for each worker, without its flights; 0: no limit. Beyond it the oldest segments lose
    // the values of their tensors (retention), but never scalars, statistics, findings, or the values that a finding is
    // about. A segment is then at most a quarter of the limit. During a step the open segment may exceed that, and the
    // run its limit.
    std::uint64_t run_bytes = 0;
    std::uint32_t flush_milliseconds = 20;  // longest time until a closed step is visible to readers
    // The zstd level, for byte planes with repeated sequences. Other planes are Huffman-coded or copied at any level.
    int compression_level = 1;
    // Compressing threads, with the writer; 16 at most. Use more than one where the training saves more than one thread
    // can write. Each takes about 2 MiB. The bytes written do not depend on it.
    std::uint32_t compressors = 1;
    std::uint32_t worker = 0;  // number of this thread, process or rank in the run; unique
    // The number of workers of the run: readers then wait for workers that have not begun yet. 0: readers use those
    // that have begun.
    std::uint32_t workers = 0;
    recording_workers keep = recording_workers::all;  // of several workers
    // Flight recorder: the size of shared memory that keeps the latest steps, with the values of every observation; 0:
    // none. Once a warning or error is reported, it is written to the run's folder `flight`, with flight_steps_after
    // further steps. A later finding writes it again if the close before reported nothing. run_bytes does not count it.
    // If the process is killed, the next run into the folder, or spotter::recover, writes out what is in that memory.
    std::uint64_t flight_bytes = 0;
    std::uint32_t flight_steps_after = 10;  // closed steps, fewer if the run ends before
    // A clock, in seconds since 1970. The writer calls it for the record, and the loop where a step or a section begins
    // and ends. Null: the system's time of day for the record; for the loop its monotonic clock, counted from the time
    // of day at the start.
    double (*clock)() noexcept = nullptr;
    spotter::ring_in ring_in = spotter::ring_in::memory;  // shared memory survives a kill
    section_observer const* sections = nullptr;           // a profiler that shows them too; must outlive the hook
    writer_task* beside = nullptr;  // runs in the writer thread, as a system_sampler; must outlive the hook
    memory_source memory{};         // of the ring, the only large allocation; called once, at the start
    // For a hook with a device: the findings of a step come so many closes later, 6 at most, and then with the first
    // close at which its results have arrived. 0: a close waits for the device.
    std::uint32_t device_lag = 1;
};

}  // namespace spotter::inline SPOTTER_ABI
