// SPDX-License-Identifier: Apache-2.0
// Another program for every seed: its task, its net, its first weights, its optimizer and its habits are drawn. A rate
// is chosen as people do it, by trying several; what does not learn with any of them is drawn anew. So no rule can be
// fitted to these programs, and no fault is planted into one that did not train well.
#include "../family.hpp"
#include "../judge.hpp"
#include "dense_net.hpp"
#include "descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace diagnosis {

namespace {

// What people differ in. `rate` is found by trying.
struct habits {
    std::size_t classes = 0;  // 0: a regression
    std::size_t features = 8, count = 1000;
    float overlap = 0.5F;    // of the clouds of a class, or the noise of the targets
    float target_scale = 1;  // of a regression
    bool positive_inputs = false;
    std::vector<std::size_t> hidden{};
    sp::activation_kind kind = sp::activation_kind::relu;
    float gain = 1;  // weights begin with a standard deviation of this over the root of their inputs
    bool normalised = false;
    float dropout = 0;
    descent::kind how = descent::kind::sgd;
    float momentum = 0, weight_decay = 0, rate = 0, largest_norm = 0;
    std::size_t batch = 32;
    std::uint64_t steps = 1000;
    enum class schedule { constant, cosine, warm_up, thirds } change = schedule::constant;
    bool summed = false;  // the loss of a batch is a sum
    std::uint64_t shown_every = 1;
    bool after_update = false;  // what is shown
    bool shows_units = true, shows_input = true, shows_predictions = true, shows_evaluations = true;
};
// Whether a fault can be in such a program.
bool fits(habits const& how, fault broken) {
    switch (broken) {
        case fault::imbalanced:
        case fault::softmax_twice:
            return how.classes > 0;
        case fault::dead_biases:
            return !how.hidden.empty() && how.kind == sp::activation_kind::relu && !how.normalised;
        case fault::zero_weights:
        case fault::constant_weights:
        case fault::backward_bug:
        case fault::not_in_optimizer:
            return !how.hidden.empty();
        default:
            return true;
    }
}

float log_uniform(prng& random, float low, float high) { return low * std::pow(high / low, random.uniform()); }
std::size_t whole(prng& random, float low, float high) {
    return static_cast<std::size_t>(std::lround(log_uniform(random, low, high)));
}
template <class Value>
Value one_of(prng& random, std::initializer_list<Value> list) {
    return list.begin()[random.below(list.size())];
}
bool chance(prng& random, float share) { return random.uniform() < share; }

habits draw_habits(prng& random) {
    habits it;
    it.classes = chance(random, 0.6F) ? whole(random, 2, 20) : 0;
    it.features = whole(random, 3, 48);
    it.count = whole(random, 300, 4000);
    it.overlap = random.uniform(0.05F, 0.8F);
    it.target_scale = chance(random, 0.7F) ? 1.0F : log_uniform(random, 0.05F, 20);
    it.positive_inputs = chance(random, 0.3F);
    for (std::size_t layer = random.below(5); layer > 0; --layer) { it.hidden.push_back(whole(random, 8, 64)); }
    it.kind = one_of(random, {sp::activation_kind::relu, sp::activation_kind::relu, sp::activation_kind::tanh,
                              sp::activation_kind::sigmoid});
    it.gain = chance(random, 0.7F) ? one_of(random, {0.58F, 1.0F, 1.41F}) : log_uniform(random, 0.03F, 2);
    it.normalised = chance(random, 0.2F);
    it.dropout = chance(random, 0.2F) ? random.uniform(0.05F, 0.5F) : 0.0F;
    it.how = one_of(random, {descent::kind::sgd, descent::kind::sgd, descent::kind::nesterov, descent::kind::rmsprop,
                             descent::kind::adam, descent::kind::adam, descent::kind::adagrad});
    it.momentum = it.how == descent::kind::nesterov || chance(random, 0.5F) ? one_of(random, {0.5F, 0.9F, 0.95F}) : 0;
    it.weight_decay = chance(random, 0.3F) ? log_uniform(random, 1e-4F, 1e-1F) : 0.0F;
    it.largest_norm = chance(random, 0.2F) ? log_uniform(random, 0.3F, 5) : 0.0F;
    it.batch = (std::max)(whole(random, 1, 256), std::size_t{it.normalised ? 8U : 1U});
    it.steps = whole(random, 400, 4000);
    using schedule = habits::schedule;
    it.change =
        one_of(random, {schedule::constant, schedule::constant, schedule::cosine, schedule::warm_up, schedule::thirds});
    it.summed = chance(random, 0.15F);
    it.shown_every = chance(random, 0.75F) ? 1 : whole(random, 2, 20);
    it.after_update = chance(random, 0.25F);
    it.shows_units = chance(random, 0.7F);
    it.shows_input = chance(random, 0.8F);
    it.shows_predictions = chance(random, 0.8F);
    it.shows_evaluations = chance(random, 0.6F);
    return it;
}

// Classes are two clouds each; a regression's target is a small net of the inputs, with variance 1 before its scale.
task draw_task(habits const& how, prng& random) {
    task made;
    made.classes = how.classes;
    std::size_t const n = how.features;
    values centres(2 * how.classes * n), inner(n * 6), outer(6);
    for (float& each : centres) { each = normal(random); }
    for (float& each : inner) { each = 1.5F * normal(random) / std::sqrt(static_cast<float>(n)); }
    for (float& each : outer) { each = normal(random); }
    for (samples* const part : {&made.train, &made.eval}) {
        part->sample = {n};
        std::size_t const rows = part == &made.train ? how.count : 500;
        for (std::size_t i = 0; i < rows; ++i) {
            std::size_t const cloud = how.classes > 0 ? random.below(2 * how.classes) : 0;
            values x(n);
            for (std::size_t f = 0; f < n; ++f) {
                x[f] = normal(random);
                if (how.classes > 0) { x[f] = (centres[cloud * n + f] + how.overlap * x[f]) * 0.8F; }
            }
            if (how.classes > 0) {
                part->classes.push_back(static_cast<std::int32_t>(cloud / 2));
            } else {
                float y = 0, scale = 0;
                for (std::size_t u = 0; u < outer.size(); ++u) {
                    float sum = 0;
                    for (std::size_t f = 0; f < n; ++f) { sum += x[f] * inner[f * outer.size() + u]; }
                    y += outer[u] * std::tanh(sum), scale += 0.45F * outer[u] * outer[u];
                }
                part->targets.push_back(how.target_scale *
                                        (y / std::sqrt(scale) + 0.5F * how.overlap * normal(random)));
            }
            for (float each : x) {
                if (how.positive_inputs) { each = (std::min)((std::max)(0.5F + 0.2F * each, 0.0F), 1.0F); }
                part->inputs.push_back(each);
            }
        }
    }
    return made;
}

// One training of a drawn program. Without a course it is a trial of a rate, shown to nobody.
class program {
public:
    // The mean of its last five evaluations: the share of wrong classes, or the mean squared error.
    double error = 0;
    bool overfits = false;  // the loss on other data ends well above its least, or a tenth above that in training

    program(habits const& how, task const& clean, course const& by, std::uint64_t seed)
        : course_{by}, how_{how}, random_{seed}, data_{clean},
          descent_{by, how.how, how.rate, how.momentum, how.weight_decay} {
        spoil(data_, by.broken(), random_);
        std::size_t inputs = how.features;
        for (std::size_t i = 0; i < how.hidden.size() + 1; ++i) {
            bool const last = i == how.hidden.size();
            std::size_t const units = last ? (std::max)(how.classes, std::size_t{1}) : how.hidden[i];
            block& each = net_.blocks.emplace_back(last ? "out" : "layer" + std::to_string(i + 1), inputs, units);
            float const deviation = how.gain / std::sqrt(static_cast<float>(inputs));
            draw(by, random_, deviation * std::sqrt(3.0F), each.w.value);
            inputs = units;
            if (last) { continue; }
            each.b.value.assign(units, hidden_bias(by));
            each.activation = how.kind;
            each.dropout = how.dropout;
            if (how.normalised) { each.normalise(); }
        }
        judge_.softmax_twice = by.is(fault::softmax_twice);
        judge_.sign = loss_sign(by);
    }
    void run(course* shown, double guess) {
        batches rows{course_, data_.train.count(), how_.batch};
        std::optional<planted_nan> nan;
        if (shown != nullptr) { nan.emplace(*shown, how_.steps, net_.blocks[0].w.name); }
        double least = HUGE_VAL, last_loss = 0;
        std::vector<double> errors;
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            samples const batch = chosen(data_.train, rows.next(random_));
            compare(net_.forward(batch.inputs, batch.count(), true, random_), batch);
            values gradient = judge_.gradient;
            float const scale = how_.summed ? static_cast<float>(batch.count()) : 1.0F;
            for (float& each : gradient) { each *= scale; }
            if (nan && nan->due(step)) { net_.blocks[0].w.value[0] = nan_value; }
            backward(course_, net_, gradient);
            if (!how_.after_update) { show(shown, step, batch, scale); }
            update(step);
            if (how_.after_update) { show(shown, step, batch, scale); }
            if (!evaluation_due(step, how_.steps)) { continue; }
            compare(net_.forward(data_.eval.inputs, data_.eval.count(), false, random_), data_.eval);
            if (shown != nullptr && how_.shows_evaluations) {
                shown->begin(sp::eval(step));
                if (how_.shows_predictions) { show_result(*shown, data_.eval); }
                shown->scalar("loss", static_cast<double>(judge_.loss));
                shown->end();
            }
            last_loss = static_cast<double>(judge_.loss * judge_.sign);
            least = (std::min)(least, last_loss);
            errors.push_back(error_of(data_.eval));
        }
        compare(net_.forward(data_.train.inputs, data_.train.count(), false, random_), data_.train);
        double const trained = error_of(data_.train);
        overfits = !(last_loss < 1.15 * least) || !(errors.back() - trained < 0.1 * guess);
        for (std::size_t i = errors.size() - 5; i < errors.size(); ++i) { error += errors[i] / 5; }
        if (shown == nullptr) { return; }
        for (block const& each : net_.blocks) { tell_if_lost(*shown, each.w.value); }
    }

private:
    void compare(values const& output, samples const& with) {
        how_.classes > 0 ? judge_.classify(output, with.classes, how_.classes) : judge_.regress(output, with.targets);
    }
    // Of what was compared last.
    double error_of(samples const& compared) const {
        return how_.classes == 0 ? static_cast<double>(judge_.loss * judge_.sign)
                                 : static_cast<double>(judge_.wrong) / static_cast<double>(compared.count());
    }
    float schedule(std::uint64_t step) const {
        float const done = static_cast<float>(step) / static_cast<float>(how_.steps);
        switch (how_.change) {
            case habits::schedule::cosine:
                return 0.5F + 0.5F * std::cos(3.1415927F * done);
            case habits::schedule::warm_up:
                return (std::min)(1.0F, (static_cast<float>(step) + 1) / 100);
            case habits::schedule::thirds:
                return done < 1.0F / 3 ? 1.0F : done < 2.0F / 3 ? 0.1F : 0.01F;
            default:
                return 1;
        }
    }
    void update(std::uint64_t step) {
        float factor = 1;
        if (how_.largest_norm > 0) {
            double squares = 0;
            net_.each_parameter([&](parameter& it) {
                for (float const g : it.gradient) { squares += static_cast<double>(g) * static_cast<double>(g); }
            });
            factor = (std::min)(1.0F, how_.largest_norm / static_cast<float>(std::sqrt(squares) + 1e-12));
        }
        std::size_t slot = 0;
        net_.each_parameter([&](parameter& it) {
            ++slot;
            parameter const& left_out = net_.blocks[net_.blocks.size() / 2].w;
            if (course_.is(fault::not_in_optimizer) && &it == &left_out) { return; }
            values clipped = it.gradient;
            for (float& each : clipped) { each *= factor; }
            descent_.step(slot, it.value.data(), clipped.data(), it.value.size(), schedule(step));
        });
    }
    void show_result(course& to, samples const& of) const {
        std::size_t const outputs = net_.blocks.back().units();
        if (how_.classes > 0) {
            to.observe("labels", sp::view_of(of.classes, {of.count()}));
            to.observe("predictions", sp::view_of(judge_.shown, {of.count(), outputs}), sp::flag::logits);
        } else {
            to.observe("labels", sp::view_of(of.targets, {of.count(), outputs}));
            to.observe("predictions", sp::view_of(judge_.shown, {of.count(), outputs}));
        }
    }
    void show(course* to, std::uint64_t step, samples const& batch, float scale) {
        if (to == nullptr || step % how_.shown_every != 0) { return; }
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            to->observe(name, it, flags);
        };
        to->begin(sp::train(step));
        if (how_.shows_input) { to->observe("input", sp::view_of(batch.inputs, {batch.count(), how_.features})); }
        if (how_.shows_units) { net_.show_activations(batch.count(), see); }
        if (how_.shows_predictions) { show_result(*to, batch); }
        net_.show_parameters(see);
        net_.show_gradients(see);
        to->scalar("loss", static_cast<double>(judge_.loss * scale));
        to->end();
    }

    course const& course_;
    habits how_;
    prng random_;
    task data_;
    descent descent_;
    chain net_{};
    judge judge_{};
};

// What guessing costs: of classes the share of all but the most frequent, of a regression the variance.
double guessing(task const& data) {
    if (data.classes == 0) {
        double sum = 0, squares = 0;
        for (float const each : data.eval.targets) {
            sum += static_cast<double>(each), squares += static_cast<double>(each) * static_cast<double>(each);
        }
        auto const n = static_cast<double>(data.eval.targets.size());
        return squares / n - sum / n * sum / n;
    }
    std::vector<double> counts(data.classes);
    for (std::int32_t const each : data.eval.classes) { ++counts[static_cast<std::size_t>(each)]; }
    return 1 - *std::max_element(counts.begin(), counts.end()) / static_cast<double>(data.eval.count());
}

// A program that a fault can be in, that learns at least half of what there is to learn, and that loses less than a
// tenth of that between the data it was trained on and others.
struct drawn_program {
    habits how{};
    task data{};
    std::uint64_t seed = 0;
    double guess = 0, best = 0;  // errors of guessing and of the healthy training

    drawn_program(std::uint64_t from, fault broken) {
        course const healthy{{}};
        prng random{from + 9000};
        for (;;) {
            habits tried = draw_habits(random);
            if (!fits(tried, broken)) { continue; }
            data = draw_task(tried, random);
            guess = guessing(data);
            seed = random.next();
            float const share = one_of(random, {1.0F, 1.0F, 0.5F, 0.3F});
            best = 0.5 * guess;
            std::optional<float> rate;
            for (float each = 1e-4F; each < 2; each *= 3.1623F) {
                tried.rate = each;
                program it{tried, data, healthy, seed};
                it.run(nullptr, guess);
                if (it.error < best && !it.overfits) { best = it.error, rate = each; }
            }
            if (!rate) { continue; }
            tried.rate = *rate * share;
            program chosen{tried, data, healthy, seed};
            chosen.run(nullptr, guess);
            if (!(chosen.error < 0.5 * guess) || chosen.overfits) { continue; }
            best = chosen.error, how = tried;
            return;
        }
    }
};

void train(course& by) {
    drawn_program const drawn{by.seed() * 5 + by.variant(), by.broken()};
    by.plan(drawn.how.steps);
    program it{drawn.how, drawn.data, by, drawn.seed};
    it.run(&by, drawn.guess);
    // A tenth of what there is to learn is no difference.
    by.evaluated((std::max)(0.1, (it.error - drawn.best) / (drawn.guess - drawn.best)));
}

bool const added = add_family(
    {.name = "drawn",
     .library = {},
     .habit = "every seed draws another task, net, optimizer and way of showing it; the rate is chosen by trying",
     .variants = {"first draw", "second", "third", "fourth", "fifth"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::climbs, fault::piles_up, fault::not_in_optimizer, fault::shuffled_labels,
                fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch, fault::negated_loss,
                fault::backward_bug, fault::dead_biases, fault::softmax_twice, fault::few_samples},
     .train = train});

}  // namespace

}  // namespace diagnosis
