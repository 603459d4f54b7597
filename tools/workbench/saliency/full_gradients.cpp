// SPDX-License-Identifier: Apache-2.0
// Workbench, saliency: the bodies of spotter/workbench/saliency.hpp.
#include "error_of.hpp"
#include "page/numbers.hpp"

#include <spotter/core/bits.hpp>
#include <spotter/workbench/saliency.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

// A tensor's values and sizes; the axes after the channels are spatial.
struct saliency_tensor {
    std::vector<double> values{};
    std::size_t samples = 0, channels = 1, height = 1, width = 1;
    bool has_places = false;

    [[nodiscard]] std::size_t area() const noexcept { return height * width; }
};

[[nodiscard]] static error lacks(std::string_view name, error const& why) noexcept {
    return error_of(why.code, "saliency needs \"", name, "\" of this step: ", why.what.view());
}
[[nodiscard]] static error misfits(std::string_view name, std::string_view wanted) noexcept {
    return error_of(errc::no_shape, "saliency: \"", name, "\" is not ", wanted);
}

// A layer has its channels after the samples; exactly two axes after those are spatial. In an input with three axes all
// but the samples are spatial.
[[nodiscard]] static result<saliency_tensor> saliency_values(trial const& run, step_id step, std::string_view name,
                                                             bool is_layer) {
    recorded_value const found = run[name].at(step);
    if (!found) { return lacks(name, found.error()); }
    extents const& shape = found.shape();
    auto const size = [&](std::size_t axis) { return static_cast<std::size_t>(shape.size[axis]); };
    saliency_tensor it;
    it.values = row_major_values(found.view());
    for (double& each : it.values) { each = is_finite(each) ? each : 0; }
    it.samples = shape.rank > 0 ? size(0) : 1;
    it.has_places = shape.rank == 4 || (shape.rank == 3 && !is_layer);
    if (it.has_places) {
        it.channels = shape.rank == 4 ? size(1) : 1;
        it.height = size(shape.rank - 2U), it.width = size(shape.rank - 1U);
        return it;
    }
    if (shape.rank > 1) { it.channels = size(1); }
    for (std::size_t axis = 2; axis < shape.rank; ++axis) { it.width *= size(axis); }
    return it;
}

// Adds to the maps: for each sample |values|, scaled to 0 to 1, summed over channels and enlarged to the size of the
// map.
static void add_to_map(saliency_tensor const& part, saliency_maps& into) {
    std::size_t const size = part.channels * part.area();
    if (size == 0) { return; }
    std::vector<double> sum(part.area());
    for (std::size_t n = 0; n < part.samples; ++n) {
        double const* const mine = &part.values[n * size];
        double low = (std::abs)(mine[0]), high = low;
        for (std::size_t i = 0; i < size; ++i) {
            low = (std::min)(low, (std::abs)(mine[i])), high = (std::max)(high, (std::abs)(mine[i]));
        }
        if (!(high > low)) { continue; }
        std::fill(sum.begin(), sum.end(), 0.0);
        for (std::size_t i = 0; i < size; ++i) { sum[i % part.area()] += ((std::abs)(mine[i]) - low) / (high - low); }
        // The position of a map pixel's centre among the centres of the part's pixels.
        auto const place = [](std::size_t at, std::size_t wide, std::size_t narrow, std::size_t& first,
                              std::size_t& second) {
            double const exact =
                (static_cast<double>(at) + 0.5) * static_cast<double>(narrow) / static_cast<double>(wide) - 0.5;
            double const inside = (std::clamp)(exact, 0.0, static_cast<double>(narrow - 1));
            first = static_cast<std::size_t>(inside);
            second = (std::min)(first + 1, narrow - 1);
            return inside - static_cast<double>(first);
        };
        for (std::size_t y = 0; y < into.height; ++y) {
            std::size_t above = 0, below = 0;
            double const down = place(y, into.height, part.height, above, below);
            for (std::size_t x = 0; x < into.width; ++x) {
                std::size_t left = 0, right = 0;
                double const over = place(x, into.width, part.width, left, right);
                auto const row = [&](std::size_t at) {
                    return sum[at * part.width + left] * (1 - over) + sum[at * part.width + right] * over;
                };
                into.values[(n * into.height + y) * into.width + x] +=
                    static_cast<float>(row(above) * (1 - down) + row(below) * down);
            }
        }
    }
}

// Adds a part of the output, and its map if it has one.
static void add_part(saliency_tensor const& part, saliency_maps& into) {
    for (std::size_t i = 0; i < part.values.size(); ++i) {
        into.parts[i * part.samples / part.values.size()] += part.values[i];
    }
    if (part.has_places) { add_to_map(part, into); }
}

// A layer's gradient times its bias.
[[nodiscard]] static result<saliency_tensor> bias_part(trial const& run, step_id step, std::string const& name,
                                                       std::size_t samples) {
    std::string const of = "grad/" + name.substr(5);
    auto const bias = saliency_values(run, step, name, true);
    if (!bias) { return bias.error(); }
    auto part = saliency_values(run, step, of, true);
    if (!part) { return part.error(); }
    if (part->samples != samples || part->channels != bias->values.size()) {
        return misfits(of, "[samples, channels, ...] of the input's samples and the bias's channels");
    }
    for (std::size_t i = 0; i < part->values.size(); ++i) {
        part->values[i] *= bias->values[i / part->area() % part->channels];
    }
    return part;
}

// Each sample's map from 0 to 1.
static void stretch(saliency_maps& all) {
    for (std::size_t n = 0; n < all.samples; ++n) {
        auto const mine = std::span{all.values}.subspan(n * all.height * all.width, all.height * all.width);
        if (mine.empty()) { continue; }
        auto const [low, high] = std::minmax_element(mine.begin(), mine.end());
        float const least = *low, range = *high - *low;
        for (float& each : mine) { each = range > 0 ? (each - least) / range : 0; }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

double saliency_maps::incompleteness() const noexcept {
    double most = 0;
    for (std::size_t n = 0; n < samples; ++n) {
        double const apart = (std::abs)(parts[n] - output[n]), size = (std::abs)(output[n]);
        most = (std::max)(most, size > 0 ? apart / size : apart);
    }
    return most;
}

result<saliency_maps> full_gradients(trial const& run, step_id step, saliency_names const& names) {
    return detail::answered([&]() -> result<saliency_maps> {
        auto input = detail::saliency_values(run, step, names.input, false);
        if (!input) { return input.error(); }
        if (!input->has_places) {
            return detail::misfits(names.input, "[samples, height, width] or [samples, channels, height, width]");
        }
        std::string const of_input = "grad/" + std::string{names.input};
        auto const gradient = detail::saliency_values(run, step, of_input, false);
        if (!gradient) { return gradient.error(); }
        auto const output = detail::saliency_values(run, step, names.output, true);
        if (!output) { return output.error(); }
        if (gradient->values.size() != input->values.size()) {
            return detail::misfits(of_input, "as large as the input");
        }
        if (output->values.size() != input->samples) { return detail::misfits(names.output, "one number a sample"); }

        saliency_maps maps{
            input->samples, input->height, input->width, {}, output->values, std::vector<double>(input->samples)};
        maps.values.resize(maps.samples * maps.height * maps.width);
        for (std::size_t i = 0; i < input->values.size(); ++i) { input->values[i] *= gradient->values[i]; }
        detail::add_part(*input, maps);
        auto const biases = run.names(filter{.step = step, .pattern = "bias/*"});
        for (std::string const& name : biases) {
            auto const part = detail::bias_part(run, step, name, maps.samples);
            if (!part) { return part.error(); }
            detail::add_part(*part, maps);
        }
        if (biases.empty()) {
            return error{
                errc::no_such_name,
                "saliency needs the biases of the layers, as \"bias/<layer>\" beside \"grad/<layer>\", at this step"};
        }
        detail::stretch(maps);
        return maps;
    });
}

}  // namespace spotter::inline SPOTTER_ABI
