// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the values of a source that has to be copied (core/source.hpp), where they are due.
#pragma once

#include <spotter/core/refusal_words.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI {

// One buffer for all, as large as the largest of them.
class source_copy {
public:
    // Points `view` at the copy; with an error code it is not to be read. The copy is good until the next one.
    [[nodiscard]] refusal_words take(offered const& given, tensor_ref& view) noexcept;

private:
    slot_array<std::byte> bytes_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/source_copy.ipp>
#endif
