// SPDX-License-Identifier: Apache-2.0
// Command line: a tensor as rows of numbers, abbreviated if it is large.
#pragma once

#include "output.hpp"

#include <spotter/core/tensor_ref.hpp>

#include <array>
#include <vector>

namespace spotter_tool {

// "2x3", or "scalar".
[[nodiscard]] inline std::string shape_text(spotter::extents const& shape) {
    std::string text;
    for (std::uint64_t const each : shape.view()) {
        if (!text.empty()) { text += 'x'; }
        text += std::to_string(each);
    }
    return text.empty() ? "scalar" : text;
}

[[nodiscard]] inline json shape_json(spotter::extents const& shape) {
    return json_list(shape.view(), [](std::uint64_t size) { return size; });
}

// All digits of a value of this recorded type: 0.1F as a float32 is 0.1, without the 17 digits of the nearest double.
// They read back as the same value of that type.
[[nodiscard]] inline std::string exact_text(spotter::dtype type, double const& value) {
    using spotter::dtype;
    bool const narrow = type == dtype::f32 || type == dtype::f16 || type == dtype::bf16 || type == dtype::f8_e4m3 ||
                        type == dtype::f8_e5m2;
    auto const as_float = static_cast<float>(value);
    if (!narrow || !spotter::is_finite(value) || static_cast<double>(as_float) < value ||
        static_cast<double>(as_float) > value) {
        return detail::float_text(value, true);
    }
    return detail::short_exponent(fmt::format("{}", as_float));
}

// A number as double; of a complex one the real part.
template <class Element>
[[nodiscard]] double double_of(Element const& value) {
    if constexpr (requires { value.re; }) {
        return static_cast<double>(value.re);
    } else if constexpr (requires { to_float(value); }) {
        return static_cast<double>(to_float(value));
    } else {
        return static_cast<double>(value);
    }
}

// One element as text; `exact` for digits that read back as the same value.
template <class Element>
[[nodiscard]] std::string element_text(Element const& value, bool exact = false) {
    if constexpr (std::is_same_v<Element, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::is_integral_v<Element>) {
        return std::to_string(value);
    } else if constexpr (requires { value.re, value.im; }) {
        std::string const imaginary = detail::float_text(static_cast<double>(value.im), exact);
        return detail::float_text(static_cast<double>(value.re), exact) + (imaginary[0] == '-' ? "" : "+") + imaginary +
               'i';
    } else if constexpr (std::is_same_v<Element, double>) {
        return detail::float_text(value, exact);
    } else {
        return exact ? exact_text(spotter::dtype::f32, double_of(value)) : detail::float_text(double_of(value), false);
    }
}
template <class Element>
[[nodiscard]] json element_json(Element const& value) {
    if constexpr (std::is_integral_v<Element>) {
        return value;
    } else if constexpr (requires { value.re, value.im; }) {
        return json::array({number(static_cast<double>(value.re)), number(static_cast<double>(value.im))});
    } else {
        return number(double_of(value));
    }
}

// Calls take(offset in memory) for every element, in row-major order.
template <class Take>
void for_each_place(spotter::tensor_ref const& tensor, Take&& take) {
    std::size_t const rank = tensor.shape.view().size();
    std::array<std::uint64_t, spotter::max_rank> index{};
    std::array<std::uint64_t, spotter::max_rank> stride{};
    std::uint64_t step = 1;
    for (std::size_t i = 0; i < rank; ++i) {
        std::size_t const axis = tensor.layout == spotter::order::row_major ? rank - 1 - i : i;
        stride[axis] = step;
        step *= tensor.shape.size[axis];
    }
    for (std::uint64_t i = 0; i < tensor.count; ++i) {
        std::uint64_t place = 0;
        for (std::size_t axis = 0; axis < rank; ++axis) { place += index[axis] * stride[axis]; }
        take(static_cast<std::size_t>(place), index);
        for (std::size_t axis = rank; axis > 0; --axis) {
            if (++index[axis - 1] < tensor.shape.size[axis - 1]) { break; }
            index[axis - 1] = 0;
        }
    }
}

// How an element is shown. Of a cut axis only the first and last `edge` elements are shown.
enum class cut_element { shown, dots, left_out };
template <class Index, class IsCut>
[[nodiscard]] cut_element cut_at(spotter::extents const& shape, Index const& index, std::uint64_t edge,
                                 IsCut const& is_cut) {
    cut_element how = cut_element::shown;
    for (std::size_t axis = 0; axis < shape.rank; ++axis) {
        if (!is_cut(axis) || index[axis] < edge || index[axis] >= shape.size[axis] - edge) { continue; }
        if (index[axis] > edge) { return cut_element::left_out; }
        how = cut_element::dots;  // one mark stands for everything left out along an axis
    }
    return how;
}

// Rows of numbers, with a blank line between matrices; of more than 1000 elements only the first and last three along
// each axis.
[[nodiscard]] inline std::string tensor_text(spotter::tensor_ref const& tensor, bool all) {
    constexpr std::uint64_t many = 1000, edge = 3;
    bool const cut = !all && tensor.count > many;
    std::size_t const rank = tensor.shape.view().size();
    struct cell {
        std::string text;
        std::size_t ends;  // number of displayed axes that end with it
    };
    std::vector<cell> cells;
    std::size_t width = 0;
    auto const is_cut = [&](std::size_t axis) { return cut && tensor.shape.size[axis] > 2 * edge; };
    visit_values(tensor, [&](auto values) {
        for_each_place(tensor, [&](std::size_t place, auto const& index) {
            cut_element const how = cut_at(tensor.shape, index, edge, is_cut);
            if (how == cut_element::left_out) { return; }
            std::size_t ends = 0;
            while (ends < rank && index[rank - 1 - ends] + 1 == tensor.shape.size[rank - 1 - ends]) { ++ends; }
            cells.push_back({how == cut_element::dots ? "..." : element_text(values[place], all), ends});
            width = (std::max)(width, cells.back().text.size());
        });
    });
    std::string text;
    for (cell const& each : cells) {
        text += fmt::format("{:>{}}", each.text, width);
        text += each.ends == 0 && rank > 0 ? "  " : "\n";
        if (each.ends > 1 && &each != &cells.back()) { text += '\n'; }
    }
    if (!text.empty() && text.back() != '\n') { text += '\n'; }
    return text;
}

}  // namespace spotter_tool
