// SPDX-License-Identifier: Apache-2.0
// Record (L4): what a tensor's values were when they were last saved, so that the next ones can be stored as
// differences.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/difference.hpp>
#include <spotter/format/encode.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// Used by the writer. Keeps one copy of each tensor that is asked for in chains. A payload is whole where it is the
// first of its segment, where the tensor's type, order or shape changed, where the chain is at its longest, and where
// memory is exhausted.
class delta_chains {
public:
    // The next payload. `like` says what its values are; they are differences where the answer is true.
    bool begin(std::uint64_t tensor, unsigned longest, byte_view like, std::uint64_t bytes,
               std::uint32_t segment) noexcept;
    // A block of its values, in order: as it is to be stored. Valid until the next call.
    [[nodiscard]] byte_view next(byte_view block) noexcept;
    // All of it came and stands at `place`: adds to a row what the values build on.
    void end(payload_place const& place, byte_writer& out) noexcept;
    // The rest of it will not come.
    void give_up() noexcept { now_ = nullptr; }

private:
    struct kept {
        byte_buffer values{};
        byte_buffer like{};
        std::array<payload_place, layout::longest_chain + 1> places{};  // the whole one first
        std::size_t count = 0;                                          // of places
        std::uint32_t segment = 0;
        bool whole = false;  // `values` are those of the last place
    };

    slot_array<kept> kept_{};
    kept* now_ = nullptr;  // whose values are coming in
    byte_buffer difference_{};
    std::size_t done_ = 0;  // bytes of them
    bool linked_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/delta_chains.ipp>
#endif
