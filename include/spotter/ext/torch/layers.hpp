// SPDX-License-Identifier: Apache-2.0
// Ext (L6): observes the outputs of the layers of a torch::nn::Sequential during forward, since torch's C++ modules
// have no forward hooks.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/ext/torch/tensor.hpp>
#include <spotter/hook/observer.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Sequential>
concept torch_sequential = requires(Sequential& it, ::at::Tensor x) {
    { it.begin()->ptr()->name() } -> std::convertible_to<std::string_view>;
    { it.named_children().begin()->key() } -> std::convertible_to<std::string_view>;
    { it.begin()->any_forward(x).template try_get<::at::Tensor>() } -> std::convertible_to<::at::Tensor const*>;
    { it.forward(x) } -> std::convertible_to<::at::Tensor>;
};

struct torch_layer {
    std::string_view type;  // of the module, without namespaces
    role what;
    flag flags;
};
inline constexpr torch_layer torch_layers[] = {
    {"LinearImpl", role::preactivation, flag::none},
    {"Conv1dImpl", role::preactivation, flag::none},
    {"Conv2dImpl", role::preactivation, flag::none},
    {"Conv3dImpl", role::preactivation, flag::none},
    {"ReLUImpl", role::activation, activated_by(activation_kind::relu)},
    {"ReLU6Impl", role::activation, activated_by(activation_kind::relu)},
    {"TanhImpl", role::activation, activated_by(activation_kind::tanh)},
    {"SigmoidImpl", role::activation, activated_by(activation_kind::sigmoid)},
};
// By torch's name of the module's class, `torch::nn::ReLUImpl`.
[[nodiscard]] constexpr torch_layer torch_layer_of(std::string_view name) noexcept {
    name.remove_prefix(name.rfind(':') + 1);  // 0 where there is none
    for (torch_layer const& each : torch_layers) {
        if (each.type == name) { return each; }
    }
    return {name, role::activation, activated_by(activation_kind::other)};
}

}  // namespace detail

// Replaces `x = net->forward(x)`: the same, with the output of each layer observed as <prefix><name of the layer>,
// before the next layer can overwrite it. `x = tap_layers(see, "act/", net->features, x)`, with an observer or a hook,
// observes act/0, act/1, ... . Linear and convolutional layers have the role preactivation, all others activation, with
// the kind of their class. Outputs that are not tensors, as of an LSTM, are passed on unobserved. A nested Sequential
// counts as one layer: tap it separately.
template <class Hook, detail::torch_sequential Sequential>
::at::Tensor tap_layers(Hook&& hook, std::string_view prefix, Sequential& net, ::at::Tensor x) {
    if constexpr (requires { observer{hook}; }) {  // does nothing for a null_hook
        auto const names = net.named_children();
        auto name = names.begin();
        auto layer = net.begin();
        if (layer == net.end()) { return net.forward(x); }  // which reports torch's own error
        auto value = layer->any_forward(std::move(x));
        while (true) {
            if (::at::Tensor const* const seen = value.template try_get<::at::Tensor>()) {
                detail::torch_layer const what = detail::torch_layer_of(layer->ptr()->name());
                hook.observe(std::string{prefix} + name->key(), packed(*seen), what.what, what.flags);
            }
            ++name;
            if (++layer == net.end()) { return value.template get<::at::Tensor>(); }
            value = layer->any_forward(std::move(value));
        }
    } else {
        return net.forward(x);
    }
}
// The same for the result of TORCH_MODULE.
template <class Hook, class Holder>
    requires requires(Holder& it) {
        requires detail::torch_sequential<std::remove_reference_t<decltype(*it)>>;
    } ::at::Tensor
tap_layers(Hook&& hook, std::string_view prefix, Holder& net, ::at::Tensor x) {
    return tap_layers(hook, prefix, *net, std::move(x));
}

}  // namespace spotter::inline SPOTTER_ABI
