// SPDX-License-Identifier: Apache-2.0
// The nets that the examination was developed on.
#include "entry.hpp"
#include "nets/batch_norm.hpp"
#include "nets/bf16_perceptron.hpp"
#include "nets/convolution.hpp"
#include "nets/language_model.hpp"
#include "nets/recurrent.hpp"
#include "nets/regression.hpp"
#include "nets/relu_perceptron.hpp"
#include "nets/residual.hpp"
#include "nets/sigmoid_perceptron.hpp"
#include "nets/tied_autoencoder.hpp"

namespace preflight_bench {

std::vector<net_entry> nets_for_development() {
    constexpr half of = half::development;
    return {entry_of<relu_perceptron, float>(of),      entry_of<sigmoid_perceptron, float>(of),
            entry_of<convolution, float>(of),          entry_of<recurrent, float>(of),
            entry_of<batch_norm, float>(of),           entry_of<language_model, float>(of),
            entry_of<softplus_regression, double>(of), entry_of<residual, float>(of),
            entry_of<tied_autoencoder, float>(of),     entry_of<bf16_perceptron, float>(of)};
}

}  // namespace preflight_bench
