// SPDX-License-Identifier: Apache-2.0
// The bodies of outputs.hpp: softmax and loss.
#pragma once

#include <spotter/preflight/outputs.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Outputs of a batch, [samples, classes], and the losses that may belong to them.
class class_outputs {
public:
    class_outputs(double_list values, std::size_t samples)
        : values_{std::move(values)}, samples_{samples}, classes_{samples > 0 ? values_.size() / samples : 0} {}

    [[nodiscard]] std::size_t classes() const noexcept { return classes_; }
    [[nodiscard]] number_view row(std::size_t i) const noexcept { return {values_.data() + i * classes_, classes_}; }
    [[nodiscard]] bool positive() const noexcept {
        return std::all_of(values_.begin(), values_.end(), [](double each) { return each >= 0; });
    }
    [[nodiscard]] bool rows_sum_to_one() const noexcept {
        for (std::size_t i = 0; i < samples_; ++i) {
            double sum = 0;
            for (double const each : row(i)) { sum += each; }
            if (magnitude(sum - 1) > 1e-3) { return false; }
        }
        return positive();
    }
    [[nodiscard]] bool columns_sum_to_one() const noexcept {
        for (std::size_t c = 0; c < classes_; ++c) {
            double sum = 0;
            for (std::size_t i = 0; i < samples_; ++i) { sum += values_[i * classes_ + c]; }
            if (magnitude(sum - 1) > 1e-3) { return false; }
        }
        return positive();
    }
    // The mean over samples of minus the logarithm of the label's probability. Outputs are logits; with `again`, their
    // softmax is taken for logits.
    [[nodiscard]] double cross_entropy(number_view labels, bool again) const {
        double sum = 0;
        double_list logits(classes_);
        for (std::size_t i = 0; i < samples_; ++i) {
            std::copy(row(i).begin(), row(i).end(), logits.begin());
            double total = log_sum(logits);
            if (again) {
                for (double& each : logits) { each = std::exp(each - total); }
                total = log_sum(logits);
            }
            sum += total - logits[static_cast<std::size_t>(labels[i])];
        }
        return sum / static_cast<double>(samples_);
    }
    // The same loss where outputs are probabilities.
    [[nodiscard]] double log_loss(number_view labels) const {
        double sum = 0;
        for (std::size_t i = 0; i < samples_; ++i) {
            sum -= std::log((std::max)(row(i)[static_cast<std::size_t>(labels[i])], 1e-300));
        }
        return sum / static_cast<double>(samples_);
    }

private:
    [[nodiscard]] static double log_sum(double_list const& logits) {
        double const top = *std::max_element(logits.begin(), logits.end());
        double sum = 0;
        for (double const each : logits) { sum += std::exp(each - top); }
        return top + std::log(sum);
    }

    double_list values_;
    std::size_t samples_, classes_;
};

enum class loss_form : std::uint8_t { other, cross_entropy, softmax_twice };

// Which of these losses it is, as the mean or the sum over the batch.
[[nodiscard]] inline loss_form form_of(class_outputs const& outputs, number_view labels, double loss,
                                       std::size_t samples) {
    bool const probabilities = outputs.rows_sum_to_one();
    double const right = probabilities ? outputs.log_loss(labels) : outputs.cross_entropy(labels, false);
    double const twice = probabilities ? outputs.cross_entropy(labels, false) : outputs.cross_entropy(labels, true);
    if (magnitude(right - twice) < 1e-3 * magnitude(right)) { return loss_form::other; }
    for (double const scale : {1.0, static_cast<double>(samples)}) {
        if (magnitude(loss - scale * right) <= 1e-4 * magnitude(loss)) { return loss_form::cross_entropy; }
        if (magnitude(loss - scale * twice) <= 1e-4 * magnitude(loss)) { return loss_form::softmax_twice; }
    }
    return loss_form::other;
}

// The difference of the loss between two labels of the first sample, with the last layer's weights `times` as large;
// -1: unknown.
[[nodiscard]] inline double spread_over_labels(examiner& all, batch_rows const& labels, double times) {
    subject& loop = all.loop;
    double_list weights = loop.start();
    std::vector<parameter> const& tensors = loop.parameters();
    std::size_t from = tensors.size() - 1;
    if (from > 0 && tensors[from].count < tensors[from - 1].count) { --from; }  // from a bias to its weight
    for (std::size_t i = tensors[from].first; i < weights.size(); ++i) { weights[i] *= times; }
    loop.go_to(weights);
    (void)loop.loss();
    double_list const values = values_of(loop.outputs());
    if (loop.over() || values.empty() || !all_finite(values)) { return -1; }
    std::size_t const classes = values.size() / labels.samples;
    std::size_t const best = static_cast<std::size_t>(
        std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(classes)) - values.begin());
    double losses[2]{};
    for (int k = 0; k < 2; ++k) {
        raw_bytes changed = labels.bytes;
        std::uint64_t const label = k == 0 ? best : best == 0 ? 1 : 0;
        std::memcpy(changed.data(), &label, labels.row_bytes);  // a little-endian whole number
        loop.hold_labels(changed);
        losses[k] = loop.loss();
    }
    loop.release_batch();
    loop.go_to(loop.start());
    return loop.over() || !is_finite(losses[0]) || !is_finite(losses[1]) ? -1 : magnitude(losses[1] - losses[0]);
}

inline void tell_twice(examiner& all, std::string_view how) {
    all.tell(preflight_cause::softmax_twice, "loss").detail = how;
}

inline void look_at_loss(examiner& all, class_outputs const& outputs, batch_rows const& labels,
                         double_list const& values, double loss) {
    subject& loop = all.loop;
    loss_form const form = form_of(outputs, values, loss, labels.samples);
    if (form == loss_form::softmax_twice) {
        return tell_twice(all, "it equals the cross-entropy of probabilities taken for logits");
    }
    if (form == loss_form::cross_entropy) {
        double const samples = static_cast<double>(labels.samples),
                     guess = std::log(static_cast<double>(outputs.classes()));
        double const first = loop.first_loss() > 0.5 * samples * guess && loss > 0.5 * samples * guess
                                 ? loop.first_loss() / samples
                                 : loop.first_loss();
        if (first > 4 * guess) {
            draft& found = all.tell(preflight_cause::initial_loss, "loss");
            found.measure = "first loss", found.measured = first;
            found.how = relation::greater, found.threshold = 4 * guess;
        }
        return;
    }
    if (!loop.has_left(8)) { return; }
    double const at_1000 = spread_over_labels(all, labels, 1000), at_4000 = spread_over_labels(all, labels, 4000);
    double const one = at_1000 < 0.5 ? at_1000 * static_cast<double>(labels.samples) : at_1000;
    if (at_1000 > 0 && at_4000 > 0 && at_4000 < 1.05 * at_1000 && one > 0.9 && one < 1.05) {
        tell_twice(all, "with weights x1000 a label costs 1 and no more");
    }
}

// Whole-number labels, one per sample, if each is a class; otherwise empty.
[[nodiscard]] inline double_list class_labels(batch_rows const& labels, tensor_ref const& view, std::size_t classes) {
    double_list values = labels && is_whole(view.type) ? values_of(view) : double_list{};
    bool const fit = values.size() == labels.samples && std::all_of(values.begin(), values.end(), [&](double each) {
                         return each >= 0 && each < static_cast<double>(classes);
                     });
    return fit ? values : double_list{};
}

SPOTTER_BODY void examine_outputs(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("outputs");
    std::size_t const samples = loop.batch();
    if (all.is_random || samples < 2 || loop.outputs().absent()) { return; }
    batch_base const& base = at_base(all);
    loop.go_to(loop.start());
    bool const has_classes =
        is_floating(loop.outputs().type) && base.outputs.size() % samples == 0 && base.outputs.size() >= 2 * samples;
    if (loop.over() || !has_classes || !is_finite(base.loss) || !all_finite(base.outputs)) { return; }
    class_outputs const outputs{base.outputs, samples};
    if (outputs.columns_sum_to_one() && !outputs.rows_sum_to_one()) {
        all.tell(preflight_cause::softmax_over_batch, "outputs");
        return;
    }
    tensor_ref const view = loop.labels();
    batch_rows const labels{view, samples};
    double_list const values = class_labels(labels, view, outputs.classes());
    if (!values.empty()) { look_at_loss(all, outputs, labels, values, base.loss); }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
