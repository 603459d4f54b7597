// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): what an examination is given: the loop's own functions, and how far it may go.
#pragma once

#include <spotter/preflight/handle.hpp>
#include <spotter/preflight/parameter_visitor.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI {

// A loop whose net cannot be copied (libtorch, globals, another device), in the functions that it has:
//
//     sp::examination exam{.parameters = [&](auto& visit) { visit("fc1/w", net.w, net.grad_w); },
//                          .backward = [&] { return net.forward_backward(); },
//                          .update = [&] { net.update(); },
//                          .save = [&] { kept = net.moments; },
//                          .restore = [&] { net.moments = kept; }};
//     auto const found = sp::preflight(exam);
//
// Weights are saved and put back by the examination. Whatever else a pass or an update changes (moments, running
// statistics, the state of random numbers, the place in the data) `save` and `restore` have to keep; whether they do is
// looked at in the end. Without `restore`, nothing changes.
struct examination {
    // Shows the weights with their gradients, from input to output; asked again whenever they may have moved. Needed.
    handle<void(parameter_visitor&)> parameters{};
    // The loss of a forward pass alone; where there is none, `backward` is asked.
    handle<double()> loss{};
    // Forward and backward of one batch, the same one at each call, with the clearing of gradients that the loop does
    // before it. Needed.
    handle<double()> backward{};
    // The update, with the clearing that the loop does after it.
    handle<void()> update{};
    // Called once, before anything.
    handle<void()> save{};
    // Called whenever the examination goes back to the beginning.
    handle<void()> restore{};

    // What follows buys further proofs; without them these are left out.
    handle<tensor_ref()> inputs{};       // of the batch, [samples, ...]; changed and put back
    handle<tensor_ref()> outputs{};      // of the last pass, [samples, ...]
    handle<tensor_ref()> labels{};       // of the batch; changed and put back
    handle<void(std::uint64_t)> seed{};  // of the random numbers that a pass draws
    handle<void(bool)> training{};       // training mode, or evaluation

    std::size_t batch = 0;  // samples; 0: the first extent of the inputs, or the number of labels
    // The most passes, forward alone or with backward; what they do not reach is not proven.
    std::size_t forwards = 500;
    // That gradients are left with behind a pass: 1024 of a loss that is scaled, the batch of gradients that update()
    // divides.
    double loss_scale = 1;
    // Also train on the one batch, and ask whether the labels say anything of the inputs: hundreds of passes more.
    bool overfit = false;
    // `restore` before each pass: for a pass that draws its batch or its random numbers from what `restore` rewinds.
    bool restore_each = false;
    std::FILE* progress = nullptr;  // told of what is done after half a second, twice a second
};

// The same handles of a net that is copied, as functions of the copy: `{.inputs = [](net& n) -> auto& { return n.x;
// }}`. See `examination`.
template <class Net>
struct preflight_options {
    handle<double(Net&)> loss{};  // a forward pass alone, where there is one: most passes need no more
    // [samples, ...]; without it tensors that visit_tensors shows as inputs are read.
    handle<tensor_ref(Net&)> inputs{};
    handle<tensor_ref(Net&)> outputs{};        // [samples, ...]
    handle<tensor_ref(Net&)> labels{};         // of each sample
    handle<void(Net&, std::uint64_t)> seed{};  // not needed where the net holds its random numbers
    handle<void(Net&, bool)> training{};       // training mode, or evaluation
    std::size_t batch = 0;                     // samples
    std::size_t forwards = 500;                // the most passes
    double loss_scale = 1;                     // that gradients are left with behind a pass
    bool overfit = false;                      // also train on the one batch
    std::FILE* progress = nullptr;             // told of what is done
};

}  // namespace spotter::inline SPOTTER_ABI
