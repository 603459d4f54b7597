// SPDX-License-Identifier: Apache-2.0
// Record (L4): what a tensor's values were when they were last saved, so that the next ones can be stored as differences.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/difference.hpp>
#include <spotter/format/encode.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Used by the writer. Keeps one copy of each tensor that is asked for in chains. A payload is whole where it is the first of its
// segment, where the tensor's type, order or shape changed, where the chain is at its longest, and where memory is exhausted.
class delta_chains {
public:
    // The next payload. `like` says what its values are; they are differences where the answer is true.
    bool begin(std::uint64_t tensor, unsigned longest, byte_view like, std::uint64_t bytes,
               std::uint32_t segment) noexcept {
        now_ = nullptr;
        done_ = 0;
        linked_ = false;
        if (longest == 0 || !kept_.grow(static_cast<std::size_t>(tensor) + 1)) { return false; }
        kept& it = kept_[static_cast<std::size_t>(tensor)];
        bool const same =
            it.whole && it.segment == segment && it.values.size() == bytes && std::ranges::equal(it.like.view(), like);
        linked_ = same && it.count <= (std::min)(std::size_t{longest}, layout::longest_chain) &&
                  difference_.reserve(layout::block_bytes);
        it.whole = false;  // until all of it came
        if (!linked_) {
            it.count = 0;
            it.segment = segment;
            it.like.clear();
            it.values.clear();
            if (!it.like.append(like) || it.values.prepare(static_cast<std::size_t>(bytes)) == nullptr) {
                return false;
            }
            it.values.grow_by(static_cast<std::size_t>(bytes));
        }
        now_ = &it;
        return linked_;
    }
    // A block of its values, in order: as it is to be stored. Valid until the next call.
    [[nodiscard]] byte_view next(byte_view block) noexcept {
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
    // All of it came and stands at `place`: adds to a row what the values build on.
    void end(payload_place const& place, byte_writer& out) noexcept {
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

    slots<kept> kept_{};
    kept* now_ = nullptr;  // whose values are coming in
    byte_buffer difference_{};
    std::size_t done_ = 0;  // bytes of them
    bool linked_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI
