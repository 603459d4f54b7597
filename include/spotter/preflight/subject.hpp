// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: the loop under examination: treats its weights as one vector of doubles, counts its passes,
// catches its exceptions.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/core/narrow.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/core/text.hpp>
#include <spotter/preflight/examination.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] constexpr bool can_hold_weights(dtype type) noexcept {
    return type == dtype::f32 || type == dtype::f64 || type == dtype::bf16 || type == dtype::f16;
}
// The spacing of a type's numbers, relative to their size; at most.
[[nodiscard]] constexpr double spacing_of(dtype type) noexcept {
    return type == dtype::f64 ? 0x1p-52 : type == dtype::f32 ? 0x1p-23 : type == dtype::bf16 ? 0x1p-7 : 0x1p-10;
}
// Has so few bits that its spacing is not a small step.
[[nodiscard]] constexpr bool is_coarse(dtype type) noexcept { return type == dtype::bf16 || type == dtype::f16; }
// The nearest number that a type can hold.
[[nodiscard]] inline double rounded_to(dtype type, double value) noexcept {
    switch (type) {
        case dtype::f32:
            return static_cast<double>(static_cast<float>(value));
        case dtype::bf16:
            return static_cast<double>(to_float(to_bf16(static_cast<float>(value))));
        case dtype::f16:
            return static_cast<double>(to_float(to_f16(static_cast<float>(value))));
        default:
            return value;
    }
}

// Reads elements of any real type as doubles; false for another type.
[[nodiscard]] inline bool read_elements(tensor_ref const& view, double* into) noexcept {
    bool read = view.count == 0;
    visit_values(view, [&](auto const& values) {
        using value = std::remove_cvref_t<decltype(values[0])>;
        if constexpr (std::is_arithmetic_v<value>) {
            for (std::size_t i = 0; i < values.size(); ++i) { into[i] = static_cast<double>(values[i]); }
            read = true;
        } else if constexpr (requires(value const& it) { to_float(it); }) {
            for (std::size_t i = 0; i < values.size(); ++i) { into[i] = static_cast<double>(to_float(values[i])); }
            read = true;
        }
    });
    return read;
}

// Into memory that is the program's, of an object that is not const.
inline void write_elements(tensor_ref const& view, double const* from) noexcept {
    auto* const bytes = static_cast<unsigned char*>(const_cast<void*>(view.values.raw));
    auto const put = [&](auto convert) {
        using value = decltype(convert(0.0));
        for (std::size_t i = 0; i < view.count; ++i) {
            value const made = convert(from[i]);
            std::memcpy(bytes + i * sizeof(value), &made, sizeof(value));
        }
    };
    switch (view.type) {
        case dtype::f64:
            put([](double it) { return it; });
            break;
        case dtype::f32:
            put([](double it) { return static_cast<float>(it); });
            break;
        case dtype::bf16:
            put([](double it) { return to_bf16(static_cast<float>(it)); });
            break;
        case dtype::f16:
            put([](double it) { return to_f16(static_cast<float>(it)); });
            break;
        default:
            break;
    }
}

using double_list = std::vector<double>;
using number_view = std::span<double const>;

[[nodiscard]] inline double dot_of(number_view a, number_view b) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) { sum += a[i] * b[i]; }
    return sum;
}
[[nodiscard]] inline double norm_of(number_view a) noexcept { return std::sqrt(dot_of(a, a)); }
[[nodiscard]] inline double rms_of(number_view a) noexcept {
    return a.empty() ? 0 : norm_of(a) / std::sqrt(static_cast<double>(a.size()));
}
// The mean of a sample, and the estimate of its standard deviation.
struct mean_and_deviation {
    double mean = 0, deviation = 0;

    explicit mean_and_deviation(number_view values) noexcept {
        double const count = static_cast<double>(values.size());
        double square = 0;
        for (double const each : values) { mean += each / count; }
        for (double const each : values) { square += (each - mean) * (each - mean); }
        deviation = std::sqrt(square / (std::max)(1.0, count - 1));
    }
};
[[nodiscard]] inline bool all_finite(number_view a) noexcept {
    return std::all_of(a.begin(), a.end(), [](double const& each) { return is_finite(each); });
}
// The median; for an even count the larger of the two; 0 where empty. Takes a copy, which it sorts partly.
[[nodiscard]] inline double middle_of(double_list values) noexcept {
    if (values.empty()) { return 0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}
// Random numbers that are the same on every platform: splitmix64 (Steele, Lea and Flood 2014).
class random_numbers {
public:
    constexpr explicit random_numbers(std::uint64_t seed) noexcept : state_{seed} {}

    [[nodiscard]] constexpr std::uint64_t next() noexcept {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    // 1 or -1.
    [[nodiscard]] constexpr double sign() noexcept {
        if (left_ == 0) { bits_ = next(), left_ = 64; }
        --left_;
        double const made = (bits_ & 1U) != 0 ? 1 : -1;
        bits_ >>= 1U;
        return made;
    }
    // Uniform in [0, 1).
    [[nodiscard]] constexpr double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }
    // Nearly normal, of variance one: the sum of twelve uniform numbers.
    [[nodiscard]] constexpr double normal() noexcept {
        double sum = -6;
        for (int i = 0; i < 12; ++i) { sum += uniform(); }
        return sum;
    }

private:
    std::uint64_t state_;
    std::uint64_t bits_ = 0;
    int left_ = 0;
};

// A weight, and the range of its elements in vectors of all weights.
struct parameter {
    std::string name{};
    std::size_t first = 0, count = 0;
    std::size_t weight = 0;                // index of the weight's tensor in the order shown
    std::vector<std::size_t> gradients{};  // likewise its gradient; several where a weight has two names
    extents shape{};
    dtype type = dtype::none;
    bool frozen = false, negated = false, gathered = false;
    bool accumulates = false;  // a pass adds to its gradient

    [[nodiscard]] bool is_matrix() const noexcept { return shape.rank >= 2; }
    [[nodiscard]] number_view of(double_list const& all) const noexcept { return {all.data() + first, count}; }
    [[nodiscard]] std::span<double> of(double_list& all) const noexcept { return {all.data() + first, count}; }
};

// Why an examination ends early.
enum class ending : std::uint8_t { none, threw, shapes, budget };

// Values that replace the loop's own batch, and the original: bytes, as in the tensor.
struct held_values {
    std::vector<unsigned char> original{}, now{};
    bool active = false;
};

class subject {
public:
    explicit subject(examination const& exam) noexcept;

    // Calls `save`, makes the first pass and reads the tensors shown. False where the loop threw.
    [[nodiscard]] bool open();
    // Puts back weights, batch and gradients, and calls `restore`.
    void close();

    [[nodiscard]] std::vector<parameter>& parameters() noexcept { return parameters_; }
    [[nodiscard]] std::vector<parameter> const& parameters() const noexcept { return parameters_; }
    [[nodiscard]] std::size_t elements() const noexcept { return elements_; }
    [[nodiscard]] double_list const& start() const noexcept { return start_; }  // initial weights
    [[nodiscard]] double first_loss() const noexcept { return first_loss_; }
    [[nodiscard]] double_list const& first_gradient() const noexcept { return first_gradient_; }
    [[nodiscard]] bool weights_changed_in_pass() const noexcept { return weights_changed_; }
    [[nodiscard]] std::vector<std::string> const& unpaired_gradients() const noexcept { return unpaired_gradients_; }
    [[nodiscard]] std::vector<std::string> const& unpaired_weights() const noexcept { return unpaired_weights_; }
    [[nodiscard]] std::size_t batch() const noexcept { return batch_; }
    [[nodiscard]] examination const& given() const noexcept { return exam_; }

    // Sets the weights of the following passes, rounded to their types.
    void go_to(double_list const& weights);
    [[nodiscard]] double_list const& place() const noexcept { return place_; }
    void use_seed(std::uint64_t number) noexcept { seed_ = number; }
    void use_training(bool on) noexcept { training_ = on; }

    // The loss of a forward pass at these weights; not finite where the examination has ended.
    [[nodiscard]] double loss();
    // The same; fills the gradient where a pass computes it anyway, and clears it where `.loss` is given.
    [[nodiscard]] double loss(double_list& gradient);
    // The loss and the gradient of a pass at these weights, without what the gradient buffers held before.
    [[nodiscard]] double pass(double_list& gradient);

    // The parts of a pass: prepare() restores and sets weights and batch; bare_pass() and update() begin from the
    // current state; the rest reads and writes buffers.
    void prepare(bool restores = true);
    [[nodiscard]] double bare_pass();
    void update();
    void read_weights(double_list& into) const;
    void write_weights(double_list const& from);
    void read_gradients(double_list& into) const;
    void write_gradients(double_list const& from);
    // Whether all gradients are allocated: some nets do that in their first pass.
    [[nodiscard]] bool has_gradients() const noexcept;

    // Tensors of the batch: from the handle, or those shown as inputs, outputs and labels; refused or absent where
    // there are none.
    [[nodiscard]] tensor_ref inputs();
    [[nodiscard]] tensor_ref outputs();
    [[nodiscard]] tensor_ref labels();
    // Replaces inputs, or labels, from here on; release_batch() puts back the loop's own.
    void hold_inputs(std::vector<unsigned char> bytes) { hold(inputs_, inputs(), std::move(bytes)); }
    void hold_labels(std::vector<unsigned char> bytes) { hold(labels_, labels(), std::move(bytes)); }
    void release_batch();
    // Writes the replaced values to where the tensors are now.
    void put_batch();

    [[nodiscard]] ending ended() const noexcept { return ended_; }
    [[nodiscard]] bool over() const noexcept { return ended_ != ending::none; }
    [[nodiscard]] text<80> const& thrown() const noexcept { return thrown_; }
    [[nodiscard]] std::uint32_t passes() const noexcept { return passes_; }
    [[nodiscard]] std::uint32_t updates() const noexcept { return updates_; }
    [[nodiscard]] bool has_left(std::size_t passes) const noexcept {
        return !over() && passes_ + passes + kept_back_ <= most_;
    }
    // Raises the budget by so many passes.
    void allow(std::size_t passes) noexcept { most_ += passes; }
    // Reserves passes for later, at most a quarter of the budget. use_all() releases them, and goes on where the rest
    // was used up.
    void keep_back(std::size_t passes) noexcept { kept_back_ = (std::min)(passes, most_ / 4); }
    void use_all() noexcept {
        kept_back_ = 0;
        if (ended_ == ending::budget) { ended_ = ending::none; }
    }
    // The name that progress lines print.
    void begin_experiment(char const* name) noexcept { experiment_ = name; }

    // The least noise of a loss, relative to it: a quarter of a unit in its last place. If the loss is a double and
    // weights are floats, it may be a mean of float losses: a quarter of that.
    [[nodiscard]] double least_noise() const noexcept {
        return losses_are_floats_ ? 0x1p-25 : weights_are_double() ? 0x1p-54 : 0x1p-27;
    }
    [[nodiscard]] bool weights_are_double() const noexcept {
        return std::all_of(parameters_.begin(), parameters_.end(),
                           [](parameter const& each) { return each.type == dtype::f64; });
    }

private:
    struct seen_tensor {
        std::string name{};
        tensor_ref view{};
        spotter::role what = role::other;
        flag flags = flag::none;
        bool writable = false;
        std::uint32_t look = 0;  // the number of the look that saw it last
        std::size_t kept = 0;    // a gradient that was not zero at the start: its index in kept_gradients_, from 1 on
    };

    // Reads the tensors that the program shows. After a pass every weight and gradient must be there, of the same size.
    void look(bool behind_pass = false);
    void take(shown_tensor const& it);
    [[nodiscard]] std::size_t place_of(std::string_view name);
    [[nodiscard]] bool is_there(std::size_t index, std::size_t count) const noexcept {
        return seen_[index].look == look_ && seen_[index].view.count == count &&
               seen_[index].view.refused == refusal::none;
    }
    // The index of the weight that a gradient belongs to; the number of tensors where there is none.
    [[nodiscard]] std::size_t weight_of(std::size_t gradient) const noexcept;
    [[nodiscard]] static bool fit(seen_tensor const& weight, seen_tensor const& gradient) noexcept;
    void pair();
    void add_parameter(std::size_t weight, std::size_t gradient);
    [[nodiscard]] tensor_ref shown_as(spotter::role what) const noexcept;
    [[nodiscard]] tensor_ref asked(handle<tensor_ref()> const& from, spotter::role what);
    // Takes the weights before the first pass, and checks whether the pass changed them.
    void take_start(std::vector<double_list> const& before);
    [[nodiscard]] std::size_t samples_shown();
    void set_modes();
    // Saves the initial gradients, and sets them to zero: the loop may clear them after its update.
    void keep_gradients();
    // Puts the initial gradients back; zero for those that did not exist yet.
    void put_gradients_back();
    static void hold(held_values& into, tensor_ref const& view, std::vector<unsigned char> bytes);
    void put_held(held_values const& values, tensor_ref const& into) noexcept;
    [[nodiscard]] bool spend() noexcept;
    void tell_progress() noexcept;
    template <class Call>
    void call(Call&& what);
    [[nodiscard]] double ask_loss(handle<double()> const& from);

    examination const& exam_;
    std::vector<seen_tensor> seen_{};
    std::size_t next_ = 0;    // index that the next tensor probably has
    std::uint32_t look_ = 0;  // number of the current look
    std::string gradient_name_{};
    std::vector<parameter> parameters_{};
    std::vector<std::string> unpaired_gradients_{}, unpaired_weights_{};
    std::size_t elements_ = 0, batch_ = 0;
    double_list start_{}, place_{}, first_gradient_{};
    std::vector<double_list> kept_gradients_{};
    double first_loss_ = 0;
    bool weights_changed_ = false, losses_are_floats_ = true, training_ = true;
    std::uint64_t seed_ = 1;
    held_values inputs_{}, labels_{};
    ending ended_ = ending::none;
    text<80> thrown_{};
    std::uint32_t passes_ = 0, updates_ = 0;
    std::size_t most_, kept_back_ = 0;
    char const* experiment_ = "";
    double begun_ = 0, progress_at_ = 0;
};

// Calls the loop's own code; an exception ends the examination.
template <class Call>
void subject::call(Call&& what) {
    if (over()) { return; }
    (void)guarded_or(
        [&] {
            what();
            return true;
        },
        [&](std::string_view why) {
            ended_ = ending::threw;
            thrown_ = why.empty() ? std::string_view{"an exception without a text"} : why;
            return false;
        });
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/subject.ipp>
#endif
