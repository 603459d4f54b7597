// SPDX-License-Identifier: Apache-2.0
// Reads values of a record for the C programs, in C++20.
#include "read_back.h"

#include <spotter/trial.hpp>

#include <vector>

using namespace spotter;

namespace {

constexpr double nothing = -1e300;

template <class Value>
double element_of(recorded_value const& from, unsigned long i) {
    result<std::vector<Value>> const values = from.to<std::vector<Value>>();
    return values && i < values->size() ? static_cast<double>((*values)[i]) : nothing;
}

}  // namespace

double recorded(char const* path, char const* name, unsigned long step, unsigned long i) {
    result<trial> const run = open_trial(path);
    if (!run) { return nothing; }
    recorded_value const from = (*run)[name].at(train(step));
    switch (from.type()) {
        case dtype::f32:
            return element_of<float>(from, i);
        case dtype::f64:
            return element_of<double>(from, i);
        case dtype::i64:
            return element_of<std::int64_t>(from, i);
        case dtype::u8:
            return element_of<std::uint8_t>(from, i);
        case dtype::i16:
            return element_of<std::int16_t>(from, i);
        default:
            return nothing;
    }
}

long recorded_steps(char const* path) {
    result<trial> const run = open_trial(path);
    return run ? static_cast<long>(run->closed_steps()) : -1;
}

int recorded_failure(char const* path) {
    result<trial> const run = open_trial(path);
    return run && run->status() == run_status::failed ? 1 : 0;
}
