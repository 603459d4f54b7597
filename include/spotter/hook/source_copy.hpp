// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the copied values of a source (core/source.hpp), made only where they are due.
#pragma once

#include <spotter/core/refusal_words.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI {

// One buffer for all sources, as large as the largest.
class source_copy {
public:
    // Points `view` at the copy, which is valid until the next call. With an error code `view` must not be read.
    [[nodiscard]] refusal_words take(offered const& given, tensor_ref& view) noexcept;

private:
    slot_array<std::byte> bytes_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/core/guard.hpp>

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

#endif
