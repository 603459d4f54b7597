// SPDX-License-Identifier: Apache-2.0
// The bodies of source_copy.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/hook/source_copy.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY refusal_words source_copy::take(offered const& given, tensor_ref& view) noexcept {
    if (!bytes_.grow(as_size(given.view.bytes()))) { return {errc::out_of_memory, "could not be copied: no memory"}; }
    view = given.view;
    view.values.raw = bytes_.data();
    return guarded_or(
        [&] {
            return given.copy(given.source, bytes_.data())
                       ? refusal_words{}
                       : refusal_words{errc::io_error, "could not be copied: its function says that it failed"};
        },
        [] { return refusal_words{errc::user_code_threw, "could not be copied: its function threw an exception"}; });
}

}  // namespace spotter::inline SPOTTER_ABI
