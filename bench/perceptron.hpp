// SPDX-License-Identifier: Apache-2.0
// A realistic perceptron to watch: 784 pixels, two layers of 256 ReLU, ten classes, batches of 128, plain gradient
// descent. Its matrix products run at the speed of a good library, so that slow arithmetic does not hide the cost of a
// hook.
#pragma once

#include "training.hpp"

#include <spotter/hook.hpp>

namespace bench {

// A matrix of floats with any strides; its transpose shares the memory.
struct strided {
    float const* values;
    std::size_t row, col;
};

// 8 rows of a times a packed panel of 16 columns; `into` gets 8 x 16 values.
using tile = void (*)(strided a, float const* panel, std::size_t inner, float* into);
__attribute__((target("avx512f"))) inline void wide_tile(strided a, float const* panel, std::size_t inner,
                                                         float* into) {
    typedef float lanes __attribute__((vector_size(64)));
    lanes sum[8]{};
    for (std::size_t k = 0; k < inner; ++k) {
        lanes line;
        std::memcpy(&line, panel + k * 16, sizeof line);
        float const* const at = a.values + k * a.col;
        sum[0] += at[0] * line, sum[1] += at[a.row] * line;
        sum[2] += at[2 * a.row] * line, sum[3] += at[3 * a.row] * line;
        sum[4] += at[4 * a.row] * line, sum[5] += at[5 * a.row] * line;
        sum[6] += at[6 * a.row] * line, sum[7] += at[7 * a.row] * line;
    }
    std::memcpy(into, sum, sizeof sum);
}
// The kernel without AVX-512.
__attribute__((target_clones("arch=haswell", "default"))) inline void any_tile(strided a, float const* panel,
                                                                               std::size_t inner, float* into) {
    typedef float lanes __attribute__((vector_size(16)));
    for (std::size_t r = 0; r < 8; r += 2) {
        lanes sum[8]{}, line[4];
        for (std::size_t k = 0; k < inner; ++k) {
            std::memcpy(line, panel + k * 16, sizeof line);
            float const* const at = a.values + r * a.row + k * a.col;
            sum[0] += at[0] * line[0], sum[1] += at[0] * line[1];
            sum[2] += at[0] * line[2], sum[3] += at[0] * line[3];
            sum[4] += at[a.row] * line[0], sum[5] += at[a.row] * line[1];
            sum[6] += at[a.row] * line[2], sum[7] += at[a.row] * line[3];
        }
        std::memcpy(into + r * 16, sum, sizeof sum);
    }
}

// into = a · b; rows is a multiple of 8; `into` is rows x cols, packed.
inline void multiply(strided a, strided b, float* into, std::size_t rows, std::size_t inner, std::size_t cols,
                     std::vector<float>& panel) {
    static tile const fill = __builtin_cpu_supports("avx512f") ? wide_tile : any_tile;
    float made[8 * 16];
    panel.resize(inner * 16);
    for (std::size_t c = 0; c < cols; c += 16) {
        std::size_t const width = (std::min)(cols - c, std::size_t{16});
        float* packed = panel.data();
        for (std::size_t k = 0; k < inner; ++k, packed += 16) {
            float const* const from = b.values + k * b.row + c * b.col;
            if (b.col == 1 && width == 16) {
                std::memcpy(packed, from, sizeof(float) * 16);
                continue;
            }
            for (std::size_t j = 0; j < 16; ++j) { packed[j] = j < width ? from[j * b.col] : 0; }
        }
        for (std::size_t r = 0; r < rows; r += 8) {
            fill({a.values + r * a.row, a.row, a.col}, panel.data(), inner, made);
            for (std::size_t i = 0; i < 8; ++i) {
                float* const row = into + (r + i) * cols + c;
                if (width == 16) {
                    std::memcpy(row, made + i * 16, sizeof(float) * 16);
                } else {
                    std::copy_n(made + i * 16, width, row);
                }
            }
        }
    }
}

class perceptron {
public:
    static constexpr std::size_t batch = 128, side = 28, pixels = side * side, classes = pictures::classes;

    struct layer {
        std::string w, b, grad_w, grad_b, pre, act;  // names
        std::size_t inputs, units;
        std::vector<float> weights{}, bias{}, gradient{}, bias_gradient{}, before{}, after{};
    };

    explicit perceptron(pictures const& from) {
        std::size_t const widths[] = {pixels, 256, 256, classes};
        for (std::size_t i = 0; i < 3; ++i) {
            std::string const name = "fc" + std::to_string(i + 1);
            layer it{name + "/w",   name + "/b", "grad/" + name + "/w", "grad/" + name + "/b", "pre/" + name,
                     "act/" + name, widths[i],   widths[i + 1]};
            it.weights.resize(it.inputs * it.units);
            it.gradient = it.weights;
            it.bias.resize(it.units), it.bias_gradient = it.bias;
            it.before.resize(batch * it.units), it.after = it.before;
            float const bound = std::sqrt(6.0F / static_cast<float>(it.inputs));  // He et al. 2015
            for (float& weight : it.weights) { weight = (2 * random_.uniform() - 1) * bound; }
            layers_.push_back(std::move(it));
        }
        enlarge(from);
        input_.resize(batch * pixels), labels_.resize(batch), gradient_.resize(batch * classes);
    }

    // All but the update, which follows the hook's verdict.
    void forward_backward() {
        for (std::size_t r = 0; r < batch; ++r) {
            std::size_t const chosen = random_.below(all_labels_.size());
            std::copy_n(&all_[chosen * pixels], pixels, &input_[r * pixels]);
            labels_[r] = all_labels_[chosen];
        }
        std::vector<float> const* below = &input_;
        for (layer& it : layers_) {
            multiply({below->data(), it.inputs, 1}, {it.weights.data(), it.units, 1}, it.before.data(), batch,
                     it.inputs, it.units, panel_);
            for (std::size_t r = 0; r < batch; ++r) {
                float *const before = &it.before[r * it.units], *const after = &it.after[r * it.units];
                float const* const bias = it.bias.data();
                for (std::size_t u = 0; u < it.units; ++u) {
                    before[u] += bias[u];
                    after[u] = before[u] * static_cast<float>(before[u] > 0);  // without a branch
                }
            }
            below = &it.after;
        }
        judge();
        upper_ = gradient_;
        for (std::size_t i = layers_.size(); i-- > 0;) {
            layer& it = layers_[i];
            std::vector<float> const& from = i == 0 ? input_ : layers_[i - 1].after;
            multiply({from.data(), 1, it.inputs}, {upper_.data(), it.units, 1}, it.gradient.data(), it.inputs, batch,
                     it.units, panel_);
            std::fill(it.bias_gradient.begin(), it.bias_gradient.end(), 0.0F);
            for (std::size_t r = 0; r < batch; ++r) { add(it.bias_gradient, &upper_[r * it.units], 1); }
            if (i == 0) { break; }
            lower_.resize(batch * it.inputs);
            multiply({upper_.data(), it.units, 1}, {it.weights.data(), 1, it.units}, lower_.data(), batch, it.units,
                     it.inputs, panel_);
            for (std::size_t k = 0; k < lower_.size(); ++k) { lower_[k] *= static_cast<float>(from[k] > 0); }
            std::swap(upper_, lower_);
        }
    }
    void update() noexcept {
        for (layer& it : layers_) {
            add(it.weights, it.gradient.data(), -rate_);
            add(it.bias, it.bias_gradient.data(), -rate_);
        }
    }
    [[nodiscard]] float loss() const noexcept { return loss_; }
    [[nodiscard]] float accuracy() const noexcept { return accuracy_; }

    // Visits its 25 tensors in the order in which a step computes them.
    template <class Visit>
    friend void visit_tensors(perceptron const& net, Visit visit) {
        using spotter::view_of;
        visit("input", view_of(net.input_.data(), {batch, pixels}));
        visit("labels", net.labels_);
        for (layer const& it : net.layers_) {
            bool const last = &it == &net.layers_.back();
            visit(it.w, view_of(it.weights.data(), {it.inputs, it.units}));
            visit(it.b, it.bias);
            spotter::tensor_ref const before = view_of(it.before.data(), {batch, it.units});
            if (last) {
                visit("logits", before, spotter::role::prediction, spotter::flag::logits);
            } else {
                visit(it.pre, before);
                visit(it.act, view_of(it.after.data(), {batch, it.units}),
                      spotter::activated_by(spotter::activation_kind::relu));
            }
        }
        visit("probabilities", view_of(net.probabilities_.data(), {batch, classes}));
        visit("loss", net.loss_);
        visit("metric/accuracy", net.accuracy_);
        visit("grad/logits", view_of(net.gradient_.data(), {batch, classes}));
        for (std::size_t i = net.layers_.size(); i-- > 0;) {
            layer const& it = net.layers_[i];
            visit(it.grad_w, view_of(it.gradient.data(), {it.inputs, it.units}));
            visit(it.grad_b, it.bias_gradient);
        }
        visit("optimizer/rate", net.rate_);
        visit("time/step", net.seconds_);
    }

private:
    // into += factor * from, eight at a time.
    static void add(std::vector<float>& into, float const* from, float factor) noexcept {
        typedef float lanes __attribute__((vector_size(32)));
        std::size_t i = 0;
        for (; i + 8 <= into.size(); i += 8) {
            lanes sum, more;
            std::memcpy(&sum, &into[i], sizeof sum);
            std::memcpy(&more, from + i, sizeof more);
            sum += more * factor;
            std::memcpy(&into[i], &sum, sizeof sum);
        }
        for (; i < into.size(); ++i) { into[i] += factor * from[i]; }
    }
    // 8 x 8 pictures to 28 x 28 by bilinear interpolation; mean 0 and deviation 1 over all.
    void enlarge(pictures const& from) {
        all_labels_ = from.labels;
        all_.resize(from.labels.size() * pixels);
        for (std::size_t i = 0; i < all_.size(); ++i) {
            float const* const picture = &from.values[i / pixels * pictures::pixels];
            float const step = 7.0F / (side - 1);
            float const y = static_cast<float>(i % pixels / side) * step, x = static_cast<float>(i % side) * step;
            auto const top = (std::min)(static_cast<std::size_t>(y), std::size_t{6});
            auto const left = (std::min)(static_cast<std::size_t>(x), std::size_t{6});
            float const down = y - static_cast<float>(top), right = x - static_cast<float>(left);
            float const* const corner = picture + top * 8 + left;
            all_[i] = (corner[0] * (1 - right) + corner[1] * right) * (1 - down) +
                      (corner[8] * (1 - right) + corner[9] * right) * down;
        }
        double sum = 0, squares = 0;
        for (float const each : all_) { sum += each, squares += static_cast<double>(each) * each; }
        double const mean = sum / static_cast<double>(all_.size());
        double const deviation = std::sqrt(squares / static_cast<double>(all_.size()) - mean * mean);
        for (float& each : all_) { each = static_cast<float>((each - mean) / deviation); }
    }
    void judge() {
        probabilities_ = layers_.back().before;
        loss_ = 0;
        std::size_t right = 0;
        for (std::size_t r = 0; r < batch; ++r) {
            float* const row = &probabilities_[r * classes];
            float const* const top = std::max_element(row, row + classes);
            auto const label = static_cast<std::size_t>(labels_[r]);
            right += top == row + label ? 1 : 0;
            float const largest = *top;
            float sum = 0;
            for (std::size_t c = 0; c < classes; ++c) { sum += row[c] = std::exp(row[c] - largest); }
            for (std::size_t c = 0; c < classes; ++c) {
                row[c] /= sum;
                gradient_[r * classes + c] = (row[c] - (c == label ? 1.0F : 0.0F)) / static_cast<float>(batch);
            }
            loss_ -= std::log((std::max)(row[label], 1e-30F)) / static_cast<float>(batch);
        }
        accuracy_ = static_cast<float>(right) / static_cast<float>(batch);
    }

    detail::noise random_{};
    std::vector<float> all_{}, input_{}, probabilities_{}, gradient_{}, upper_{}, lower_{}, panel_{};
    std::vector<std::int32_t> all_labels_{}, labels_{};
    std::vector<layer> layers_{};
    float loss_ = 0, accuracy_ = 0, rate_ = 0.01F;
    double seconds_ = 1e-3;
};

}  // namespace bench
