// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: do outputs match labels and loss, and are samples independent?
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Softmax over the wrong axis: outputs are positive and sum to one within 1e-3 along the batch, and not along the
// classes. Softmax twice: within 1e-4, the loss is the cross-entropy of probabilities that are taken for logits, and
// not that of the logits. Where the loss is neither, the last layer's weights are multiplied by 1000 and 4000. The loss
// of a sample then differs more and more between its best label and another, but by exactly one if it sees
// probabilities. First loss: a cross-entropy is reported at four times the logarithm of the number of classes.
void examine_outputs(examiner& all);

struct coupling_limits {
    // Relative to the outputs' size. Without coupling 4e-7 at most (rounding); samples mixed by a reshape .1 and more.
    static constexpr double influence = 1e-4, none = 1e-5, exchanged = 1e-3;
};
// Checks samples for coupling, only where the caller gave .inputs and .outputs. Otherwise it is unknown whether the
// first axis counts samples; it may count the words of a text.
void examine_coupling(examiner& all);

// Checks that evaluation does not depend on random numbers, only where the caller gave .training.
void examine_evaluation(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI::detail {

// Does the input of one sample change the output of another?

class coupling_experiment {
public:
    explicit coupling_experiment(examiner& all)
        : all_{all}, loop_{all.loop}, rows_{all.loop.inputs(), all.loop.batch()} {}

    void run() {
        if (!rows_ || rows_.samples < 3 || !is_floating(rows_.type) || rows_.are_all_equal()) { return; }
        double const training = influence(at_base(all_).outputs);
        if (!loop_.over() && training > coupling_limits::influence) { tell(training); }
        loop_.use_training(true);
        loop_.release_batch();
        loop_.go_to(loop_.start());
    }

private:
    void tell(double training) {
        if (has_modes_) {
            loop_.use_training(false);
            double const evaluation = influence(outputs());
            if (loop_.over()) { return; }
            if (evaluation < coupling_limits::none) {
                all_.tell(preflight_cause::batch_statistics, "outputs");
                return;
            }
        }
        // A dropout mask belongs to a place in the batch, and does not move with the samples.
        double const odd = has_modes_ || !draws() ? inequivariance() : 0;
        if (loop_.over()) { return; }
        bool const mixed = odd > coupling_limits::exchanged;
        preflight_cause const cause = mixed        ? preflight_cause::batch_mixed
                                      : has_modes_ ? preflight_cause::batch_statistics_in_evaluation
                                                   : preflight_cause::samples_coupled;
        draft& found = all_.tell(cause, "outputs");
        // Batch normalisation in training looks like this, so it is only a note.
        if (cause == preflight_cause::samples_coupled) { found.severity = severity::info; }
        found.measure =
            mixed ? "difference of an output that should only have moved" : "change of another sample's output";
        found.measured = mixed ? odd : training;
        found.how = relation::greater,
        found.threshold = mixed ? coupling_limits::exchanged : coupling_limits::influence;
    }
    [[nodiscard]] double_list outputs() {
        (void)loop_.loss();
        return loop_.over() ? double_list{} : values_of(loop_.outputs());
    }
    // How far the outputs of other samples move, relative to their size, when one input becomes a mixture with the
    // next.
    [[nodiscard]] double influence(double_list const& before) {
        std::size_t const changed = rows_.samples / 2, width = rows_.elements() / rows_.samples;
        raw_bytes other = rows_.bytes;
        double_list one(width), next(width);
        read_row(changed, one);
        read_row((changed + 1) % rows_.samples, next);
        for (std::size_t i = 0; i < width; ++i) { one[i] = 1.7 * next[i] - 0.3 * one[i]; }
        tensor_ref into = view_of(other.data() + changed * rows_.row_bytes, rows_.type, {width});
        write_elements(into, one.data());
        loop_.hold_inputs(other);
        double_list const after = outputs();
        loop_.release_batch();
        if (before.empty() || before.size() != after.size() || before.size() % rows_.samples != 0) { return 0; }
        std::size_t const classes = before.size() / rows_.samples;
        double most = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            if (i / classes != changed) { most = (std::max)(most, magnitude(after[i] - before[i])); }
        }
        return most / (std::max)(rms_of(before), 1e-30);
    }
    void read_row(std::size_t row, double_list& into) const {
        (void)read_elements(view_of(rows_.row(row), rows_.type, {into.size()}), into.data());
    }
    [[nodiscard]] double inequivariance() {
        double_list const before = has_modes_ ? outputs() : all_.base.outputs;
        loop_.hold_inputs(rows_.rotated());
        double_list const after = outputs();
        loop_.release_batch();
        if (before.empty() || before.size() != after.size()) { return 0; }
        std::size_t const classes = before.size() / rows_.samples;
        double most = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            most = (std::max)(most, magnitude(after[i] - before[(i + classes) % before.size()]));
        }
        return most / (std::max)(rms_of(before), 1e-30);
    }
    [[nodiscard]] bool draws() {
        if (all_.draws) { return true; }
        loop_.prepare();
        double const one = loop_.bare_pass(), two = loop_.bare_pass();
        return !(magnitude(one - two) <= 1e-6 * magnitude(one));
    }

    examiner& all_;
    subject& loop_;
    batch_rows rows_;
    bool has_modes_ = static_cast<bool>(loop_.given().training);
};

SPOTTER_BODY void examine_coupling(examiner& all) {
    examination const& given = all.loop.given();
    if (!given.inputs || !given.outputs || all.is_random || !all.writable_inputs) { return; }
    all.loop.begin_experiment("samples beside each other");
    coupling_experiment{all}.run();
}

SPOTTER_BODY void examine_evaluation(examiner& all) {
    subject& loop = all.loop;
    if (!loop.given().training || all.is_random) { return; }
    loop.begin_experiment("evaluation");
    loop.use_training(false);
    loop.go_to(loop.start());
    loop.prepare();
    double const one = loop.bare_pass();
    batch_rows const first{loop.inputs(), loop.batch()};
    if (loop.given().seed && !loop.over()) { loop.given().seed(2); }
    double const two = loop.bare_pass();
    batch_rows const second{loop.inputs(), loop.batch()};
    loop.use_training(true);
    bool const same_batch = first && first.bytes == second.bytes;  // a pass may draw its batch
    if (loop.over() || !same_batch || !is_finite(one) || !is_finite(two) ||
        magnitude(one - two) <= 1e-6 * magnitude(one) + 1e-12) {
        return;
    }
    draft& found = all.tell(preflight_cause::random_in_evaluation, "loss");
    found.measure = "difference of two losses", found.measured = magnitude(one - two);
    found.how = relation::greater, found.threshold = 0;
}

// Softmax and loss.

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
#endif
