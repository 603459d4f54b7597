// SPDX-License-Identifier: Apache-2.0
// A network as a chain of blocks: dense or convolution, then if wanted batch normalisation, activation, dropout.
#pragma once

#include "../../examples/common/prng.hpp"
#include "kernels.hpp"

#include <spotter/core/role.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

namespace sp = spotter;
using example::prng;

// A trained tensor with its gradient. `gradient_known` is false for one that the backward pass leaves out.
struct parameter {
    std::string name{}, gradient_name{};
    sp::extents shape{};
    values value{}, gradient{};
    bool gradient_known = true;

    parameter() = default;
    parameter(std::string const& title, sp::extents const& sizes)
        : name{title}, gradient_name{"grad/" + title}, shape{sizes}, value(sizes.elements()),
          gradient(sizes.elements()) {}
};

// Where a NaN is planted by the fault of that name.
enum class planted_in { nothing, preactivation, activation, gradient };

// Side of the pictures that go into a convolution (3 x 3, stride 2, padding 1) and of those that come out; 0 for a
// dense block.
struct picture {
    std::size_t channels = 0, side = 0;
    [[nodiscard]] std::size_t side_after() const noexcept { return (side + 1) / 2; }
};

class block {
public:
    std::string title{}, pre_name{}, act_name{};
    sp::activation_kind activation = sp::activation_kind::unknown;  // unknown: none, the last block of a chain
    bool activation_left_out = false;                               // a fault: the identity under the name of the kind
    float dropout = 0;
    parameter w{}, b{}, scale{}, shift{};  // the last two only with batch normalisation
    bool normalised = false;
    values pre{}, act{};

    // A dense block of `units`, or a convolution to `units` channels.
    block(std::string const& name, std::size_t inputs, std::size_t units)
        : title{name}, pre_name{"pre/" + name}, act_name{"act/" + name}, w{name + "/w", {inputs, units}},
          b{name + "/b", {units}}, inputs_{inputs}, units_{units} {}
    block(std::string const& name, picture from, std::size_t units)
        : title{name}, pre_name{"pre/" + name}, act_name{"act/" + name},
          w{name + "/w", {units, from.channels, std::size_t{3}, std::size_t{3}}}, b{name + "/b", {units}}, from_{from},
          inputs_{from.channels * 9}, units_{units}, places_{from.side_after() * from.side_after()} {}

    // Uniform in ±1/sqrt(inputs), which is what most libraries do for a dense block; biases zero.
    void initialise(prng& random, float factor) {
        float const bound = factor / std::sqrt(static_cast<float>(inputs_));
        for (float& each : w.value) { each = random.uniform(-bound, bound); }
    }
    // What leads on from a unit of the block before, which has so many places; and what leads to a unit of its own,
    // drawn anew.
    void cut_off(std::size_t unit, std::size_t places) {
        bool const dense = from_.side == 0;
        std::size_t const per_unit = dense ? places : 9;
        for (std::size_t i = unit * per_unit; i < (unit + 1) * per_unit; ++i) {
            for (std::size_t u = 0; u < units_; ++u) { w.value[dense ? i * units_ + u : u * inputs_ + i] = 0; }
        }
    }
    void draw_again(std::size_t unit, prng& random) {
        float const bound = 1.0F / std::sqrt(static_cast<float>(inputs_));
        bool const dense = from_.side == 0;
        for (std::size_t i = 0; i < inputs_; ++i) {
            w.value[dense ? i * units_ + unit : unit * inputs_ + i] = random.uniform(-bound, bound);
        }
        b.value[unit] = 0;
    }
    [[nodiscard]] std::size_t places() const noexcept { return places_; }
    void normalise() {
        normalised = true;
        scale = parameter{title + "/norm/weight", {units_}};
        shift = parameter{title + "/norm/bias", {units_}};
        scale.value.assign(units_, 1.0F);
        running_mean_.assign(units_, 0.0F);
        running_variance_.assign(units_, 1.0F);
    }

    [[nodiscard]] std::size_t units() const noexcept { return units_; }
    [[nodiscard]] std::size_t outputs() const noexcept { return units_ * places_; }  // numbers a sample
    [[nodiscard]] picture result() const noexcept { return {units_, from_.side_after()}; }
    // Of `pre` and `act`: channels come before places.
    [[nodiscard]] sp::extents shape(std::size_t batch) const noexcept {
        return from_.side == 0 ? sp::extents{batch, units_}
                               : sp::extents{batch, units_, from_.side_after(), from_.side_after()};
    }

    // What goes into the next block.
    values const& forward(values const& input, std::size_t batch, bool training, prng& random, planted_in nan) {
        input_ = &input;
        batch_ = batch;
        values& linear = normalised ? linear_ : pre;
        linear.resize(batch * outputs());
        if (from_.side == 0) {
            multiply(input.data(), w.value.data(), linear.data(), batch, inputs_, units_);
        } else {
            convolve(input);
        }
        each_element([&](std::size_t i, std::size_t unit) { linear[i] += b.value[unit]; });
        if (normalised) { normalise_batch(training); }
        if (nan == planted_in::preactivation) { pre[pre.size() / 2] = std::numeric_limits<float>::quiet_NaN(); }
        if (activation == sp::activation_kind::unknown) { return pre; }
        act = pre;
        if (!activation_left_out) { activate(); }
        if (nan == planted_in::activation) { act[act.size() / 2] = std::numeric_limits<float>::quiet_NaN(); }
        if (dropout <= 0 || !training) {
            mask_.clear();
            return act;
        }
        mask_.resize(act.size());
        dropped_.resize(act.size());
        for (std::size_t i = 0; i < act.size(); ++i) {
            mask_[i] = random.uniform() < dropout ? 0.0F : 1.0F / (1.0F - dropout);
            dropped_[i] = act[i] * mask_[i];
        }
        return dropped_;
    }

    // Takes dloss/doutput, leaves dloss/dinput there; `keep` of the old gradients stays (1: they are not zeroed).
    void backward(values& gradient, float keep) {
        if (activation != sp::activation_kind::unknown) {
            for (std::size_t i = 0; i < mask_.size(); ++i) { gradient[i] *= mask_[i]; }
            if (!activation_left_out) { differentiate(gradient); }
        }
        if (normalised) { normalise_backward(gradient, keep); }
        sums_.assign(units_, 0.0F);
        each_element([&](std::size_t i, std::size_t unit) { sums_[unit] += gradient[i]; });
        put(b, sums_, keep);
        if (from_.side == 0) {
            transpose(input_->data(), turned_, batch_, inputs_);
            made_.resize(w.value.size());
            multiply(turned_.data(), gradient.data(), made_.data(), inputs_, batch_, units_);
            put(w, made_, keep);
            transpose(w.value.data(), turned_, inputs_, units_);
            back_.resize(batch_ * inputs_);
            multiply(gradient.data(), turned_.data(), back_.data(), batch_, units_, inputs_);
        } else {
            convolve_backward(gradient, keep);
        }
        std::swap(gradient, back_);
    }

private:
    template <class Use>
    void each_element(Use&& use) const {
        std::size_t i = 0;
        for (std::size_t n = 0; n < batch_; ++n) {
            for (std::size_t unit = 0; unit < units_; ++unit) {
                for (std::size_t place = 0; place < places_; ++place) { use(i++, unit); }
            }
        }
    }
    static void put(parameter& into, values const& made, float keep) {
        for (std::size_t i = 0; i < made.size(); ++i) {
            into.gradient[i] = keep > 0 ? keep * into.gradient[i] + made[i] : made[i];
        }
    }

    void activate() noexcept {
        switch (activation) {
            case sp::activation_kind::relu:
                for (float& each : act) { each = each < 0 ? 0.0F : each; }  // NaN passes
                break;
            case sp::activation_kind::sigmoid:
                for (float& each : act) { each = 1.0F / (1.0F + std::exp(-each)); }
                break;
            default:
                for (float& each : act) { each = std::tanh(each); }
        }
    }
    void differentiate(values& gradient) const noexcept {
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            float const y = act[i];
            gradient[i] *= activation == sp::activation_kind::relu      ? (y > 0 ? 1.0F : 0.0F)
                           : activation == sp::activation_kind::sigmoid ? y * (1.0F - y)
                                                                        : 1.0F - y * y;
        }
    }

    void convolve(values const& input) {
        values& linear = normalised ? linear_ : pre;
        columns_.assign(batch_ * inputs_ * places_, 0.0F);
        std::size_t const size = from_.channels * from_.side * from_.side;
        for (std::size_t n = 0; n < batch_; ++n) {
            float* const columns = columns_.data() + n * inputs_ * places_;
            float const* const source = input.data() + n * size;
            each_tap([&](std::size_t column, std::size_t pixel) { columns[column] = source[pixel]; });
            multiply(w.value.data(), columns, linear.data() + n * outputs(), units_, inputs_, places_);
        }
    }
    void convolve_backward(values const& gradient, float keep) {
        std::size_t const size = from_.channels * from_.side * from_.side;
        back_.assign(batch_ * size, 0.0F);
        made_.assign(w.value.size(), 0.0F);
        values part(w.value.size()), turned_weights, spread(inputs_ * places_);
        transpose(w.value.data(), turned_weights, units_, inputs_);
        for (std::size_t n = 0; n < batch_; ++n) {
            float const* const slope = gradient.data() + n * outputs();
            transpose(columns_.data() + n * inputs_ * places_, turned_, inputs_, places_);
            multiply(slope, turned_.data(), part.data(), units_, places_, inputs_);
            for (std::size_t i = 0; i < part.size(); ++i) { made_[i] += part[i]; }
            multiply(turned_weights.data(), slope, spread.data(), inputs_, units_, places_);
            float* const into = back_.data() + n * size;
            each_tap([&](std::size_t column, std::size_t pixel) { into[pixel] += spread[column]; });
        }
        put(w, made_, keep);
    }
    // use(index in the columns of a picture, index in the picture) wherever the kernel lies inside.
    template <class Use>
    void each_tap(Use&& use) const {
        std::size_t const side = from_.side, after = from_.side_after();
        for (std::size_t c = 0; c < from_.channels; ++c) {
            for (std::size_t tap = 0; tap < 9; ++tap) {
                for (std::size_t y = 0; y < after; ++y) {
                    std::size_t const from_y = 2 * y + tap / 3 - 1;  // wraps around above the edge
                    if (from_y >= side) { continue; }
                    for (std::size_t x = 0; x < after; ++x) {
                        std::size_t const from_x = 2 * x + tap % 3 - 1;
                        if (from_x >= side) { continue; }
                        use((c * 9 + tap) * places_ + y * after + x, (c * side + from_y) * side + from_x);
                    }
                }
            }
        }
    }

    void normalise_batch(bool training) {
        auto const count = static_cast<float>(batch_ * places_);
        if (training) {
            values mean(units_), variance(units_);
            each_element([&](std::size_t i, std::size_t unit) { mean[unit] += linear_[i] / count; });
            each_element([&](std::size_t i, std::size_t unit) {
                variance[unit] += (linear_[i] - mean[unit]) * (linear_[i] - mean[unit]) / count;
            });
            for (std::size_t unit = 0; unit < units_; ++unit) {
                running_mean_[unit] += 0.1F * (mean[unit] - running_mean_[unit]);
                running_variance_[unit] += 0.1F * (variance[unit] - running_variance_[unit]);
            }
            used_mean_ = std::move(mean);
            inverse_.resize(units_);
            for (std::size_t u = 0; u < units_; ++u) { inverse_[u] = 1.0F / std::sqrt(variance[u] + 1e-5F); }
        } else {
            used_mean_ = running_mean_;
            inverse_.resize(units_);
            for (std::size_t u = 0; u < units_; ++u) { inverse_[u] = 1.0F / std::sqrt(running_variance_[u] + 1e-5F); }
        }
        pre.resize(linear_.size());
        each_element([&](std::size_t i, std::size_t unit) {
            linear_[i] = (linear_[i] - used_mean_[unit]) * inverse_[unit];
            pre[i] = scale.value[unit] * linear_[i] + shift.value[unit];
        });
    }
    void normalise_backward(values& gradient, float keep) {
        auto const count = static_cast<float>(batch_ * places_);
        values sum(units_), product(units_);
        each_element([&](std::size_t i, std::size_t unit) {
            sum[unit] += gradient[i];
            product[unit] += gradient[i] * linear_[i];
        });
        put(shift, sum, keep);
        put(scale, product, keep);
        each_element([&](std::size_t i, std::size_t unit) {
            gradient[i] = scale.value[unit] * inverse_[unit] *
                          (gradient[i] - sum[unit] / count - linear_[i] * product[unit] / count);
        });
    }

    picture from_{};
    std::size_t inputs_ = 0, units_ = 0, places_ = 1, batch_ = 0;
    values const* input_ = nullptr;
    values linear_{}, columns_{}, mask_{}, dropped_{}, sums_{}, turned_{}, made_{}, back_{};
    values running_mean_{}, running_variance_{}, used_mean_{}, inverse_{};
};

}  // namespace diagnosis
