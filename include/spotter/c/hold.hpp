// SPDX-License-Identifier: Apache-2.0
// C interface (L6): a hook with any plan and rules behind the one type that C knows, and the conversion of C's
// arguments.
#pragma once

#include <spotter/c/spotter.h>
#include <spotter/c/tensor.hpp>
#include <spotter/core/casts.hpp>
#include <spotter/core/device_values.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/role.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/preflight/result.hpp>
#include <spotter/rule/describe.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <bit>
#include <new>

namespace spotter::inline SPOTTER_ABI::detail {

using c_line = text<1024>;

[[nodiscard]] inline std::string_view c_text(char const* it) noexcept {
    return it == nullptr ? std::string_view{} : std::string_view{it};
}

// Copies as much of `from` as fits, with a terminating zero. Never splits a UTF-8 character.
inline void copy_text(char* into, std::size_t size, std::string_view from) noexcept {
    if (size == 0 || into == nullptr) { return; }
    std::size_t count = from.size();
    if (count >= size) {
        count = size - 1;
        while (count > 0 && (static_cast<unsigned char>(from[count]) & 0xC0U) == 0x80U) { --count; }
    }
    for (std::size_t i = 0; i < count; ++i) { into[i] = from[i]; }
    into[count] = '\0';
}
template <std::size_t Size>
inline void copy_text(char (&into)[Size], std::string_view from) noexcept {
    copy_text(into, Size, from);
}

// The name of an enumerator by number. Names are literals, so each is zero-terminated.
template <class Enum>
[[nodiscard]] inline char const* c_name(int number, int last) noexcept {
    return number < 0 || number > last ? "" : name_of(static_cast<Enum>(number)).data();
}

inline void fill(spotter_finding& out, finding const& it) noexcept {
    out.severity = static_cast<spotter_severity>(it.severity);
    out.decision = static_cast<spotter_decision>(it.decision);
    out.mode = static_cast<spotter_mode>(it.step.mode);
    out.index = it.step.index;
    out.measured = it.measured;
    out.threshold = it.threshold;
    out.others = it.others;
    copy_text(out.relation, symbol_of(it.how));
    copy_text(out.rule, it.rule);
    copy_text(out.reason, it.reason);
    copy_text(out.tensor, it.tensor);
    copy_text(out.measure, it.measure);
    copy_text(out.detail, it.detail);
    copy_text(out.remedy, it.remedy);
}

inline void describe_with_remedy(finding const& it, c_line& line) noexcept {
    describe(it, line);
    if (it.remedy.empty()) { return; }
    line << ": ";
    put_plain(it.remedy, [&](std::string_view piece) { line << piece; });
}

// The numbers in spotter.h are those of the C++ enumerations.
static_assert(SPOTTER_PREDICT == static_cast<int>(mode::predict));
static_assert(SPOTTER_F8_E5M2 == static_cast<int>(dtype::f8_e5m2) && SPOTTER_F32 == static_cast<int>(dtype::f32));
static_assert(SPOTTER_ROLE_SYSTEM == static_cast<int>(role::system) &&
              SPOTTER_ROLE_METRIC == static_cast<int>(role::metric));
static_assert(SPOTTER_FLAG_SPARSE_ROWS == static_cast<int>(flag::sparse_rows) &&
              SPOTTER_FLAG_LOGITS == static_cast<int>(flag::logits));
static_assert(SPOTTER_FLAG_NEGATED == static_cast<int>(flag::negated) &&
              SPOTTER_FLAG_GATHERED == static_cast<int>(flag::gathered) &&
              SPOTTER_FLAG_LOG_PROBABILITIES == static_cast<int>(flag::log_probabilities));
static_assert(SPOTTER_BATCH_AXIS(3) == static_cast<int>(batch_axis(3)));
static_assert(SPOTTER_ACTIVATED_BY(SPOTTER_ACTIVATION_OTHER) == static_cast<int>(activated_by(activation_kind::other)));
static_assert(SPOTTER_MAX_RANK == max_rank);
static_assert(SPOTTER_SEVERE == static_cast<int>(severity::error));
static_assert(SPOTTER_STOP == static_cast<int>(decision::stop));
static_assert(SPOTTER_NO_DEVICE == static_cast<int>(errc::no_device));
static_assert(SPOTTER_NULL_POINTER == static_cast<int>(errc::null_pointer));
static_assert(SPOTTER_USER_CODE_THREW == static_cast<int>(errc::user_code_threw));
static_assert(SPOTTER_NO_STEP_OPEN == static_cast<int>(errc::no_step_open));
static_assert(SPOTTER_NOT_CONTIGUOUS == static_cast<int>(errc::not_contiguous));
static_assert(SPOTTER_NO_SHAPE == static_cast<int>(errc::no_shape));
static_assert(SPOTTER_BAD_CONFIG == static_cast<int>(errc::bad_config));
static_assert(SPOTTER_DISK_FULL == static_cast<int>(errc::disk_full));

}  // namespace spotter::inline SPOTTER_ABI::detail

// The object behind the opaque pointer: a table of functions, and what C reads between calls.
struct spotter_hook {
    // One entry for each kind of call; it casts to the actual hook. Arguments are valid; names are views of C's texts.
    struct table {
        // Ends the run and frees the hook; the pointer is invalid afterwards.
        void (*destroy)(spotter_hook*) noexcept;
        void (*begin)(spotter_hook&, spotter::step_id) noexcept;  // closes a step that is open
        void (*observe)(spotter_hook&, std::string_view, spotter::offered const&, spotter::role const*,
                        spotter::flag) noexcept;
        // A null role is guessed from the name. Returns no handle where memory is exhausted.
        spotter::tensor_handle (*tensor)(spotter_hook&, std::string_view, spotter::role const*, spotter::flag) noexcept;
        // As observe, with a handle from `tensor`.
        void (*observe_tensor)(spotter_hook&, spotter::tensor_handle, spotter::offered const&) noexcept;
        // As scalar_f64, with a handle from `tensor`.
        void (*scalar_tensor)(spotter_hook&, spotter::tensor_handle, double) noexcept;
        // A time is in seconds since 1970; null: the step's, or now.
        void (*scalar_f64)(spotter_hook&, std::string_view, double, double const*) noexcept;
        // As scalar_f64.
        void (*scalar_f32)(spotter_hook&, std::string_view, float, double const*) noexcept;
        // As scalar_f64.
        void (*scalar_i64)(spotter_hook&, std::string_view, std::int64_t, double const*) noexcept;
        // As scalar_f64; rules do not see texts.
        void (*scalar_text)(spotter_hook&, std::string_view, std::string_view, double const*) noexcept;
        void (*begin_section)(spotter_hook&, std::string_view) noexcept;  // in pairs with end_section
        void (*end_section)(spotter_hook&, std::string_view) noexcept;    // the innermost one first
        void (*end)(spotter_hook&) noexcept;                              // puts the findings into `found`
        void (*fail)(spotter_hook&, std::string_view) noexcept;           // the reason is recorded
        void (*finish)(spotter_hook&) noexcept;                           // waits for the writer
        void (*flush)(spotter_hook&) noexcept;                            // waits for the writer
        void (*poll)(spotter_hook&) noexcept;                             // only for a hook with drain::poll
        // Of the hook itself, without the calls refused here.
        spotter::health_report (*health)(spotter_hook const&) noexcept;
        // Writes the refused name with that index, and the reason; nothing where there is none.
        void (*refused)(spotter_hook const&, std::size_t, spotter::detail::c_line&) noexcept;
        void (*add)(spotter_hook&, spotter::preflight_result const&) noexcept;  // records it in the run
    };

    // Records a call whose arguments no hook accepts.
    void refuse(spotter::errc code, std::string_view name, std::string_view what) noexcept {
        ++refused;
        if (first || !calls->health(*this).good()) { return; }
        first.code = code;
        first.what << '"' << name << "\" " << what;
    }

    table const* calls = nullptr;          // those of the actual type; never null
    spotter::step_alarm found{};           // of the last spotter_end, or spotter_preflight
    spotter::preflight_result examined{};  // of the last spotter_preflight: owns the texts of `found`
    spotter::error first{};                // of refuse(), if it came before the hook's own
    std::uint64_t refused = 0;             // calls refused by refuse()
    char path[4096]{};                     // of the record, as spotter_path returns it; empty where nothing is recorded
};

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Plan, class... Arguments>
struct held_hook final : spotter_hook {
    using hook_type = hook<recorder, Plan, Arguments...>;

    explicit held_hook(std::string_view folder, Plan const& plan, Arguments const&... arguments) noexcept
        : watch{folder, plan, arguments...} {
        static constexpr table functions{
            [](spotter_hook* self) noexcept { delete static_cast<held_hook*>(self); },
            [](spotter_hook& self, step_id id) noexcept { in(self).begin(id); },
            [](spotter_hook& self, std::string_view name, offered const& values, role const* what,
               flag flags) noexcept { in(self).observe_offered(name, values, what, flags); },
            [](spotter_hook& self, std::string_view name, role const* what, flag flags) noexcept {
                return what == nullptr ? in(self).tensor(name) : in(self).tensor(name, *what, flags);
            },
            [](spotter_hook& self, tensor_handle tensor, offered const& values) noexcept {
                in(self).observe(tensor, values);
            },
            [](spotter_hook& self, tensor_handle tensor, double value) noexcept { in(self).scalar(tensor, value); },
            scalar<double>,
            scalar<float>,
            scalar<std::int64_t>,
            scalar<std::string_view>,
            [](spotter_hook& self, std::string_view name) noexcept { in(self).begin_section(name); },
            [](spotter_hook& self, std::string_view name) noexcept { in(self).end_section(name); },
            [](spotter_hook& self) noexcept { self.found = in(self).end(); },
            [](spotter_hook& self, std::string_view why) noexcept { in(self).fail(why); },
            [](spotter_hook& self) noexcept { in(self).finish(); },
            [](spotter_hook& self) noexcept { in(self).flush(); },
            [](spotter_hook& self) noexcept { in(self).poll(); },
            [](spotter_hook const& self) noexcept { return static_cast<held_hook const&>(self).watch.health(); },
            [](spotter_hook const& self, std::size_t which, c_line& line) noexcept {
                static_cast<held_hook const&>(self).watch.each_refused([&](refused_tensor const& it) {
                    if (which-- == 0) { line << '"' << it.name << "\" " << it.why; }
                });
            },
            [](spotter_hook& self, preflight_result const& it) noexcept { in(self).add(it); }};
        calls = &functions;
        copy_text(path, watch.path());
    }

    [[nodiscard]] static hook_type& in(spotter_hook& self) noexcept { return static_cast<held_hook&>(self).watch; }

    template <class Value>
    static void scalar(spotter_hook& self, std::string_view name, Value value, double const* time) noexcept {
        if (time == nullptr) {
            in(self).scalar(name, value);
        } else {
            in(self).scalar(name, value, *time);
        }
    }

    hook_type watch;
};

// A name from C, checked; not passed to a hook where `sound` is false.
struct c_name_of {
    std::string_view name{};
    role given = role::other;
    bool guess = true, sound = false;

    // `self` counts what is wrong; it may be null.
    c_name_of(spotter_hook* self, std::string_view letters, int what, int flags) noexcept : name{letters} {
        if (letters.data() == nullptr) {
            if (self != nullptr) { self->refuse(errc::no_such_name, "", "is no name: a null pointer was given"); }
            return;
        }
        if (what < SPOTTER_ROLE_GUESS || what > SPOTTER_ROLE_SYSTEM || flags < 0) {
            if (self != nullptr) { self->refuse(errc::bad_config, name, "was given with an unknown role or flag"); }
            return;
        }
        bool const by_name = what == SPOTTER_ROLE_GUESS;
        given = by_name ? guess_role(name) : static_cast<role>(what);
        guess = by_name && flags == 0;
        sound = true;
    }
    [[nodiscard]] role const* role_or_null() const noexcept { return guess ? nullptr : &given; }
};

// Calls pass(offered) with the values, in place or to be packed.
template <class Pass>
inline void pass_from_c(spotter_hook& self, std::string_view name, c_tensor const& it, Pass const& pass) noexcept {
    c_view seen{it};
    if (seen.code != errc::none) { return self.refuse(seen.code, name, seen.why); }
    if (seen.plain(it)) { return pass({seen.view, nullptr, nullptr}); }
    c_source const source{it, seen.view};
    bool const rows = source.is_packed(order::row_major);
    if (!seen.aligned || (!rows && !source.is_packed(order::column_major))) { return pass(offer(source)); }
    seen.view.layout = rows ? order::row_major : order::column_major;
    pass({seen.view, nullptr, nullptr});
}

inline void observe_from_c(spotter_hook& self, char const* name, int what, int flags, c_tensor const& it) noexcept {
    c_name_of const said{&self, c_text(name), what, flags};
    if (!said.sound) { return; }
    pass_from_c(self, said.name, it, [&](offered const& values) {
        self.calls->observe(self, said.name, values, said.role_or_null(), static_cast<flag>(flags));
    });
}

inline void observe_device_from_c(spotter_hook& self, char const* name, int what, int flags, c_tensor const& it,
                                  void* stream) noexcept {
    c_name_of const said{&self, c_text(name), what, flags};
    if (!said.sound) { return; }
    c_view const seen{it};
    if (seen.code != errc::none) { return self.refuse(seen.code, said.name, seen.why); }
    device_values const values{seen.view, stream, device_values::any_device, false};
    self.calls->observe(self, said.name, offer(values), said.role_or_null(), static_cast<flag>(flags));
}

[[nodiscard]] inline spotter_tensor tensor_from_c(spotter_hook& self, std::string_view name, int what,
                                                  int flags) noexcept {
    c_name_of const said{&self, name, what, flags};
    if (!said.sound) { return {nullptr}; }
    return std::bit_cast<spotter_tensor>(
        self.calls->tensor(self, said.name, said.role_or_null(), static_cast<flag>(flags)));
}
inline void observe_tensor_from_c(spotter_hook& self, spotter_tensor tensor, c_tensor const& it) noexcept {
    if (tensor.it == nullptr) { return; }
    pass_from_c(self, static_cast<tracked_tensor const*>(tensor.it)->name, it, [&](offered const& values) {
        self.calls->observe_tensor(self, std::bit_cast<tensor_handle>(tensor), values);
    });
}
inline void observe_layers_from_c(spotter_hook& self, spotter_tensor const* tensors, std::size_t count,
                                  c_tensor const& it) noexcept {
    if (tensors == nullptr || count == 0) { return; }
    c_view const whole{it};
    if (whole.code != errc::none || whole.view.refused != refusal::none || it.rank == 0) {
        return observe_tensor_from_c(self, tensors[0], it);
    }
    std::uint64_t const layers = it.shape[0];
    if (layers == 0) { return; }
    std::size_t const bytes = as_size(whole.view.bytes() / layers);
    for (std::size_t i = 0; i < count && i < layers; ++i) {
        void const* const slice =
            whole.view.count == 0 ? it.values : static_cast<std::byte const*>(it.values) + i * bytes;
        observe_tensor_from_c(self, tensors[i], {it.dtype, slice, it.rank - 1, it.shape + 1, nullptr});
    }
}

template <class Value>
inline void scalar_from_c(spotter_hook* self, char const* name, Value value, double const* time) noexcept {
    if (self == nullptr) { return; }
    if (name == nullptr) { return self->refuse(errc::no_such_name, "", "is no name: a null pointer was given"); }
    if constexpr (std::same_as<Value, double>) {
        self->calls->scalar_f64(*self, name, value, time);
    } else if constexpr (std::same_as<Value, float>) {
        self->calls->scalar_f32(*self, name, value, time);
    } else if constexpr (std::same_as<Value, std::int64_t>) {
        self->calls->scalar_i64(*self, name, value, time);
    } else {
        self->calls->scalar_text(*self, name, value, time);
    }
}

[[nodiscard]] inline spotter_error health_for_c(spotter_hook const* self, spotter_health* out) noexcept {
    health_report now;
    now.first_error = {errc::out_of_memory, "there is no hook: spotter_create returned null, nothing is watched"};
    if (self != nullptr) {
        now = self->calls->health(*self);
        now.refused += self->refused;
        if (self->first) { now.first_error = self->first; }
    }
    auto const code = static_cast<spotter_error>(now.first_error.code);
    if (out == nullptr) { return code; }
    out->error = code;
    copy_text(out->what, now.first_error.what);
    out->steps = now.steps;
    out->observed = now.observed;
    out->refused = now.refused;
    out->declared = now.declared;
    out->stored = now.sink.stored;
    out->dropped = now.sink.dropped;
    out->thinned = now.sink.thinned;
    out->bytes = now.sink.bytes;
    return code;
}

}  // namespace detail

// Makes a hook for C: `hook{path, plan, arguments...}`, with rules and options among the arguments. A null path: rules
// only. Returns null where memory is exhausted.
template <class Plan, class... Arguments>
[[nodiscard]] spotter_hook* make_c_hook(char const* path, Plan const& keep, Arguments const&... arguments) noexcept {
    static_assert(
        requires { keep.due(step_id{}); },
        "spotter: what follows the path is a plan: make_c_hook(path, plan{...}, rules...).");
    options choices = detail::options_among(arguments...);
    choices.dry_run = choices.dry_run || path == nullptr;
    return new (std::nothrow)
        detail::held_hook<Plan, Arguments..., options>{detail::c_text(path), keep, arguments..., choices};
}

// The defaults: losses and metrics are kept at every step, and the ten rules below judge (docs/rules.md). A null path:
// rules only.
[[nodiscard]] inline spotter_hook* make_c_hook(char const* path, options const& choices = {}) noexcept {
    return make_c_hook(path, plan{defaults::losses, defaults::metrics}, non_finite{}, exploding_gradient{},
                       vanishing_gradient{}, loss_not_decreasing{}, dead_relu{}, all_zero{}, update_ratio_band{},
                       tree_depth{}, feature_importance_overweight{}, low_feature_importance{}, choices);
}

}  // namespace spotter::inline SPOTTER_ABI
