// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the values of a source that has to be copied (core/source.hpp), where they are due.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/source.hpp>
#include <spotter/hook/refusal_words.hpp>

namespace spotter::inline SPOTTER_ABI {

// One buffer for all, as large as the largest of them.
class source_copy {
public:
    // Points `view` at the copy; with an error code it is not to be read. The copy is good until the next one.
    [[nodiscard]] refusal_words take(offered const& given, tensor_ref& view) noexcept {
        if (!bytes_.grow(static_cast<std::size_t>(given.view.bytes()))) {
            return {errc::out_of_memory, "could not be copied: no memory"};
        }
        view = given.view;
        view.values.raw = bytes_.data();
        return guarded_or(
            [&] {
                return given.copy(given.source, bytes_.data())
                           ? refusal_words{}
                           : refusal_words{errc::io_error, "could not be copied: its function says that it failed"};
            },
            [] {
                return refusal_words{errc::user_code_threw, "could not be copied: its function threw an exception"};
            });
    }

private:
    slots<std::byte> bytes_{};
};

}  // namespace spotter::inline SPOTTER_ABI
