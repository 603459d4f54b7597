// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: deflate by zlib.
#include "diff/zlib_inflate.hpp"

#if SPOTTER_WITH_ZLIB
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace spotter::inline SPOTTER_ABI {

// errc: corrupt, out_of_memory.
[[nodiscard]] static error zlib_inflate(std::span<std::byte const> packed, std::span<std::byte> into) noexcept {
    constexpr std::size_t most = (std::numeric_limits<uInt>::max)();  // zlib counts in 32 bits
    constexpr int raw = -MAX_WBITS;
    z_stream stream{};
    if (inflateInit2(&stream, raw) != Z_OK) { return {errc::out_of_memory, "no memory to unpack an archive"}; }
    int state = Z_OK;
    std::byte spare{};  // zlib needs output space even where no more output is expected
    std::size_t done = 0;
    while (state == Z_OK) {
        if (stream.avail_in == 0) {
            std::size_t const next = (std::min)(packed.size(), most);
            stream.next_in = const_cast<Bytef*>(reinterpret_cast<Bytef const*>(packed.data()));
            stream.avail_in = static_cast<uInt>(next);
            packed = packed.subspan(next);
        }
        std::size_t const room = (std::min)(into.size() - done, most);
        stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? into.data() + done : &spare);
        stream.avail_out = room > 0 ? static_cast<uInt>(room) : 1;
        uInt const before = stream.avail_out;
        state = inflate(&stream, Z_NO_FLUSH);
        std::size_t const made = before - stream.avail_out;
        if (room == 0 && made > 0) { state = Z_DATA_ERROR; }
        done += room > 0 ? made : 0;
    }
    bool const whole = state == Z_STREAM_END && done == into.size() && stream.avail_in == 0 && packed.empty();
    (void)inflateEnd(&stream);
    return whole ? error{} : error{errc::corrupt, "the archive is damaged: a compressed entry does not unpack"};
}

inflate_function inflate_here() noexcept { return &zlib_inflate; }

}  // namespace spotter::inline SPOTTER_ABI
#else
namespace spotter::inline SPOTTER_ABI {

inflate_function inflate_here() noexcept { return nullptr; }

}  // namespace spotter::inline SPOTTER_ABI
#endif
