// SPDX-License-Identifier: Apache-2.0
// The programs that learn from labelled samples.
#include "family.hpp"
#include "judge.hpp"
#include "recipe.hpp"
#include "training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

namespace {

chain make_net(recipe const& like, task const& data, course const& what) {
    chain net;
    bool const second = shape_of(what) == healthy_shape::wide_or_normalised;
    std::size_t const factor = second && !like.normalises ? 2 : 1;
    std::size_t inputs = data.train.features();
    picture from{1, 16};
    for (std::size_t i = 0; i < like.channels.size(); ++i) {
        net.blocks.emplace_back("conv" + std::to_string(i + 1), from, like.channels[i] * factor);
        from = net.blocks.back().result();
        inputs = net.blocks.back().outputs();
    }
    std::vector<std::size_t> widths = like.widths;
    if (what.is(fault::deep)) { widths.assign(40, widths[0]); }
    for (std::size_t i = 0; i < widths.size(); ++i) {
        net.blocks.emplace_back("fc" + std::to_string(i + 1), inputs, widths[i] * factor);
        inputs = net.blocks.back().outputs();
    }
    for (block& each : net.blocks) {
        each.activation = what.is(fault::large_weights) ? sp::activation_kind::sigmoid : sp::activation_kind::relu;
        each.activation_left_out = what.is(fault::no_activations);
        if (second && like.normalises) { each.normalise(); }
        if (shape_of(what) == healthy_shape::small_batch_dropout && &each == &net.blocks.back()) {
            each.dropout = 0.2F;
        }
    }
    net.blocks.emplace_back("out", inputs, (std::max)(data.classes, std::size_t{1}));
    return net;
}

sp::extents rows_of(std::size_t batch, sp::extents const& sample) {
    sp::extents shape = sample;
    for (std::size_t i = shape.rank; i > 0; --i) { shape.size[i] = shape.size[i - 1]; }
    shape.size[0] = batch;
    ++shape.rank;
    return shape;
}

class program {
public:
    program(course& of, recipe like, task data)
        : course_{of}, recipe_{std::move(like)}, data_{std::move(data)}, random_{of.seed() + 5000} {
        spoil(data_, of.broken(), random_);
        if (shape_of(of) == healthy_shape::other_optimizer) {
            recipe_.how = recipe_.how == method::adam ? method::momentum : method::adam;
            std::swap(recipe_.learning_rate, recipe_.other_learning_rate);
        }
        if (shape_of(of) == healthy_shape::small_batch_dropout) {
            recipe_.batch /= 2;
            recipe_.learning_rate /= 2;
        }
        recipe_.batch = (std::min)(recipe_.batch, data_.train.count());
        net_ = make_net(recipe_, data_, of);
        initialise(net_, of.broken(), random_);
        optimizer_.how = recipe_.how;
        optimizer_.learning_rate = recipe_.learning_rate;
        optimizer_.largest_norm = recipe_.largest_norm;
        optimizer_.weight_decay = recipe_.weight_decay;
        choose_rate(optimizer_, of.broken());
        hand_over(net_, false, of.broken(), optimizer_);
        judge_.softmax_twice = of.is(fault::softmax_twice);
        judge_.sign = of.is(fault::negated_loss) ? -1.0F : 1.0F;
        of.plan(train_steps, pack_choice::supervised,
                data_.classes > 0 ? std::log(static_cast<double>(data_.classes)) : 1.0);
        if (of.is(fault::not_a_number)) {
            nan_ = nan_plan::from(of.seed(), net_.blocks.size() - 1);
            of.wrong_from(nan_.step, nan_.name(net_.blocks[nan_.block]));
        }
        large_at_ = train_steps / 5 + prng{of.seed() + 77}.below(train_steps / 2);
    }

    void run() {
        for (std::uint64_t step = 0; step < train_steps; ++step) {
            prescription const asked = learn(step);
            if (asked.restore) {
                step = go_back() - 1;
                continue;
            }
            keep(step);
            draw_again(asked.reinitialise);
            if (!asked.skip) {
                optimizer_.clip_at = static_cast<float>(asked.largest_norm);
                optimizer_.step(schedule(shape_of(course_), step) * static_cast<float>(asked.rate));
            }
            if ((step + 1) % eval_interval != 0) { continue; }
            double const badness = evaluate(step + 1);
            if (step + 1 == train_steps) { course_.evaluated(badness); }
        }
        if (!all_finite(net_)) { course_.lost(); }
    }

private:
    void next_batch() {
        if (course_.is(fault::same_batch) && !batch_.inputs.empty()) { return; }
        if (next_ + recipe_.batch > order_.size()) {
            order_ = example::shuffled_indices(data_.train.count(), random_);
            next_ = 0;
        }
        auto const first = order_.begin() + static_cast<std::ptrdiff_t>(next_);
        batch_ = chosen(data_.train, {first, first + static_cast<std::ptrdiff_t>(recipe_.batch)});
        next_ += recipe_.batch;
    }

    // A program that follows cures keeps snapshots to go back to: its beginning, and every hundred steps; one is good
    // if no finding followed.
    struct snapshot {
        std::uint64_t step = 0;
        chain net{};
        optimizer moments{};
    };
    void keep(std::uint64_t step) {
        if (healer::choice == cured_by::nothing || step % eval_interval != 0) { return; }
        snapshot now{step, net_, optimizer_};
        if (!good_) { good_ = now; }  // what was before the first step is as good as nothing can be
        if (fresh_ && course_.healthy_since(sp::train(fresh_->step))) { good_ = std::move(fresh_); }
        fresh_ = std::move(now);
    }
    // The step to go on from.
    std::uint64_t go_back() {
        fresh_.reset();
        if (!good_) { return 0; }
        net_ = good_->net;
        optimizer_ = good_->moments;
        return good_->step;
    }
    // Weights from dead units on are zero, then those to them as at the beginning.
    void draw_again(std::vector<std::pair<std::string, std::size_t>> const& units) {
        for (bool const cuts : {true, false}) {
            for (auto const& [name, unit] : units) {
                for (std::size_t i = 0; i + 1 < net_.blocks.size(); ++i) {
                    if (net_.blocks[i].act_name != name) { continue; }
                    cuts ? net_.blocks[i + 1].cut_off(unit, net_.blocks[i].places())
                         : net_.blocks[i].draw_again(unit, random_);
                }
            }
        }
    }

    // Forward and backward; shown in the order in which it was computed, before the update.
    prescription learn(std::uint64_t step) {
        next_batch();
        bool const now =
            nan_.where != planted_in::nothing && step == nan_.step && !std::exchange(planted_, nan_.step == step);
        values const& output = net_.forward(batch_.inputs, batch_.count(), true, random_,
                                            now ? nan_.where : planted_in::nothing, nan_.block);
        compare(output, batch_);
        net_.backward(judge_.gradient, course_.is(fault::piles_up) ? 1.0F : 0.0F);
        if (course_.is(fault::large_gradient) && step == large_at_) { enlarge_gradients(); }
        if (now && nan_.where == planted_in::gradient) {
            values& hit = net_.blocks[nan_.block].w.gradient;
            hit[hit.size() / 2] = std::numeric_limits<float>::quiet_NaN();
        }
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        };
        course_.begin(sp::train(step));
        net_.show_parameters(see);
        course_.observe("input", sp::view_of(batch_.inputs, rows_of(batch_.count(), batch_.sample)));
        net_.show_activations(batch_.count(), see);
        show_result(batch_);
        net_.show_gradients(see);
        return course_.end();
    }

    void enlarge_gradients() {
        for (block& each : net_.blocks) {
            for (float& g : each.w.gradient) { g *= 1e5F; }
            for (float& g : each.b.gradient) { g *= 1e5F; }
        }
    }

    void compare(values const& output, samples const& with) {
        if (data_.classes > 0) {
            judge_.classify(output, with.classes, data_.classes);
        } else {
            judge_.regress(output, with.targets);
        }
    }
    void show_result(samples const& of) {
        if (data_.classes > 0) {
            course_.observe("label", sp::view_of(of.classes, {of.count()}));
            course_.observe("pred", sp::view_of(judge_.shown, {of.count(), data_.classes}), sp::flag::logits);
        } else {
            course_.observe("label", sp::view_of(of.targets, {of.count(), std::size_t{1}}));
            course_.observe("pred", sp::view_of(judge_.shown, {of.count(), std::size_t{1}}));
        }
        course_.scalar("loss", judge_.loss);
    }

    // How bad it is is measured on true labels; what is shown is what the program itself would see.
    double evaluate(std::uint64_t step) {
        values const output = net_.forward(data_.eval.inputs, data_.eval.count(), false, random_);
        compare(output, data_.eval);
        double badness = static_cast<double>(judge_.loss * judge_.sign);
        if (data_.classes > 0) {
            badness = static_cast<double>(judge_.wrong) / static_cast<double>(data_.eval.count());
        }
        if (!data_.eval_seen.empty()) {
            std::swap(data_.eval.classes, data_.eval_seen);
            compare(output, data_.eval);
        }
        course_.begin(sp::eval(step));
        show_result(data_.eval);
        course_.end();
        if (!data_.eval_seen.empty()) { std::swap(data_.eval.classes, data_.eval_seen); }
        return badness;
    }

    course& course_;
    recipe recipe_;
    task data_;
    prng random_;
    chain net_{};
    optimizer optimizer_{};
    judge judge_{};
    nan_plan nan_{};
    bool planted_ = false;  // once, however often the step is computed
    std::uint64_t large_at_ = 0;
    std::vector<std::size_t> order_{};
    std::size_t next_ = 0;
    samples batch_{};
    std::optional<snapshot> good_{}, fresh_{};
};

void train(course& of, recipe const& like, std::optional<task> data) {
    if (data) { program{of, like, std::move(*data)}.run(); }
}

recipe const mlp_reg{{}, {32, 32}, method::momentum, 0.01F, 2e-3F, 0, 0, 32, false};
recipe const mlp_cls{{}, {24, 24, 24, 24}, method::adam, 3e-3F, 0.03F, 0, 0.05F, 32, true};
recipe const cnn{{6, 8}, {32}, method::momentum, 0.05F, 1e-3F, 0.5F, 0.02F, 16, true};
recipe const digits{{}, {32, 32}, method::adam, 2e-3F, 0.02F, 0, 0.1F, 32, true};
recipe const breast_cancer{{}, {16, 16}, method::momentum, 1e-3F, 2e-4F, 0, 0.3F, 32, false};

std::vector<fault> with(std::vector<fault> more, std::vector<fault> all) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
std::vector<fault> const any_task{
    fault::large_rate,   fault::small_rate,      fault::zero_weights, fault::constant_weights, fault::large_weights,
    fault::dead_biases,  fault::climbs,          fault::piles_up,     fault::frozen,           fault::not_in_optimizer,
    fault::raw_inputs,   fault::shuffled_labels, fault::not_a_number, fault::same_batch,       fault::few_samples,
    fault::negated_loss, fault::large_gradient};
std::vector<fault> const classification =
    with({fault::imbalanced, fault::no_activations, fault::softmax_twice, fault::noisy_labels}, any_task);

bool const added[] = {
    add_family({.name = "mlp_reg",
                .habit = "a regression; everything is shown, before the update",
                .variants = shape_names,
                .faults = any_task,
                .follows_cures = true,
                .train = [](course& of) { train(of, mlp_reg, make_regression(of.seed())); }}),
    add_family({.name = "mlp_cls",
                .habit = "points of five classes; Adam with weight decay",
                .variants = shape_names,
                .faults = with({fault::deep}, classification),
                .follows_cures = true,
                .train = [](course& of) { train(of, mlp_cls, make_points(of.seed())); }}),
    add_family({.name = "cnn",
                .habit = "pictures of ten classes; clipped gradients",
                .variants = shape_names,
                .faults = with({fault::not_clipped}, classification),
                .follows_cures = true,
                .train = [](course& of) { train(of, cnn, make_pictures(of.seed())); }}),
    add_family({.name = "digits",
                .habit = "real digits",
                .variants = shape_names,
                .faults = classification,
                .real_data = true,
                .follows_cures = true,
                .there = [] { return read_digits(0).has_value(); },
                .train = [](course& of) { train(of, digits, read_digits(of.seed())); }}),
    add_family({.name = "breast_cancer",
                .habit = "569 real rows, two classes",
                .variants = shape_names,
                .faults = classification,
                .real_data = true,
                .follows_cures = true,
                .there = [] { return read_breast_cancer(0).has_value(); },
                .train = [](course& of) { train(of, breast_cancer, read_breast_cancer(of.seed())); }})};

}  // namespace

}  // namespace diagnosis
