// SPDX-License-Identifier: Apache-2.0
// Record (L4): stores the values of a tensor as differences to its last saved values.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/encode.hpp>
#include <spotter/format/shuffle.hpp>

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
#include <spotter/core/casts.hpp>

#include <algorithm>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool delta_chains::begin(std::uint64_t tensor, unsigned longest, byte_view like, std::uint64_t bytes,
                                      std::uint32_t segment) noexcept {
    now_ = nullptr;
    done_ = 0;
    linked_ = false;
    if (longest == 0 || !kept_.grow(as_size(tensor) + 1)) { return false; }
    kept& it = kept_[as_size(tensor)];
    bool const same =
        it.whole && it.segment == segment && it.values.size() == bytes && std::ranges::equal(it.like.view(), like);
    linked_ = same && it.count <= (std::min)(std::size_t{longest}, layout::longest_chain) &&
              difference_.reserve(layout::block_bytes);
    it.whole = false;  // until the payload is complete
    if (!linked_) {
        it.count = 0;
        it.segment = segment;
        it.like.clear();
        it.values.clear();
        if (!it.like.append(like) || it.values.prepare(as_size(bytes)) == nullptr) { return false; }
        it.values.grow_by(as_size(bytes));
    }
    now_ = &it;
    return linked_;
}

SPOTTER_BODY byte_view delta_chains::next(byte_view block) noexcept {
    if (now_ == nullptr || block.size() > now_->values.size() - done_ || block.size() > layout::block_bytes) {
        return block;
    }
    std::byte* const before = now_->values.data() + done_;
    done_ += block.size();
    if (!linked_) {
        if (!block.empty()) { std::memcpy(before, block.data(), block.size()); }
        return block;
    }
    std::byte* const into = difference_.data();
    exclusive_or(block.data(), before, into, block.size());
    std::memcpy(before, block.data(), block.size());
    return {into, block.size()};
}

SPOTTER_BODY void delta_chains::end(payload_place const& place, byte_writer& out) noexcept {
    if (now_ == nullptr) { return; }
    kept& it = *std::exchange(now_, nullptr);
    if (linked_) {
        out.varint(it.count);
        payload_place at = place;
        for (std::size_t i = it.count; i-- > 0;) { encode_base(out, at, it.places[i]); }
    }
    it.places[it.count++] = place;
    it.whole = true;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
