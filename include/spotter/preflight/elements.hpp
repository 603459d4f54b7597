// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: elements of a tensor read as doubles, and written back rounded to its type.
#pragma once

#include <spotter/core/narrow.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <cmath>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] constexpr bool can_hold_weights(dtype type) noexcept {
    return type == dtype::f32 || type == dtype::f64 || type == dtype::bf16 || type == dtype::f16;
}
// The spacing of a type's numbers, relative to their size; at most.
[[nodiscard]] constexpr double spacing_of(dtype type) noexcept {
    return type == dtype::f64 ? 0x1p-52 : type == dtype::f32 ? 0x1p-23 : type == dtype::bf16 ? 0x1p-7 : 0x1p-10;
}
// Has so few bits that its spacing is not a small step.
[[nodiscard]] constexpr bool is_coarse(dtype type) noexcept { return type == dtype::bf16 || type == dtype::f16; }
// The nearest number that a type can hold.
[[nodiscard]] inline double rounded_to(dtype type, double value) noexcept {
    switch (type) {
        case dtype::f32:
            return static_cast<double>(static_cast<float>(value));
        case dtype::bf16:
            return static_cast<double>(to_float(to_bf16(static_cast<float>(value))));
        case dtype::f16:
            return static_cast<double>(to_float(to_f16(static_cast<float>(value))));
        default:
            return value;
    }
}

// Reads elements of any real type as doubles; false for another type.
[[nodiscard]] inline bool read_elements(tensor_ref const& view, double* into) noexcept {
    bool read = view.count == 0;
    visit_values(view, [&](auto const& values) {
        using value = std::remove_cvref_t<decltype(values[0])>;
        if constexpr (std::is_arithmetic_v<value>) {
            for (std::size_t i = 0; i < values.size(); ++i) { into[i] = static_cast<double>(values[i]); }
            read = true;
        } else if constexpr (requires(value const& it) { to_float(it); }) {
            for (std::size_t i = 0; i < values.size(); ++i) { into[i] = static_cast<double>(to_float(values[i])); }
            read = true;
        }
    });
    return read;
}

// Into memory that is the program's, of an object that is not const.
inline void write_elements(tensor_ref const& view, double const* from) noexcept {
    auto* const bytes = static_cast<unsigned char*>(const_cast<void*>(view.values.raw));
    auto const put = [&](auto convert) {
        using value = decltype(convert(0.0));
        for (std::size_t i = 0; i < view.count; ++i) {
            value const made = convert(from[i]);
            std::memcpy(bytes + i * sizeof(value), &made, sizeof(value));
        }
    };
    switch (view.type) {
        case dtype::f64:
            put([](double it) { return it; });
            break;
        case dtype::f32:
            put([](double it) { return static_cast<float>(it); });
            break;
        case dtype::bf16:
            put([](double it) { return to_bf16(static_cast<float>(it)); });
            break;
        case dtype::f16:
            put([](double it) { return to_f16(static_cast<float>(it)); });
            break;
        default:
            break;
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
