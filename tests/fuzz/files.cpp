// SPDX-License-Identifier: Apache-2.0
// Fuzzer: any bytes as a .npy, .npz or .safetensors file. A tensor that is read has the bytes of its shape. Nothing may
// crash, or take memory that the input does not justify.
#include "diff/dump.hpp"
#include "diff/npy_reader.hpp"
#include "diff/zlib_inflate.hpp"

#include <spotter/workbench/diff.hpp>

#include <cstdint>

using namespace spotter;

namespace {

void use(recorded_value const& value, std::size_t size) {
    if (!value) {
        if (value.error().what.view().empty()) { __builtin_trap(); }
        return;
    }
    tensor_ref const& view = value.view();
    if (view.type != dtype::text && view.count != view.shape.elements()) { __builtin_trap(); }
    if (view.bytes() > size * 1032 + 64) { __builtin_trap(); }
    auto const same = compare(view, view);
    if (!same || !same->same()) { __builtin_trap(); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const file = std::as_bytes(std::span{data, size});
    use(read_npy(file), size);
    if (auto const entries = read_zip(file)) {
        for (zip_entry const& each : *entries) {
            std::vector<std::byte> buffer;
            auto const bytes = unzip(file, each, buffer, inflate_here());
            if (bytes) { use(read_npy(*bytes), size); }
        }
    }
    if (auto const tensors = read_safetensors(file)) {
        for (safetensors_entry const& each : *tensors) { use(read_values(file, each), size); }
    }
    return 0;
}
