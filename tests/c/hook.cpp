// SPDX-License-Identifier: Apache-2.0
// The one C++20 file of a C program: what is kept, which rules judge.
#define SPOTTER_C_IMPLEMENTATION
#include <spotter/c/spotter.h>

using namespace spotter;

spotter_hook* spotter_create(char const* path) {
    constexpr plan keep{defaults::losses, collection{"weights", role::weight, every{10}, payload}};
    return make_c_hook(path, keep, on(non_finite{}, stop), exploding_gradient{},
                       options{.existing = existing::replace});
}
