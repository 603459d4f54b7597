// SPDX-License-Identifier: Apache-2.0
// What a test tells the stand-in for CUDA's driver (fake_cuda.cpp), and what it asks it.
#pragma once

#include <cstddef>
#include <cstdint>

struct fake_cuda {
    // As the driver and its card say.
    int version = 12040;
    int cards = 1;
    int major = 8;
    std::size_t card_bytes = std::size_t{1} << 30;    // of memory
    std::size_t pinned_bytes = std::size_t{1} << 30;  // page-locked

    // What goes wrong: the call of that number from now on (1: the next one) answers `code`; `sticky`: so does every
    // call after it.
    long fail_at = 0;
    int code = 0;
    bool sticky = false;
    bool context_dead = false;  // destroyed under the library's feet
    bool capturing = false;     // every stream is captured into a graph

    bool held = false;  // the card does nothing until it is let go

    // What was asked of it.
    long calls = 0, launches = 0, copies = 0, waits = 0;
    std::size_t copied_bytes = 0;
    long live_memory = 0, live_pinned = 0, live_streams = 0, live_events = 0, live_modules = 0, retained = 0;
    long bad_reads = 0;  // kernels that read what is not mapped

    // Back to this, apart from what is alive.
    void reset() {
        long const memory = live_memory, pinned = live_pinned, streams = live_streams, events = live_events,
                   modules = live_modules, primary = retained;
        *this = fake_cuda{};
        live_memory = memory, live_pinned = pinned, live_streams = streams, live_events = events;
        live_modules = modules, retained = primary;
    }
};

// A kernel on the processor: `run(blocks, threads, parameters)`.
using fake_kernel = void (*)(unsigned, unsigned, void**);

extern "C" {
fake_cuda* fake_cuda_state();
// Runs what waits, though `held`; true where something did.
int fake_cuda_step();
// The card works again, after an error that stays.
void fake_cuda_heal();
}
