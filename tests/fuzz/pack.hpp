// SPDX-License-Identifier: Apache-2.0
// A fuzzer's input as the files of a run: a byte of switches, then size and bytes of each file. seeds.cpp packs them,
// segment.cpp unpacks them.
#pragma once

#include <spotter/format/sidecar.hpp>

#include <tests/fault/frozen_files.hpp>

#include <algorithm>

namespace spotter_test {

inline constexpr char const* packed_names[] = {"run/000000.spot", "run/000000.spotx", "run/000001.spot"};

inline constexpr std::uint8_t repairs = 1;  // correct checksums and places, to reach the rows
inline constexpr std::uint8_t resumes = 2;  // let a recorder resume the run
inline constexpr std::uint8_t replays = 4;  // replay the run with rules

inline folder_contents unpack_run(std::span<std::uint8_t const> from) {
    folder_contents files;
    for (char const* const name : packed_names) {
        if (from.size() < 4) { break; }
        std::uint32_t size = 0;
        std::memcpy(&size, from.data(), 4);
        from = from.subspan(4);
        auto const taken = from.first((std::min)(from.size(), std::size_t{size}));
        auto const bytes = std::as_bytes(taken);
        files.emplace(name, contents{bytes.begin(), bytes.end()});
        from = from.subspan(taken.size());
    }
    return files;
}
inline std::vector<std::uint8_t> pack_run(std::uint8_t switches, folder_contents const& files) {
    std::vector<std::uint8_t> all{switches};
    for (char const* const name : packed_names) {
        auto const at = files.find(name);
        if (at == files.end()) { break; }
        auto const size = static_cast<std::uint32_t>(at->second.size());
        auto const* const letters = reinterpret_cast<std::uint8_t const*>(&size);
        all.insert(all.end(), letters, letters + 4);
        auto const* const bytes = reinterpret_cast<std::uint8_t const*>(at->second.data());
        all.insert(all.end(), bytes, bytes + at->second.size());
    }
    return all;
}

// The offset of the next row frame, found by its magic; the end if there is none.
inline std::size_t next_frame(contents const& bytes, std::size_t from) {
    for (; from + spotter::layout::row_head_bytes + spotter::layout::row_tail_bytes <= bytes.size(); ++from) {
        if (spotter::load<std::uint32_t>(bytes.data() + from) == spotter::layout::row_magic) { return from; }
    }
    return bytes.size();
}
// Corrects what the format derives from the content: size, place and checksum of the head, of every row frame and of a
// sidecar's places. The rows stay unchanged.
inline void repair_segment(contents& bytes) {
    using namespace spotter;
    if (bytes.size() < layout::head_bytes) { return; }
    std::byte* const begin = bytes.data();
    store(begin, layout::head_magic);
    store(begin + 4, static_cast<std::uint32_t>(layout::head_bytes - layout::skippable_bytes));
    std::memcpy(begin + 8, "spotter", 8);
    store(begin + 16, layout::version);
    store(begin + 18, layout::draft);
    store(begin + layout::head_bytes - 8, checksum({begin, layout::head_bytes - 8}));
    std::uint64_t previous_end = layout::head_bytes;
    for (std::size_t at = next_frame(bytes, layout::head_bytes); at < bytes.size(); at = next_frame(bytes, at)) {
        std::uint64_t size = load<std::uint32_t>(begin + at + 4) + std::uint64_t{layout::skippable_bytes};
        size = (std::max)(size, std::uint64_t{layout::row_head_bytes + layout::row_tail_bytes});
        size = (std::min)(size, std::uint64_t{bytes.size() - at});
        store(begin + at + 4, static_cast<std::uint32_t>(size - layout::skippable_bytes));
        store(begin + at + 8, std::uint64_t{at});
        store(begin + at + 16, previous_end);
        auto const covered = static_cast<std::size_t>(size) - layout::row_tail_bytes;
        store(begin + at + covered, checksum({begin + at, covered}));
        at += static_cast<std::size_t>(size);
        previous_end = at;
    }
}
inline void repair_sidecar(contents& bytes) {
    using namespace spotter;
    std::uint64_t const places = side_places(bytes);
    for (std::uint64_t at = 0; at < places * layout::place_bytes; at += layout::place_bytes) {
        store(bytes.data() + at, layout::place_magic);
        store(bytes.data() + at + layout::place_bytes - 8, checksum({bytes.data() + at, layout::place_bytes - 8}));
    }
}

}  // namespace spotter_test
