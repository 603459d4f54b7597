// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the input of an examination: the loop's own functions, and the budget.
#pragma once

#include <spotter/preflight/handle.hpp>
#include <spotter/preflight/parameter_visitor.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI {

// A loop whose net cannot be copied (libtorch, globals, another device), as functions:
//
//     sp::examination exam{.parameters = [&](auto& visit) { visit("fc1/w", net.w, net.grad_w); },
//                          .backward = [&] { return net.forward_backward(); },
//                          .update = [&] { net.update(); },
//                          .save = [&] { kept = net.moments; },
//                          .restore = [&] { net.moments = kept; }};
//     auto const found = sp::preflight(exam);
//
// The examination saves the weights and puts them back. `save` and `restore` must keep everything else that a pass or
// an update changes: moments, running statistics, the state of random numbers, the place in the data. The last
// experiment checks this. Without `restore`, nothing else may change.
struct examination {
    // Shows the weights with their gradients, from input to output. Called again whenever tensors may have moved.
    // Required.
    handle<void(parameter_visitor&)> parameters{};
    // The loss of a forward pass alone; if absent, `backward` is called.
    handle<double()> loss{};
    // Forward and backward for one batch, the same at each call, including the clearing of gradients that the loop does
    // before it. Required.
    handle<double()> backward{};
    // The update, including the clearing that the loop does after it.
    handle<void()> update{};
    // Called once, before anything else.
    handle<void()> save{};
    // Called whenever the examination goes back to the beginning.
    handle<void()> restore{};

    // Optional; each allows further proofs.
    handle<tensor_ref()> inputs{};   // of the batch, [samples, ...]; the examination changes them and puts them back
    handle<tensor_ref()> outputs{};  // of the last pass, [samples, ...]
    handle<tensor_ref()> labels{};   // of the batch; likewise
    handle<void(std::uint64_t)> seed{};  // seeds the random numbers that a pass draws
    handle<void(bool)> training{};       // true: training mode, false: evaluation

    std::size_t batch = 0;  // samples; 0: the first extent of the inputs, or the number of labels
    // The most passes, forward alone or with backward; what they do not reach is not proven.
    std::size_t forwards = 500;
    // The factor that gradients still have after a pass: 1024 for a loss that is scaled so; the batch size where
    // update() divides gradients by it.
    double loss_scale = 1;
    // Also trains on the one batch, and checks whether the labels depend on the inputs: hundreds of passes more.
    bool overfit = false;
    // Calls `restore` before each pass: needed where a pass draws its batch or random numbers from state that `restore`
    // rewinds.
    bool restore_each = false;
    std::FILE* progress = nullptr;  // progress is written here, at most twice a second
};

// The same handles for a net that is copied, as functions of the copy: `{.inputs = [](net& n) -> auto& { return n.x;
// }}`. See `examination`.
template <class Net>
struct preflight_options {
    handle<double(Net&)> loss{};  // a forward pass alone; most passes need no more
    // [samples, ...]; if absent, the tensors that visit_tensors shows as inputs.
    handle<tensor_ref(Net&)> inputs{};
    handle<tensor_ref(Net&)> outputs{};        // [samples, ...]
    handle<tensor_ref(Net&)> labels{};         // of each sample
    handle<void(Net&, std::uint64_t)> seed{};  // not needed where the net holds its random numbers
    handle<void(Net&, bool)> training{};       // true: training mode, false: evaluation
    std::size_t batch = 0;                     // samples
    std::size_t forwards = 500;                // the most passes
    double loss_scale = 1;                     // the factor that gradients still have after a pass
    bool overfit = false;                      // also train on the one batch
    std::FILE* progress = nullptr;             // progress is written here
};

namespace detail {

// The net that is copied; the examination must not change it.
struct original_net {
    void const* net = nullptr;
    void (*show)(void const* net, parameter_visitor& visit) = nullptr;
    bool may_be_put_back = false;  // it is not const
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
