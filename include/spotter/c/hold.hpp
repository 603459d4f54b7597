// SPDX-License-Identifier: Apache-2.0
// C interface (L6): a hook of any plan and rules behind the one type that C knows, and the way from C's arguments to it.
#pragma once

#include <spotter/c/sentence.hpp>
#include <spotter/c/tensor.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <new>

// What stands behind the opaque pointer: a table of functions, and what C reads between the calls.
struct spotter_hook {
    struct table {
        void (*destroy)(spotter_hook*) noexcept;
        void (*begin)(spotter_hook&, spotter::step_id) noexcept;
        void (*observe)(spotter_hook&, std::string_view, spotter::offered const&, spotter::role const*,
                        spotter::flag) noexcept;
        void (*scalar_f64)(spotter_hook&, std::string_view, double, double const*) noexcept;
        void (*scalar_f32)(spotter_hook&, std::string_view, float, double const*) noexcept;
        void (*scalar_i64)(spotter_hook&, std::string_view, std::int64_t, double const*) noexcept;
        void (*scalar_text)(spotter_hook&, std::string_view, std::string_view, double const*) noexcept;
        void (*begin_section)(spotter_hook&, std::string_view) noexcept;
        void (*end_section)(spotter_hook&, std::string_view) noexcept;
        void (*end)(spotter_hook&) noexcept;
        void (*fail)(spotter_hook&, std::string_view) noexcept;
        void (*finish)(spotter_hook&) noexcept;
        void (*flush)(spotter_hook&) noexcept;
        void (*poll)(spotter_hook&) noexcept;
        spotter::health_report (*health)(spotter_hook const&) noexcept;
    };

    // A call whose arguments no hook could take.
    void refuse(spotter::errc code, std::string_view name, std::string_view what) noexcept {
        ++refused;
        if (first || !calls->health(*this).good()) { return; }
        first.code = code;
        first.what << '"' << name << "\" " << what;
    }

    table const* calls = nullptr;
    spotter::step_alarm found{};  // by the last spotter_end
    spotter::error first{};       // of refuse(), where it came before the hook's own
    std::uint64_t refused = 0;    // by refuse()
    char path[4096]{};
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
            [](spotter_hook const& self) noexcept { return static_cast<held_hook const&>(self).watch.health(); }};
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

inline void observe_from_c(spotter_hook& self, char const* name, int what, int flags, c_tensor const& it) noexcept {
    if (name == nullptr) { return self.refuse(errc::no_such_name, "", "is no name: a null pointer was given"); }
    bool const guess = what == SPOTTER_ROLE_GUESS;
    if (what < SPOTTER_ROLE_GUESS || what > SPOTTER_ROLE_SYSTEM || flags < 0) {
        return self.refuse(errc::bad_config, name, "was given with an unknown role or flag");
    }
    c_view seen{it};
    if (seen.code != errc::none) { return self.refuse(seen.code, name, seen.why); }
    role const given = guess && flags != 0 ? guess_role(name) : static_cast<role>(what);
    auto const pass = [&](offered const& values) {
        self.calls->observe(self, name, values, guess && flags == 0 ? nullptr : &given, static_cast<flag>(flags));
    };
    if (seen.plain(it)) { return pass({seen.view, nullptr, nullptr}); }
    c_source const source{it, seen.view};
    bool const rows = source.is_packed(order::row_major);
    if (!seen.aligned || (!rows && !source.is_packed(order::column_major))) { return pass(offer(source)); }
    seen.view.layout = rows ? order::row_major : order::column_major;
    pass({seen.view, nullptr, nullptr});
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

// A hook for C: what `hook{path, plan, arguments...}` is, rules and options among the arguments. A null path: rules only. Null where
// memory is exhausted.
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

// The defaults: losses and metrics are kept at every step, and all the built-in rules judge (docs/rules.md).
[[nodiscard]] inline spotter_hook* make_c_hook(char const* path, options const& choices = {}) noexcept {
    return make_c_hook(path, plan{defaults::losses, defaults::metrics}, non_finite{}, exploding_gradient{},
                       vanishing_gradient{}, loss_not_decreasing{}, dead_relu{}, all_zero{}, update_ratio_band{},
                       tree_depth{}, feature_importance_overweight{}, low_feature_importance{}, choices);
}

}  // namespace spotter::inline SPOTTER_ABI
