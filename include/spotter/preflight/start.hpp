// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the first pass, and the weights before it.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Are weights, loss and gradients finite, and can the units of a layer become different? False where other experiments
// would show nothing. Units never differ where every matrix has one value and its gradient has equal rows, equal
// columns, or only zeros: then each update is the same for all units (Goodfellow, Bengio and Courville 2016, section
// 8.4). A softmax regression that begins at zero is not such a net.
[[nodiscard]] bool examine_start(examiner& all);

#if SPOTTER_BODIES

// Whether these elements are equal within `slack`.
[[nodiscard]] inline bool all_equal(number_view values, std::size_t first, std::size_t step, std::size_t count,
                                    double slack) noexcept {
    for (std::size_t i = 1; i < count; ++i) {
        if (magnitude(values[first + i * step] - values[first]) > slack) { return false; }
    }
    return true;
}

// Whether all rows, or all columns, of a gradient are equal, for any number of rows, as a weight may be shown as one
// flat vector.
[[nodiscard]] inline bool has_equal_units(number_view gradient) noexcept {
    double largest = 0;
    for (double const each : gradient) { largest = (std::max)(largest, magnitude(each)); }
    if (largest == 0) { return true; }
    std::size_t const n = gradient.size();
    for (std::size_t rows = 2; rows <= n / 2; ++rows) {
        if (n % rows != 0) { continue; }
        std::size_t const cols = n / rows;
        bool same_rows = true, same_cols = true;
        for (std::size_t c = 0; c < cols && same_rows; ++c) {
            same_rows = all_equal(gradient, c, cols, rows, 1e-4 * largest);
        }
        for (std::size_t r = 0; r < rows && same_cols; ++r) {
            same_cols = all_equal(gradient, r * cols, 1, cols, 1e-4 * largest);
        }
        if (same_rows || same_cols) { return true; }
    }
    return false;
}

[[nodiscard]] inline bool begins_symmetric(examiner& all) {
    std::size_t matrices = 0;
    for (parameter const& each : all.loop.parameters()) {
        number_view const w = each.of(all.loop.start());
        bool const is_one = all_equal(w, 0, 1, w.size(), 0) && w[0] == 1;  // all ones: the gain of a normalisation
        if (each.count < (each.is_matrix() ? 4U : 32U) || guess_role(each.name) == role::bias || is_one) { continue; }
        ++matrices;
        if (!all_equal(w, 0, 1, w.size(), 0) || !has_equal_units(each.of(all.loop.first_gradient()))) { return false; }
    }
    return matrices > 1;
}

SPOTTER_BODY bool examine_start(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("the start");
    auto const tell = [&](std::string_view place, std::string_view what) {
        all.tell(preflight_cause::non_finite, place).detail = what;
    };
    for (parameter const& each : loop.parameters()) {
        if (!all_finite(each.of(loop.start()))) { return tell(each.name, "a weight"), false; }
    }
    if (!is_finite(loop.first_loss())) { return tell("loss", "the loss of the first pass"), false; }
    for (std::size_t t = loop.parameters().size(); t-- > 0;) {  // from the loss backwards
        parameter const& each = loop.parameters()[t];
        if (!all_finite(each.of(loop.first_gradient()))) {
            return tell(each.name, "the gradient of the first pass"), false;
        }
    }
    double_list sizes;
    for (parameter const& each : loop.parameters()) {
        double const size = rms_of(each.of(loop.start()));
        if (each.count > 1 && size > 0) { sizes.push_back(size); }
    }
    if (!sizes.empty()) { all.typical = std::clamp(middle_of(std::move(sizes)), 0.01, 1.0); }
    if (begins_symmetric(all)) { all.tell(preflight_cause::poor_weight_initialization, "weights"); }
    return true;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
