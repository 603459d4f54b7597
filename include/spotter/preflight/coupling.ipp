// SPDX-License-Identifier: Apache-2.0
// The bodies of outputs.hpp: does the input of one sample change the output of another?
#pragma once

#include <spotter/preflight/outputs.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

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

}  // namespace spotter::inline SPOTTER_ABI::detail
