// SPDX-License-Identifier: Apache-2.0
// Ext (L6): examines a loop of libtorch before it trains (spotter/preflight.hpp): shows, saves and restores a module
// and its optimizer. Includes torch/optim.h, and so is not part of torch.hpp.
#pragma once

#include <spotter/ext/torch/optimizer.hpp>
#include <spotter/preflight.hpp>

#include <ATen/CPUGeneratorImpl.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Copies of tensors; and copies of an optimizer's states, whose tensors it changes in place.
class torch_snapshot {
public:
    void add(::at::Tensor const& it) {
        if (it.defined()) { tensors_.emplace_back(it, it.detach().clone()); }
    }
    void add(torch_optimizer& it) {
        optimizer_ = &it;
        for (auto const& [key, state] : std::as_const(it).state()) {
            if (state == nullptr) { continue; }
            states_.emplace_back(key, state->clone());
            each_torch_moment(*state, [this](std::string_view, ::at::Tensor const& values) { add(values); });
        }
    }
    void restore() const {
        ::torch::NoGradGuard const guard;
        if (optimizer_ != nullptr) {
            optimizer_->state().clear();
            for (auto const& [key, state] : states_) { optimizer_->state()[key] = state->clone(); }
        }
        for (auto const& [tensor, values] : tensors_) { ::at::Tensor{tensor}.copy_(values); }
    }

private:
    std::vector<std::pair<::at::Tensor, ::at::Tensor>> tensors_{};
    std::vector<std::pair<torch_key, std::unique_ptr<::torch::optim::OptimizerParamState>>> states_{};
    torch_optimizer* optimizer_ = nullptr;
};

// A module, its optimizer and one batch during the examination.
template <class Module>
class torch_examined {
public:
    torch_examined(Module& net, torch_optimizer& optimizer) : net_{&net}, optimizer_{&optimizer}, table_{net} {}

    void save() {
        start_ = {};
        start_.add(*optimizer_);
        for (::at::Tensor const& each : net_->buffers()) { start_.add(each); }
        modes_.clear();
        net_->apply([this](::torch::nn::Module& each) { modes_.emplace_back(&each, each.is_training()); });
        random_ = generator().get_state();
    }
    void restore() {
        start_.restore();
        training(true);
        set_random(random_);
    }
    // The modes of the loop, or evaluation. Sets a module before its submodules, since its mode propagates to them.
    void training(bool on) {
        for (auto const& [module, trains] : modes_) { module->train(on && trains); }
    }
    void seed(std::uint64_t number) {
        ::at::Generator it = generator();
        std::lock_guard<std::mutex> const lock{it.mutex()};
        it.set_current_seed(number);
    }
    void step() { optimizer_->step(); }
    [[nodiscard]] module_table const& table() const noexcept { return table_; }

private:
    [[nodiscard]] static ::at::Generator generator() { return ::at::detail::getDefaultCPUGenerator(); }
    static void set_random(::at::Tensor const& state) {
        ::at::Generator it = generator();
        std::lock_guard<std::mutex> const lock{it.mutex()};
        it.set_state(state);
    }

    Module* net_;
    torch_optimizer* optimizer_;
    module_table table_;
    torch_snapshot start_{};
    std::vector<std::pair<::torch::nn::Module*, bool>> modes_{};
    ::at::Tensor random_{};
};

// The module in a holder or pointer, or the module itself.
template <class Module>
[[nodiscard]] auto& torch_module_in(Module& it) {
    if constexpr (torch_module<Module>) {
        return it;
    } else {
        return *it;
    }
}

}  // namespace detail

// An examination of a loop of libtorch in host memory:
//
//     auto const found = sp::preflight(sp::torch_examination(net, optimizer, [&] {
//         optimizer.zero_grad();
//         auto loss = torch::mse_loss(net->forward(x), y);
//         return loss.backward(), loss;
//     }));
//
// `pass` is forward and backward of one batch, the same at each call, with the clearing that precedes it in the loop.
// It returns the loss, a tensor or a number. The update is optimizer.step(). Weights, buffers, gradients, the
// optimizer's moments, modes of modules and torch's random numbers are restored afterwards. The state of your own
// optimizer class is kept if its tensors are those of torch's classes. LBFGS cannot be examined, since its step takes a
// closure. `net` and `optimizer` must outlive it. Functions may be added: `exam.inputs = [x] { return sp::view_of(x);
// }`.
template <class Module, class Pass>
    requires(detail::torch_module<Module> || detail::torch_holder<Module>) && std::invocable<Pass&>
[[nodiscard]] examination torch_examination(Module& net, ::torch::optim::Optimizer& optimizer, Pass pass) {
    auto& module = detail::torch_module_in(net);
    using examined = detail::torch_examined<std::remove_reference_t<decltype(module)>>;
    auto const of = std::make_shared<examined>(module, optimizer);
    examination exam;
    exam.parameters = [of](parameter_visitor& visit) { visit_tensors(of->table(), visit); };
    exam.backward = [of, pass = std::move(pass)]() mutable -> double {
        if constexpr (std::convertible_to<std::invoke_result_t<Pass&>, double>) {
            return static_cast<double>(pass());
        } else {
            return pass().template item<double>();
        }
    };
    exam.update = [of] { of->step(); };
    exam.save = [of] { of->save(); };
    exam.restore = [of] { of->restore(); };
    exam.seed = [of](std::uint64_t number) { of->seed(number); };
    exam.training = [of](bool on) { of->training(on); };
    exam.restore_each = true;  // running statistics and random numbers
    return exam;
}

// The same for a batch and its criterion, with all functions, in one line:
//
//     auto const found = sp::preflight(sp::torch_examination(net, optimizer, x, y, torch::nn::CrossEntropyLoss{}));
//
// It clears gradients by optimizer.zero_grad(), so it proves nothing about the loop's own clearing. `x` and `y` are
// dense, in host memory, [samples, ...]; they are changed and restored.
template <class Module, class Criterion>
    requires(detail::torch_module<Module> || detail::torch_holder<Module>)
[[nodiscard]] examination torch_examination(Module& net, ::torch::optim::Optimizer& optimizer, ::at::Tensor x,
                                            ::at::Tensor y, Criterion criterion) {
    struct batch {
        ::at::Tensor x, y, out;
        Criterion criterion;
    };
    auto const of = std::make_shared<batch>(batch{std::move(x), std::move(y), {}, std::move(criterion)});
    auto* const module = &detail::torch_module_in(net);
    auto const forward = [of, module] {
        ::at::Tensor out = module->forward(of->x);
        of->out = out.detach().contiguous();
        return ::at::Tensor{of->criterion(std::move(out), of->y)};
    };
    examination exam = torch_examination(*module, optimizer, [forward, &optimizer] {
        optimizer.zero_grad();
        ::at::Tensor loss = forward();
        loss.backward();
        return loss;
    });
    exam.loss = [forward] {
        ::torch::NoGradGuard const guard;
        return forward().template item<double>();
    };
    exam.inputs = [of]() -> ::at::Tensor const& { return of->x; };
    exam.labels = [of]() -> ::at::Tensor const& { return of->y; };
    exam.outputs = [of]() -> ::at::Tensor const& { return of->out; };
    return exam;
}

}  // namespace spotter::inline SPOTTER_ABI
