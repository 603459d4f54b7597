// SPDX-License-Identifier: Apache-2.0
// The programs that learn from labelled samples.
#include "judge.hpp"
#include "recipe.hpp"
#include "training.hpp"
#include "watches.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace diagnosis {

namespace {

chain make_net(recipe const& like, task const& data, assignment const& what) {
    chain net;
    bool const second = what.shape == variant::wide_or_normalised;
    std::size_t const factor = second && !like.normalises ? 2 : 1;
    std::size_t inputs = data.train.features();
    picture from{1, 16};
    for (std::size_t i = 0; i < like.channels.size(); ++i) {
        net.blocks.emplace_back("conv" + std::to_string(i + 1), from, like.channels[i] * factor);
        from = net.blocks.back().result();
        inputs = net.blocks.back().outputs();
    }
    std::vector<std::size_t> widths = like.widths;
    if (what.broken == fault::deep) { widths.assign(40, widths[0]); }
    for (std::size_t i = 0; i < widths.size(); ++i) {
        net.blocks.emplace_back("fc" + std::to_string(i + 1), inputs, widths[i] * factor);
        inputs = net.blocks.back().outputs();
    }
    for (block& each : net.blocks) {
        each.activation =
            what.broken == fault::large_weights ? sp::activation_kind::sigmoid : sp::activation_kind::relu;
        each.activation_left_out = what.broken == fault::no_activations;
        if (second && like.normalises) { each.normalise(); }
        if (what.shape == variant::small_batch_dropout && &each == &net.blocks.back()) { each.dropout = 0.2F; }
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
    program(assignment const& what, task data)
        : what_{what}, recipe_{recipe_of(what.program)}, data_{std::move(data)}, random_{what.seed + 5000} {
        spoil(data_, what.broken, random_);
        if (what.shape == variant::other_optimizer) {
            recipe_.how = recipe_.how == method::adam ? method::momentum : method::adam;
            std::swap(recipe_.learning_rate, recipe_.other_learning_rate);
        }
        if (what.shape == variant::small_batch_dropout) {
            recipe_.batch /= 2;
            recipe_.learning_rate /= 2;
        }
        recipe_.batch = (std::min)(recipe_.batch, data_.train.count());
        net_ = make_net(recipe_, data_, what);
        initialise(net_, what.broken, random_);
        optimizer_.how = recipe_.how;
        optimizer_.learning_rate = recipe_.learning_rate;
        optimizer_.largest_norm = recipe_.largest_norm;
        optimizer_.weight_decay = recipe_.weight_decay;
        choose_rate(optimizer_, what.broken);
        hand_over(net_, false, what.broken, optimizer_);
        judge_.softmax_twice = what.broken == fault::softmax_twice;
        judge_.sign = what.broken == fault::negated_loss ? -1.0F : 1.0F;
        if (what.broken == fault::not_a_number) { nan_ = nan_plan::from(what.seed, net_.blocks.size() - 1); }
        watches_.emplace(nan_.step, data_.classes > 0 ? std::log(static_cast<double>(data_.classes)) : 1.0);
    }

    outcome run() {
        outcome made;
        made.what = what_;
        loss_log losses;
        for (std::uint64_t step = 0; step < train_steps; ++step) {
            learn(step);
            losses.add(judge_.loss);
            optimizer_.step(schedule(what_.shape, step));
            if ((step + 1) % eval_interval == 0) { made.badness = evaluate(step + 1); }
        }
        losses.write(made);
        made.finite = made.finite && all_finite(net_);
        if (nan_.where != planted_in::nothing) {
            made.planted = nan_.name(net_.blocks[nan_.block]);
            made.planted_at = nan_.step;
        }
        made.packs = watches_->finish();
        return made;
    }

private:
    void next_batch() {
        if (what_.broken == fault::same_batch && !batch_.inputs.empty()) { return; }
        if (next_ + recipe_.batch > order_.size()) {
            order_ = example::shuffled_indices(data_.train.count(), random_);
            next_ = 0;
        }
        auto const first = order_.begin() + static_cast<std::ptrdiff_t>(next_);
        batch_ = chosen(data_.train, {first, first + static_cast<std::ptrdiff_t>(recipe_.batch)});
        next_ += recipe_.batch;
    }

    // Forward and backward; shown in the order in which it was computed, before the update.
    void learn(std::uint64_t step) {
        next_batch();
        bool const now = nan_.where != planted_in::nothing && step == nan_.step;
        values const& output = net_.forward(batch_.inputs, batch_.count(), true, random_,
                                            now ? nan_.where : planted_in::nothing, nan_.block);
        compare(output, batch_);
        net_.backward(judge_.gradient, what_.broken == fault::piles_up ? 1.0F : 0.0F);
        if (now && nan_.where == planted_in::gradient) {
            values& hit = net_.blocks[nan_.block].w.gradient;
            hit[hit.size() / 2] = std::numeric_limits<float>::quiet_NaN();
        }
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            watches_->observe(name, it, flags);
        };
        watches_->begin(sp::train(step));
        net_.show_parameters(see);
        watches_->observe("input", sp::view_of(batch_.inputs, rows_of(batch_.count(), batch_.sample)));
        net_.show_activations(batch_.count(), see);
        show_result(batch_);
        net_.show_gradients(see);
        watches_->end();
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
            watches_->observe("label", sp::view_of(of.classes, {of.count()}));
            watches_->observe("pred", sp::view_of(judge_.shown, {of.count(), data_.classes}), sp::flag::logits);
        } else {
            watches_->observe("label", sp::view_of(of.targets, {of.count(), std::size_t{1}}));
            watches_->observe("pred", sp::view_of(judge_.shown, {of.count(), std::size_t{1}}));
        }
        watches_->scalar("loss", judge_.loss);
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
        watches_->begin(sp::eval(step));
        show_result(data_.eval);
        watches_->end();
        if (!data_.eval_seen.empty()) { std::swap(data_.eval.classes, data_.eval_seen); }
        return badness;
    }

    assignment what_;
    recipe recipe_;
    task data_;
    prng random_;
    chain net_{};
    optimizer optimizer_{};
    judge judge_{};
    nan_plan nan_{};
    std::vector<std::size_t> order_{};
    std::size_t next_ = 0;
    samples batch_{};
    std::optional<watches> watches_{};
};

}  // namespace

std::optional<outcome> train_supervised(assignment const& what) {
    auto const start = std::chrono::steady_clock::now();
    std::optional<task> data = data_of(what);
    if (!data) { return {}; }
    outcome made = program{what, std::move(*data)}.run();
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return made;
}

}  // namespace diagnosis
