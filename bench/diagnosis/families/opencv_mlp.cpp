// SPDX-License-Identifier: Apache-2.0
// The neural net of OpenCV, which learns inside the library, an epoch a call: its user sees the weights, with the
// biases as their last row, and a loss.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <spotter/ext/opencv.hpp>

#include <opencv2/ml.hpp>

#include <algorithm>
#include <cmath>

namespace diagnosis {

namespace {

using cv::ml::ANN_MLP;

constexpr std::size_t features = 4, classes = 3;

struct settings {
    int method = ANN_MLP::BACKPROP;
    double rate = 0.01, momentum = 0.1;
    int units = 10;
    std::uint64_t epochs = 60;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {ANN_MLP::BACKPROP, 0.002, 0.0, 10, 100, false},
    {ANN_MLP::BACKPROP, 0.005, 0.5, 16, 80, false},
    {ANN_MLP::RPROP, 0.003, 0, 10, 250, true},
    {ANN_MLP::BACKPROP, 0.05, 0.1, 8, 60, true},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, data_{make_clouds(by.seed(), classes, features, 0.6F, 200)} {
        prng random{by.seed() + 5000};
        spoil(data_, by.broken(), random);
        net_->setLayerSizes(std::vector<int>{static_cast<int>(features), how_.units, static_cast<int>(classes)});
        net_->setActivationFunction(ANN_MLP::SIGMOID_SYM, 1, 1);
        net_->setTermCriteria({cv::TermCriteria::MAX_ITER, 1, 0});
    }
    void run() {
        course_.plan(how_.epochs, pack_choice::supervised, 8.0 / 9.0);  // the variance of the targets
        planted_nan const nan{course_, how_.epochs, "layer1"};
        cv::Mat x = inputs_of(data_.train), y = targets_of(data_.train);
        for (std::uint64_t epoch = 0; epoch < how_.epochs; ++epoch) {
            if (nan.due(epoch)) { x.at<float>(3, 2) = nan_value; }
            learn(epoch, x, y);
            show(epoch, error(x, y));
            if (evaluation_due(epoch, how_.epochs)) { evaluate(); }
        }
        tell_if_lost(course_, cv::Mat_<double>{net_->getWeights(1)});
    }

private:
    static cv::Mat inputs_of(samples const& from) {
        return cv::Mat(static_cast<int>(from.count()), static_cast<int>(features), CV_32F,
                       const_cast<float*>(from.inputs.data()))
            .clone();
    }
    static cv::Mat targets_of(samples const& from) {
        cv::Mat made(static_cast<int>(from.count()), static_cast<int>(classes), CV_32F, cv::Scalar{-1});
        for (int r = 0; r < made.rows; ++r) { made.at<float>(r, from.classes[static_cast<std::size_t>(r)]) = 1; }
        return made;
    }
    void learn(std::uint64_t epoch, cv::Mat const& x, cv::Mat const& y) {
        double const share = how_.fades ? 1.0 - static_cast<double>(epoch) / static_cast<double>(how_.epochs) : 1.0;
        double const rate = -static_cast<double>(direction(course_) * rate_factor(course_)) * how_.rate * share;
        net_->setTrainMethod(how_.method);
        net_->setBackpropWeightScale(rate);
        net_->setBackpropMomentumScale(how_.momentum);
        net_->setRpropDW0(rate);
        int const flags =
            ANN_MLP::NO_INPUT_SCALE | ANN_MLP::NO_OUTPUT_SCALE | (epoch > 0 ? ANN_MLP::UPDATE_WEIGHTS : 0);
        net_->train(cv::ml::TrainData::create(x, cv::ml::ROW_SAMPLE, y), flags);
    }
    double error(cv::Mat const& x, cv::Mat const& y) {
        net_->predict(x, output_);
        cv::Mat const gap = output_ - y;
        return gap.dot(gap) / static_cast<double>(gap.total());
    }
    void show(std::uint64_t epoch, double loss) {
        course_.begin(sp::train(epoch));
        course_.observe("loss", sp::as_tensor(loss));
        course_.observe("layer1", sp::as_tensor(net_->getWeights(1)), sp::role::weight);
        course_.observe("layer2", sp::as_tensor(net_->getWeights(2)), sp::role::weight);
        course_.end();
    }
    void evaluate() {
        error(inputs_of(data_.eval), targets_of(data_.eval));
        int wrong = 0;
        for (int r = 0; r < output_.rows; ++r) {
            float const* const row = output_.ptr<float>(r);
            wrong +=
                std::max_element(row, row + classes) - row == data_.eval.classes[static_cast<std::size_t>(r)] ? 0 : 1;
        }
        course_.evaluated(1.5 * wrong / output_.rows);
    }

    course& course_;
    settings how_;
    task data_;
    cv::Ptr<ANN_MLP> net_ = ANN_MLP::create();
    cv::Mat output_{};
};

bool const added = add_family(
    {.name = "opencv_mlp",
     .library = "OpenCV",
     .habit = "the library trains, an epoch a step; weights in double precision whose last row are the biases, and a "
              "loss, nothing else",
     .variants = {"backpropagation", "slow, no momentum", "more momentum, wide", "RPROP begun anew each epoch",
                  "fast, rate falls to 0"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::climbs, fault::shuffled_labels,
                fault::imbalanced, fault::not_a_number, fault::noisy_labels, fault::few_samples},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
