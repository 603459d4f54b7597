// SPDX-License-Identifier: Apache-2.0
// Record (L4): stores the values of a tensor as differences to its last saved values.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/difference.hpp>
#include <spotter/format/encode.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// Used by the writer. Keeps one copy of each tensor that is recorded in chains. A payload is stored whole if it is the
// first of its segment, if the tensor's type, order or shape changed, if the chain has its full length, or if memory is
// exhausted.
class delta_chains {
public:
    // Begins the next payload. `like`: encoded type, order and shape. Returns true if it is stored as differences.
    bool begin(std::uint64_t tensor, unsigned longest, byte_view like, std::uint64_t bytes,
               std::uint32_t segment) noexcept;
    // Encodes a block of its values, in order, for storage. Valid until the next call.
    [[nodiscard]] byte_view next(byte_view block) noexcept;
    // The payload is complete and stored at `place`: appends the places of its bases to the row.
    void end(payload_place const& place, byte_writer& out) noexcept;
    // The rest of the payload will not come.
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
    kept* now_ = nullptr;  // the tensor of the current payload
    byte_buffer difference_{};
    std::size_t done_ = 0;  // bytes of its values so far
    bool linked_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/delta_chains.ipp>
#endif
