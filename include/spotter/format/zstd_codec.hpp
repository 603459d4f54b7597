// SPDX-License-Identifier: Apache-2.0
// Format (L1): values to zstd frames and back. The only file of the project that includes zstd.h.
#pragma once

#include <spotter/format/frame.hpp>
#include <spotter/format/shuffle.hpp>

#include <zstd.h>

namespace spotter::inline SPOTTER_ABI {

// Compresses blocks of values. Owns zstd's working memory, which is reused; one thread.
class payload_packer {
public:
    explicit payload_packer(int level) noexcept : context_{ZSTD_createCCtx()} {
        if (context_ != nullptr) {
            ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
            ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
        }
    }
    payload_packer(payload_packer const&) = delete;
    payload_packer& operator=(payload_packer const&) = delete;
    ~payload_packer() { ZSTD_freeCCtx(context_); }

    // Into how many planes values of a type are split when there are `bytes` of them in all.
    [[nodiscard]] static std::uint8_t planes_for(dtype type, std::uint64_t bytes) noexcept {
        return bytes < layout::plain_bytes ? std::uint8_t{1} : static_cast<std::uint8_t>(plane_width(type));
    }

    // One block (at most layout::block_bytes, a multiple of `planes`; every block of a tensor but the last the same size):
    // its planes as frames at the end of `out`. zstd itself stores what does not compress as raw blocks.
    [[nodiscard]] error pack(byte_view block, std::uint8_t planes, byte_buffer& out) noexcept {
        if (block.empty()) { return {}; }
        std::byte const* from = block.data();
        std::size_t const size = block.size() / planes;
        if (planes > 1) {
            scratch_.clear();
            std::byte* const split = scratch_.prepare(block.size());
            if (split == nullptr) { return no_memory(); }
            split_planes(block.data(), size, planes, split);
            from = split;
        }
        std::size_t const bound = ZSTD_compressBound(size);
        for (std::uint8_t plane = 0; plane < planes; ++plane) {
            std::byte* const into = out.prepare(bound);
            if (into == nullptr || context_ == nullptr) { return no_memory(); }
            std::size_t const made = ZSTD_compress2(context_, into, bound, from + plane * size, size);
            if (ZSTD_isError(made) != 0) {
                error why{errc::io_error, "zstd could not compress a block of values: "};
                why.what << ZSTD_getErrorName(made);
                return why;
            }
            out.grow_by(made);
        }
        return {};
    }

private:
    [[nodiscard]] static error no_memory() noexcept {
        return {errc::out_of_memory, "no memory to compress values; recording stops here, the training goes on"};
    }

    ZSTD_CCtx* context_;
    byte_buffer scratch_;
};

// Decompresses payloads. Owns zstd's working memory, which is reused; one thread.
class payload_unpacker {
public:
    payload_unpacker() noexcept : context_{ZSTD_createDCtx()} {}
    payload_unpacker(payload_unpacker const&) = delete;
    payload_unpacker& operator=(payload_unpacker const&) = delete;
    ~payload_unpacker() { ZSTD_freeDCtx(context_); }

    // The values at `place` of a segment, which must be exactly `out`'s size. errc::corrupt if a byte of them is damaged;
    // `out` is then undefined.
    [[nodiscard]] error unpack(byte_view segment, payload_place const& place, std::span<std::byte> out) noexcept {
        if (place.offset > segment.size() || place.bytes > segment.size() - place.offset || place.planes == 0 ||
            place.planes > 8) {
            return damaged(place);
        }
        byte_view from = segment.subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(place.bytes));
        while (!out.empty()) {
            frame_extent const first = measure_zstd_frame_at(from);
            if (first.kind != frame_kind::values || first.content == 0 || first.content > layout::block_bytes ||
                first.content * place.planes > layout::block_bytes || first.content * place.planes > out.size()) {
                return damaged(place);
            }
            auto const size = static_cast<std::size_t>(first.content);
            std::byte* into = out.data();
            if (place.planes > 1) {
                scratch_.clear();
                into = scratch_.prepare(size * place.planes);
            }
            if (into == nullptr || context_ == nullptr) {
                return {errc::out_of_memory, "no memory to decompress values; close other trials"};
            }
            for (std::size_t plane = 0; plane < place.planes; ++plane) {
                frame_extent const frame = measure_zstd_frame_at(from);
                if (frame.kind != frame_kind::values || frame.content != size) { return damaged(place); }
                auto const bytes = static_cast<std::size_t>(frame.bytes);
                if (ZSTD_decompressDCtx(context_, into + plane * size, size, from.data(), bytes) != size) {
                    return damaged(place);
                }
                from = from.subspan(bytes);
            }
            if (place.planes > 1) { join_planes(into, size, place.planes, out.data()); }
            out = out.subspan(size * place.planes);
        }
        return from.empty() ? error{} : damaged(place);
    }

private:
    [[nodiscard]] static frame_extent measure_zstd_frame_at(byte_view from) noexcept {
        if (from.size() < 4 || load<std::uint32_t>(from.data()) != layout::zstd_magic) { return {}; }
        return measure_zstd_frame(from);
    }
    [[nodiscard]] static error damaged(payload_place const& place) noexcept {
        error why{errc::corrupt, "the values at byte "};
        why.what << place.offset
                 << " of a segment are damaged; the statistics of this tensor and all other tensors can be read";
        return why;
    }

    ZSTD_DCtx* context_;
    byte_buffer scratch_;
};

// The same for once.
[[nodiscard]] inline error decode_payload(byte_view segment, payload_place const& place,
                                          std::span<std::byte> out) noexcept {
    payload_unpacker unpacker;
    return unpacker.unpack(segment, place, out);
}

}  // namespace spotter::inline SPOTTER_ABI
