// SPDX-License-Identifier: Apache-2.0
// Format (L1): values to zstd frames and back. The only file of the project that includes zstd.h.
#pragma once

#include <spotter/format/frame.hpp>
#include <spotter/format/plane_sample.hpp>
#include <spotter/format/zero_mask.hpp>

#include <zstd.h>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A compressor that is not asked to look for sequences that come back: what is left of zstd is its Huffman codes.
[[nodiscard]] ZSTD_CCtx* make_huffman_context() noexcept;

// Any bytes as one frame of zstd's, for formats of others. False where there is no memory.
[[nodiscard]] bool append_zstd(byte_view content, int level, byte_buffer& out) noexcept;

}  // namespace detail

// Compresses blocks of values. Owns zstd's working memory, which is reused; one thread.
//
// Each byte plane of a block has the codec that a sample of it asks for (plane_sample.hpp): planes that do not compress
// are copied, planes without sequences that come back are Huffman-coded only, and `level`, zstd's own, is for the
// others.
class payload_packer {
public:
    explicit payload_packer(int level) noexcept;
    payload_packer(payload_packer const&) = delete;
    payload_packer& operator=(payload_packer const&) = delete;
    ~payload_packer();

    // How values of a type are laid out when there are `bytes` of them in all.
    [[nodiscard]] static payload_form form_for(dtype type, std::uint64_t bytes) noexcept;

    // One block (at most layout::block_bytes, a multiple of the form's planes; every block of a tensor but the last the
    // same size): its mask, where the form has them, and its planes as frames at the end of `out`. Never longer than
    // the block by more than 20 bytes a frame.
    [[nodiscard]] error pack(byte_view block, payload_form form, byte_buffer& out) noexcept;
    // The same for a tensor of one block, the form of which is then chosen: without a mask where none pays, and where
    // planes do not pay either its bytes stand as they are: their frames would make a small tensor larger by more than
    // they are worth.
    [[nodiscard]] error pack_alone(byte_view block, payload_form& form, byte_buffer& out) noexcept;

private:
    [[nodiscard]] static error no_memory() noexcept;
    // The planes of all values of a block.
    [[nodiscard]] error pack_planes(byte_view block, payload_form form, std::array<plane_codec, 8> const& codecs,
                                    byte_buffer& out) noexcept;
    // A mask and the planes of what is not zero. False in `pays`, and nothing is added, where the sample misled.
    [[nodiscard]] error pack_masked(byte_view block, payload_form form, byte_buffer& out, bool& pays) noexcept;
    // One plane as a frame; room for `bound` bytes and a raw frame's head was made.
    [[nodiscard]] error append(plane_codec codec, byte_view plane, std::size_t bound, byte_buffer& out) noexcept;

    ZSTD_CCtx* matches_;
    ZSTD_CCtx* huffman_;
    byte_buffer scratch_;
    byte_buffer mask_;
    byte_buffer kept_;
};

// Decompresses payloads. Owns zstd's working memory, 160 KiB, which is made when it is first needed and reused: to make
// it takes longer than a small tensor. One thread.
class payload_unpacker {
public:
    payload_unpacker() noexcept = default;
    payload_unpacker(payload_unpacker const&) = delete;
    payload_unpacker& operator=(payload_unpacker const&) = delete;
    ~payload_unpacker() { ZSTD_freeDCtx(context_); }

    // The values at `place` of a segment, which must be exactly `out`'s size. errc::corrupt if a byte of them is
    // damaged; `out` is then undefined.
    [[nodiscard]] error unpack(byte_view segment, payload_place const& place, std::span<std::byte> out) noexcept;
    // The values of an observation, whole: where they are stored as differences, together with those that they build
    // on.
    [[nodiscard]] error unpack(byte_view segment, rows::observe const& row, std::span<std::byte> out) noexcept;
    // `out.size()` bytes of an observation's values from byte `from` on, of which there must be as many; only the
    // blocks that hold them are decompressed.
    [[nodiscard]] error unpack_part(byte_view segment, rows::observe const& row, std::uint64_t from,
                                    std::span<std::byte> out) noexcept;

    // How far the block at the begin of `from` reaches; of a mask the content is looked at, of planes it is not.
    struct block_extent {
        bool good = false;         // there is a whole one
        std::uint64_t frames = 0;  // bytes of them
        std::uint64_t values = 0;  // bytes
    };
    // Of the first block there.
    [[nodiscard]] block_extent measure(byte_view from, payload_form form) noexcept;

private:
    [[nodiscard]] error unpack_part(byte_view segment, payload_place const& place, std::uint64_t from,
                                    std::span<std::byte> out) noexcept;
    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] static frame_extent measure_zstd_frame_at(byte_view from) noexcept;
    // Where the content of a frame is: in the segment itself, or decompressed at `into`. Null: it is damaged.
    [[nodiscard]] std::byte const* decode(byte_view frame, std::size_t size, std::byte* into) noexcept;
    [[nodiscard]] static error damaged(payload_place const& place) noexcept;
    // Has the working memory for blocks of a form, and of no more than so many bytes.
    [[nodiscard]] bool ready(payload_form form, std::size_t bytes) noexcept;
    // The mask of a block, which is cut off `from`; where the form has none, as where all values stand.
    [[nodiscard]] zero_mask::reading take_mask(byte_view& from, payload_form form) noexcept;
    // The planes of `count` values, cut off `from`. False: damaged.
    [[nodiscard]] bool take_planes(byte_view& from, payload_form form, std::size_t count, std::byte* values) noexcept;

    ZSTD_DCtx* context_ = nullptr;
    byte_buffer scratch_;
    byte_buffer mask_;
    byte_view read_mask_{};  // the one that was read last: there, or in the segment
    byte_buffer kept_;
    byte_buffer part_;
};

// The same for once.
[[nodiscard]] error decode_payload(byte_view segment, payload_place const& place, std::span<std::byte> out) noexcept;
[[nodiscard]] error decode_payload(byte_view segment, rows::observe const& row, std::span<std::byte> out) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/zstd_codec.ipp>
#endif
