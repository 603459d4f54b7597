// SPDX-License-Identifier: Apache-2.0
// C interface (L6): a hook of any plan and rules behind the one type that C knows, and the way from C's arguments to it.
#pragma once

#include <spotter/c/sentence.hpp>
#include <spotter/spotter.hpp>

#include <new>

// What stands behind the opaque pointer: a table of functions, and what C reads between the calls.
struct spotter_hook {
    struct table {
        void (*destroy)(spotter_hook*) noexcept;
        void (*begin)(spotter_hook&, spotter::step_id) noexcept;
        void (*observe)(spotter_hook&, std::string_view, spotter::tensor_ref const&, spotter::role const*, spotter::flag) noexcept;
        void (*scalar_f64)(spotter_hook&, std::string_view, double, double const*) noexcept;
        void (*scalar_f32)(spotter_hook&, std::string_view, float, double const*) noexcept;
        void (*scalar_i64)(spotter_hook&, std::string_view, std::int64_t, double const*) noexcept;
        void (*scalar_text)(spotter_hook&, std::string_view, std::string_view, double const*) noexcept;
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
    spotter::alarm found{};        // by the last spotter_end
    spotter::error first{};        // of refuse(), where it came before the hook's own
    std::uint64_t refused = 0;     // by refuse()
    char path[4096]{};
};

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Plan, class... Arguments>
struct held_hook final : spotter_hook {
    using hook_type = hook<recorder, Plan, Arguments...>;

    explicit held_hook(std::string_view folder, Plan const& plan, Arguments const&... arguments) noexcept : watch{folder, plan, arguments...} {
        static constexpr table functions{
            [](spotter_hook* self) noexcept { delete static_cast<held_hook*>(self); },
            [](spotter_hook& self, step_id id) noexcept { in(self).begin(id); },
            [](spotter_hook& self, std::string_view name, tensor_ref const& values, role const* what, flag flags) noexcept {
                in(self).observe_view(name, values, what, flags);
            },
            scalar<double>, scalar<float>, scalar<std::int64_t>, scalar<std::string_view>,
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

// A tensor in C's words.
struct c_tensor {
    int dtype;
    void const* values;
    int rank;
    std::uint64_t const* shape;
    std::int64_t const* byte_strides;
};

// Strides in elements; false where a distance is no whole number of them.
[[nodiscard]] inline bool strides_in_elements(c_tensor const& it, extents const& shape, std::int64_t element_bytes,
                                              std::array<std::int64_t, max_rank>& strides) noexcept {
    for (std::size_t axis = 0; axis < shape.rank; ++axis) {
        if (it.byte_strides[axis] % element_bytes != 0 && shape.size[axis] > 1) { return false; }
        strides[axis] = it.byte_strides[axis] / element_bytes;
    }
    return true;
}

// A view of it. What a hook can judge (gaps, rank, null) is left in `refused`; what it cannot gives a sentence in `why`.
[[nodiscard]] inline tensor_ref view_from_c(c_tensor const& it, errc& code, std::string_view& why) noexcept {
    auto const type = static_cast<dtype>(it.dtype);
    std::size_t const bytes = it.dtype < SPOTTER_BOOL || it.dtype > SPOTTER_F8_E5M2 ? 0 : size_of(type);
    if (bytes == 0) {
        code = errc::wrong_type, why = "was given with an unknown dtype: take one of spotter_dtype";
        return {};
    }
    if (it.rank < 0 || (it.rank > 0 && it.shape == nullptr)) {
        code = errc::no_shape, why = "was given without a shape: rank 0 or more, and as many sizes";
        return {};
    }
    extents shape;
    shape.rank = static_cast<std::uint8_t>(it.rank <= static_cast<int>(max_rank) ? it.rank : static_cast<int>(max_rank) + 1);
    constexpr std::uint64_t most = 1ULL << 62;  // bytes
    std::uint64_t room = most / bytes;
    bool empty = false;
    bool fits = true;
    for (std::size_t axis = 0; axis < shape.rank && axis < max_rank; ++axis) {
        std::uint64_t const size = it.shape[axis];
        shape.size[axis] = size;
        empty = empty || size == 0;
        fits = fits && size <= room;
        room = size == 0 ? room : room / size;
    }
    if (!fits && !empty) {
        code = errc::no_shape, why = "was given with a shape that no memory can hold: was a size negative?";
        return {};
    }
    auto const* const address = static_cast<std::uint8_t const*>(it.values);
    tensor_ref view = view_of(address, shape);
    if (it.byte_strides != nullptr && view.refused == refusal::none && !empty) {
        std::array<std::int64_t, max_rank> strides{};
        if (strides_in_elements(it, shape, static_cast<std::int64_t>(bytes), strides)) {
            view = view_of(address, shape, std::span<std::int64_t const>{strides.data(), shape.rank});
        } else {
            view.refused = refusal::not_contiguous;
        }
    }
    std::size_t const alignment = is_complex(type) ? bytes / 2 : bytes;
    if (view.refused == refusal::none && view.count > 0 && reinterpret_cast<std::uintptr_t>(it.values) % alignment != 0) {
        code = errc::not_contiguous, why = "is not aligned to its elements: copy it into memory that is";
    }
    view.type = type;
    view.values.raw = it.values;
    return view;
}

inline void observe_from_c(spotter_hook& self, char const* name, int what, int flags, c_tensor const& it) noexcept {
    if (name == nullptr) { return self.refuse(errc::no_such_name, "", "is no name: a null pointer was given"); }
    constexpr int every_flag = SPOTTER_FLAG_FROZEN | SPOTTER_FLAG_FULL_BATCH | SPOTTER_FLAG_SPARSE_ROWS;
    bool const guess = what == SPOTTER_ROLE_GUESS;
    if (what < SPOTTER_ROLE_GUESS || what > SPOTTER_ROLE_SYSTEM || (flags & ~every_flag) != 0) {
        return self.refuse(errc::bad_config, name, "was given with an unknown role or flag");
    }
    if (guess && flags != 0) { return self.refuse(errc::bad_config, name, "was given flags without a role: name the role as well"); }
    errc code = errc::none;
    std::string_view why;
    tensor_ref const view = view_from_c(it, code, why);
    if (code != errc::none) { return self.refuse(code, name, why); }
    auto const given = guess ? role::other : static_cast<role>(what);
    self.calls->observe(self, name, view, guess ? nullptr : &given, static_cast<flag>(flags));
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
    now.first = {errc::out_of_memory, "there is no hook: spotter_create returned null, nothing is watched"};
    if (self != nullptr) {
        now = self->calls->health(*self);
        now.refused += self->refused;
        if (self->first) { now.first = self->first; }
    }
    auto const code = static_cast<spotter_error>(now.first.code);
    if (out == nullptr) { return code; }
    out->error = code;
    copy_text(out->what, now.first.what);
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

// A hook for C: what `hook{path, plan, arguments...}` is, rules and options among the arguments. A null path: rules only.
template <class... Collections, class... Arguments>
[[nodiscard]] spotter_hook* make_c_hook(char const* path, plan<Collections...> const& keep, Arguments const&... arguments) noexcept {
    options choices = detail::options_among(arguments...);
    choices.dry_run = choices.dry_run || path == nullptr;
    return new (std::nothrow) detail::held_hook<plan<Collections...>, Arguments..., options>{detail::c_text(path), keep, arguments..., choices};
}

// The defaults: losses and metrics are kept at every step, and all the built-in rules judge (docs/rules.md).
[[nodiscard]] inline spotter_hook* make_c_hook(char const* path, options const& choices = {}) noexcept {
    return make_c_hook(path, plan{defaults::losses, defaults::metrics}, non_finite{}, exploding_gradient{}, vanishing_gradient{},
                       loss_not_decreasing{}, dead_relu{}, all_zero{}, update_ratio_band{}, choices);
}

}  // namespace spotter::inline SPOTTER_ABI
