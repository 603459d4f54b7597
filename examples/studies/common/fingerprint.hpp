// SPDX-License-Identifier: Apache-2.0
// A hash that is equal for nets with the same bits.
#pragma once

#include "torch.hpp"

#include <cstddef>
#include <cstdint>

namespace studies {

// FNV-1a over the bytes of all parameters and buffers.
[[nodiscard]] inline std::uint64_t fingerprint(torch::nn::Module const& net) {
    std::uint64_t hash = 14695981039346656037U;
    auto const add = [&](torch::Tensor const& each) {
        torch::Tensor const laid_out = each.contiguous();
        auto const* const bytes = static_cast<unsigned char const*>(laid_out.data_ptr());
        for (std::size_t i = 0; i < laid_out.nbytes(); ++i) { hash = (hash ^ bytes[i]) * 1099511628211U; }
    };
    for (torch::Tensor const& each : net.parameters()) { add(each); }
    for (torch::Tensor const& each : net.buffers()) { add(each); }
    return hash;
}

}  // namespace studies
