// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a callback for MiniDNN (github.com/yixuan/MiniDNN) and similar frameworks. Includes nothing of it: types
// are deduced from the callbacks' base class, and from the methods of the net that it receives.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/role.hpp>
#include <spotter/core/source.hpp>
#include <spotter/core/step.hpp>
#include <spotter/hook/observer.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The type of the net that a callback receives, deduced from `virtual void post_training_batch(Net const*, Matrix
// const&, Matrix const&)`.
template <class Matrix, class Base, class Net>
Net const* net_given_to(void (Base::*)(Net const*, Matrix const&, Matrix const&));

// By MiniDNN's name.
[[nodiscard]] constexpr activation_kind minidnn_activation(std::string_view name) noexcept {
    return name == "ReLU"      ? activation_kind::relu
           : name == "Tanh"    ? activation_kind::tanh
           : name == "Sigmoid" ? activation_kind::sigmoid
                               : activation_kind::other;
}

// The constant properties of a layer: the names and shapes of its parts.
struct minidnn_layer {
    std::string weights, biases, weight_gradients, bias_gradients, output;
    extents shape;               // of the weights
    std::uint64_t biases_count;  // 0 where weights and biases are not distinguished
    activation_kind activation;
};
template <class Layer>
[[nodiscard]] minidnn_layer minidnn_layer_of(Layer const& it, std::size_t place) {
    std::string const number = std::to_string(place), own = "layer/" + number;
    auto const inputs = static_cast<std::uint64_t>(it.in_size()), outputs = static_cast<std::uint64_t>(it.out_size());
    std::uint64_t const count = it.get_parameters().size();
    bool const connected = it.layer_type() == "FullyConnected" && count == (inputs + 1) * outputs;
    return {.weights = own + "/w",
            .biases = own + "/b",
            .weight_gradients = "grad/" + own + "/w",
            .bias_gradients = "grad/" + own + "/b",
            .output = "act/" + number,
            .shape = connected ? extents{outputs, inputs} : extents{count},
            .biases_count = connected ? outputs : 0,
            .activation = minidnn_activation(it.activation_type())};
}

}  // namespace detail

// Watches `fit`: `minidnn_callback<MiniDNN::Callback> callback{watch}; net.set_callback(callback);`. A step is a
// mini-batch, opened before it and closed after it. It observes input and label; layer/<k>/w, {outputs, inputs}, and
// layer/<k>/b before the update (for layers that are not fully connected, all parameters in a row as layer/<k>/w); then
// act/<k>, pred (of the last layer), loss, and the gradients as grad/layer/<k>/w. In input, label, act and pred a
// sample is a column, and the flags say so. Parameters and gradients are only copied where they are needed. Steps are
// train steps, counted from `first` on through all calls of `fit`.
//
// The net updates before it calls back, and `fit` does not stop early. So no update can be skipped, and only an
// exception from `tell` ends the training. `tell` is called for each alarm. The hook must outlive it. Use it in one
// thread.
template <class Base>
class minidnn_callback : public Base {
    using matrix = typename Base::Matrix;
    using classes = typename Base::IntegerVector;
    using net = decltype(detail::net_given_to<matrix>(&Base::post_training_batch));

public:
    explicit minidnn_callback(observer watch, void (*tell)(step_alarm const&) = nullptr, std::uint64_t first = 0)
        : watch_{watch}, tell_{tell}, next_{first} {}

    // The strongest decision requested so far.
    [[nodiscard]] decision asked() const noexcept { return asked_; }
    // The number of closed steps.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    // Opens the step. MiniDNN calls it.
    void pre_training_batch(net it, matrix const& x, matrix const& y) override { begin(*it, x, y); }
    void pre_training_batch(net it, matrix const& x, classes const& y) override { begin(*it, x, y); }
    // Closes it.
    void post_training_batch(net it, matrix const&, matrix const&) override { end(*it); }
    void post_training_batch(net it, matrix const&, classes const&) override { end(*it); }

private:
    static constexpr flag column = batch_axis(1);

    template <class Net, class Labels>
    void begin(Net const& it, matrix const& x, Labels const& y) {
        auto const layers = it.get_layers();
        if (known_ != &it || layers_.size() != layers.size()) {
            layers_.clear();
            for (auto const* each : layers) { layers_.push_back(detail::minidnn_layer_of(*each, layers_.size())); }
            known_ = &it;
        }
        watch_.begin(train(next_++));
        watch_.observe("input", x, role::input, column);
        watch_.observe("label", y, role::label, std::same_as<Labels, matrix> ? column : flag::none);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            show(layers_[i], layers_[i].weights, layers_[i].biases, role::weight, role::bias,
                 [&layer = *layers[i]] { return layer.get_parameters(); });
        }
    }
    template <class Net>
    void end(Net const& it) {
        auto const layers = it.get_layers();
        for (std::size_t i = 0; i < layers.size() && i < layers_.size(); ++i) {
            if (i + 1 == layers.size()) {
                watch_.observe("pred", layers[i]->output(), role::prediction, column);
            } else {
                watch_.observe(layers_[i].output, layers[i]->output(), role::activation,
                               column | activated_by(layers_[i].activation));
            }
        }
        watch_.observe("loss", it.get_output()->loss(), role::loss);
        for (std::size_t i = 0; i < layers.size() && i < layers_.size(); ++i) {
            show(layers_[i], layers_[i].weight_gradients, layers_[i].bias_gradients, role::gradient, role::gradient,
                 [&layer = *layers[i]] { return layer.get_derivatives(); });
        }
        step_alarm const found = watch_.end();
        ++steps_;
        asked_ = found.decision() > asked_ ? found.decision() : asked_;
        if (found && tell_ != nullptr) { tell_(found); }
    }
    // Observes the weights, column by column, and then the biases, as `read` returns them.
    template <class Read>
    void show(detail::minidnn_layer const& it, std::string_view weights, std::string_view biases, role of_weights,
              role of_biases, Read read) const {
        using value = typename std::invoke_result_t<Read const&>::value_type;
        auto const part = [&](std::string_view name, extents const& shape, std::size_t first, role what) {
            auto const copy = [&read, first](void* into, std::size_t bytes) {
                auto const all = read();
                if (bytes / sizeof(value) + first > all.size()) { return false; }
                std::memcpy(into, all.data() + first, bytes);
                return true;
            };
            watch_.observe(name, copied<value>(shape, copy), what);
        };
        auto const count = as_size(it.shape.elements());
        if (count > 0) { part(weights, it.shape, 0, of_weights); }
        if (it.biases_count > 0) { part(biases, {it.biases_count}, count, of_biases); }
    }

    observer watch_;
    void (*tell_)(step_alarm const&);
    std::vector<detail::minidnn_layer> layers_;
    void const* known_ = nullptr;  // the net to which they belong
    std::uint64_t next_, steps_ = 0;
    decision asked_ = decision::proceed;
};

}  // namespace spotter::inline SPOTTER_ABI
