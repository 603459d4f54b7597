// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the examination: which experiments it makes, in which order, and what it reports.
#pragma once

#include <spotter/preflight/examination.hpp>
#include <spotter/preflight/result.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Throws nothing: an exception of the program's functions is reported as a finding. `original` may be null.
[[nodiscard]] preflight_result examine(examination const& exam, original_net const* original) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
#include <spotter/preflight/clearing.hpp>
#include <spotter/preflight/gradients.hpp>
#include <spotter/preflight/inputs.hpp>
#include <spotter/preflight/original.hpp>
#include <spotter/preflight/outputs.hpp>
#include <spotter/preflight/random_gradients.hpp>
#include <spotter/preflight/rate.hpp>
#include <spotter/preflight/repeat.hpp>
#include <spotter/preflight/restored.hpp>
#include <spotter/preflight/result_writer.hpp>
#include <spotter/preflight/start.hpp>
#include <spotter/preflight/training.hpp>
#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Reports gradients and weights that have no partner by name and size.
inline void tell_unpaired(examiner& all) {
    std::vector<std::string> const& gradients = all.loop.unpaired_gradients();
    if (!gradients.empty()) {
        all.tell(preflight_cause::gradient_without_weight, gradients[0]).others =
            static_cast<std::uint32_t>(gradients.size() - 1);
    }
    std::vector<std::string> const& weights = all.loop.unpaired_weights();
    if (!weights.empty()) {
        draft& found = all.tell(preflight_cause::not_proven, weights[0]);
        found.others = static_cast<std::uint32_t>(weights.size() - 1);
        found.detail = "its gradient is not shown";
    }
    if (all.loop.parameters().empty()) { all.tell(preflight_cause::nothing_to_examine, "tensors"); }
}

// Makes the experiments, the cheapest and most fundamental first. Ends after one that fails where the next ones would
// show nothing.
inline void experiment(examiner& all, original_watch& original) {
    subject& loop = all.loop;
    if (!original.begin(all) || !loop.open()) { return; }
    if (!original.stands(all, "pass")) { return; }
    tell_unpaired(all);
    if (loop.parameters().empty()) { return; }
    if (loop.weights_changed_in_pass()) {
        all.tell(preflight_cause::weights_change_in_pass, loop.parameters()[0].name);
        return;
    }
    look_at_inputs(all);
    if (!examine_start(all)) { return; }
    double_list gradient;
    examine_repeat(all, gradient);
    if (loop.over()) { return; }
    examine_clearing(all, gradient);
    all.clearing_examined = !loop.over();
    first_step first;
    examine_update(all, first);
    all.update_examined = loop.given().update && !loop.over();
    if (!original.stands(all, "step")) { return; }
    loop.keep_back(60);  // passes for later experiments: a wrong gradient may need many
    if (all.is_random) {
        examine_random_gradients(all);
    } else {
        examine_gradients(all);
    }
    tell_gradients(all);
    loop.use_all();
    examine_rate(all, first);
    examine_inputs(all);
    examine_labels(all);
    examine_outputs(all);
    examine_coupling(all);
    examine_evaluation(all);
    loop.use_all();
    examine_restored(all, first);
    examine_training(all);
}

// Reports why the examination ended early.
inline void tell_end(examiner& all) {
    if (all.loop.ended() == ending::threw) {
        all.tell(preflight_cause::threw, "loop").detail = all.loop.thrown();
    } else if (all.loop.ended() == ending::shapes) {
        all.tell(preflight_cause::shapes_change, "tensors");
    }
}

SPOTTER_BODY preflight_result examine(examination const& exam, original_net const* original) noexcept {
    preflight_result made;
    (void)guarded([&] {  // memory may be short
        examiner all{exam};
        original_watch watch{original};
        if (!exam.parameters || !exam.backward) {
            all.tell(preflight_cause::nothing_to_examine, "examination").detail =
                ".parameters and .backward are needed";
        } else {
            experiment(all, watch);
            tell_end(all);
            all.loop.close();
            (void)watch.stands(all, "pass or step");
        }
        result_writer{made}.write(all);
    });
    return made;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
