// SPDX-License-Identifier: Apache-2.0
// A second hook beside the default one, in its own file: the implementation may be included in two files.
#include <spotter/c/implementation.hpp>

using namespace spotter;

extern "C" spotter_hook* create_everything(char const* path) {
    return make_c_hook(path, plan{collection{"all", "*"}},
                       options{.existing = existing::replace, .drain = drain::poll});
}
