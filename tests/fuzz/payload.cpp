// SPDX-License-Identifier: Apache-2.0
// Fuzzer: payload frames with any content and right checksums, read in any form, whole and in parts. Both must give the
// same values, or damage. Input: form, bytes of the values as u16, start of a part as u16; then for each frame its size
// u8 (255: 256 times the next byte) and its bytes.
#include <spotter/format/bytes.hpp>
#include <spotter/format/raw_frame.hpp>
#include <spotter/format/zstd_codec.hpp>

#include <algorithm>
#include <vector>

using namespace spotter;

namespace {

[[nodiscard]] std::vector<std::byte> frames_of(byte_view from) {
    std::vector<std::byte> frames;
    while (!from.empty()) {
        auto size = static_cast<std::size_t>(from[0]);
        from = from.subspan(1);
        if (size == 255 && !from.empty()) {
            size = 256 * static_cast<std::size_t>(from[0]);
            from = from.subspan(1);
        }
        std::vector<std::byte> content(size);  // zeros beyond the end of the input
        std::size_t const there = (std::min)(size, from.size());
        std::copy_n(from.data(), there, content.data());
        from = from.subspan(there);
        std::size_t const at = frames.size();
        frames.resize(at + raw_frame::bytes_for(size));
        raw_frame::put(frames.data() + at, content);
    }
    return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size < 5) { return 0; }
    byte_view const input = std::as_bytes(std::span{data, size});
    payload_form const form{data[0]};
    std::vector<std::byte> const frames = frames_of(input.subspan(5));
    std::vector<std::byte> values(load<std::uint16_t>(input.data() + 1));
    rows::observe row{};
    row.place = {0, frames.size(), form};
    payload_unpacker unpacker;
    error const why = unpacker.unpack(frames, row, values);
    if (why && why.code != errc::corrupt) { __builtin_trap(); }
    std::uint64_t const from = load<std::uint16_t>(input.data() + 3);
    if (from < values.size()) {
        std::vector<std::byte> part(values.size() - static_cast<std::size_t>(from));
        error const of_part = unpacker.unpack_part(frames, row, from, part);
        if (of_part && (!why || of_part.code != errc::corrupt)) { __builtin_trap(); }
        if (!why && !std::equal(part.begin(), part.end(), values.begin() + static_cast<std::ptrdiff_t>(from))) {
            __builtin_trap();
        }
    }
    if (why || values.empty()) { return 0; }
    payload_packer packer{1};
    byte_buffer again;
    payload_form chosen = form;
    if (packer.pack_alone(values, chosen, again)) { __builtin_trap(); }
    std::vector<std::byte> back(values.size());
    if (decode_payload(again.view(), {0, again.size(), chosen}, back) || back != values) { __builtin_trap(); }
    return 0;
}
