// SPDX-License-Identifier: Apache-2.0
// The settings and counters of the stand-in for CUDA's driver (fake_cuda.cpp): a test sets the former and reads the
// latter.
#pragma once

#include <cstddef>
#include <cstdint>

struct fake_cuda {
    // What driver and card report.
    int version = 12040;
    int cards = 1;
    int major = 8;
    std::size_t card_bytes = std::size_t{1} << 30;    // of memory
    std::size_t pinned_bytes = std::size_t{1} << 30;  // page-locked

    // Injected failure: the call of that number from now on (1: the next one) returns `code`. With `sticky` every later
    // call does, too.
    long fail_at = 0;
    int code = 0;
    bool sticky = false;
    bool context_dead = false;  // destroyed while the library uses it
    bool capturing = false;     // every stream is being captured into a graph

    bool held = false;  // the card runs nothing until this is false

    // Counters of calls.
    long calls = 0, launches = 0, copies = 0, waits = 0;
    std::size_t copied_bytes = 0;
    long live_memory = 0, live_pinned = 0, live_streams = 0, live_events = 0, live_modules = 0, retained = 0;
    long bad_reads = 0;  // kernels that read unmapped memory

    // Restores the defaults; live allocations stay.
    void reset() {
        long const memory = live_memory, pinned = live_pinned, streams = live_streams, events = live_events,
                   modules = live_modules, primary = retained;
        *this = fake_cuda{};
        live_memory = memory, live_pinned = pinned, live_streams = streams, live_events = events;
        live_modules = modules, retained = primary;
    }
};

// A kernel that runs on the processor: `run(blocks, threads, parameters)`.
using fake_kernel = void (*)(unsigned, unsigned, void**);

extern "C" {
fake_cuda* fake_cuda_state();
// Runs waiting work even if `held`; true if anything ran.
int fake_cuda_step();
// Clears an error that stays: the card works again.
void fake_cuda_heal();
}
