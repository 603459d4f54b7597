// SPDX-License-Identifier: Apache-2.0
// C interface (L6): defines what <spotter/c/spotter.h> declares, except spotter_create. The file that includes this one
// defines that, and chooses there what is kept and which rules judge:
//
//     #include <spotter/c/implementation.hpp>
//     using namespace spotter;
//     spotter_hook* spotter_create(char const* path) {
//         return make_c_hook(path, plan{defaults::losses, defaults::weights}, non_finite{}, on(dead_relu{}, stop));
//     }
//
// The file may define more such functions with other names. None may throw.
#pragma once

#include <spotter/c/hold.hpp>
#include <spotter/core/refusal_words.hpp>
#include <spotter/preflight.hpp>

// The visitor to which a loop in C passes its tensors.
struct spotter_parameters {
    spotter::parameter_visitor const& visit;
    spotter_hook* hook;  // reports tensors that are refused; may be null

    // The tensor's view; a refused one where the description is invalid, which is reported to the hook.
    [[nodiscard]] spotter::tensor_ref taken(std::string_view name, spotter::detail::c_tensor const& it) const noexcept {
        spotter::detail::c_view const seen{it};
        spotter::refusal_words why{seen.code, seen.why};
        if (why.code == spotter::errc::none && seen.view.refused != spotter::refusal::none) {
            why = words_of(seen.view.refused);
        } else if (why.code == spotter::errc::none && !seen.aligned) {
            why = {spotter::errc::not_contiguous,
                   "lies at an address that its dtype does not allow: it is not examined"};
        }
        if (why.code == spotter::errc::none) { return seen.view; }
        if (hook != nullptr) { hook->refuse(why.code, name, why.sentence); }
        spotter::tensor_ref none;
        none.refused = spotter::refusal::null;
        return none;
    }
    // Whether the name, role and flags are valid.
    [[nodiscard]] bool names(char const* name, int role, int flags) const noexcept {
        return spotter::detail::c_name_of{hook, spotter::detail::c_text(name), role, flags}.sound;
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
    if (!to.names(name, SPOTTER_ROLE_GUESS, flags)) { return; }
    tensor_ref const weight = to.taken(name, weights);
    if (gradient.values == nullptr) { return to.visit(name, weight, static_cast<flag>(flags)); }
    to.visit(name, weight, to.taken(name, gradient), static_cast<flag>(flags));
}

inline void show_tensor_from_c(spotter_parameters& to, char const* name, int what, int flags, c_tensor const& it) {
    if (!to.names(name, what, flags)) { return; }
    if (what == SPOTTER_ROLE_GUESS) { return to.visit(name, to.taken(name, it), static_cast<flag>(flags)); }
    to.visit(name, to.taken(name, it), static_cast<role>(what), static_cast<flag>(flags));
}

}  // namespace spotter::inline SPOTTER_ABI::detail

// Emitted though this file does not call them; inline, so that two including files share them.
#if defined(__GNUC__) || defined(__clang__)
#define SPOTTER_C_FUNCTION inline __attribute__((used))
#else
#define SPOTTER_C_FUNCTION
#endif

extern "C" {

SPOTTER_C_FUNCTION void spotter_destroy(spotter_hook* hook) {
    if (hook != nullptr) { hook->calls->destroy(hook); }
}
SPOTTER_C_FUNCTION void spotter_finish(spotter_hook* hook) {
    if (hook != nullptr) { hook->calls->finish(*hook); }
}
SPOTTER_C_FUNCTION void spotter_fail(spotter_hook* hook, char const* why) {
    if (hook != nullptr) { hook->calls->fail(*hook, spotter::detail::c_text(why)); }
}

SPOTTER_C_FUNCTION void spotter_begin(spotter_hook* hook, int mode, spotter_uint64 index) {
    if (hook == nullptr) { return; }
    if (mode < SPOTTER_TRAIN || mode > SPOTTER_PREDICT) {
        return hook->refuse(spotter::errc::bad_config, "spotter_begin",
                            "takes SPOTTER_TRAIN, SPOTTER_EVAL or SPOTTER_PREDICT; no step was opened");
    }
    hook->calls->begin(*hook, {static_cast<spotter::mode>(mode), index});
}
SPOTTER_C_FUNCTION void spotter_begin_section(spotter_hook* hook, char const* name) {
    if (hook != nullptr) { hook->calls->begin_section(*hook, spotter::detail::c_text(name)); }
}
SPOTTER_C_FUNCTION void spotter_end_section(spotter_hook* hook, char const* name) {
    if (hook != nullptr) { hook->calls->end_section(*hook, spotter::detail::c_text(name)); }
}
SPOTTER_C_FUNCTION spotter_verdict spotter_end(spotter_hook* hook) {
    if (hook == nullptr) { return {SPOTTER_PROCEED, 0, 0, 0}; }
    hook->calls->end(*hook);
    return spotter::detail::verdict_of(hook->found);
}
SPOTTER_C_FUNCTION int spotter_get_finding(spotter_hook const* hook, std::size_t i, spotter_finding* out) {
    if (hook == nullptr || out == nullptr || i >= hook->found.size()) { return 0; }
    spotter::detail::fill(*out, hook->found[i]);
    return 1;
}
SPOTTER_C_FUNCTION std::size_t spotter_describe_finding(spotter_hook const* hook, std::size_t i, char* buffer,
                                                        std::size_t size) {
    spotter::detail::c_line line;
    if (hook != nullptr && i < hook->found.size()) { spotter::detail::describe_with_remedy(hook->found[i], line); }
    spotter::detail::copy_text(buffer, size, line);
    return line.view().size();
}

SPOTTER_C_FUNCTION void spotter_observe_as(spotter_hook* hook, char const* name, int role, int flags, int dtype,
                                           void const* values, int rank, spotter_uint64 const* shape,
                                           spotter_int64 const* byte_strides) {
    if (hook != nullptr) {
        spotter::detail::observe_from_c(*hook, name, role, flags, {dtype, values, rank, shape, byte_strides});
    }
}
SPOTTER_C_FUNCTION void spotter_observe_device(spotter_hook* hook, char const* name, int role, int flags, int dtype,
                                               void const* values, int rank, spotter_uint64 const* shape,
                                               void* stream) {
    if (hook != nullptr) {
        spotter::detail::observe_device_from_c(*hook, name, role, flags, {dtype, values, rank, shape, nullptr}, stream);
    }
}
SPOTTER_C_FUNCTION void spotter_observe(spotter_hook* hook, char const* name, int dtype, void const* values, int rank,
                                        spotter_uint64 const* shape) {
    spotter_observe_as(hook, name, SPOTTER_ROLE_GUESS, SPOTTER_FLAG_NONE, dtype, values, rank, shape, nullptr);
}
SPOTTER_C_FUNCTION void spotter_observe_f32(spotter_hook* hook, char const* name, float const* values, int rank,
                                            spotter_uint64 const* shape) {
    spotter_observe(hook, name, SPOTTER_F32, values, rank, shape);
}
SPOTTER_C_FUNCTION void spotter_observe_f64(spotter_hook* hook, char const* name, double const* values, int rank,
                                            spotter_uint64 const* shape) {
    spotter_observe(hook, name, SPOTTER_F64, values, rank, shape);
}

SPOTTER_C_FUNCTION spotter_tensor spotter_get_tensor(spotter_hook* hook, char const* name, int role, int flags) {
    if (hook == nullptr) { return {nullptr}; }
    return spotter::detail::tensor_from_c(*hook, spotter::detail::c_text(name), role, flags);
}
SPOTTER_C_FUNCTION void spotter_get_tensors(spotter_hook* hook, char const* pattern, std::size_t count, int role,
                                            int flags, spotter_tensor* out) {
    if (out == nullptr) { return; }
    if (hook != nullptr && pattern == nullptr) {
        hook->refuse(spotter::errc::no_such_name, "", "is no pattern: a null pointer was given");
    }
    spotter::name_list const names{spotter::detail::c_text(pattern), hook == nullptr || pattern == nullptr ? 0 : count};
    for (std::size_t i = 0; i < count; ++i) {
        out[i] =
            i < names.size() ? spotter::detail::tensor_from_c(*hook, names[i], role, flags) : spotter_tensor{nullptr};
    }
}
SPOTTER_C_FUNCTION void spotter_observe_tensor(spotter_hook* hook, spotter_tensor tensor, int dtype, void const* values,
                                               int rank, spotter_uint64 const* shape) {
    if (hook != nullptr) {
        spotter::detail::observe_tensor_from_c(*hook, tensor, {dtype, values, rank, shape, nullptr});
    }
}
SPOTTER_C_FUNCTION void spotter_observe_layers(spotter_hook* hook, spotter_tensor const* tensors, std::size_t count,
                                               int dtype, void const* values, int rank, spotter_uint64 const* shape) {
    if (hook != nullptr) {
        spotter::detail::observe_layers_from_c(*hook, tensors, count, {dtype, values, rank, shape, nullptr});
    }
}
SPOTTER_C_FUNCTION void spotter_scalar_tensor(spotter_hook* hook, spotter_tensor tensor, double value) {
    if (hook != nullptr) { hook->calls->scalar_tensor(*hook, std::bit_cast<spotter::tensor_handle>(tensor), value); }
}

SPOTTER_C_FUNCTION void spotter_scalar(spotter_hook* hook, char const* name, double value) {
    spotter::detail::scalar_from_c(hook, name, value, nullptr);
}
SPOTTER_C_FUNCTION void spotter_scalar_f32(spotter_hook* hook, char const* name, float value) {
    spotter::detail::scalar_from_c(hook, name, value, nullptr);
}
SPOTTER_C_FUNCTION void spotter_scalar_i64(spotter_hook* hook, char const* name, spotter_int64 value) {
    spotter::detail::scalar_from_c(hook, name, std::int64_t{value}, nullptr);
}
SPOTTER_C_FUNCTION void spotter_scalar_text(spotter_hook* hook, char const* name, char const* value) {
    spotter::detail::scalar_from_c(hook, name, spotter::detail::c_text(value), nullptr);
}
SPOTTER_C_FUNCTION void spotter_scalar_at(spotter_hook* hook, char const* name, double value, double time) {
    spotter::detail::scalar_from_c(hook, name, value, &time);
}
SPOTTER_C_FUNCTION void spotter_scalar_f32_at(spotter_hook* hook, char const* name, float value, double time) {
    spotter::detail::scalar_from_c(hook, name, value, &time);
}
SPOTTER_C_FUNCTION void spotter_scalar_i64_at(spotter_hook* hook, char const* name, spotter_int64 value, double time) {
    spotter::detail::scalar_from_c(hook, name, std::int64_t{value}, &time);
}
SPOTTER_C_FUNCTION void spotter_scalar_text_at(spotter_hook* hook, char const* name, char const* value, double time) {
    spotter::detail::scalar_from_c(hook, name, spotter::detail::c_text(value), &time);
}

SPOTTER_C_FUNCTION spotter_verdict spotter_preflight(spotter_hook* hook, spotter_loop const* loop) {
    return spotter::detail::examine_from_c(hook, loop);
}
SPOTTER_C_FUNCTION void spotter_show_parameter(spotter_parameters* to, char const* name, int flags, int dtype,
                                               void* weights, void* gradient, int rank, spotter_uint64 const* shape) {
    if (to == nullptr) { return; }
    spotter::detail::show_parameter_from_c(*to, name, flags, {dtype, weights, rank, shape, nullptr},
                                           {dtype, gradient, rank, shape, nullptr});
}
SPOTTER_C_FUNCTION void spotter_show_tensor(spotter_parameters* to, char const* name, int role, int flags, int dtype,
                                            void* values, int rank, spotter_uint64 const* shape) {
    if (to == nullptr) { return; }
    spotter::detail::show_tensor_from_c(*to, name, role, flags, {dtype, values, rank, shape, nullptr});
}

SPOTTER_C_FUNCTION void spotter_flush(spotter_hook* hook) {
    if (hook != nullptr) { hook->calls->flush(*hook); }
}
SPOTTER_C_FUNCTION void spotter_poll(spotter_hook* hook) {
    if (hook != nullptr) { hook->calls->poll(*hook); }
}
SPOTTER_C_FUNCTION std::size_t spotter_describe_refused(spotter_hook const* hook, std::size_t i, char* buffer,
                                                        std::size_t size) {
    spotter::detail::c_line line;
    if (hook != nullptr) { hook->calls->refused(*hook, i, line); }
    spotter::detail::copy_text(buffer, size, line);
    return line.view().size();
}
SPOTTER_C_FUNCTION char const* spotter_path(spotter_hook const* hook) { return hook == nullptr ? "" : hook->path; }
SPOTTER_C_FUNCTION spotter_error spotter_get_health(spotter_hook const* hook, spotter_health* out) {
    return spotter::detail::health_for_c(hook, out);
}

SPOTTER_C_FUNCTION char const* spotter_error_name(int error) {
    return spotter::detail::c_name<spotter::errc>(error, SPOTTER_NO_DEVICE);
}
SPOTTER_C_FUNCTION char const* spotter_decision_name(int decision) {
    return spotter::detail::c_name<spotter::decision>(decision, SPOTTER_STOP);
}
SPOTTER_C_FUNCTION char const* spotter_severity_name(int severity) {
    return spotter::detail::c_name<spotter::severity>(severity, SPOTTER_SEVERE);
}
SPOTTER_C_FUNCTION char const* spotter_mode_name(int mode) {
    return spotter::detail::c_name<spotter::mode>(mode, SPOTTER_PREDICT);
}
SPOTTER_C_FUNCTION char const* spotter_version(void) {
#define SPOTTER_C_TEXT(number) SPOTTER_C_DIGITS(number)
#define SPOTTER_C_DIGITS(number) #number
    return SPOTTER_C_TEXT(SPOTTER_VERSION_MAJOR) "." SPOTTER_C_TEXT(SPOTTER_VERSION_MINOR) "." SPOTTER_C_TEXT(
        SPOTTER_VERSION_PATCH);
#undef SPOTTER_C_DIGITS
#undef SPOTTER_C_TEXT
}

}  // extern "C"
