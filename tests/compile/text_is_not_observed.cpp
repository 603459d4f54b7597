// SPDX-License-Identifier: Apache-2.0
// expect at once: a text is no tensor
#include <spotter/hook.hpp>

#include <string>

int main() {
    std::string const text{"a text"};
    spotter::hook watch{spotter::plan{}};
    watch.begin(spotter::train(0));
#ifdef SPOTTER_CONTROL
    watch.scalar("note", text);
#else
    watch.observe("note", text);
#endif
    (void)watch.end();
}
