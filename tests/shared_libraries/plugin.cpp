// SPDX-License-Identifier: Apache-2.0
// A library with its own hook. Compiled twice: with default and with hidden symbol visibility.
#include "plugin.h"

#include <spotter/spotter.hpp>

#include <memory>

using namespace spotter;

namespace {

constexpr plan keep{collection{"all", "*", always{}, payload}};

auto make(char const* folder, double limit) {
    options const choices{.ring_bytes = 64 << 10};
    using watch_type = decltype(hook{folder, keep, choices, any("*", maximum > limit)});
    return std::make_unique<watch_type>(folder, keep, choices, any("*", maximum > limit));
}
decltype(make(nullptr, 0)) running;

}  // namespace

#define SPOTTER_TEST_EXPORTED extern "C" __attribute__((visibility("default")))
SPOTTER_TEST_EXPORTED plugin_start start;
SPOTTER_TEST_EXPORTED plugin_step step;
SPOTTER_TEST_EXPORTED plugin_finish finish;

int start(char const* folder, double limit) {
    if (running != nullptr) { return 0; }
    running = make(folder, limit);
    return 1;
}
int step(unsigned long index, char const* name, double value) {
    if (running == nullptr) { return -1; }
    running->begin(train(index));
    running->observe(name, value);
    return static_cast<int>(running->end().size());
}
int finish() {
    if (running == nullptr) { return 0; }
    running->finish();
    bool const good = running->health().good();
    running.reset();
    return good ? 1 : 0;
}
