// SPDX-License-Identifier: Apache-2.0
// expect: this view is not contiguous
#include <spotter/hook.hpp>

namespace {

// Every second element of a row, as a library's slice describes it.
template <bool Contiguous>
struct slice {
    static constexpr bool is_contiguous = Contiguous;
    float const* first;
    [[nodiscard]] float const* data() const { return first; }
    [[nodiscard]] int size() const { return 2; }
};
#ifdef SPOTTER_CONTROL
using taken = slice<true>;
#else
using taken = slice<false>;
#endif

}  // namespace

int main() {
    float const row[] = {1, 2, 3, 4};
    spotter::hook watch{spotter::plan{}};
    watch.begin(spotter::train(0));
    watch.observe("every second", taken{row});
    (void)watch.end();
}
