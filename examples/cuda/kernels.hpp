// SPDX-License-Identifier: Apache-2.0
// The computation on the card: a linear regression. Plain C++, so that the tests' replacement for CUDA's driver runs it
// on the processor.
#pragma once

#if defined(__CUDA__)
#define EXAMPLE_DEVICE __attribute__((device))
#else
#define EXAMPLE_DEVICE
#endif

namespace example_cuda {

inline constexpr unsigned samples = 256, inputs = 8;

EXAMPLE_DEVICE inline float predict(float const* data, float const* w, unsigned sample) noexcept {
    float sum = 0;
    for (unsigned k = 0; k < inputs; ++k) { sum += data[sample * inputs + k] * w[k]; }
    return sum;
}
// The gradient of the mean squared error, by input; and the error of each sample.
EXAMPLE_DEVICE inline void gradient_of(float const* data, float const* targets, float const* w, float* gradient,
                                       unsigned k) noexcept {
    float sum = 0;
    for (unsigned i = 0; i < samples; ++i) {
        sum += 2 * (predict(data, w, i) - targets[i]) * data[i * inputs + k] / static_cast<float>(samples);
    }
    gradient[k] = sum;
}
EXAMPLE_DEVICE inline void error_of(float const* data, float const* targets, float const* w, float* errors,
                                    unsigned sample) noexcept {
    float const gap = predict(data, w, sample) - targets[sample];
    errors[sample] = gap * gap;
}
EXAMPLE_DEVICE inline void update(float* w, float const* gradient, float rate, unsigned k) noexcept {
    w[k] -= rate * gradient[k];
}

}  // namespace example_cuda
