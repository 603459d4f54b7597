// SPDX-License-Identifier: Apache-2.0
// Workbench, export: MCAP files: timestamped messages of many channels in compressed chunks, followed by an index.
// https://mcap.dev/spec
#pragma once

#include <spotter/core/result.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// Writes sequentially: call `take` repeatedly, and append the result to the file. Times are nanoseconds since 1970. A
// file has at most 65535 channels.
class mcap_file {
public:
    mcap_file();

    // Returns the schema's id, from 1 on.
    [[nodiscard]] std::uint16_t add_schema(std::string_view name, std::string_view json_schema);
    // The channel of a topic, created at the first call. errc::bad_config where there are too many.
    [[nodiscard]] result<std::uint16_t> channel(std::string_view topic, std::uint16_t schema);
    // `data` is JSON.
    void add_message(std::uint16_t channel, std::uint64_t time, std::string_view data);
    // Metadata of the whole file, by name.
    void add_metadata(std::string_view name, std::vector<std::pair<std::string, std::string>> const& all);
    // Writes the last chunk, the index and the footer.
    void finish();

    // Returns the bytes finished since the last call.
    [[nodiscard]] std::string take() { return std::exchange(out_, {}); }
    // Out of memory while compressing a chunk: the file is incomplete.
    [[nodiscard]] error const& trouble() const noexcept { return why_; }

private:
    static constexpr std::size_t chunk_bytes = 1U << 20;

    struct channel_story {
        std::string topic{};
        std::uint16_t schema = 0;
        std::uint32_t count = 0;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> in_chunk{};  // time, offset in the open chunk
        bool written = false;                                             // its record is in the file
    };
    struct chunk_story {
        std::uint64_t first = 0, last = 0, place = 0, length = 0, index_length = 0, packed = 0, unpacked = 0;
        bool compressed = false;
        std::vector<std::pair<std::uint16_t, std::uint64_t>> indices{};  // offsets of each channel's message index
    };
    struct stretch {
        std::uint8_t code = 0;
        std::uint64_t place = 0, length = 0;
    };

    void put_record(std::uint8_t code, std::string_view content);
    void close_chunk();
    [[nodiscard]] std::string schema_record(std::size_t which) const;
    [[nodiscard]] std::string channel_record(std::size_t which) const;
    [[nodiscard]] std::string chunk_index(chunk_story const& it) const;
    [[nodiscard]] std::string statistics() const;

    std::string out_{};
    std::uint64_t place_ = 0;  // offset in the file of the end of out_
    std::string chunk_{};
    std::uint64_t first_ = 0, last_ = 0, in_chunk_ = 0;  // of the open chunk: times, and number of messages
    std::vector<std::pair<std::string, std::string>> schemas_{};
    std::vector<channel_story> channels_{};
    std::map<std::string, std::uint16_t, std::less<>> by_topic_{};
    std::vector<chunk_story> chunks_{};
    std::vector<std::pair<std::string, stretch>> metadata_{};
    std::uint64_t messages_ = 0;
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
