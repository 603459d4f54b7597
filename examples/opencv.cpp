// SPDX-License-Identifier: Apache-2.0
// A linear model that distinguishes disks from rings on small images which the program draws, with cv::Mat throughout.
// Its weights are an image too, and the record returns them as one.
#include "common/prng.hpp"

#include <spotter/ext/opencv.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace sp = spotter;
using namespace sp::literals;

namespace {

constexpr int side = 16, pixels = side * side, samples = 120;

// Rows of `images` are drawings; a label is 1 for a disk.
void draw(cv::Mat_<float>& images, cv::Mat_<float>& labels) {
    example::prng random{11};
    for (int i = 0; i < samples; ++i) {
        bool const disk = i % 2 == 0;
        float const x = random.uniform(6.0F, 10.0F), y = random.uniform(6.0F, 10.0F),
                    radius = random.uniform(4.0F, 5.5F);
        for (int r = 0; r < side; ++r) {
            for (int c = 0; c < side; ++c) {
                float const distance = std::hypot(static_cast<float>(c) - x, static_cast<float>(r) - y);
                bool const inside = disk ? distance < radius * 0.7F : distance < radius && distance > radius * 0.6F;
                images(i, r * side + c) = (inside ? 1.0F : 0.0F) + random.uniform(-0.1F, 0.1F);
            }
        }
        labels(i) = disk ? 1.0F : 0.0F;
    }
}

}  // namespace

int main() {
    constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                            sp::collection{"weights", "filter/w", sp::every{100}, sp::payload},
                            sp::collection{"inputs", "input", sp::every{100}, sp::payload}};
    cv::Mat_<float> images(samples, pixels), labels(samples, 1);
    draw(images, labels);
    cv::Mat weight = cv::Mat::zeros(side, side, CV_32F);
    float bias = 0;
    int right = 0;
    std::string path;
    {
        sp::hook watch{"runs/opencv", keep, sp::non_finite{}, sp::exploding_gradient{},
                       sp::options{.existing = sp::existing::replace}};
        path = watch.path();
        for (std::uint64_t step = 0; step < 401; ++step) {
            cv::Mat_<float> const score(images * weight.reshape(1, pixels));
            cv::Mat_<float> slope(samples, 1);
            float loss = 0;
            right = 0;
            for (int i = 0; i < samples; ++i) {
                float const p = 1.0F / (1.0F + std::exp(-(score(i) + bias)));
                slope(i) = (p - labels(i)) / samples;
                loss -= std::log(labels(i) > 0 ? p : 1.0F - p) / samples;
                right += (p > 0.5F) == (labels(i) > 0) ? 1 : 0;
            }
            cv::Mat gradient = images.t() * slope;
            gradient = gradient.reshape(1, side);
            // 120 x 256 floats are a batch of images: the same memory with three axes.
            int const batch[] = {samples, side, side};
            auto const found = watch.step(sp::train(step), "loss"_t = loss, "input"_t = images.reshape(1, 3, batch),
                                          "filter/w"_t = weight, "grad/filter/w"_t = gradient);
            if (found.decision() != sp::decision::proceed) { return 1; }
            weight -= 0.5F * gradient;
            bias -= 0.5F * static_cast<float>(cv::sum(slope)[0]);
        }
    }
    std::uint32_t checksum = 0;
    for (int i = 0; i < pixels; ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, weight.ptr<float>() + i, sizeof bits);
        checksum = checksum * 31 + bits;
    }
    std::printf("%d of %d right, parameters %08x\n", right, samples, checksum);
    if (path.empty()) { return 0; }  // SPOTTER=off or dry

    sp::trial const run = sp::open_trial(path).value();
    cv::Mat const learnt = run["filter/w"].at(sp::train(400)).to<cv::Mat>().value();
    double low = 0, high = 0;
    cv::minMaxLoc(learnt, &low, &high);
    std::printf("the recorded filter, %.3f to %.3f:\n", low, high);
    for (int r = 0; r < side; ++r) {
        char line[side + 1] = {};
        for (int c = 0; c < side; ++c) {
            double const level = 4.999 * (static_cast<double>(learnt.at<float>(r, c)) - low) / (high - low);
            line[c] = " .:*#"[static_cast<int>(level)];
        }
        std::printf("    %s\n", line);
    }
    return right > samples * 9 / 10 ? 0 : 1;
}
