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
#include <spotter/core/casts.hpp>
#include <spotter/format/decode.hpp>
#include <spotter/format/raw_frame.hpp>
#include <spotter/format/shuffle.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY bool append_zstd(byte_view content, int level, byte_buffer& out) noexcept {
    std::size_t const bound = ZSTD_compressBound(content.size());
    std::byte* const into = out.prepare(bound);
    if (into == nullptr) { return false; }
    std::size_t const made = ZSTD_compress(into, bound, content.data(), content.size(), level);
    if (ZSTD_isError(made) != 0) { return false; }
    out.grow_by(made);
    return true;
}

SPOTTER_BODY ZSTD_CCtx* make_huffman_context() noexcept {
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    if (context == nullptr) { return nullptr; }
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, ZSTD_fast);
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, 6);
    ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, 7);
    // Long search strides are half as fast again. With them zstd stores literals uncompressed, unless an experimental
    // parameter (literalCompressionMode) prevents it. If that parameter has no effect, the probe is not compressed, and
    // the strides stay short.
    ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, 128 << 10);
    ZSTD_CCtx_setParameter(context, ZSTD_c_experimentalParam5, 1);
    std::byte probe[1024], made[2048];
    std::uint32_t state = 1;
    for (std::byte& each : probe) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<std::byte>(state >> 28);
    }
    std::size_t const size = ZSTD_compress2(context, made, sizeof made, probe, sizeof probe);
    if (ZSTD_isError(size) != 0 || size > sizeof probe * 3 / 4) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, 0);
        ZSTD_CCtx_setParameter(context, ZSTD_c_experimentalParam5, 0);
    }
    return context;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY payload_packer::payload_packer(int level) noexcept
    : matches_{ZSTD_createCCtx()}, huffman_{detail::make_huffman_context()} {
    if (matches_ != nullptr) {
        ZSTD_CCtx_setParameter(matches_, ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(matches_, ZSTD_c_checksumFlag, 1);
    }
}

SPOTTER_BODY payload_packer::~payload_packer() {
    ZSTD_freeCCtx(matches_);
    ZSTD_freeCCtx(huffman_);
}

SPOTTER_BODY payload_form payload_packer::form_for(dtype type, std::uint64_t bytes) noexcept {
    if (bytes < layout::plain_bytes) { return {}; }
    // An exponent of eleven bits needs two bytes in any case; without rotation fewer of its bits are in the upper one.
    bool const turns = type == dtype::f16 || type == dtype::bf16 || type == dtype::f32 || type == dtype::c64;
    return {static_cast<std::uint8_t>(plane_width(type) | (turns ? payload_form::rotated_bit : 0) |
                                      payload_form::masked_bit)};
}

SPOTTER_BODY error payload_packer::pack(byte_view block, payload_form form, byte_buffer& out) noexcept {
    if (block.empty()) { return {}; }
    block_choice choice = choose_codecs(block, form);
    if (choice.sparse) {
        bool pays = true;
        if (error const why = pack_masked(block, form, out, pays); why || pays) { return why; }
        choice = choose_codecs(block, form.without_mask());
    }
    if (form.masked()) {
        std::size_t const size = raw_frame::bytes_for(1);
        std::byte* const at = out.prepare(size);
        if (at == nullptr) { return no_memory(); }
        raw_frame::put(at, {&zero_mask::all_stand, 1});
        out.grow_by(size);
    }
    return pack_planes(block, form, choice.codecs, out);
}

SPOTTER_BODY error payload_packer::pack_masked(byte_view block, payload_form form, byte_buffer& out,
                                               bool& pays) noexcept {
    std::size_t const width = form.planes(), count = block.size() / width, size = zero_mask::bytes_for(count);
    mask_.clear();
    kept_.clear();
    std::byte* const bits = mask_.prepare(size);
    std::byte* const values = kept_.prepare(block.size());
    std::size_t const bound = ZSTD_compressBound(size);
    if (bits == nullptr || values == nullptr || matches_ == nullptr || huffman_ == nullptr) { return no_memory(); }
    std::size_t const kept = zero_mask::split(block.data(), count, width, bits, values);
    pays = mask_pays(count - kept, count, width);
    if (!pays) { return {}; }
    byte_view const whole{bits, size};
    if (error const why = append(choose_codecs(whole, {}).codecs[0], whole, bound, out)) { return why; }
    if (kept == 0) { return {}; }
    byte_view const rest{values, kept * width};
    return pack_planes(rest, form, choose_codecs(rest, form.without_mask()).codecs, out);
}

SPOTTER_BODY error payload_packer::pack_planes(byte_view block, payload_form form,
                                               std::array<plane_codec, 8> const& codecs, byte_buffer& out) noexcept {
    std::size_t const planes = form.planes(), size = block.size() / planes;
    std::size_t const bound = ZSTD_compressBound(size);  // at least the size of a raw frame
    std::byte* at = out.prepare(planes * (bound + raw_frame::head_limit + 8));
    scratch_.clear();
    std::byte* const split = planes > 1 ? scratch_.prepare(block.size()) : nullptr;
    if (at == nullptr || matches_ == nullptr || huffman_ == nullptr || (planes > 1 && split == nullptr)) {
        return no_memory();
    }
    if (planes == 1) { return append(codecs[0], block, bound, out); }
    // Leading raw planes are split directly into their frames, whose place is known.
    std::size_t in_place = 0;
    std::byte* into[8]{};
    for (std::size_t plane = 0; plane < planes; ++plane) {
        bool const known = in_place == plane && codecs[plane] == plane_codec::raw && size <= raw_frame::block_limit;
        into[plane] = known ? at + raw_frame::content_at(size) : split + plane * size;
        if (known) {
            ++in_place;
            at += raw_frame::bytes_for(size);
        }
    }
    split_planes(block.data(), size, form, into);
    for (std::size_t plane = 0; plane < in_place; ++plane) {
        raw_frame::finish(into[plane] - raw_frame::content_at(size), size);
        out.grow_by(raw_frame::bytes_for(size));
    }
    for (std::size_t plane = in_place; plane < planes; ++plane) {
        if (error const why = append(codecs[plane], {into[plane], size}, bound, out)) { return why; }
    }
    return {};
}

SPOTTER_BODY error payload_packer::pack_alone(byte_view block, payload_form& form, byte_buffer& out) noexcept {
    if (block.empty()) { return {}; }
    std::size_t const before = out.size();
    bool pays = false;
    block_choice choice = choose_codecs(block, form);
    if (choice.sparse) {
        if (error const why = pack_masked(block, form, out, pays)) { return why; }
        if (!pays) { choice = choose_codecs(block, form.without_mask()); }
    }
    if (!pays) {
        form = form.without_mask();
        if (error const why = pack_planes(block, form, choice.codecs, out)) { return why; }
    }
    if (form == payload_form{} || out.size() - before <= raw_frame::bytes_for(block.size())) { return {}; }
    out.cut(before);
    form = {};
    return append(plane_codec::raw, block, ZSTD_compressBound(block.size()), out);
}

SPOTTER_BODY error payload_packer::no_memory() noexcept {
    return {errc::out_of_memory, "no memory to compress values; recording stops here, the training goes on"};
}

SPOTTER_BODY error payload_packer::append(plane_codec codec, byte_view plane, std::size_t bound,
                                          byte_buffer& out) noexcept {
    std::size_t const room = bound + raw_frame::head_limit + 8;
    std::byte* const into = out.prepare(room);
    if (into == nullptr) { return no_memory(); }
    if (codec == plane_codec::raw) {
        raw_frame::put(into, plane);
        out.grow_by(raw_frame::bytes_for(plane.size()));
        return {};
    }
    ZSTD_CCtx* const context = codec == plane_codec::huffman ? huffman_ : matches_;
    std::size_t const made = ZSTD_compress2(context, into, bound, plane.data(), plane.size());
    if (ZSTD_isError(made) != 0) {
        error why{errc::io_error, "zstd could not compress a block of values: "};
        why.what << ZSTD_getErrorName(made);
        return why;
    }
    out.grow_by(made);
    return {};
}

SPOTTER_BODY error payload_unpacker::unpack(byte_view segment, payload_place const& place,
                                            std::span<std::byte> out) noexcept {
    if (place.offset > segment.size() || place.bytes > segment.size() - place.offset || !place.form.known()) {
        return damaged(place);
    }
    std::size_t const width = place.form.planes();
    byte_view from = segment.subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(place.bytes));
    if (!ready(place.form, (std::min)(out.size(), layout::block_bytes))) { return no_memory(); }
    while (!out.empty()) {
        zero_mask::reading const found = begin_block(from, place.form);
        std::size_t const size = found.count * width;
        if (!found.good || size == 0 || size > layout::block_bytes || size > out.size()) { return damaged(place); }
        bool const apart = found.kept < found.count;
        std::byte* const into = apart ? kept_.data() : out.data();
        if (found.kept > 0 && !take_planes(from, place.form, found.kept, into)) { return damaged(place); }
        if (apart) {
            std::memset(into + found.kept * width, 0, zero_mask::slack);
            zero_mask::join(read_mask_, into, width, out.data());
        }
        out = out.subspan(size);
    }
    return from.empty() ? error{} : damaged(place);
}

SPOTTER_BODY bool payload_unpacker::ready(payload_form form, std::size_t bytes) noexcept {
    if (context_ == nullptr) { context_ = ZSTD_createDCtx(); }
    return context_ != nullptr && (form.planes() == 1 || scratch_.reserve(bytes)) &&
           (!form.masked() || (mask_.reserve(zero_mask::longest) && kept_.reserve(bytes + zero_mask::slack)));
}

SPOTTER_BODY zero_mask::reading payload_unpacker::begin_block(byte_view& from, payload_form form) noexcept {
    zero_mask::reading found = take_mask(from, form);
    if (!found.good || !found.all) { return found; }
    frame_extent const first = measure_zstd_frame_at(from);
    found.good = first.kind == frame_kind::values && first.content <= layout::block_bytes;
    found.count = found.kept = static_cast<std::size_t>(first.content);
    return found;
}

SPOTTER_BODY zero_mask::reading payload_unpacker::take_mask(byte_view& from, payload_form form) noexcept {
    if (!form.masked()) { return {true, true, 0, 0}; }
    frame_extent const frame = measure_zstd_frame_at(from);
    if (frame.kind != frame_kind::values || frame.content == 0 || frame.content > zero_mask::longest) { return {}; }
    auto const size = static_cast<std::size_t>(frame.content);
    byte_view const whole = from.first(static_cast<std::size_t>(frame.bytes));
    std::byte const* const bits = decode(whole, size, mask_.data());
    if (bits == nullptr) { return {}; }
    from = from.subspan(whole.size());
    read_mask_ = {bits, size};
    return zero_mask::read(read_mask_);
}

SPOTTER_BODY bool payload_unpacker::take_planes(byte_view& from, payload_form form, std::size_t count,
                                                std::byte* values) noexcept {
    std::byte* const into = form.planes() > 1 ? scratch_.data() : values;
    std::byte const* planes[8]{};
    for (std::size_t plane = 0; plane < form.planes(); ++plane) {
        frame_extent const frame = measure_zstd_frame_at(from);
        if (frame.kind != frame_kind::values || frame.content != count) { return false; }
        byte_view const whole = from.first(static_cast<std::size_t>(frame.bytes));
        planes[plane] = decode(whole, count, into + plane * count);
        if (planes[plane] == nullptr) { return false; }
        from = from.subspan(whole.size());
    }
    if (planes[0] != values) { join_planes(planes, count, form, values); }
    return true;
}

SPOTTER_BODY payload_unpacker::block_extent payload_unpacker::measure(byte_view from, payload_form form) noexcept {
    std::size_t const all = from.size();
    if (!form.known() || !ready(form, 0)) { return {}; }
    zero_mask::reading found = take_mask(from, form);
    if (!found.good) { return {}; }
    for (std::size_t plane = 0; plane < form.planes() && (found.all || found.kept > 0); ++plane) {
        frame_extent const frame = measure_zstd_frame_at(from);
        if (frame.kind != frame_kind::values || frame.content > layout::block_bytes) { return {}; }
        if (found.all && plane == 0) { found.count = found.kept = static_cast<std::size_t>(frame.content); }
        if (frame.content == 0 || frame.content != found.kept) { return {}; }
        from = from.subspan(static_cast<std::size_t>(frame.bytes));
    }
    std::uint64_t const size = std::uint64_t{found.count} * form.planes();
    if (size == 0 || size > layout::block_bytes) { return {}; }
    return {true, all - from.size(), size};
}

SPOTTER_BODY error payload_unpacker::unpack(byte_view segment, rows::observe const& row,
                                            std::span<std::byte> out) noexcept {
    if (error const why = unpack(segment, row.place, out); why || row.links == 0) { return why; }
    byte_buffer chain;  // as large as the tensor: freed after use
    std::byte* const base = chain.prepare(out.size());
    if (base == nullptr) { return no_memory(); }
    payload_place place = row.place;
    byte_view list = row.bases;
    for (std::uint64_t i = 0; i < row.links; ++i) {
        if (!read_base(list, place)) { return damaged(row.place); }
        if (error const why = unpack(segment, place, {base, out.size()})) {
            if (why.code != errc::corrupt) { return why; }
            error broken_chain{errc::corrupt, "the values at byte "};
            broken_chain.what
                << row.place.offset << " of a segment are differences to those at byte " << place.offset
                << ", which are damaged; the next whole values of this tensor, and its statistics, can be read";
            return broken_chain;
        }
        exclusive_or(out.data(), base, out.data(), out.size());
    }
    return {};
}

SPOTTER_BODY error payload_unpacker::unpack_part(byte_view segment, rows::observe const& row, std::uint64_t from,
                                                 std::span<std::byte> out) noexcept {
    payload_place place = row.place;
    byte_view list = row.bases;
    if (error const why = unpack_part(segment, place, from, out)) { return why; }
    if (row.links == 0 || out.empty()) { return {}; }
    byte_buffer base;
    std::byte* const into = base.prepare(out.size());
    if (into == nullptr) { return no_memory(); }
    for (std::uint64_t i = 0; i < row.links; ++i) {
        if (!read_base(list, place)) { return damaged(row.place); }
        if (error const why = unpack_part(segment, place, from, {into, out.size()})) { return why; }
        exclusive_or(out.data(), into, out.data(), out.size());
    }
    return {};
}

SPOTTER_BODY error payload_unpacker::unpack_part(byte_view segment, payload_place const& place, std::uint64_t from,
                                                 std::span<std::byte> out) noexcept {
    if (place.offset > segment.size() || place.bytes > segment.size() - place.offset) { return damaged(place); }
    if (!ready(place.form, 0)) { return no_memory(); }
    std::uint64_t const end = place.offset + place.bytes;
    payload_place block{place.offset, 0, place.form};
    for (std::uint64_t at = 0, done = 0; done < out.size();) {
        block_extent const found =
            measure(segment.subspan(as_size(block.offset), as_size(end - block.offset)), place.form);
        if (!found.good) { return damaged(place); }
        block.bytes = found.frames;
        if (from + done < at + found.values) {
            part_.clear();
            auto const size = static_cast<std::size_t>(found.values);
            std::byte* const whole = part_.prepare(size);
            if (whole == nullptr) { return no_memory(); }
            if (error const why = unpack(segment, block, {whole, size})) { return why; }
            std::uint64_t const skip = from + done - at;
            auto const taken = static_cast<std::size_t>((std::min)(found.values - skip, out.size() - done));
            std::memcpy(out.data() + done, whole + skip, taken);
            done += taken;
        }
        at += found.values;
        block.offset += block.bytes;
    }
    return {};
}

SPOTTER_BODY error payload_unpacker::no_memory() noexcept {
    return {errc::out_of_memory, "no memory to decompress values; close other trials"};
}

SPOTTER_BODY frame_extent payload_unpacker::measure_zstd_frame_at(byte_view from) noexcept {
    if (from.size() < 4 || load<std::uint32_t>(from.data()) != layout::zstd_magic) { return {}; }
    return measure_zstd_frame(from);
}

SPOTTER_BODY std::byte const* payload_unpacker::decode(byte_view frame, std::size_t size, std::byte* into) noexcept {
    if (raw_frame::reading const found = raw_frame::read(frame, size); found.raw) {
        return found.good ? found.content.data() : nullptr;
    }
    return ZSTD_decompressDCtx(context_, into, size, frame.data(), frame.size()) == size ? into : nullptr;
}

SPOTTER_BODY error payload_unpacker::damaged(payload_place const& place) noexcept {
    error why{errc::corrupt, "the values at byte "};
    why.what << place.offset
             << " of a segment are damaged; the statistics of this tensor and all other tensors can be read";
    return why;
}

SPOTTER_BODY error decode_payload(byte_view segment, payload_place const& place, std::span<std::byte> out) noexcept {
    payload_unpacker unpacker;
    return unpacker.unpack(segment, place, out);
}

SPOTTER_BODY error decode_payload(byte_view segment, rows::observe const& row, std::span<std::byte> out) noexcept {
    payload_unpacker unpacker;
    return unpacker.unpack(segment, row, out);
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
