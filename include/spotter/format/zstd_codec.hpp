// SPDX-License-Identifier: Apache-2.0
// Format (L1): compresses values to zstd frames and back. The only header of the project that includes zstd.h.
#pragma once

#include <spotter/format/frame.hpp>
#include <spotter/format/plane_sample.hpp>
#include <spotter/format/zero_mask.hpp>

#include <zstd.h>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A compressor that does not search for repeated sequences, which leaves zstd's Huffman coding.
[[nodiscard]] ZSTD_CCtx* make_huffman_context() noexcept;

// Compresses any bytes to one zstd frame, for other file formats. False where memory is exhausted.
[[nodiscard]] bool append_zstd(byte_view content, int level, byte_buffer& out) noexcept;

}  // namespace detail

// Compresses blocks of values. Owns zstd's working memory, and reuses it. Not thread-safe.
//
// Each byte plane of a block has its own codec, chosen from a sample (plane_sample.hpp). Incompressible planes are
// copied, planes without repeated sequences are only Huffman-coded, and the others are compressed at zstd's `level`.
class payload_packer {
public:
    explicit payload_packer(int level) noexcept;
    payload_packer(payload_packer const&) = delete;
    payload_packer& operator=(payload_packer const&) = delete;
    ~payload_packer();

    // The layout for `bytes` of values of a type.
    [[nodiscard]] static payload_form form_for(dtype type, std::uint64_t bytes) noexcept;

    // Appends one block to `out`: a frame for its mask, if the form has masks, and one for each plane. A block has at
    // most layout::block_bytes, and is a multiple of the form's planes; all blocks of a tensor but the last have the
    // same size. The output exceeds the block by at most 20 bytes for each frame.
    [[nodiscard]] error pack(byte_view block, payload_form form, byte_buffer& out) noexcept;
    // The same for a tensor of one block; also chooses its form: no mask if that does not pay, and no planes if they do
    // not pay, because their frames would make a small tensor larger.
    [[nodiscard]] error pack_alone(byte_view block, payload_form& form, byte_buffer& out) noexcept;

private:
    [[nodiscard]] static error no_memory() noexcept;
    // Appends the planes of all values of a block.
    [[nodiscard]] error pack_planes(byte_view block, payload_form form, std::array<plane_codec, 8> const& codecs,
                                    byte_buffer& out) noexcept;
    // Appends a mask and the planes of the non-zero values. `pays` is false, and nothing is added, if the sample
    // misled.
    [[nodiscard]] error pack_masked(byte_view block, payload_form form, byte_buffer& out, bool& pays) noexcept;
    // Appends one plane as a frame; there is room for `bound` bytes and a raw frame's head.
    [[nodiscard]] error append(plane_codec codec, byte_view plane, std::size_t bound, byte_buffer& out) noexcept;

    ZSTD_CCtx* matches_;
    ZSTD_CCtx* huffman_;
    byte_buffer scratch_;
    byte_buffer mask_;
    byte_buffer kept_;
};

// Decompresses payloads. Owns zstd's working memory, 160 KiB. It is created on first use and reused, because creating
// it takes longer than decompressing a small tensor. Not thread-safe.
class payload_unpacker {
public:
    payload_unpacker() noexcept = default;
    payload_unpacker(payload_unpacker const&) = delete;
    payload_unpacker& operator=(payload_unpacker const&) = delete;
    ~payload_unpacker() { ZSTD_freeDCtx(context_); }

    // The values at `place` of a segment; they must have exactly `out`'s size. errc::corrupt if a byte of them is
    // damaged; `out` is then undefined.
    [[nodiscard]] error unpack(byte_view segment, payload_place const& place, std::span<std::byte> out) noexcept;
    // All values of an observation; if they are stored as differences, the payloads that they build on are read, too.
    [[nodiscard]] error unpack(byte_view segment, rows::observe const& row, std::span<std::byte> out) noexcept;
    // `out.size()` bytes of an observation's values, from byte `from` on; the range must exist. Only the blocks that
    // hold it are decompressed.
    [[nodiscard]] error unpack_part(byte_view segment, rows::observe const& row, std::uint64_t from,
                                    std::span<std::byte> out) noexcept;

    // The size of the block at the beginning of `from`. Decodes the mask, but not the planes.
    struct block_extent {
        bool good = false;         // it is complete
        std::uint64_t frames = 0;  // bytes of its frames
        std::uint64_t values = 0;  // bytes of its values
    };
    [[nodiscard]] block_extent measure(byte_view from, payload_form form) noexcept;

private:
    [[nodiscard]] error unpack_part(byte_view segment, payload_place const& place, std::uint64_t from,
                                    std::span<std::byte> out) noexcept;
    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] static frame_extent measure_zstd_frame_at(byte_view from) noexcept;
    // The content of a frame: a view of the segment, or decompressed at `into`. Null: it is damaged.
    [[nodiscard]] std::byte const* decode(byte_view frame, std::size_t size, std::byte* into) noexcept;
    [[nodiscard]] static error damaged(payload_place const& place) noexcept;
    // Creates the working memory for blocks of a form with at most that many bytes.
    [[nodiscard]] bool ready(payload_form form, std::size_t bytes) noexcept;
    // Reads the mask of a block and removes it from `from`. Without masks in the form the result is `all`.
    // The number of elements in the next block, and of those that are not zero.
    [[nodiscard]] zero_mask::reading begin_block(byte_view& from, payload_form form) noexcept;
    [[nodiscard]] zero_mask::reading take_mask(byte_view& from, payload_form form) noexcept;
    // Reads the planes of `count` values and removes them from `from`. False: damaged.
    [[nodiscard]] bool take_planes(byte_view& from, payload_form form, std::size_t count, std::byte* values) noexcept;

    ZSTD_DCtx* context_ = nullptr;
    byte_buffer scratch_;
    byte_buffer mask_;
    byte_view read_mask_{};  // the last mask: in the segment, or decompressed
    byte_buffer kept_;
    byte_buffer part_;
};

// The same, with a temporary unpacker.
[[nodiscard]] error decode_payload(byte_view segment, payload_place const& place, std::span<std::byte> out) noexcept;
[[nodiscard]] error decode_payload(byte_view segment, rows::observe const& row, std::span<std::byte> out) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/zstd_codec.ipp>
#endif
