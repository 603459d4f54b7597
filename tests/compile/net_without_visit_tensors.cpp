// SPDX-License-Identifier: Apache-2.0
// expect at once: void visit_tensors.my_net const& net, Visit visit.
#include <spotter/hook.hpp>

namespace mine {

struct net {
    float w[3]{1, 2, 3};
};
#ifdef SPOTTER_CONTROL
template <class Visit>
void visit_tensors(net const& it, Visit visit) {
    visit("w", it.w);
}
#endif

}  // namespace mine

int main() {
    mine::net const it;
    spotter::hook watch{spotter::plan{}};
    (void)watch.step(spotter::train(0), it);
}
