// SPDX-License-Identifier: Apache-2.0
// Blocks one after the other, and how a chain shows its tensors to somebody.
#pragma once

#include "network.hpp"

#include <utility>
#include <vector>

namespace diagnosis {

// See is called as see(name, view, flags).
struct chain {
    std::vector<block> blocks{};

    // The output of the last block: a number or a row of logits a sample. A NaN goes into block `where`.
    values const& forward(values const& input, std::size_t batch, bool training, prng& random,
                          planted_in nan = planted_in::nothing, std::size_t where = 0) {
        values const* current = &input;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            current = &blocks[i].forward(*current, batch, training, random, i == where ? nan : planted_in::nothing);
        }
        return *current;
    }
    [[nodiscard]] values const& output() const noexcept { return blocks.back().pre; }

    void backward(values gradient, float keep) {
        for (std::size_t i = blocks.size(); i-- > 0;) { blocks[i].backward(gradient, keep); }
    }

    template <class Use>
    void each_parameter(Use&& use) {
        for (block& each : blocks) {
            use(each.w);
            use(each.b);
            if (each.normalised) {
                use(each.scale);
                use(each.shift);
            }
        }
    }
    template <class See>
    void show_parameters(See&& see) {
        each_parameter([&](parameter& it) { see(it.name, sp::view_of(it.value, it.shape), sp::flag::none); });
    }
    template <class See>
    void show_activations(std::size_t batch, See&& see) const {
        for (block const& each : blocks) {
            if (each.activation == sp::activation_kind::unknown) { continue; }  // the output has a name of its own
            sp::flag const kind = sp::activated_by(each.activation);
            see(each.pre_name, sp::view_of(each.pre, each.shape(batch)), kind);
            see(each.act_name, sp::view_of(each.act, each.shape(batch)), kind);
        }
    }
    template <class See>
    void show_gradients(See&& see) {
        each_parameter([&](parameter& it) {
            if (it.gradient_known) { see(it.gradient_name, sp::view_of(it.gradient, it.shape), sp::flag::none); }
        });
    }
};

}  // namespace diagnosis
