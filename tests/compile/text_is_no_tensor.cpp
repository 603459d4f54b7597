// SPDX-License-Identifier: Apache-2.0
// A text is refused as a tensor: its bytes would be kept as numbers with a mean.
// expect: a text is no tensor
#include <spotter/hook.hpp>

#include <string>

int main() {
    spotter::hook watch{spotter::plan{}};
    using namespace spotter::literals;
#ifdef SPOTTER_CONTROL
    static_assert(!spotter::tensor<std::string> && !spotter::tensor<std::string_view> && !spotter::tensor<char[6]>);
    std::string const text{"a text"};
    std::uint8_t const bytes[]{1, 2, 3};
    watch.scalar("note", text);
    (void)watch.step(spotter::train(0), "bytes"_t = bytes);
#else
    (void)watch.step(spotter::train(0), "note"_t = std::string{"a text"});
#endif
}
