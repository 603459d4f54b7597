// SPDX-License-Identifier: Apache-2.0
// Ext (L6): libtorch's modules, recognised by their methods: parameters, gradients, buffers and mode.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/step.hpp>
#include <spotter/ext/torch/tensor.hpp>
#include <spotter/hook/observer.hpp>

#include <string>
#include <vector>

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

namespace detail {

template <class Module>
concept torch_module = requires(Module const& it) {
    { it.is_training() } -> std::convertible_to<bool>;
    { it.named_parameters().begin()->key() } -> std::convertible_to<std::string_view>;
    { it.named_parameters().begin()->value() } -> std::convertible_to<::at::Tensor const&>;
    { it.named_buffers().begin()->value() } -> std::convertible_to<::at::Tensor const&>;
};
// The result of TORCH_MODULE, and pointers of any kind.
template <class Holder>
concept torch_holder = requires(Holder const& it) {
    requires torch_module<std::remove_cvref_t<decltype(*it)>>;
    static_cast<bool>(it);
};

}  // namespace detail

// The parameters and buffers of modules, listed once: a module makes a new list at each call, a table is passed without
// an allocation. Parameters have torch's names, after `prefix`, and their gradients are grad/<name>. Undefined tensors
// are left out, as gradients before the first backward. A parameter has the role weight, or bias if the last part of
// its name contains bias, and flag::frozen if it required no gradient when it was listed; a buffer has the role other.
// The table holds the tensors, so make a new one if a module gets other tensors.
//
//     module_table tensors{net};
//     auto found = watch.step(train(i), "loss"_t = loss, tensors);
class module_table {
public:
    module_table() = default;
    template <class Module>
        requires detail::torch_module<Module> || detail::torch_holder<Module>
    explicit module_table(Module const& module, std::string_view prefix = {}) {
        add(module, prefix);
    }

    // Appends a module; may throw where memory is exhausted.
    template <detail::torch_module Module>
    module_table& add(Module const& module, std::string_view prefix = {}) {
        for (auto const& each : module.named_parameters()) {
            std::string name{prefix};
            name += each.key();
            std::string_view const last = std::string_view{name}.substr(name.find_last_of("/.") + 1);
            role const what =
                guess_role(name) == role::bias || last.find("bias") != last.npos ? role::bias : role::weight;
            flag const flags = each.value().requires_grad() ? flag::none : flag::frozen;
            bool const plain = flags == flag::none && guess_role(name) == what;
            rows_.push_back({name, "grad/" + name, each.value(), what, flags, plain});
        }
        for (auto const& each : module.named_buffers()) {
            std::string name{prefix};
            name += each.key();
            bool const plain = guess_role(name) == role::other;
            rows_.push_back({name, {}, each.value(), role::other, flag::none, plain});
        }
        return *this;
    }
    // An empty holder adds nothing.
    template <detail::torch_holder Holder>
    module_table& add(Holder const& module, std::string_view prefix = {}) {
        return module ? add(*module, prefix) : *this;
    }
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

    template <class Visit>
    friend void visit_tensors(module_table const& table, Visit visit) {
        for (row const& each : table.rows_) {
            if (each.plain) {
                visit(each.name, each.tensor);
            } else {
                visit(each.name, each.tensor, each.what, each.flags);
            }
            if (each.gradient.empty()) { continue; }
            if (::at::Tensor const& gradient = each.tensor.grad(); gradient.defined()) {
                visit(each.gradient, gradient);
            }
        }
    }

private:
    struct row {
        std::string name;
        std::string gradient;  // empty for a buffer
        ::at::Tensor tensor;
        role what;
        flag flags;
        bool plain;  // the name implies role and flags: then a hook decides faster that nothing is needed
    };
    std::vector<row> rows_;
};

// A module or a holder of one, directly: `watch.step(train(i), "loss"_t = loss, net)`. Lists the tensors anew each
// time, which is fine for loops with longer steps. Your own visit_tensors for a module takes precedence.
template <detail::torch_module Module, class Visit>
void visit_tensors(Module const& module, Visit visit) {
    visit_tensors(module_table{module}, visit);
}
template <detail::torch_holder Holder, class Visit>
void visit_tensors(Holder const& module, Visit visit) {
    if (module) { visit_tensors(*module, visit); }
}

// Each tensor of a module or table as by packed(tensor): for nets on another device, or with gaps.
template <class Modules>
struct packed_modules {
    Modules const& modules;  // must outlive this

    template <class Visit>
    friend void visit_tensors(packed_modules const& it, Visit visit) {
        visit_tensors(it.modules, [&](std::string_view name, auto const& values, auto... role_and_flags) {
            if constexpr (std::same_as<std::remove_cvref_t<decltype(values)>, ::at::Tensor>) {
                visit(name, packed(values), role_and_flags...);
            } else {
                visit(name, values, role_and_flags...);
            }
        });
    }
};
template <class Modules>
    requires detail::torch_module<Modules> || detail::torch_holder<Modules> || std::same_as<Modules, module_table>
[[nodiscard]] packed_modules<Modules> packed(Modules const& modules) noexcept {
    return {modules};
}

// Observes all of a module or table, between begin and end: for loops that tap activations on the way.
template <class Hook, class Modules>
void observe_module(Hook& watch, Modules const& modules) {
    visit_tensors(modules, [&](std::string_view name, auto const& values, auto... role_and_flags) {
        watch.observe(name, values, role_and_flags...);
    });
}

// train(i) or eval(i), according to the last call of net.train() or net.eval().
template <class Module>
    requires detail::torch_module<Module> || detail::torch_holder<Module>
[[nodiscard]] step_id step_of(Module const& net, std::uint64_t index) {
    if constexpr (detail::torch_module<Module>) {
        return {net.is_training() ? mode::train : mode::eval, index};
    } else {
        return {net->is_training() ? mode::train : mode::eval, index};
    }
}

// Within a step that spans backward: observes the gradient of an activation when backward reaches it, and returns the
// activation: `x = tap_gradient(see, "grad/act/fc1", x)`, with an observer or a hook, which must outlive the graph. For
// tensors in host memory: their gradients are computed in the thread that calls backward(). A leaf has grad() and is
// not tapped.
template <class Hook>
::at::Tensor tap_gradient(Hook&& hook, std::string_view name, ::at::Tensor activation) {
    if constexpr (requires { observer{hook}; }) {  // does nothing for a null_hook
        if (activation.requires_grad() && !activation.is_leaf()) {
            if (activation.is_cpu()) {
                activation.register_hook(
                    [see = observer{hook}, name = std::string{name}](::at::Tensor const& gradient) {
                        see.observe(name, packed(gradient));  // often one expanded number
                    });
            } else {
                hook.observe(name, activation);  // refused and counted: its gradient comes in another thread
            }
        }
    }
    return activation;
}

}  // namespace spotter::inline SPOTTER_ABI
