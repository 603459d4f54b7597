// SPDX-License-Identifier: Apache-2.0
// A libtorch net on a GPU: needs a libtorch with CUDA and a card. It is compiled where the headers exist; it was never
// run.
#include <spotter/ext/cuda.hpp>
#include <spotter/ext/torch.hpp>
#include <spotter/ext/torch/cuda.hpp>
#include <spotter/packs.hpp>
#include <spotter/print.hpp>
#include <spotter/spotter.hpp>

#include <torch/nn.h>
#include <torch/optim.h>

#include <cstdio>

namespace sp = spotter;
using namespace sp::literals;

int main() {
    torch::nn::Sequential net{torch::nn::Linear(16, 64), torch::nn::ReLU(), torch::nn::Linear(64, 1)};
    net->to(torch::kCUDA);
    torch::optim::Adam adam{net->parameters(), 1e-3};
    torch::Tensor const x = torch::randn({256, 16}, torch::kCUDA), y = x.sum(1, true);

    sp::cuda_options chosen;
    chosen.current_stream = &sp::torch_stream;
    sp::cuda_device gpu{chosen};
    sp::module_table tensors{net};
    sp::hook watch{"runs/torch_cuda", sp::plan{sp::defaults::losses, sp::defaults::gradients}, sp::packs::supervised,
                   gpu.tensors()};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        adam.zero_grad();
        torch::Tensor const loss = torch::mse_loss(net->forward(x), y);
        loss.backward();
        auto const found = watch.step(sp::train(i), "loss"_t = loss, tensors);  // does not wait for the GPU
        for (sp::finding const& each : found) { sp::print(each); }
        if (found.decision() == sp::decision::stop) { break; }
        adam.step();
    }
}
