// SPDX-License-Identifier: Apache-2.0
// A family: one training program with its habits, in healthy variants and with the faults that apply to it.
#pragma once

#include "course.hpp"
#include "faults.hpp"

#include <string_view>
#include <vector>

namespace diagnosis {

struct family {
    std::string_view name{};                   // char_transformer
    std::string_view library{};                // what computes it: "libtorch"; empty: loops of this bench
    std::string_view habit{};                  // what is its own way of working, in a few words for the docs
    std::vector<std::string_view> variants{};  // its healthy shapes; the first is the base that faults are put into
    std::vector<fault> faults{};
    bool real_data = false;
    bool follows_cures = false;
    bool (*there)() = nullptr;  // whether its data can be had; null: always
    void (*train)(course&) = nullptr;
};

// All that were built, in the order of their names. A family stands in families/<name>.cpp and is added by
//     static bool const added = diagnosis::add_family({...});
[[nodiscard]] std::vector<family> const& families();
bool add_family(family it);
[[nodiscard]] family const* family_named(std::string_view name);  // null: not built

}  // namespace diagnosis
