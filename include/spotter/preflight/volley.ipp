// SPDX-License-Identifier: Apache-2.0
// The bodies of volley.hpp.
#pragma once

#include <spotter/preflight/volley.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY double volley::roughness() const {
    double mean = 0, square = 0;
    double const count = static_cast<double>(shots.size());
    for (shot const& each : shots) { mean += each.bend / count; }  // what all directions share is no roughness
    for (shot const& each : shots) { square += (each.bend - mean) * (each.bend - mean); }
    return std::sqrt(square / (std::max)(1.0, count - 1));
}

SPOTTER_BODY multiple multiple_of(volley const& fired) {
    double mp = 0, pp = 0, mm = 0;
    for (shot const& each : fired.shots) {
        double const foreseen = each.moved - each.rest();
        mp += each.moved * foreseen, pp += foreseen * foreseen, mm += each.moved * each.moved;
    }
    double const count = static_cast<double>(fired.shots.size());
    multiple made{mp / pp, std::sqrt(pp / count), 0, std::sqrt(mm / count)};
    double_list rests;
    for (shot const& each : fired.shots) { rests.push_back(each.moved - made.kappa * (each.moved - each.rest())); }
    made.left = rms_of(rests);
    return made;
}

SPOTTER_BODY decay_form find_decay(std::vector<parameter> const& tensors, tensor_group const& group,
                                   volley const& fired, decay_form const& known) {
    decay_form best{};
    double least = rms_of(fired.rests()) / 3;
    for (bool const by_signs : {false, true}) {
        for (bool const of_matrices : {false, true}) {
            if (known.lambda != 0 && (by_signs != known.by_signs || of_matrices != known.of_matrices)) { continue; }
            double along = 0, square = 0;
            double_list decays, rests = fired.rests();
            for (shot const& each : fired.shots) {
                double decay = 0;
                for (std::size_t i = 0; i < group.size(); ++i) {
                    bool const counts = !of_matrices || tensors[group[i]].is_matrix();
                    decay += counts ? (by_signs ? each.by_signs[i] : each.by_weights[i]) : 0.0;
                }
                decays.push_back(decay);
                along -= each.rest() * decay, square += decay * decay;
            }
            double const lambda = square > 0 ? along / square : 0;
            for (std::size_t k = 0; k < rests.size(); ++k) { rests[k] += lambda * decays[k]; }
            double const left = rms_of(rests);
            if (left < least && known.lambda + lambda > 0) { least = left, best = {lambda, by_signs, of_matrices}; }
        }
    }
    return best;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
