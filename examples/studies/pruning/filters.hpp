// SPDX-License-Identifier: Apache-2.0
// The filters between the two convolutions of each block: their worth, computed from the record, and a net without the
// least valuable ones.
#pragma once

#include "../common/resnet.hpp"
#include "../common/traffic_signs.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/trial.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace pruning {

namespace sp = spotter;

[[nodiscard]] inline std::string name_of_block(std::size_t block) {
    return "block" + std::to_string(block + 1) + "/relu1";
}

// The number of filters of each block.
[[nodiscard]] inline std::vector<std::int64_t> inner_of(studies::resnet const& net) {
    std::vector<std::int64_t> inner;
    for (studies::block const& each : net->blocks) { inner.push_back(each->conv1->weight.size(0)); }
    return inner;
}

[[nodiscard]] inline std::int64_t parameters_of(studies::resnet const& net) {
    std::int64_t count = 0;
    for (torch::Tensor const& each : net->parameters()) { count += each.numel(); }
    return count;
}

// Multiplications for one picture of 32 x 32: of the convolutions and the last layer.
[[nodiscard]] inline std::int64_t multiplications_of(studies::resnet const& net) {
    std::int64_t side = 32, count = net->conv1->weight.numel() * side * side + net->fc->weight.numel();
    for (studies::block const& each : net->blocks) {
        side /= each->conv1->options.stride()->at(0);
        std::int64_t shortcut = each->shortcut ? each->shortcut->weight.numel() : 0;
        count += (each->conv1->weight.numel() + each->conv2->weight.numel() + shortcut) * side * side;
    }
    return count;
}

// The worth of each filter at these steps: |mean over positions of activation * gradient|, averaged over pictures. It
// is the first-order change of the loss without the filter (Molchanov et al. 2017, ICLR, "Pruning Convolutional Neural
// Networks for Resource Efficient Inference", section 2.2). It is divided by the root mean square of its layer, so that
// layers can be compared; the paper divides by the l2 norm, which reduces the worth of filters in wide layers. One
// tensor a block, [filters].
[[nodiscard]] inline std::vector<torch::Tensor>
worth_of_filters(sp::trial const& run, std::vector<sp::step_id> const& steps, std::size_t blocks) {
    std::vector<torch::Tensor> worth;
    for (std::size_t i = 0; i < blocks; ++i) {
        torch::Tensor sum;
        for (sp::step_id const step : steps) {
            torch::Tensor const made = run["act/" + name_of_block(i)].at(step).to<torch::Tensor>().value();
            torch::Tensor const gradient = run["grad/act/" + name_of_block(i)].at(step).to<torch::Tensor>().value();
            torch::Tensor const each = (made * gradient).mean({2, 3}).abs().mean(0);
            sum = sum.defined() ? sum + each : each;
        }
        worth.push_back(sum / (sum.pow(2).mean().sqrt() + 1e-12));
    }
    return worth;
}

// The filters of each block that stay when the `count` least valuable ones of all blocks are removed; each block keeps
// at least one.
[[nodiscard]] inline std::vector<torch::Tensor> without_least(std::vector<torch::Tensor> const& worth,
                                                              std::size_t count) {
    struct filter {
        float worth;
        std::size_t block;
        std::int64_t index;
    };
    std::vector<filter> all;
    for (std::size_t i = 0; i < worth.size(); ++i) {
        for (std::int64_t k = 0; k < worth[i].size(0); ++k) { all.push_back({worth[i][k].item<float>(), i, k}); }
    }
    std::sort(all.begin(), all.end(), [](filter const& a, filter const& b) {
        return std::tie(a.worth, a.block, a.index) < std::tie(b.worth, b.block, b.index);
    });
    std::vector<torch::Tensor> stays;
    for (torch::Tensor const& each : worth) { stays.push_back(torch::ones({each.size(0)}, torch::kBool)); }
    for (filter const& each : all) {
        if (count == 0) { break; }
        if (stays[each.block].sum().item<std::int64_t>() < 2) { continue; }
        stays[each.block][each.index] = false;
        --count;
    }
    for (torch::Tensor& each : stays) { each = each.nonzero().flatten(); }
    return stays;
}

// A smaller net: only these filters of each block, everything else unchanged.
[[nodiscard]] inline studies::resnet with_filters(studies::resnet const& from,
                                                  std::vector<torch::Tensor> const& stays) {
    torch::NoGradGuard const no_gradients;
    std::vector<std::int64_t> inner;
    for (torch::Tensor const& each : stays) { inner.push_back(each.size(0)); }
    studies::resnet smaller{from->conv1->weight.size(0), studies::traffic_signs::class_count, inner};
    auto const old_parameters = from->named_parameters(), old_buffers = from->named_buffers();
    auto const take = [&](std::string const& name, torch::Tensor& into, torch::Tensor old) {
        if (name.starts_with("block")) {
            torch::Tensor const& kept = stays[static_cast<std::size_t>(name[5] - '1')];
            bool const makes_them = name.find(".conv1.") != name.npos || name.find(".bn1.") != name.npos;
            if (makes_them && old.dim() > 0) { old = old.index_select(0, kept); }
            if (name.find(".conv2.") != name.npos) { old = old.index_select(1, kept); }
        }
        into.copy_(old);
    };
    for (auto& each : smaller->named_parameters()) { take(each.key(), each.value(), old_parameters[each.key()]); }
    for (auto& each : smaller->named_buffers()) { take(each.key(), each.value(), old_buffers[each.key()]); }
    return smaller;
}

[[nodiscard]] inline studies::resnet copy_of(studies::resnet const& net) {
    std::vector<torch::Tensor> all;
    for (std::int64_t const each : inner_of(net)) { all.push_back(torch::arange(each)); }
    return with_filters(net, all);
}

}  // namespace pruning
