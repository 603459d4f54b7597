// SPDX-License-Identifier: Apache-2.0
// A plain recurrent net that foretells a noisy sum of two waves. Its gradients are clipped in most steps; what is shown
// of them is what is left, beside the norm that they had.
#include "../family.hpp"
#include "descent.hpp"

#include <spotter/ext/eigen.hpp>

#include <Eigen/Dense>

#include <array>
#include <numbers>

namespace diagnosis {

namespace {

using matrix = Eigen::MatrixXf;

constexpr Eigen::Index units = 20;
constexpr std::size_t length = 14;

struct settings {
    descent::kind how = descent::kind::sgd;
    float rate = 0.4F, momentum = 0.9F, decay = 0, largest_norm = 0.05F;
    std::size_t batch = 16;
    std::uint64_t steps = 800;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {descent::kind::sgd, 3.0F, 0, 0, 0.05F, 16, 800, true},
    {descent::kind::adam, 2e-3F, 0, 0, 0.1F, 16, 800, false},
    {descent::kind::nesterov, 0.2F, 0.9F, 1e-4F, 0.1F, 32, 600, false},
    {descent::kind::sgd, 0.1F, 0.9F, 0, 0.05F, 8, 1200, false},
};

struct tensor {
    std::string name;
    matrix value, gradient;

    tensor(course const& of, prng& random, std::string title, Eigen::Index rows, Eigen::Index cols, bool bias = false)
        : name{std::move(title)}, value{matrix::Zero(rows, cols)}, gradient{matrix::Zero(rows, cols)} {
        if (!bias) { draw(of, random, 1.0F / std::sqrt(static_cast<float>(units)), value.reshaped()); }
    }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(value.size()); }
};

// One wave a column, one time a row; one time more than is read, which is what there is to foretell. Amplitude about 1.
matrix waves(course const& of, prng& random, std::size_t count, bool clean) {
    matrix made(static_cast<Eigen::Index>(length) + 1, static_cast<Eigen::Index>(count));
    for (Eigen::Index i = 0; i < made.cols(); ++i) {
        float const slow = random.uniform(0.0F, 2 * std::numbers::pi_v<float>),
                    fast = random.uniform(0.0F, 2 * std::numbers::pi_v<float>);
        for (Eigen::Index t = 0; t < made.rows(); ++t) {
            auto const at = static_cast<float>(t);
            made(t, i) = std::sin(0.45F * at + slow) + 0.7F * std::sin(1.3F * at + fast) + 0.05F * normal(random);
            if (of.is(fault::shuffled_labels) && !clean) { made(t, i) = 1.2F * normal(random); }
        }
    }
    return made;
}

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          net_{tensor{by, random_, "rnn.weight_ih_l0", units, 1}, tensor{by, random_, "rnn.weight_hh_l0", units, units},
               tensor{by, random_, "rnn.bias_l0", units, 1, true}, tensor{by, random_, "head.weight", 1, units},
               tensor{by, random_, "head.bias", 1, 1, true}},
          optimizer_{by, how_.how, how_.rate, how_.momentum, how_.decay},
          nan_{by, how_.steps, "rnn.weight_hh_l0.grad"} {}

    void run() {
        course_.plan(how_.steps, pack_choice::supervised, 0.75);
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            if (step == 0 || !course_.is(fault::same_batch)) { read(waves(course_, random_, how_.batch, false)); }
            loss_ = loss_sign(course_) * forward();
            backward();
            if (nan_.due(step)) { net_[1].gradient(1, 2) = nan_value; }
            clip();
            show(step);
            float const share = how_.fades ? 1.0F - static_cast<float>(step) / static_cast<float>(how_.steps) : 1.0F;
            for (std::size_t i = 0; i < net_.size(); ++i) {
                if (i == 1 && course_.is(fault::not_in_optimizer)) { continue; }
                optimizer_.step(i, net_[i].value.data(), net_[i].gradient.data(), net_[i].size(), share);
            }
            if (evaluation_due(step, how_.steps)) { evaluate(step); }
        }
        for (tensor const& each : net_) { tell_if_lost(course_, each.value.reshaped()); }
    }

private:
    void read(matrix const& from) {
        input_ = from.topRows(length);
        target_ = from.bottomRows(length);
    }
    float forward() {
        h_.assign(1, matrix::Zero(units, input_.cols()));
        output_.resize(input_.rows(), input_.cols());
        for (Eigen::Index t = 0; t < input_.rows(); ++t) {
            matrix const sum = net_[0].value * input_.row(t) + net_[1].value * h_.back();
            h_.push_back((sum.colwise() + net_[2].value.col(0)).array().tanh());
            output_.row(t) = (net_[3].value * h_.back()).array() + net_[4].value(0);
        }
        return (output_ - target_).squaredNorm() / static_cast<float>(output_.size());
    }
    void backward() {
        for (tensor& each : net_) { clear(course_, each.gradient.reshaped()); }
        matrix const slope = (output_ - target_) * (2.0F * loss_sign(course_) / static_cast<float>(output_.size()));
        matrix dh = matrix::Zero(units, input_.cols());
        for (Eigen::Index t = input_.rows(); t-- > 0;) {
            matrix const& h = h_[static_cast<std::size_t>(t) + 1];
            net_[3].gradient += slope.row(t) * h.transpose();
            net_[4].gradient(0) += slope.row(t).sum();
            if (course_.is(fault::backward_bug)) { continue; }
            dh += net_[3].value.transpose() * slope.row(t);
            matrix const da = dh.array() * (1.0F - h.array().square());
            net_[0].gradient += da * input_.row(t).transpose();
            net_[1].gradient += da * h_[static_cast<std::size_t>(t)].transpose();
            net_[2].gradient += da.rowwise().sum();
            dh = net_[1].value.transpose() * da;
        }
    }
    void clip() {
        norm_ = 0;
        for (tensor const& each : net_) { norm_ += each.gradient.squaredNorm(); }
        norm_ = std::sqrt(norm_);
        if (!(norm_ > how_.largest_norm) || course_.is(fault::not_clipped)) { return; }
        for (tensor& each : net_) { each.gradient *= how_.largest_norm / norm_; }
    }
    void show(std::uint64_t step) {
        course_.begin(sp::train(step));
        course_.scalar("loss", static_cast<double>(loss_));
        course_.scalar("metric/grad_norm", static_cast<double>(norm_));
        for (tensor const& each : net_) {
            bool const weight = each.name.find("weight") != std::string::npos;
            course_.observe(each.name, sp::as_tensor(each.value), weight ? sp::role::weight : sp::role::bias);
            course_.observe(each.name + ".grad", sp::as_tensor(each.gradient));
        }
        course_.end();
    }
    void evaluate(std::uint64_t step) {
        matrix const input = input_, target = target_;
        prng fresh{course_.seed() + 9000};
        read(waves(course_, fresh, 200, true));
        float const loss = forward();
        course_.begin(sp::eval(step));
        course_.scalar("loss", static_cast<double>(loss_sign(course_) * loss));
        course_.end();
        course_.evaluated(static_cast<double>(loss) / 0.75);
        input_ = input;
        target_ = target;
    }

    course& course_;
    settings how_;
    prng random_;
    std::array<tensor, 5> net_;
    descent optimizer_;
    planted_nan nan_;
    matrix input_{}, target_{}, output_{};
    std::vector<matrix> h_{};
    float loss_ = 0, norm_ = 0;
};

bool const added = add_family(
    {.name = "rnn_clipped",
     .library = "Eigen",
     .habit = "gradients are clipped in most steps, and shown so",
     .variants = {"momentum", "plain descent, rate falls to 0", "adam", "Nesterov's momentum, weight decay",
                  "slow, batches of 8"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::climbs, fault::piles_up, fault::not_in_optimizer, fault::shuffled_labels,
                fault::not_a_number, fault::same_batch, fault::negated_loss, fault::not_clipped, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
