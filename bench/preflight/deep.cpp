// SPDX-License-Identifier: Apache-2.0
// Nets of many tensors in float with ReLU: what an examination costs there, and whether it names the tensor.
#include "nets/deep.hpp"
#include "entry.hpp"

namespace preflight_bench {

namespace {

template <deep_form Form, std::size_t Tensors>
struct deep {
    template <class Real>
    using net = deep_net<Real, Form, Tensors>;

    [[nodiscard]] static net_entry entry() { return entry_of<net, float>(half::deep); }
};

}  // namespace

std::vector<net_entry> nets_deep() {
    using enum deep_form;
    return {deep<plain, 70>::entry(),      deep<plain, 130>::entry(),      deep<plain, 300>::entry(),
            deep<residual, 70>::entry(),   deep<residual, 130>::entry(),   deep<residual, 298>::entry(),
            deep<normalised, 72>::entry(), deep<normalised, 132>::entry(), deep<normalised, 302>::entry()};
}

}  // namespace preflight_bench
