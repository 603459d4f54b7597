// SPDX-License-Identifier: Apache-2.0
// The kernels of this example; `python3 tools/cuda/make_ptx.py` compiles them into ptx.hpp. One thread block suffices.
#include "kernels.hpp"

using namespace example_cuda;

#define KERNEL extern "C" __attribute__((global))

KERNEL void train_backward(float const* data, float const* targets, float const* w, float* gradient, float* errors) {
    auto const thread = static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x());
    error_of(data, targets, w, errors, thread);
    if (thread < inputs) { gradient_of(data, targets, w, gradient, thread); }
}
KERNEL void train_update(float* w, float const* gradient, float rate) {
    auto const thread = static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x());
    if (thread < inputs) { update(w, gradient, rate, thread); }
}
