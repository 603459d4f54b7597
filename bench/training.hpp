// SPDX-License-Identifier: Apache-2.0
// Tensors of a real training: a perceptron learns digits with Adam, in a few seconds of plain C++.
#pragma once

#include "bench.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

namespace bench {

// 8 x 8 pictures of digits, read from `path`, or else from digits.csv.gz in the folder SPOTTER_DATA of the environment.
// Without either they are generated (ten fixed patterns with noise).
struct pictures {
    static constexpr std::size_t pixels = 64, classes = 10;
    std::string source{};
    std::vector<float> values{};  // pictures x 64, from 0 to 1
    std::vector<std::int32_t> labels{};
};

namespace detail {

class noise {
public:
    [[nodiscard]] float uniform() noexcept {  // [0, 1)
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<float>(state_ >> 40) * 0x1p-24F;
    }
    [[nodiscard]] std::size_t below(std::size_t count) noexcept {
        return static_cast<std::size_t>(uniform() * static_cast<float>(count)) % count;
    }

private:
    std::uint64_t state_ = 7;
};

[[nodiscard]] inline std::string read_digits(std::string const& path) {
    if (!path.empty()) {
        std::ifstream file{path};
        std::stringstream all;
        all << file.rdbuf();
        return all.str();
    }
    char const* const folder = std::getenv("SPOTTER_DATA");
    std::string text;
    if (folder == nullptr || *folder == '\0') { return text; }
    std::string const command = "gzip -dc '" + std::string{folder} + "/digits.csv.gz' 2>/dev/null";
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) { return text; }
    char part[4096];
    while (std::size_t const size = std::fread(part, 1, sizeof part, pipe)) { text.append(part, size); }
    pclose(pipe);
    return text;
}

}  // namespace detail

[[nodiscard]] inline pictures load_pictures(std::string const& path) {
    pictures found;
    std::istringstream lines{detail::read_digits(path)};
    for (std::string line; std::getline(lines, line);) {
        char const* at = line.c_str();
        std::array<float, pictures::pixels + 1> row{};
        std::size_t count = 0;
        for (char* end = nullptr; count < row.size(); ++count, at = end + (*end == ',')) {
            row[count] = std::strtof(at, &end);
            if (end == at) { break; }
        }
        if (count != row.size()) { continue; }
        for (std::size_t i = 0; i < pictures::pixels; ++i) { found.values.push_back(row[i] / 16); }
        found.labels.push_back(static_cast<std::int32_t>(row.back()) % 10);
    }
    if (found.labels.size() >= 500) {
        found.source = "digits";
        return found;
    }
    found = {"a stand-in for the digits (SPOTTER_DATA is not set)", {}, {}};
    detail::noise random;
    std::vector<float> patterns(pictures::classes * pictures::pixels);
    for (float& each : patterns) { each = random.uniform() < 0.5F ? 0 : random.uniform(); }
    for (std::int32_t i = 0; i < 1800; ++i) {
        found.labels.push_back(i % 10);
        for (std::size_t p = 0; p < pictures::pixels; ++p) {
            float const value =
                patterns[static_cast<std::size_t>(i % 10) * pictures::pixels + p] + (random.uniform() - 0.5F) / 2;
            found.values.push_back(std::round((std::min)((std::max)(value, 0.0F), 1.0F) * 16) / 16);
        }
    }
    return found;
}

// 64 pixels, two hidden layers of ReLU, ten classes; softmax and cross-entropy, Adam (Kingma and Ba 2015).
class training {
public:
    static constexpr std::size_t batch = 128;

    struct layer {
        std::size_t inputs, units;
        std::vector<float> weights{}, gradient{}, first{}, second{}, bias{}, bias_gradient{};
        std::vector<float> output{};  // batch x units, after the ReLU if the layer has one
    };

    training(pictures const& from, std::size_t width) : from_{from} {
        std::size_t const widths[] = {pictures::pixels, width, width, pictures::classes};
        for (std::size_t i = 0; i < 3; ++i) {
            layer each{widths[i], widths[i + 1]};
            std::size_t const count = each.inputs * each.units;
            each.weights.resize(count);
            each.gradient.resize(count);
            each.first.resize(count);
            each.second.resize(count);
            each.bias.resize(each.units);
            each.bias_gradient.resize(each.units);
            each.output.resize(batch * each.units);
            float const bound = std::sqrt(6.0F / static_cast<float>(each.inputs));  // He et al. 2015
            for (float& weight : each.weights) { weight = (2 * random_.uniform() - 1) * bound; }
            layers_.push_back(std::move(each));
        }
    }

    void step() {
        input_.resize(batch * pictures::pixels);
        labels_.resize(batch);
        for (std::size_t r = 0; r < batch; ++r) {
            std::size_t const chosen = random_.below(from_.labels.size());
            std::copy_n(&from_.values[chosen * pictures::pixels], pictures::pixels, &input_[r * pictures::pixels]);
            labels_[r] = from_.labels[chosen];
        }
        for (std::size_t i = 0; i < layers_.size(); ++i) { forward(i); }
        std::vector<float> gradient = judge();
        for (std::size_t i = layers_.size(); i-- > 0;) { gradient = backward(i, gradient); }
        ++steps_;
        for (layer& each : layers_) { update(each); }
    }

    [[nodiscard]] std::vector<layer> const& layers() const noexcept { return layers_; }
    [[nodiscard]] std::vector<std::int32_t> const& labels() const noexcept { return labels_; }
    [[nodiscard]] double accuracy() const noexcept { return accuracy_; }  // over the last batch

private:
    // into += factor * from, eight at a time.
    static void add(float* into, float const* from, float factor, std::size_t count) noexcept {
        typedef float lanes __attribute__((vector_size(32)));
        std::size_t i = 0;
        for (; i + 8 <= count; i += 8) {
            lanes sum, more;
            std::memcpy(&sum, into + i, sizeof sum);
            std::memcpy(&more, from + i, sizeof more);
            sum += more * factor;
            std::memcpy(into + i, &sum, sizeof sum);
        }
        for (; i < count; ++i) { into[i] += factor * from[i]; }
    }
    [[nodiscard]] float const* input_of(std::size_t index) const noexcept {
        return index == 0 ? input_.data() : layers_[index - 1].output.data();
    }
    void forward(std::size_t index) noexcept {
        layer& it = layers_[index];
        float const* const input = input_of(index);
        for (std::size_t r = 0; r < batch; ++r) {
            float* const row = &it.output[r * it.units];
            std::copy_n(it.bias.data(), it.units, row);
            for (std::size_t k = 0; k < it.inputs; ++k) {
                float const x = input[r * it.inputs + k];
                if (x != 0) { add(row, &it.weights[k * it.units], x, it.units); }
            }
            if (index + 1 == layers_.size()) { continue; }
            for (std::size_t u = 0; u < it.units; ++u) { row[u] = (std::max)(row[u], 0.0F); }
        }
    }
    [[nodiscard]] std::vector<float> judge() {
        std::vector<float> gradient = layers_.back().output;
        std::size_t right = 0;
        for (std::size_t r = 0; r < batch; ++r) {
            float* const row = &gradient[r * pictures::classes];
            float const* const top = std::max_element(row, row + pictures::classes);
            auto const label = static_cast<std::size_t>(labels_[r]);
            right += top == row + label ? 1 : 0;
            float const largest = *top;
            float sum = 0;
            for (std::size_t c = 0; c < pictures::classes; ++c) { sum += row[c] = std::exp(row[c] - largest); }
            for (std::size_t c = 0; c < pictures::classes; ++c) {
                row[c] = (row[c] / sum - (c == label ? 1.0F : 0.0F)) / static_cast<float>(batch);
            }
        }
        accuracy_ = static_cast<double>(right) / static_cast<double>(batch);
        return gradient;
    }
    [[nodiscard]] std::vector<float> backward(std::size_t index, std::vector<float> const& gradient) {
        layer& it = layers_[index];
        float const* const input = input_of(index);
        std::fill(it.gradient.begin(), it.gradient.end(), 0.0F);
        std::fill(it.bias_gradient.begin(), it.bias_gradient.end(), 0.0F);
        std::vector<float> below(index == 0 ? 0 : batch * it.inputs);
        for (std::size_t r = 0; r < batch; ++r) {
            float const* const row = &gradient[r * it.units];
            add(it.bias_gradient.data(), row, 1, it.units);
            for (std::size_t k = 0; k < it.inputs; ++k) {
                float const x = input[r * it.inputs + k];
                if (x == 0) { continue; }
                add(&it.gradient[k * it.units], row, x, it.units);
                if (index == 0) { continue; }
                std::array<float, 8> sums{};
                float const* const weights = &it.weights[k * it.units];
                std::size_t u = 0;
                for (; u + 8 <= it.units; u += 8) {
                    for (std::size_t lane = 0; lane < 8; ++lane) { sums[lane] += row[u + lane] * weights[u + lane]; }
                }
                for (; u < it.units; ++u) { sums[0] += row[u] * weights[u]; }
                for (float const each : sums) { below[r * it.inputs + k] += each; }
            }
        }
        return below;
    }
    void update(layer& it) const noexcept {
        float const rate = 1e-3F, keep_first = 0.9F, keep_second = 0.999F;
        float const first_scale = 1 / (1 - std::pow(keep_first, static_cast<float>(steps_)));
        float const second_scale = 1 / (1 - std::pow(keep_second, static_cast<float>(steps_)));
        for (std::size_t i = 0; i < it.weights.size(); ++i) {
            float const g = it.gradient[i];
            it.first[i] = keep_first * it.first[i] + (1 - keep_first) * g;
            it.second[i] = keep_second * it.second[i] + (1 - keep_second) * g * g;
            it.weights[i] -= rate * it.first[i] * first_scale / (std::sqrt(it.second[i] * second_scale) + 1e-8F);
        }
        for (std::size_t u = 0; u < it.units; ++u) { it.bias[u] -= rate * it.bias_gradient[u]; }
    }

    pictures const& from_;
    detail::noise random_{};
    std::vector<layer> layers_{};
    std::vector<float> input_{};
    std::vector<std::int32_t> labels_{};
    std::uint64_t steps_ = 0;
    double accuracy_ = 0;
};

// The upper half of each value, rounded to nearest even: what training in bf16 keeps.
[[nodiscard]] inline std::vector<std::uint16_t> to_bf16(std::vector<float> const& values) {
    std::vector<std::uint16_t> halves(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto const bits = std::bit_cast<std::uint32_t>(values[i]);
        halves[i] = static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    }
    return halves;
}

// Normally distributed values, the same in every run (Box and Muller).
[[nodiscard]] inline std::vector<float> normal_values(std::size_t count, float deviation) {
    std::vector<float> values(count + 1);
    detail::noise random;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
        float const radius = deviation * std::sqrt(-2 * std::log(1 - random.uniform()));
        float const angle = 6.2831853F * random.uniform();
        values[i] = radius * std::cos(angle);
        values[i + 1] = radius * std::sin(angle);
    }
    values.resize(count);
    return values;
}

}  // namespace bench
