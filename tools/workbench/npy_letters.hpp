// SPDX-License-Identifier: Apache-2.0
// Workbench: NumPy's names of the element types that it has, without the order of bytes.
#pragma once

#include <spotter/core/dtype.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

struct npy_letters {
    dtype type;
    std::string_view letters;
};
inline constexpr npy_letters npy_types[] = {
    {dtype::boolean, "b1"}, {dtype::i8, "i1"},  {dtype::i16, "i2"}, {dtype::i32, "i4"},  {dtype::i64, "i8"},
    {dtype::u8, "u1"},      {dtype::u16, "u2"}, {dtype::u32, "u4"}, {dtype::u64, "u8"},  {dtype::f16, "f2"},
    {dtype::f32, "f4"},     {dtype::f64, "f8"}, {dtype::c64, "c8"}, {dtype::c128, "c16"}};

}  // namespace spotter::inline SPOTTER_ABI::detail
