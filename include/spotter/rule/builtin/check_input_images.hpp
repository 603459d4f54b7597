// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): images whose channels are not centred. docs/rules.md#check_input_images
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/unit_windows.hpp>
#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Inputs of rank 4.
[[nodiscard]] constexpr bool images(tensor_info const& tensor) noexcept {
    return tensor.role == role::input && tensor.shape.rank == 4;
}

}  // namespace select

// Takes the mean of each channel over the run. Note when, after `threshold_samples` images, the mean of a channel is
// further than `threshold_mean` from zero. Standard deviations are not judged. Train steps only.
struct check_input_images {
    using kind = rule_kind;
    static constexpr std::string_view name = "check_input_images";
    static constexpr std::string_view remedy =
        "Shift and scale the inputs to mean 0 and standard deviation 1 with constants from the training set.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::images;
    double threshold_mean = 0.2;            // AWS CheckInputImages
    std::uint64_t threshold_samples = 500;  // images; AWS
    int channel = 1;                        // the axis that counts channels; AWS

    [[nodiscard]] static constexpr check_input_images sagemaker_defaults() noexcept { return {}; }

    struct input {             // of one tensor
        double images = 0;     // so far
        unit_window channels;  // a channel's amount is the sum of its values
    };
    static constexpr std::size_t most_channels = 60;  // of more channels only a part is judged

    struct state {
        per_tensor<input> inputs;
        slot_array<double> scratch;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) && channel >= 0 && channel < tensor.shape.rank ? stats_mask::feature : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        auto const channels = as_size(unit_count(tensor.shape, channel));
        input* const mine = seen.inputs.declare(tensor);
        if (mine == nullptr || !seen.scratch.grow(2 * channels)) { return false; }
        std::size_t const judged = unit_sample{channels, most_channels}.size();
        return mine->channels.units == judged || start(*mine, judged);
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name, channel); }
    // Pushes the number of images; then for each channel the sum and the number of its finite values.
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        int const batch = batch_axis_of(it.tensor.flags);
        out.push(static_cast<double>(unit_count(values.shape, batch < 0 ? 0 : batch)));
        extract_units(
            values, channel, seen.scratch, out, [](seen_element const& x) SPOTTER_STRICT { return x.value; },
            most_channels);
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (it.step.mode != mode::train || made.size() < 3 || !is_finite(made[0])) { return; }
        input* const mine = seen.inputs.reach(it.tensor.id);
        if (mine == nullptr) { return; }
        if (mine->channels.units != made.size() / 2) { start(*mine, made.size() / 2); }
        mine->images += made[0];
        for (std::size_t i = 0; i < mine->channels.units; ++i) {
            mine->channels.add(i, made[2 * i + 1], made[2 * i + 2]);
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        truth answer = truth::undecided;
        violation found;
        std::size_t which = 0;
        seen.inputs.take_touched([&](std::string_view tensor, input const& mine) {
            std::size_t worst = 0;
            double const size = largest_mean(mine, worst);
            if (mine.images < static_cast<double>(threshold_samples) || size < 0) { return; }
            answer = disjunction(answer == truth::undecided ? truth::no : answer, truth_of(size > threshold_mean));
            if (!(size > threshold_mean)) { return; }
            if (found.count == 0) { which = worst; }
            found.blame(tensor, size);
        });
        if (answer == truth::yes) {
            finding it = found.as_finding("a channel is not centred", "size of a channel's mean", relation::greater,
                                          threshold_mean, severity::info);
            it.detail << "channel " << which;
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `threshold_samples` images";
    }

private:
    static constexpr bool start(input& mine, std::size_t channels) noexcept {
        mine.images = 0;
        return mine.channels.begin(channels);
    }
    // The channel mean that is furthest from zero; -1 where none is known.
    [[nodiscard]] SPOTTER_STRICT static constexpr double largest_mean(input const& mine, std::size_t& worst) noexcept {
        SPOTTER_STRICT_BODY
        double largest = -1;
        for (std::size_t i = 0; i < mine.channels.units; ++i) {
            if (!mine.channels.known(i, 1)) { continue; }
            double const size = magnitude(mine.channels.amount[i] / mine.channels.finite[i]);
            if (size > largest) { largest = size, worst = i; }
        }
        return largest;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
