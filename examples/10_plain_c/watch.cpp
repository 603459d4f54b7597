// SPDX-License-Identifier: Apache-2.0
// The one C++20 file of train.c: what is kept, and which rules judge.
#include <spotter/c/implementation.hpp>

using namespace spotter;

spotter_hook* spotter_create(char const* path) {
    constexpr plan keep{defaults::losses, collection{"weights", role::weight, every{500}, payload},
                        collection{"gradients", "grad/*", every{100}, stats(l2, maximum)}};

    return make_c_hook(path, keep, non_finite{}, on(exploding_gradient{}, stop), loss_not_decreasing{} | once,
                       options{.existing = existing::replace});
}
