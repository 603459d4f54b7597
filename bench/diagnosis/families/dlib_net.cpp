// SPDX-License-Identifier: Apache-2.0
// A net of dlib, whose type is its shape; each layer keeps weights and biases in one tensor, and a solver of its own.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <dlib/dnn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>

namespace diagnosis {

namespace {

using sample = dlib::matrix<float, 6, 1>;
using net_type =
    dlib::loss_multiclass_log<dlib::fc<3, dlib::relu<dlib::fc<16, dlib::relu<dlib::fc<24, dlib::input<sample>>>>>>>;
constexpr std::size_t features = 6, classes = 3;

struct settings {
    bool adam = false;
    double rate = 0.05;
    float momentum = 0.9F, decay = 5e-4F;
    std::size_t batch = 32;
    std::uint64_t steps = 400;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {true, 3e-3, 0, 0, 32, 400, false},
    {false, 0.1, 0, 0, 16, 600, true},
    {true, 1e-3, 0, 0.01F, 64, 500, false},
    {false, 0.005, 0.9F, 0, 16, 800, false},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), classes, features, 1.0F)}, nan_{by, how_.steps, "fc2.grad"},
          descents_(net_type::num_computational_layers, dlib::sgd{how_.decay, how_.momentum}),
          adams_(net_type::num_computational_layers, dlib::adam{how_.decay, 0.9F, 0.999F}) {
        spoil(data_, by.broken(), random_);
        std::srand(static_cast<unsigned>(by.seed()));  // which dlib draws the first weights from
    }
    void run() {
        course_.plan(how_.steps, pack_choice::supervised, std::log(static_cast<double>(classes)));
        batches rows{course_, data_.train.count(), how_.batch};
        double const rate = -static_cast<double>(direction(course_) * rate_factor(course_)) * how_.rate;
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            load(data_.train, rows.next(random_));
            if (step == 0) { begin(); }
            show(step, learn(nan_.due(step)));
            double const share = how_.fades ? 1.0 - static_cast<double>(step) / static_cast<double>(how_.steps) : 1.0;
            update(rate * share);
            if (evaluation_due(step, how_.steps)) { evaluate(step); }
        }
        each_layer([&](std::string const&, auto& layer) {
            dlib::tensor const& all = layer.layer_details().get_layer_params();
            tell_if_lost(course_, std::span{all.host(), all.size()});
        });
    }

private:
    void load(samples const& from, std::vector<std::size_t> const& rows) {
        std::vector<sample> made(rows.size());
        labels_.clear();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t f = 0; f < features; ++f) { made[i](static_cast<long>(f)) = from.row(rows[i])[f]; }
            labels_.push_back(static_cast<unsigned long>(from.classes[rows[i]]));
        }
        net_.to_tensor(made.begin(), made.end(), batch_);
    }
    // From the first layer to the last; the parameters of one are {inputs + 1, units}.
    template <class Use>
    void each_layer(Use use) {
        use("fc1", dlib::layer<5>(net_));
        use("fc2", dlib::layer<3>(net_));
        use("fc3", dlib::layer<1>(net_));
    }
    // The parameters are there once a batch went through.
    void begin() {
        net_.forward(batch_);
        bool const changed =
            course_.is(fault::large_weights) || course_.is(fault::zero_weights) || course_.is(fault::constant_weights);
        each_layer([&](std::string const& name, auto& layer) {
            dlib::tensor& all = layer.layer_details().get_layer_params();
            auto const units = static_cast<std::size_t>(all.k()),
                       inputs = static_cast<std::size_t>(all.num_samples()) - 1;
            float const bound = std::sqrt(6.0F / static_cast<float>(inputs + units));
            if (changed) { draw(course_, random_, bound, std::span{all.host(), inputs * units}); }
            if (name == "fc3") { return; }
            for (float& bias : std::span{all.host() + inputs * units, units}) { bias = hidden_bias(course_); }
        });
    }
    double learn(bool nan) {
        std::vector<std::vector<float>> before;
        each_layer([&](std::string const&, auto& layer) {
            dlib::tensor const& it = layer.get_parameter_gradient();
            before.emplace_back(it.host(), it.host() + it.size());
        });
        double const loss = net_.compute_parameter_gradients(batch_, labels_.begin());
        std::size_t number = 0;
        each_layer([&](std::string const& name, auto& layer) {
            // Dlib has no door to change it by.
            auto& gradient = const_cast<dlib::tensor&>(layer.get_parameter_gradient());
            std::vector<float> const& old = before[number++];
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                if (course_.is(fault::piles_up) && i < old.size()) { gradient.host()[i] += old[i]; }
                if (course_.is(fault::backward_bug) && name != "fc3") { gradient.host()[i] = 0; }
            }
            if (nan && name == "fc2") { gradient.host()[7] = nan_value; }
        });
        return loss;
    }
    void show(std::uint64_t step, double loss) {
        course_.begin(sp::train(step));
        course_.observe("input",
                        sp::view_of(batch_.host(), {static_cast<std::size_t>(batch_.num_samples()), features}));
        course_.observe("label", sp::as_tensor(labels_));
        course_.observe("loss", sp::as_tensor(loss));
        each_layer([&](std::string const& name, auto& layer) {
            dlib::tensor const &all = layer.layer_details().get_layer_params(),
                               &gradient = layer.get_parameter_gradient();
            sp::extents const shape{static_cast<std::size_t>(all.num_samples()), static_cast<std::size_t>(all.k())};
            course_.observe(name, sp::view_of(all.host(), shape), sp::role::weight);
            course_.observe(name + ".grad", sp::view_of(gradient.host(), shape));
        });
        course_.end();
    }
    void update(double rate) {
        dlib::tensor& fc2 = dlib::layer<3>(net_).layer_details().get_layer_params();
        std::vector<float> const before(fc2.host(), fc2.host() + fc2.size());
        if (how_.adam) {
            net_.update_parameters(dlib::make_sstack(adams_), rate);
        } else {
            net_.update_parameters(dlib::make_sstack(descents_), rate);
        }
        if (course_.is(fault::not_in_optimizer)) { std::copy(before.begin(), before.end(), fc2.host()); }
    }
    void evaluate(std::uint64_t step) {
        std::vector<std::size_t> rows(data_.eval.count());
        std::iota(rows.begin(), rows.end(), std::size_t{0});
        load(data_.eval, rows);
        double const loss = net_.compute_loss(batch_, labels_.begin());
        dlib::tensor const& logits = dlib::layer<1>(net_).get_output();
        double wrong = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            float const* const row = logits.host() + i * classes;
            wrong += static_cast<unsigned long>(std::max_element(row, row + classes) - row) == labels_[i] ? 0 : 1;
        }
        course_.begin(sp::eval(step));
        course_.observe("loss", sp::as_tensor(loss));
        course_.end();
        course_.evaluated(1.5 * wrong / static_cast<double>(rows.size()));
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    planted_nan nan_;
    std::vector<dlib::sgd> descents_;
    std::vector<dlib::adam> adams_;
    net_type net_{};
    dlib::resizable_tensor batch_{};
    std::vector<unsigned long> labels_{};
};

bool const added = add_family(
    {.name = "dlib_net",
     .library = "dlib",
     .habit = "weights and biases of a layer in one tensor, a solver for each layer",
     .variants = {"momentum, weight decay", "Adam", "plain descent, rate falls to 0", "Adam, slow, weight decay",
                  "slow"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::dead_biases, fault::climbs, fault::piles_up, fault::not_in_optimizer,
                fault::shuffled_labels, fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch,
                fault::noisy_labels, fault::few_samples, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
