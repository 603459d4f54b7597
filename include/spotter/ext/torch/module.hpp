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
