// SPDX-License-Identifier: Apache-2.0
// C interface (L6): the examination of a loop in C: its functions as a spotter::examination.
#pragma once

#include <spotter/c/hold.hpp>
#include <spotter/preflight.hpp>

// The visitor to which a loop in C passes its tensors.
struct spotter_parameters {
    spotter::parameter_visitor const& visit;
    spotter_hook* hook;  // reports tensors that are refused; may be null

    // The tensor's view; a refused one where the description is invalid, which is reported to the hook.
    [[nodiscard]] spotter::tensor_ref taken(std::string_view name, spotter::detail::c_tensor const& it) const noexcept {
        spotter::detail::c_view const seen{it};
        bool const sound = seen.code == spotter::errc::none && seen.aligned;
        if (sound) { return seen.view; }
        if (hook != nullptr) {
            bool const known = seen.code != spotter::errc::none;
            hook->refuse(known ? seen.code : spotter::errc::not_contiguous, name,
                         known ? seen.why : "lies at an address that its dtype does not allow: it is not examined");
        }
        spotter::tensor_ref none;
        none.refused = spotter::refusal::null;
        return none;
    }
    // Whether the name is valid.
    [[nodiscard]] bool names(char const* name) const noexcept {
        if (name == nullptr && hook != nullptr) {
            hook->refuse(spotter::errc::no_such_name, "", "is no name: a null pointer was given");
        }
        return name != nullptr;
    }
};

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] inline examination examination_of(spotter_loop const& loop, spotter_hook* hook) {
    examination exam;
    void* const user = loop.user;
    auto const hand_over = [user](auto& into, auto* call) {
        if (call != nullptr) {
            into = [user, call] { return call(user); };
        }
    };
    if (loop.show != nullptr) {
        exam.parameters = [user, hook, show = loop.show](parameter_visitor& visit) {
            spotter_parameters to{visit, hook};
            show(user, &to);
        };
    }
    hand_over(exam.loss, loop.loss), hand_over(exam.backward, loop.backward), hand_over(exam.update, loop.update);
    hand_over(exam.save, loop.save), hand_over(exam.restore, loop.restore);
    if (loop.seed != nullptr) {
        exam.seed = [user, seed = loop.seed](std::uint64_t number) { seed(user, number); };
    }
    if (loop.training != nullptr) {
        exam.training = [user, training = loop.training](bool on) { training(user, on ? 1 : 0); };
    }
    exam.batch = loop.batch, exam.restore_each = loop.restore_each != 0;
    if (loop.forwards > 0) { exam.forwards = loop.forwards; }
    if (loop.loss_scale > 0) { exam.loss_scale = loop.loss_scale; }
    return exam;
}

[[nodiscard]] inline spotter_verdict verdict_of(step_alarm const& found) noexcept {
    return {static_cast<spotter_decision>(found.decision()), found ? 1 : 0, found.size(), found.left_out()};
}

[[nodiscard]] inline spotter_verdict examine_from_c(spotter_hook* hook, spotter_loop const* loop) noexcept {
    spotter_loop const nothing{};
    preflight_result found = preflight(examination_of(loop != nullptr ? *loop : nothing, hook));
    spotter_verdict const verdict = verdict_of(found.alarm());
    if (hook != nullptr) {
        hook->calls->add(*hook, found);
        hook->examined = std::move(found);
        hook->found = hook->examined.alarm();
    }
    return verdict;
}

inline void show_parameter_from_c(spotter_parameters& to, char const* name, int flags, c_tensor const& weights,
                                  c_tensor const& gradient) {
    if (!to.names(name)) { return; }
    tensor_ref const weight = to.taken(name, weights);
    if (gradient.values == nullptr) { return to.visit(name, weight, static_cast<flag>(flags)); }
    to.visit(name, weight, to.taken(name, gradient), static_cast<flag>(flags));
}

inline void show_tensor_from_c(spotter_parameters& to, char const* name, int what, int flags, c_tensor const& it) {
    if (!to.names(name)) { return; }
    if (what < SPOTTER_ROLE_OTHER || what > SPOTTER_ROLE_SYSTEM) {
        return to.visit(name, to.taken(name, it), static_cast<flag>(flags));
    }
    to.visit(name, to.taken(name, it), static_cast<role>(what), static_cast<flag>(flags));
}

}  // namespace spotter::inline SPOTTER_ABI::detail
