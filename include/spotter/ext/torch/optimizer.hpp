// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the state of libtorch's optimizers for each parameter. Includes torch/optim.h, and so is not part of
// torch.hpp.
#pragma once

#include <spotter/ext/torch/module.hpp>

#include <torch/optim.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

using torch_optimizer = ::torch::optim::Optimizer;
using torch_key = typename std::remove_cvref_t<decltype(std::declval<torch_optimizer const&>().state())>::key_type;

// An optimizer's key for a parameter's state: the address of its TensorImpl, which torch 1 writes as a text.
template <class Key>
[[nodiscard]] Key torch_state_key(::at::Tensor const& parameter) {
    if constexpr (std::same_as<Key, std::string>) {
        std::ostringstream written;
        written << parameter.unsafeGetTensorImpl();
        return written.str();
    } else {
        return parameter.unsafeGetTensorImpl();
    }
}

// Calls `use(name, tensor)` for each tensor of a state, with torch's names. Ignores classes that are not torch's.
template <class Use>
void each_torch_moment(::torch::optim::OptimizerParamState const& state, Use&& use) {
    namespace optim = ::torch::optim;
    auto const adam = [&](auto const& it) {
        use("exp_avg", it.exp_avg());
        use("exp_avg_sq", it.exp_avg_sq());
        use("max_exp_avg_sq", it.max_exp_avg_sq());
    };
    if (auto const* const it = dynamic_cast<optim::AdamParamState const*>(&state)) { return adam(*it); }
    if (auto const* const it = dynamic_cast<optim::AdamWParamState const*>(&state)) { return adam(*it); }
    if (auto const* const it = dynamic_cast<optim::SGDParamState const*>(&state)) {
        return use("momentum_buffer", it->momentum_buffer());
    }
    if (auto const* const it = dynamic_cast<optim::RMSpropParamState const*>(&state)) {
        use("square_avg", it->square_avg());
        use("momentum_buffer", it->momentum_buffer());
        return use("grad_avg", it->grad_avg());
    }
    if (auto const* const it = dynamic_cast<optim::AdagradParamState const*>(&state)) { return use("sum", it->sum()); }
    if (auto const* const it = dynamic_cast<optim::LBFGSParamState const*>(&state)) {
        use("d", it->d());
        use("prev_flat_grad", it->prev_flat_grad());
    }
}

}  // namespace detail

// An optimizer's state for each parameter of modules, as optimizer/<parameter>/<moment>: exp_avg, exp_avg_sq and
// max_exp_avg_sq of Adam and AdamW, momentum_buffer of SGD, square_avg, momentum_buffer and grad_avg of RMSprop, sum of
// Adagrad. LBFGS has one state for all, under its first parameter: d and prev_flat_grad, with the elements of all
// parameters in a row. Missing states are left out, as before the first step() or without momentum, and so are states
// of your own classes. Parameters are listed once, so make a new table if a module gets other parameters. The optimizer
// must outlive it. Use it in one thread. Between backward and step(), it shows the state after the previous update.
//
//     optimizer_table moments{net, adam};
//     auto found = watch.step(train(i), "loss"_t = loss, tensors, moments);
class optimizer_table {
public:
    explicit optimizer_table(detail::torch_optimizer const& optimizer) noexcept : optimizer_{&optimizer} {}
    template <class Module>
        requires detail::torch_module<Module> || detail::torch_holder<Module>
    optimizer_table(Module const& module, detail::torch_optimizer const& optimizer, std::string_view prefix = {})
        : optimizer_{&optimizer} {
        add(module, prefix);
    }

    // For an optimizer of several modules: `optimizer_table{adam}.add(actor, "actor/").add(critic, "critic/")`.
    template <detail::torch_module Module>
    optimizer_table& add(Module const& module, std::string_view prefix = {}) {
        for (auto const& each : module.named_parameters()) {
            std::string name{"optimizer/"};
            name.append(prefix).append(each.key()).append("/");
            longest_ = (std::max)(longest_, name.size());
            rows_.push_back({std::move(name), detail::torch_state_key<detail::torch_key>(each.value()), each.value()});
        }
        name_.reserve(longest_ + longest_moment);
        return *this;
    }
    template <detail::torch_holder Holder>
    optimizer_table& add(Holder const& module, std::string_view prefix = {}) {
        return module ? add(*module, prefix) : *this;
    }
    // The number of parameters.
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

    template <class Visit>
    friend void visit_tensors(optimizer_table const& table, Visit visit) {
        auto const& states = table.optimizer_->state();
        for (row const& each : table.rows_) {
            auto const found = states.find(each.key);
            if (found == states.end()) { continue; }
            detail::each_torch_moment(*found->second, [&](std::string_view moment, ::at::Tensor const& values) {
                if (!values.defined()) { return; }
                table.name_.assign(each.name).append(moment);
                visit(std::string_view{table.name_}, values);
            });
        }
    }

private:
    static constexpr std::size_t longest_moment = 15;  // momentum_buffer

    struct row {
        std::string name;  // without the moment
        detail::torch_key key;
        ::at::Tensor parameter;  // kept, so that its address is not reused
    };
    detail::torch_optimizer const* optimizer_;
    std::vector<row> rows_;
    std::size_t longest_ = 0;
    mutable std::string name_;  // of the current tensor, so that no step allocates for it
};

// Each of its tensors as by packed(tensor): for parameters on another device.
[[nodiscard]] inline packed_modules<optimizer_table> packed(optimizer_table const& moments) noexcept {
    return {moments};
}

}  // namespace spotter::inline SPOTTER_ABI
