// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: results of XGBoost as tensors that are only computed when they are needed.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/ext/xgboost/reader.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A tensor whose view is computed when it is needed.
struct boosted_look {
    booster_reader* of;
    tensor_ref (booster_reader::*fetch)(std::size_t);
    std::size_t which = 0;

    [[nodiscard]] tensor_ref view() const noexcept {
        return guarded_or([&] { return (of->*fetch)(which); },
                          [&] {
                              of->remember(errc::out_of_memory, "answers", "no memory");
                              return refused_view(refusal::null);
                          });
    }
};

// The same for the first access to an expensive one: type and shape are known without it.
struct first_boosted_look {
    boosted_look it;
    dtype element;
    extents sizes;

    [[nodiscard]] dtype type() const noexcept { return element; }
    [[nodiscard]] extents shape() const noexcept { return sizes; }
    bool copy_to(std::byte* into) const {
        tensor_ref const found = it.view();
        if (found.refused == refusal::none && found.type == element && found.shape == sizes) {
            if (found.count > 0) { std::memcpy(into, found.values.raw, as_size(found.bytes())); }
            return true;
        }
        it.of->remember(errc::bad_config, "answer", "has another shape than was expected");
        return false;
    }
};

}  // namespace detail

template <>
struct tensor_access<detail::boosted_look> {
    [[nodiscard]] static tensor_ref view(detail::boosted_look const& it) noexcept { return it.view(); }
};

}  // namespace spotter::inline SPOTTER_ABI
