// SPDX-License-Identifier: Apache-2.0
// How a fault gets into a program of libtorch, and what its data is.
#include "torch_program.hpp"

#include "../../../examples/common/prng.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace diagnosis {

namespace {

bool has_suffix(std::string const& text, std::string_view end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
std::string layer_of(std::string const& name) { return name.substr(0, name.find_last_of("./")); }

std::unique_ptr<torch::optim::Optimizer> make_optimizer(std::vector<Tensor> const& of, optimizer_choice const& how) {
    namespace optim = torch::optim;
    double const rate = how.rate, decay = how.weight_decay;
    switch (how.method) {
        case torch_method::sgd:
            return std::make_unique<optim::SGD>(of, optim::SGDOptions{rate}.weight_decay(decay));
        case torch_method::momentum:
            return std::make_unique<optim::SGD>(of, optim::SGDOptions{rate}.momentum(0.9).weight_decay(decay));
        case torch_method::nesterov:
            return std::make_unique<optim::SGD>(
                of, optim::SGDOptions{rate}.momentum(0.9).nesterov(true).weight_decay(decay));
        case torch_method::adam:
            return std::make_unique<optim::Adam>(
                of, optim::AdamOptions{rate}.betas({how.first_moment, 0.999}).weight_decay(decay));
        case torch_method::adamw:
            return std::make_unique<optim::AdamW>(
                of, optim::AdamWOptions{rate}.betas({how.first_moment, 0.999}).weight_decay(decay));
        case torch_method::rmsprop:
            return std::make_unique<optim::RMSprop>(of, optim::RMSpropOptions{rate}.weight_decay(decay));
        case torch_method::adagrad:
            return std::make_unique<optim::Adagrad>(of, optim::AdagradOptions{rate}.weight_decay(decay));
    }
    return {};
}

}  // namespace

torch_program::torch_program(course& of, std::uint64_t steps, pack_choice pack, double known)
    : course_{of}, steps_{steps} {
    at::set_num_threads(1);
    torch::manual_seed(of.seed());
    of.plan(steps, pack, known);
}

void torch_program::add(nn::Module& net, std::string const& prefix) {
    std::size_t const first = parameters_.size();
    for (auto const& each : net.named_parameters()) {
        bool const bias = has_suffix(each.key(), "bias");
        std::string const name = prefix + each.key();
        parameters_.push_back({name, "grad/" + name, each.value(), bias ? sp::role::bias : sp::role::weight,
                               each.value().requires_grad() ? sp::flag::none : sp::flag::frozen, nets_});
    }
    torch::NoGradGuard const guard;
    break_weights(first);
    ++nets_;
}

// A layer is what has a weight of two axes or more.
void torch_program::break_weights(std::size_t first) {
    std::vector<std::string> layers;
    for (std::size_t i = first; i < parameters_.size(); ++i) {
        shown_parameter const& each = parameters_[i];
        bool const trained = each.values.requires_grad();
        if (each.what == sp::role::weight && each.values.dim() > 1 && trained) {
            layers.push_back(layer_of(each.name));
        }
    }
    for (std::size_t i = first; i < parameters_.size(); ++i) {
        shown_parameter& each = parameters_[i];
        std::string const layer = layer_of(each.name);
        each.in_last_layer = !layers.empty() && layer == layers.back();
        bool const trained = each.values.requires_grad();
        if (!trained || std::find(layers.begin(), layers.end(), layer) == layers.end()) { continue; }
        if (each.what == sp::role::bias) {
            if (is(fault::dead_biases) && !each.in_last_layer) { each.values.fill_(-10); }
            continue;
        }
        if (is(fault::large_weights)) { each.values.mul_(20); }
        if (is(fault::zero_weights)) { each.values.zero_(); }
        if (is(fault::constant_weights)) { each.values.fill_(0.1); }
    }
    if (left_out_.empty() && !layers.empty()) { left_out_ = layers[layers.size() > 2 ? 1 : 0]; }
    if (!is(fault::frozen)) { return; }
    for (shown_parameter& each : parameters_) {
        if (layer_of(each.name) == left_out_) { each.values.requires_grad_(false); }
    }
}

void torch_program::optimise(optimizer_choice const& how) {
    for (std::size_t net = 0; net < nets_; ++net) { optimise(net, how); }
}
void torch_program::optimise(std::size_t net, optimizer_choice const& how) {
    optimizer_choice broken = how;
    broken.rate *= is(fault::large_rate) ? 1000.0 : is(fault::small_rate) ? 1e-6 : is(fault::zero_rate) ? 0.0 : 1.0;
    std::vector<Tensor> of;
    bool left_out = !is(fault::not_in_optimizer);
    for (shown_parameter const& each : parameters_) {
        if (each.net != net || !each.values.requires_grad()) { continue; }
        bool const this_one =
            each.what == sp::role::weight && layer_of(each.name) == left_out_ && each.values.dim() > 1;
        if (this_one && !std::exchange(left_out, true)) { continue; }
        of.push_back(each.values);
    }
    optimizers_.push_back({net, broken.rate, make_optimizer(of, broken)});
    if (!nan_step_) { plan_nan(); }
}
void torch_program::scale_rate(double factor) {
    for (optimised& each : optimizers_) {
        for (auto& group : each.by->param_groups()) { group.options().set_lr(each.rate * factor); }
    }
}

// Into the gradient of a parameter, somewhere within the training; at an odd step, as some nets are trained at every
// second only.
void torch_program::plan_nan() {
    if (!is(fault::not_a_number)) { return; }
    example::prng random{course_.seed() + 77};
    nan_step_ = (steps_ / 20 + random.below(static_cast<std::size_t>(steps_ * 8 / 10))) | 1U;
    do { nan_in_ = random.below(parameters_.size()); } while (!parameters_[nan_in_].values.requires_grad());
    course_.wrong_from(*nan_step_, parameters_[nan_in_].gradient);
}

void torch_program::begin(std::uint64_t step) {
    step_ = step;
    course_.begin(sp::train(step));
}
void torch_program::clear(std::size_t net) {
    if (is(fault::piles_up)) { return; }
    for (shown_parameter& each : parameters_) {
        if (is_of(each.net, net) && each.values.grad().defined()) { each.values.mutable_grad().zero_(); }
    }
}
void torch_program::backward(Tensor const& loss, std::size_t net) {
    (is(fault::negated_loss) ? -loss : loss).backward();
    spoil_gradients(net);
}
void torch_program::spoil_gradients(std::size_t net) {
    torch::NoGradGuard const guard;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        shown_parameter& each = parameters_[i];
        if (!is_of(each.net, net) || !each.values.grad().defined()) { continue; }
        if (is(fault::backward_bug) && !each.in_last_layer) { each.values.mutable_grad().zero_(); }
        if (nan_step_ && i == nan_in_ && step_ == *nan_step_) {
            Tensor const flat = each.values.mutable_grad().view(-1);
            flat[flat.numel() / 2] = std::numeric_limits<float>::quiet_NaN();
        }
    }
}
void torch_program::update(std::size_t net) {
    for (optimised& each : optimizers_) {
        if (!is_of(each.net, net)) { continue; }
        bool const climbs = is(fault::climbs) || (is(fault::one_net_climbs) && each.net == 0);
        auto const turn = [&] {
            torch::NoGradGuard const guard;
            for (Tensor& one : each.by->param_groups()[0].params()) {
                if (one.grad().defined()) { one.mutable_grad().neg_(); }
            }
        };
        if (climbs) { turn(); }
        each.by->step();
        if (climbs) { turn(); }  // what is shown is as it was computed
    }
}
double torch_program::clip(double largest_norm, std::size_t net) {
    std::vector<Tensor> of;
    for (shown_parameter const& each : parameters_) {
        if (is_of(each.net, net) && each.values.grad().defined()) { of.push_back(each.values); }
    }
    return nn::utils::clip_grad_norm_(of, largest_norm);
}

void torch_program::show_weights(std::size_t net) {
    for (shown_parameter const& each : parameters_) {
        if (is_of(each.net, net)) { see(each.name, each.values, each.what, each.flags); }
    }
}
void torch_program::show_gradients(std::size_t net) {
    for (shown_parameter const& each : parameters_) {
        if (!is_of(each.net, net) || !each.values.grad().defined()) { continue; }
        see(each.gradient, each.values.grad(), sp::role::gradient);
    }
}

void torch_program::finish() {
    for (shown_parameter const& each : parameters_) {
        if (!torch::isfinite(each.values).all().item<bool>()) { course_.lost(); }
    }
}

void spoil(torch_data& data, course const& of) {
    std::int64_t const count = data.labels.size(0);
    if (of.is(fault::shuffled_labels)) {
        data.labels = data.labels.index_select(0, torch::randperm(count));
    } else if (of.is(fault::raw_inputs)) {
        data.inputs = data.inputs * 255;
        data.eval_inputs = data.eval_inputs * 255;
    } else if (of.is(fault::few_samples)) {
        data.inputs = data.inputs.slice(0, 0, 20).contiguous();
        data.labels = data.labels.slice(0, 0, 20).contiguous();
    } else if (of.is(fault::noisy_labels)) {
        Tensor const wrong = torch::rand({count}) < 0.4;
        Tensor const others = (data.labels + torch::randint(1, data.classes, {count})).remainder(data.classes);
        data.labels = torch::where(wrong, others, data.labels);
    } else if (of.is(fault::imbalanced)) {
        Tensor const common = (data.labels == 0).nonzero().squeeze(1), rare = (data.labels != 0).nonzero().squeeze(1);
        Tensor const first = common.index_select(0, torch::randint(common.size(0), {count}));
        Tensor const second = rare.index_select(0, torch::randint(rare.size(0), {count}));
        Tensor const chosen = torch::where(torch::arange(count).remainder(100) == 0, second, first);
        data.inputs = data.inputs.index_select(0, chosen);
        data.labels = data.labels.index_select(0, chosen);
    }
}

torch_data draw_pictures(std::int64_t side, std::int64_t classes, std::int64_t count, double noise) {
    example::prng fixed{16};
    Tensor const axis = torch::arange(side, torch::kFloat);
    Tensor patterns = torch::zeros({classes, side, side});
    for (std::int64_t c = 0; c < classes; ++c) {
        for (int spot = 0; spot < 4; ++spot) {
            auto const size = static_cast<float>(side);
            float const x0 = fixed.uniform(0.2F, 0.8F) * size, y0 = fixed.uniform(0.2F, 0.8F) * size;
            float const width = fixed.uniform(0.6F, 1.6F);
            Tensor const across = torch::exp(-torch::square((axis - x0) / width));
            patterns[c] += torch::exp(-torch::square((axis - y0) / width)).unsqueeze(1) * across;
        }
    }
    auto const draw = [&](std::int64_t many, Tensor& inputs, Tensor& labels) {
        labels = torch::randint(classes, {many}, torch::kLong);
        Tensor const moved = torch::randint(3, {many, 2}, torch::kLong);
        Tensor const rolled = torch::stack({patterns, patterns.roll(1, 1), patterns.roll(-1, 1)});
        Tensor all = torch::stack({rolled, rolled.roll(1, 3), rolled.roll(-1, 3)});  // [3, 3, classes, side, side]
        all = all.index({moved.select(1, 0), moved.select(1, 1), labels});
        inputs =
            (all * (0.7 + 0.6 * torch::rand({many, 1, 1})) + noise * torch::randn({many, side, side})).unsqueeze(1);
    };
    torch_data made;
    made.classes = classes;
    draw(count, made.inputs, made.labels);
    draw(500, made.eval_inputs, made.eval_labels);
    return made;
}

Tensor torch_batches::next() {
    if (same_ && order_.defined()) { return order_.slice(0, 0, batch_); }
    if (!order_.defined() || at_ + batch_ > samples_) {
        order_ = torch::randperm(samples_);
        at_ = 0;
    }
    at_ += batch_;
    return order_.slice(0, at_ - batch_, at_);
}

std::vector<fault> usual_faults(std::vector<fault> const& more) {
    std::vector<fault> made{fault::large_rate,       fault::small_rate,    fault::zero_rate,    fault::zero_weights,
                            fault::constant_weights, fault::large_weights, fault::climbs,       fault::piles_up,
                            fault::frozen,           fault::negated_loss,  fault::not_a_number, fault::backward_bug,
                            fault::not_in_optimizer};
    made.insert(made.end(), more.begin(), more.end());
    return made;
}

double error_rate(Tensor const& logits, Tensor const& labels) {
    return (logits.argmax(-1) != labels).to(torch::kDouble).mean().item<double>();
}

}  // namespace diagnosis
