// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: what the experiments share: the subject, the findings so far, and what is known of the loss.
#pragma once

#include <spotter/preflight/causes.hpp>
#include <spotter/preflight/result.hpp>
#include <spotter/preflight/subject.hpp>

#include <initializer_list>

namespace spotter::inline SPOTTER_ABI::detail {

// A finding before its text is written.
struct draft {
    preflight_cause cause = preflight_cause::none;
    spotter::severity severity = spotter::severity::info;
    std::string place{};
    std::string_view measure{};
    double measured = 0;
    relation how = relation::none;
    double threshold = 0;
    text<80> detail{};
    std::uint32_t others = 0;
    std::string_view remedy{};
};

// The result for one gradient.
enum class gradient_kind : std::uint8_t {
    unknown,  // too small, too rough, or not examined
    right,
    no_effect,  // zero, and so is the derivative
    missing,    // zero, but the derivative is not
    factor,     // a multiple of the derivative
    other,      // anything else
};

struct gradient_state {
    gradient_kind kind = gradient_kind::unknown;
    double error = 0;           // relative; a bound where several were proven together
    double resolution = 0;      // the part of the error that rounding and kinks may cause
    double noise = 0;           // the part that rounding of the loss alone may cause
    double ratio = 1;           // gradient / derivative, where it is a multiple
    text<80> words{};           // "is transposed", "rows 4 to 7 of 16"
    bool is_misplaced = false;  // the words name the tensor or rows whose gradient it is
    double right_at = 1;        // below 1: it is right only at this share of the weights
    double size = 0;            // |gradient|
};

// The loss and the outputs of the unchanged batch, at weights near the start, as a start of zeros hides faults.
// Computed once.
struct batch_base {
    double_list weights{}, outputs{}, gradient{};
    double loss = 0;
};

// What the experiments share.
struct examiner {
    explicit examiner(examination const& given) : loop{given} {}

    subject loop;
    std::vector<draft> found{};
    random_numbers random{20240607};
    double typical = 0.05;   // the size of weights, used for a tensor of zeros
    bool is_random = false;  // equal passes give different losses: no exact experiment is possible
    bool draws = false;      // another seed gives a different loss
    bool cleared_by_update = false;
    bool writable_inputs = false;  // a pass reads inputs that the examination writes
    std::vector<gradient_state> gradients{};
    batch_base base{};
    double relative_noise = 0;            // rounding noise of the loss, relative, where gradients were examined
    double_list norms{};                  // of the whole gradient, at each point where it was examined
    std::vector<std::size_t> suspects{};  // at least one of these gradients is wrong
    bool clips_values = false;            // gradient elements were clipped to one size
    double decay = 0;                     // the multiple of the weights that gradients include
    bool clearing_examined = false, update_examined = false;  // these experiments were completed

    // Adds a finding, of the cause's own severity or of `level`.
    draft& tell(preflight_cause cause, std::string_view place) {
        return tell(cause, place, describe_cause(cause).severity);
    }
    draft& tell(preflight_cause cause, std::string_view place, spotter::severity level) {
        draft made;
        made.cause = cause, made.place = place, made.severity = level, made.remedy = describe_cause(cause).remedy;
        found.push_back(std::move(made));
        return found.back();
    }
    [[nodiscard]] bool has(preflight_cause cause) const noexcept {
        return std::any_of(found.begin(), found.end(),
                           [&](draft const& each) { return each.cause == cause && each.severity > severity::info; });
    }
    [[nodiscard]] bool has_any(std::initializer_list<preflight_cause> causes) const noexcept {
        return std::any_of(causes.begin(), causes.end(), [&](preflight_cause each) { return has(each); });
    }
    // The size of a tensor's weights that steps are chosen by.
    [[nodiscard]] double scale_of(parameter const& it, double_list const& weights) const noexcept {
        return (std::max)(rms_of(it.of(weights)), typical);
    }
    // The start, displaced: each weight moves at random by `part` of its tensor's size, and tensors of zeros move, too.
    // All is then multiplied by `share`.
    [[nodiscard]] double_list displaced(double part, double share = 1) {
        double_list made = loop.start();
        for (parameter const& each : loop.parameters()) {
            double const least = (each.count > 1 ? 0.1 : 0.01) * typical / share;
            double const step = (std::max)(part * rms_of(each.of(loop.start())), least);
            for (double& value : each.of(made)) { value = share * (value + step * random.normal()); }
        }
        return made;
    }
};

}  // namespace spotter::inline SPOTTER_ABI::detail
