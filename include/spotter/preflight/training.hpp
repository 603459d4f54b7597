// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment, on request: trains a copy on the one batch.
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

struct training_limits {
    static constexpr int updates = 200;
    static constexpr double learned = 0.999;  // times the first loss
    // Labels: by how many deviations the loss of samples that were not trained on must be better than with exchanged
    // labels. In seven nets, a small sample, related and shifted labels gave 4.4 to 15.6, exchanged ones -2.5 to 1.4.
    static constexpr double related = 3;
    static constexpr std::size_t least_samples = 64;
    static constexpr int exchanges = 5;
};

// First: 200 updates must lower the loss of their own batch. Then, if the caller gave inputs and labels of 64 samples
// or more: trains on half of the batch, with its labels as they are and five times exchanged, and computes the loss of
// the other half. This is statistics, no proof, and the finding says so.
void examine_training(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

class training_experiment {
public:
    explicit training_experiment(examiner& all) : all_{all}, loop_{all.loop} {}

    void run() {
        loop_.allow(training_limits::updates + 10);
        double const first = loop_.first_loss(), last = overfit();
        if (loop_.over()) { return; }
        if (!is_finite(last) || last > training_limits::learned * first) {
            draft& found = all_.tell(preflight_cause::cannot_overfit, "loss");
            found.measure = "loss after, over that before", found.measured = last / first;
            found.how = relation::greater, found.threshold = training_limits::learned;
        }
        if (last < 0.5 * first) { relate(); }
    }

private:
    void begin() {
        loop_.go_to(loop_.start());
        loop_.prepare();
        if (loop_.has_gradients()) { loop_.write_gradients(double_list(loop_.elements(), 0.0)); }
    }
    // The mean of the last five losses.
    [[nodiscard]] double overfit() {
        begin();
        double sum = 0;
        for (int k = 0; k < training_limits::updates && !loop_.over(); ++k) {
            double const loss = loop_.bare_pass();
            if (!is_finite(loss)) { return loss; }
            sum += k >= training_limits::updates - 5 ? loss / 5 : 0;
            loop_.update();
        }
        return sum;
    }

    [[nodiscard]] static raw_bytes filled(batch_rows const& rows, std::vector<std::size_t> const& from) {
        raw_bytes made = rows.bytes;
        for (std::size_t i = 0; i < rows.samples; ++i) {
            std::memcpy(made.data() + i * rows.row_bytes, rows.row(from[i % from.size()]), rows.row_bytes);
        }
        return made;
    }
    // Fills the batch with inputs and labels of these samples, repeated.
    void put(batch_rows const& inputs, batch_rows const& labels, std::vector<std::size_t> const& from,
             std::vector<std::size_t> const& labels_from) {
        tensor_ref const x = loop_.inputs(), y = loop_.labels();
        raw_bytes const these = filled(inputs, from), theirs = filled(labels, labels_from);
        if (x.bytes() != these.size() || y.bytes() != theirs.size()) { return; }
        std::memcpy(const_cast<void*>(x.values.raw), these.data(), these.size());
        std::memcpy(const_cast<void*>(y.values.raw), theirs.data(), theirs.size());
    }
    // The least loss of the other half during training on the first half.
    [[nodiscard]] double loss_of_others(batch_rows const& inputs, batch_rows const& labels,
                                        std::vector<std::size_t> const& exchanged) {
        std::size_t const half = inputs.samples / 2;
        std::vector<std::size_t> learned(half), others(half);
        for (std::size_t i = 0; i < half; ++i) { learned[i] = i, others[i] = half + i; }
        begin();
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < training_limits::updates && !loop_.over(); ++k) {
            put(inputs, labels, learned, exchanged);
            (void)loop_.bare_pass();
            loop_.update();
            if (k % 10 != 9) { continue; }
            put(inputs, labels, others, others);
            double const there = loop_.bare_pass();
            if (is_finite(there)) { least = (std::min)(least, there); }
            if (loop_.has_gradients()) { loop_.write_gradients(double_list(loop_.elements(), 0.0)); }
        }
        return least;
    }
    void relate() {
        examination const& given = loop_.given();
        begin();
        batch_rows const inputs{loop_.inputs(), loop_.batch()}, labels{loop_.labels(), loop_.batch()};
        if (!given.inputs || !given.labels || !all_.writable_inputs || !inputs || !labels ||
            inputs.samples < training_limits::least_samples) {
            return;
        }
        loop_.begin_experiment("labels, learned by one half");
        double const deviations = deviations_better(inputs, labels);
        if (!is_finite(deviations) || deviations > training_limits::related) { return; }
        draft& found = all_.tell(preflight_cause::labels_unrelated, "labels");
        found.measure = "deviations by which they are better than exchanged ones", found.measured = deviations;
        found.how = relation::less_equal, found.threshold = training_limits::related;
    }
    // By how many deviations the labels lower the loss of the other half more than exchanged ones; not finite where
    // this is unknown.
    [[nodiscard]] double deviations_better(batch_rows const& inputs, batch_rows const& labels) {
        std::size_t const half = inputs.samples / 2;
        loop_.allow((1 + training_limits::exchanges) * (training_limits::updates * 11 / 10 + 2));
        std::vector<std::size_t> order(half);
        for (std::size_t i = 0; i < half; ++i) { order[i] = i; }
        double const real = loss_of_others(inputs, labels, order);
        double_list other;
        for (int k = 0; k < training_limits::exchanges; ++k) {
            for (std::size_t left = half; left > 1; --left) {
                std::swap(order[left - 1], order[as_size(all_.random.next() % left)]);
            }
            other.push_back(loss_of_others(inputs, labels, order));
        }
        if (loop_.over() || !all_finite(other)) { return std::numeric_limits<double>::quiet_NaN(); }
        mean_and_deviation const exchanged{other};
        return (exchanged.mean - real) / (exchanged.deviation + 1e-12);
    }

    examiner& all_;
    subject& loop_;
};

SPOTTER_BODY void examine_training(examiner& all) {
    subject& loop = all.loop;
    if (!loop.given().overfit || !loop.given().update || loop.over()) { return; }
    loop.begin_experiment("training on one batch");
    training_experiment{all}.run();
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
