// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the inputs and labels of the batch, and whether the loss depends on them.
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Checks the input values; takes no pass. Raw inputs: a mean beyond 20 or a deviation above 50, the limits at which
// rule input_not_normalized is certain. Equal samples are certain by themselves.
void look_at_inputs(examiner& all);

// Checks that the loss changes when all samples become the first; equal to the last bit, it ignores the inputs. Then
// compares a pass that follows a pass on other inputs with the same pass alone: where the losses agree to a millionth,
// gradients must agree to a thousandth. State from an earlier batch caused .05 and more.
void examine_inputs(examiner& all);

// The same for labels; also compares whole-number labels with the number of classes in the outputs. libtorch ignores
// the label -100.
void examine_labels(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI::detail {

// Whether neither the loss nor a gradient changes with other inputs or labels, to the last bit. The loss alone is not
// enough: near that of a guess it may round to the same. `stayed`: the pass did not overwrite the values that were put
// there.
[[nodiscard]] inline bool changes_nothing(examiner& all, bool of_inputs, raw_bytes const& other, bool& stayed) {
    subject& loop = all.loop;
    batch_base const& base = at_base(all);
    of_inputs ? loop.hold_inputs(other) : loop.hold_labels(other);
    double_list gradient;
    double const made = loop.pass(gradient);
    tensor_ref const now = of_inputs ? loop.inputs() : loop.labels();
    stayed =
        !loop.over() && now.bytes() == other.size() && std::memcmp(now.values.raw, other.data(), other.size()) == 0;
    loop.release_batch();
    return stayed && made == base.loss && gradient == base.gradient;
}

// The rows of the inputs, where the first axis counts samples; false where that is not specified.
[[nodiscard]] inline batch_rows input_rows(examiner& all, tensor_ref& view) {
    view = all.loop.inputs();
    batch_rows rows{view, all.loop.batch()};
    bool const said = static_cast<bool>(all.loop.given().inputs);
    bool const counts = said || (view.shape.rank > 1 && view.shape.size[0] == rows.samples);
    if (rows.samples < 2 || !counts) { rows.samples = 0; }
    return rows;
}

SPOTTER_BODY void look_at_inputs(examiner& all) {
    tensor_ref view;
    batch_rows const rows = input_rows(all, view);
    if (!rows) { return; }
    if (rows.are_all_equal()) { all.tell(preflight_cause::inputs_constant, "inputs"); }
    if (!is_floating(view.type)) { return; }
    mean_and_deviation const of{values_of(view)};
    double const mean = of.mean, deviation = of.deviation;
    bool const by_mean = magnitude(mean) / 20 > deviation / 50;
    if (magnitude(mean) <= 20 && deviation <= 50) { return; }
    draft& found = all.tell(preflight_cause::input_not_normalized, "inputs");
    found.measure = by_mean ? "mean" : "standard deviation", found.measured = by_mean ? mean : deviation;
    found.how = by_mean && mean < 0 ? relation::less : relation::greater,
    found.threshold = by_mean ? (mean < 0 ? -20 : 20) : 50;
}

// Checks whether a pass uses state from the batch before it.
inline void look_for_stale(examiner& all, batch_rows const& rows) {
    subject& loop = all.loop;
    double_list alone, behind;
    loop.hold_inputs(rows.rotated());
    double const loss = loop.pass(alone);
    loop.release_batch();
    loop.prepare();
    (void)loop.bare_pass();  // on the unchanged batch
    loop.hold_inputs(rows.rotated());
    loop.put_batch();
    double_list before;
    loop.read_gradients(before);
    double const again = loop.bare_pass();
    loop.read_gradients(behind);
    loop.release_batch();
    if (loop.over() || !(magnitude(again - loss) <= 1e-6 * magnitude(loss))) { return; }  // draws random numbers
    std::string_view first;
    double worst = 0;
    std::uint32_t others = 0;
    for (parameter const& each : loop.parameters()) {
        double square = 0;
        for (std::size_t i = each.first; i < each.first + each.count; ++i) {
            double const apart = behind[i] - (each.accumulates ? before[i] : 0.0) - alone[i];
            square += apart * apart;
        }
        double const size = norm_of(each.of(alone)), share = size > 0 ? std::sqrt(square) / size : 0;
        if (each.frozen || share < 1e-3 || size < 1e-5 * norm_of(alone)) { continue; }
        others += first.empty() ? 0U : 1U;
        if (first.empty()) { first = each.name; }
        worst = (std::max)(worst, share);
    }
    if (first.empty()) { return; }
    draft& found = all.tell(preflight_cause::stale_batch, first);
    found.measure = "change of its gradient", found.measured = worst;
    found.how = relation::greater, found.threshold = 1e-3;
    found.others = others;
}

SPOTTER_BODY void examine_inputs(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("inputs");
    tensor_ref view;
    batch_rows const rows = input_rows(all, view);
    if (!rows || rows.are_all_equal() || all.is_random) { return; }
    bool stayed = false;
    bool const ignored = changes_nothing(all, true, rows.all_first(), stayed);
    all.writable_inputs = stayed;
    if (!loop.over() && ignored && !all.has(preflight_cause::no_effect)) {
        all.tell(preflight_cause::inputs_ignored, "inputs");
    } else if (!loop.over() && stayed) {
        look_for_stale(all, rows);
    }
    if (!loop.over() && !stayed && loop.given().inputs) {
        all.tell(preflight_cause::not_proven, "inputs").detail =
            "a pass fills them anew: hand over those that it reads";
    }
    loop.go_to(loop.start());
}

// Compares whole-number labels, one per sample, with outputs of several classes.
inline void look_at_classes(examiner& all, batch_rows const& rows, tensor_ref const& labels) {
    subject& loop = all.loop;
    double_list const values = values_of(labels);
    tensor_ref const outputs = loop.outputs();
    if (outputs.absent() || values.size() != rows.samples || outputs.count % rows.samples != 0) { return; }
    double const classes = static_cast<double>(outputs.count / rows.samples);
    if (classes < 2) { return; }
    for (double const each : values) {
        if ((each >= 0 && each < classes) || each == -100) { continue; }
        draft& found = all.tell(preflight_cause::label_out_of_range, "labels");
        found.measure = "label", found.measured = each;
        found.how = each < 0 ? relation::less : relation::greater_equal, found.threshold = each < 0 ? 0 : classes;
        return;
    }
    if (rows.samples >= 4 && rows.are_all_equal()) { all.tell(preflight_cause::labels_constant, "labels"); }
}

SPOTTER_BODY void examine_labels(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("labels");
    tensor_ref const view = loop.labels();
    batch_rows const rows{view, loop.batch()};
    if (!rows || rows.samples < 2) { return; }
    if (is_whole(view.type)) { look_at_classes(all, rows, view); }
    batch_rows const inputs{loop.inputs(), loop.batch()};
    for (std::size_t i = 1; inputs && is_floating(inputs.type) && i < rows.samples; ++i) {
        if (!inputs.same_rows(i - 1, i) || rows.same_rows(i - 1, i)) { continue; }
        all.tell(preflight_cause::labels_contradict, "labels", severity::info);
        break;
    }
    if (rows.are_all_equal() || all.is_random ||
        all.has_any({preflight_cause::no_effect, preflight_cause::label_out_of_range})) {
        return;
    }
    bool stayed = false;
    bool const ignored = changes_nothing(all, false, rows.all_first(), stayed);
    if (!loop.over() && ignored) { all.tell(preflight_cause::labels_ignored, "labels"); }
    loop.go_to(loop.start());
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
