// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: the loop that is examined: its weights as one vector, its passes counted, its exceptions
// caught.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/core/text.hpp>
#include <spotter/preflight/elements.hpp>
#include <spotter/preflight/examination.hpp>
#include <spotter/preflight/vectors.hpp>

#include <limits>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// A weight and where its elements stand in the vectors of all.
struct parameter {
    std::string name{};
    std::size_t first = 0, count = 0;
    std::size_t weight = 0;                // which of the tensors that are shown it is
    std::vector<std::size_t> gradients{};  // and its gradient; several where a weight has two names
    extents shape{};
    dtype type = dtype::none;
    bool frozen = false, negated = false, gathered = false;
    bool accumulates = false;  // a pass adds to what its gradient held

    [[nodiscard]] bool is_matrix() const noexcept { return shape.rank >= 2; }
    [[nodiscard]] number_view of(double_list const& all) const noexcept { return {all.data() + first, count}; }
    [[nodiscard]] std::span<double> of(double_list& all) const noexcept { return {all.data() + first, count}; }
};

// Why an examination ends before its end.
enum class ending : std::uint8_t { none, threw, shapes, budget };

// Values of the batch that are held against the loop's own, bytes as they stand in the tensor.
struct held_values {
    std::vector<unsigned char> original{}, now{};
    bool active = false;
};

class subject {
public:
    explicit subject(examination const& exam) noexcept;

    // Saves, makes the first pass and looks at what is shown. False where the loop threw.
    [[nodiscard]] bool open();
    // Weights, the batch and what the gradients held are as they were, and the rest is restored.
    void close();

    [[nodiscard]] std::vector<parameter>& parameters() noexcept { return parameters_; }
    [[nodiscard]] std::vector<parameter> const& parameters() const noexcept { return parameters_; }
    [[nodiscard]] std::size_t elements() const noexcept { return elements_; }
    [[nodiscard]] double_list const& start() const noexcept { return start_; }  // weights, as they were
    [[nodiscard]] double first_loss() const noexcept { return first_loss_; }
    [[nodiscard]] double_list const& first_gradient() const noexcept { return first_gradient_; }
    [[nodiscard]] bool weights_changed_in_pass() const noexcept { return weights_changed_; }
    [[nodiscard]] std::vector<std::string> const& unpaired_gradients() const noexcept { return unpaired_gradients_; }
    [[nodiscard]] std::vector<std::string> const& unpaired_weights() const noexcept { return unpaired_weights_; }
    [[nodiscard]] std::size_t batch() const noexcept { return batch_; }
    [[nodiscard]] examination const& given() const noexcept { return exam_; }

    // Where passes begin from here on; rounded to the types of the weights.
    void go_to(double_list const& weights);
    [[nodiscard]] double_list const& place() const noexcept { return place_; }
    void use_seed(std::uint64_t number) noexcept { seed_ = number; }
    void use_training(bool on) noexcept { training_ = on; }

    // The loss of a forward pass there; not finite where the examination has ended.
    [[nodiscard]] double loss();
    // The loss and the gradient of a pass there: of that pass alone, whatever the buffers held.
    [[nodiscard]] double pass(double_list& gradient);

    // In pieces: restored, with weights and batch in place; a pass and an update from what is there; what buffers hold.
    void prepare(bool restores = true);
    [[nodiscard]] double bare_pass();
    void update();
    void read_weights(double_list& into) const;
    void write_weights(double_list const& from);
    void read_gradients(double_list& into) const;
    void write_gradients(double_list const& from);
    // Whether all gradients have their memory: some nets take it in their first pass.
    [[nodiscard]] bool has_gradients() const noexcept;

    // Of the batch, or what is shown as its inputs, outputs and labels; refused or absent where there is none.
    [[nodiscard]] tensor_ref inputs();
    [[nodiscard]] tensor_ref outputs();
    [[nodiscard]] tensor_ref labels();
    // Inputs, or labels, are these from here on; `release` gives back the loop's own.
    void hold_inputs(std::vector<unsigned char> bytes) { hold(inputs_, inputs(), std::move(bytes)); }
    void hold_labels(std::vector<unsigned char> bytes) { hold(labels_, labels(), std::move(bytes)); }
    void release_batch();
    // What is held is written where the tensors stand now.
    void put_batch();

    [[nodiscard]] ending ended() const noexcept { return ended_; }
    [[nodiscard]] bool over() const noexcept { return ended_ != ending::none; }
    [[nodiscard]] text<80> const& thrown() const noexcept { return thrown_; }
    [[nodiscard]] std::uint32_t passes() const noexcept { return passes_; }
    [[nodiscard]] std::uint32_t updates() const noexcept { return updates_; }
    [[nodiscard]] bool has_left(std::size_t passes) const noexcept {
        return !over() && passes_ + passes + kept_back_ <= most_;
    }
    // So many passes more.
    void allow(std::size_t passes) noexcept { most_ += passes; }
    // So many, but no more than a quarter of all, are kept for later; until `use_all`, which also goes on where the
    // rest was used up.
    void keep_back(std::size_t passes) noexcept { kept_back_ = (std::min)(passes, most_ / 4); }
    void use_all() noexcept {
        kept_back_ = 0;
        if (ended_ == ending::budget) { ended_ = ending::none; }
    }
    // What progress says.
    void begin_experiment(char const* name) noexcept { experiment_ = name; }

    // The least noise that a loss can have, as a share of it: a quarter of a unit in its last place; of a mean in
    // double of losses in float a quarter of that.
    [[nodiscard]] double least_noise() const noexcept {
        bool const is_double = std::all_of(parameters_.begin(), parameters_.end(),
                                           [](parameter const& each) { return each.type == dtype::f64; });
        return losses_are_floats_ ? 0x1p-25 : is_double ? 0x1p-54 : 0x1p-27;
    }

private:
    struct seen_tensor {
        std::string name{};
        tensor_ref view{};
        spotter::role what = role::other;
        flag flags = flag::none;
        bool writable = false;
        std::uint32_t look = 0;  // in which it was seen last
        std::size_t kept = 0;    // a gradient that held something before all: its place in those, from 1 on
    };

    // Looks at what is shown; behind a pass every weight and gradient has to be there, as it was.
    void look(bool behind_pass = false);
    void take(shown_tensor const& it);
    [[nodiscard]] std::size_t place_of(std::string_view name);
    [[nodiscard]] bool is_there(std::size_t index, std::size_t count) const noexcept {
        return seen_[index].look == look_ && seen_[index].view.count == count &&
               seen_[index].view.refused == refusal::none;
    }
    // The weight that a gradient is shown for, by number; as many as are seen: none.
    [[nodiscard]] std::size_t weight_of(std::size_t gradient) const noexcept;
    [[nodiscard]] static bool fit(seen_tensor const& weight, seen_tensor const& gradient) noexcept;
    void pair();
    void add_parameter(std::size_t weight, std::size_t gradient);
    [[nodiscard]] tensor_ref shown_as(spotter::role what) const noexcept;
    [[nodiscard]] tensor_ref asked(handle<tensor_ref()> const& from, spotter::role what);
    // The weights as they were before the first pass, and whether it changed them.
    void take_start(std::vector<double_list> const& before);
    [[nodiscard]] std::size_t samples_shown();
    void set_modes();
    // What gradients hold before all is kept, and set to zero: the loop may clear them behind its update.
    void keep_gradients();
    // Those that were not there yet are zero.
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
    std::size_t next_ = 0;    // that the next one probably is
    std::uint32_t look_ = 0;  // the look at hand
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
    double begun_ = 0, told_ = 0;
};

// The loop's own code; what it throws ends the examination.
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
#include <spotter/preflight/subject_tensors.ipp>
#endif
