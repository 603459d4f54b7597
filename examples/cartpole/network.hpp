// SPDX-License-Identifier: Apache-2.0
// A small actor-critic: two stacks of dense layers with ReLU; forward, backward and Adam by hand.
#pragma once

#include "../common/matrix.hpp"
#include "../common/prng.hpp"

#include <spotter/hook.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace cartpole {

using example::matrix;

// One dense layer, y = x · w + b, with the gradients of the last backward pass.
struct layer {
    // The tensors' names, built once, so that observing them costs nothing.
    struct names {
        std::string w, b, grad_w, grad_b, output;
    } name;
    matrix w;  // inputs x units
    std::vector<float> b;
    matrix grad_w;
    std::vector<float> grad_b;
    matrix output;  // batch x units, after the ReLU where there is one
    bool relu;

    // Uniform weights of variance 2 / inputs (He et al. 2015), biases zero.
    layer(std::string const& title, std::size_t inputs, std::size_t units, bool has_relu, example::prng& random)
        : name{title + "/w", title + "/b", "grad/" + title + "/w", "grad/" + title + "/b",
               (has_relu ? "act/" : "out/") + title},
          w(inputs, units), b(units), grad_w(inputs, units), grad_b(units), relu(has_relu) {
        float const bound = std::sqrt(6.0F / static_cast<float>(inputs));
        for (float& weight : w.values) { weight = random.uniform(-bound, bound); }
    }

    void forward(matrix const& input) {
        multiply(input, w, output);
        add_to_rows(output, b);
        if (relu) {
            for (float& value : output.values) {
                value = value < 0.0F ? 0.0F : value;  // written so that NaN passes through
            }
        }
    }

    // Takes dloss/doutput, keeps dloss/dw and dloss/db, returns dloss/dinput.
    [[nodiscard]] matrix backward(matrix const& input, matrix gradient) {
        if (relu) {
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                gradient.values[i] = output.values[i] > 0.0F ? gradient.values[i] : 0.0F;
            }
        }
        multiply(transposed(input), gradient, grad_w);
        sum_of_rows(gradient, grad_b);
        matrix input_gradient;
        multiply(gradient, transposed(w), input_gradient);
        return input_gradient;
    }
};

// A stack of layers: ReLU after all but the last.
struct tower {
    std::vector<layer> layers;

    // tower{"actor", {4, 64, 64, 2}, random} has the layers actor/1, actor/2, actor/3.
    tower(std::string const& title, std::vector<std::size_t> const& widths, example::prng& random) {
        for (std::size_t i = 1; i < widths.size(); ++i) {
            bool const hidden = i + 1 < widths.size();
            layers.emplace_back(title + "/" + std::to_string(i), widths[i - 1], widths[i], hidden, random);
        }
    }

    matrix const& forward(matrix const& input) {
        matrix const* current = &input;
        for (layer& each : layers) {
            each.forward(*current);
            current = &each.output;
        }
        return *current;
    }

    [[nodiscard]] matrix const& output() const noexcept { return layers.back().output; }

    // The input must be that of the last forward pass.
    void backward(matrix const& input, matrix gradient) {
        for (std::size_t i = layers.size(); i-- > 0;) {
            gradient = layers[i].backward(i == 0 ? input : layers[i - 1].output, std::move(gradient));
        }
    }
};

// The actor rates each push (logits), the critic rates the state.
struct network {
    tower actor;
    tower critic;

    network(std::size_t inputs, std::size_t hidden, std::size_t actions, example::prng& random)
        : actor("actor", {inputs, hidden, hidden, actions}, random),
          critic("critic", {inputs, hidden, hidden, 1}, random) {}
};

// The parts of visit_tensors, for a program that shows more tensors in between. Always from input to output.
template <class Visit>
void visit_parameters(network const& net, Visit&& visit) {
    for (tower const* const each : {&net.actor, &net.critic}) {
        for (layer const& at : each->layers) {
            visit(at.name.w, at.w);
            visit(at.name.b, at.b);
        }
    }
}

template <class Visit>
void visit_activations(network const& net, Visit&& visit) {
    for (tower const* const each : {&net.actor, &net.critic}) {
        for (layer const& at : each->layers) {
            auto const made_by = at.relu ? spotter::activation_kind::relu : spotter::activation_kind::unknown;
            visit(at.name.output, at.output, spotter::activated_by(made_by));
        }
    }
}

template <class Visit>
void visit_gradients(network const& net, Visit&& visit) {
    for (tower const* const each : {&net.actor, &net.critic}) {
        for (layer const& at : each->layers) {
            visit(at.name.grad_w, at.grad_w);
            visit(at.name.grad_b, at.grad_b);
        }
    }
}

// A hash over the bits of all parameters: equal trainings end in equal fingerprints.
[[nodiscard]] inline std::uint64_t fingerprint(network const& net) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    visit_parameters(net, [&hash](std::string const&, auto const& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            hash = (hash ^ std::bit_cast<std::uint32_t>(values.data()[i])) * 0x100000001B3U;
        }
    });
    return hash;
}

// Shows every tensor of the network by name, in the order in which a training step computes it.
template <class Visit>
void visit_tensors(network const& net, Visit&& visit) {
    visit_parameters(net, visit);
    visit_activations(net, visit);
    visit_gradients(net, visit);
}

// Adam (Kingma and Ba 2015). Changes only the layers that it was given; they must outlive it.
class adam {
public:
    explicit adam(float learning_rate) : learning_rate_(learning_rate) {}

    void add(layer& trained) {
        add(trained.w.values, trained.grad_w.values);
        add(trained.b, trained.grad_b);
    }

    void update() {
        ++steps_;
        float const unbias_mean = 1.0F / (1.0F - std::pow(0.9F, static_cast<float>(steps_)));
        float const unbias_square = 1.0F / (1.0F - std::pow(0.999F, static_cast<float>(steps_)));
        for (slot& each : slots_) {
            for (std::size_t i = 0; i < each.mean.size(); ++i) {
                float const gradient = (*each.gradient)[i];
                each.mean[i] += 0.1F * (gradient - each.mean[i]);
                each.square[i] += 0.001F * (gradient * gradient - each.square[i]);
                float const scale = std::sqrt(each.square[i] * unbias_square) + 1e-8F;
                (*each.values)[i] -= learning_rate_ * each.mean[i] * unbias_mean / scale;
            }
        }
    }

private:
    // One parameter vector with its running moments.
    struct slot {
        std::vector<float>* values;
        std::vector<float> const* gradient;
        std::vector<float> mean;
        std::vector<float> square;
    };

    void add(std::vector<float>& values, std::vector<float> const& gradient) {
        slots_.push_back({&values, &gradient, std::vector<float>(values.size()), std::vector<float>(values.size())});
    }

    float learning_rate_;
    std::int64_t steps_ = 0;
    std::vector<slot> slots_;
};

}  // namespace cartpole
