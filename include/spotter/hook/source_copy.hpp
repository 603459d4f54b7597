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
#include <spotter/hook/source_copy.ipp>
#endif
