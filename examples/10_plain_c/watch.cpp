// SPDX-License-Identifier: Apache-2.0
// The one C++20 file of the program train.c: what to keep, and which rules judge.
#include <spotter/c/implementation.hpp>

namespace sp = spotter;

spotter_hook* spotter_create(char const* path) {
    constexpr sp::plan keep{sp::defaults::losses,
                            sp::collection{"weights", sp::role::weight, sp::every{500}, sp::payload},
                            sp::collection{"gradients", "grad/*", sp::every{100}, sp::stats(sp::l2, sp::maximum)}};

    return sp::make_c_hook(path, keep, sp::non_finite{}, sp::on(sp::exploding_gradient{}, sp::stop),
                           sp::loss_not_decreasing{} | sp::once, sp::options{.existing = sp::existing::replace});
}
