// SPDX-License-Identifier: Apache-2.0
// The nets that were left out of development: figures are of these.
#include "entry.hpp"
#include "nets/attention.hpp"
#include "nets/autoencoder.hpp"
#include "nets/bf16_regression.hpp"
#include "nets/factorisation.hpp"
#include "nets/gated_recurrent.hpp"
#include "nets/layer_norm.hpp"
#include "nets/leaky_perceptron.hpp"
#include "nets/logistic.hpp"
#include "nets/policy_gradient.hpp"
#include "nets/strided_convolution.hpp"
#include "nets/tanh_perceptron.hpp"

namespace preflight_bench {

std::vector<net_entry> nets_left_out() {
    constexpr half of = half::left_out;
    return {entry_of<tanh_perceptron, float>(of),
            entry_of<leaky_perceptron, float>(of),
            entry_of<strided_convolution, float>(of),
            entry_of<gated_recurrent, float>(of),
            entry_of<layer_norm, float>(of),
            entry_of<attention, float>(of),
            entry_of<logistic, float>(of),
            entry_of<autoencoder, float>(of),
            entry_of<policy_gradient, float>(of),
            entry_of<bf16_regression, float>(of),
            entry_of<factorisation, double>(of)};
}

}  // namespace preflight_bench
