// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: what the experiments share: the subject, what was found so far, and what was learned of the
// loss.
#pragma once

#include <spotter/preflight/causes.hpp>
#include <spotter/preflight/result.hpp>
#include <spotter/preflight/subject.hpp>

#include <initializer_list>

namespace spotter::inline SPOTTER_ABI::detail {

// What a finding will say.
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

// What is wrong with a gradient.
enum class gradient_kind : std::uint8_t {
    unknown,  // too small, too rough, or not looked at
    right,
    no_effect,  // zero, and so is the derivative
    missing,    // zero, and the derivative is not
    factor,     // a multiple of it
    other,      // anything else
};

struct gradient_state {
    gradient_kind kind = gradient_kind::unknown;
    double error = 0;           // relative; of a bound proven with others that
    double resolution = 0;      // what rounding and kinks may have made of it
    double noise = 0;           // what the rounding of the loss alone may have made
    double ratio = 1;           // gradient / derivative, of a multiple
    text<80> words{};           // "is transposed", "rows 4 to 7 of 16"
    bool is_misplaced = false;  // the words say of what it is the gradient
    double right_at = 1;        // the share of the weights at which alone it is right
    double size = 0;            // |gradient|
};

// The loss and the outputs of the batch as it is, at a place beside the start: a start of zeros hides all. Taken once.
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
    double typical = 0.05;   // the size of weights, where a tensor of zeros says none
    bool is_random = false;  // equal passes give other losses: nothing exact follows
    bool draws = false;      // another seed gives other losses
    bool cleared_by_update = false;
    bool writable_inputs = false;  // a pass reads the inputs that are written
    std::vector<gradient_state> gradients{};
    batch_base base{};
    double relative_noise = 0;                                // of the loss, by rounding, where gradients were asked
    double_list norms{};                                      // of all gradients, at the places where they were asked
    std::vector<std::size_t> suspects{};                      // one of these gradients is wrong, at the least
    bool clips_values = false;                                // elements of gradients were cut to one size
    double decay = 0;                                         // the multiple of the weights that gradients hold
    bool clearing_examined = false, update_examined = false;  // to the end

    // Adds a finding of the cause's own severity, or a milder one.
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
    // The size of a tensor's weights, as far as steps go by it.
    [[nodiscard]] double scale_of(parameter const& it, double_list const& weights) const noexcept {
        return (std::max)(rms_of(it.of(weights)), typical);
    }
    // A part of the weights' size at random added to each; a tensor of zeros gets some, too. All of it `share` times.
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
