// SPDX-License-Identifier: Apache-2.0
// Workbench, export: MCAP files: timestamped messages of many channels in compressed chunks, with an index behind them.
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

// Written from the front to the back: `take` what there is, again and again, and put it behind what was taken before.
// Times are nanoseconds since 1970. A file has 65535 channels at most.
class mcap_file {
public:
    mcap_file();

    // Its id; schemas count from 1.
    [[nodiscard]] std::uint16_t add_schema(std::string_view name, std::string_view json_schema);
    // The channel of a topic, which is made at the first call. errc::bad_config where there are too many.
    [[nodiscard]] result<std::uint16_t> channel(std::string_view topic, std::uint16_t schema);
    // `data` is JSON.
    void add_message(std::uint16_t channel, std::uint64_t time, std::string_view data);
    // What is worth telling of the whole, by names.
    void add_metadata(std::string_view name, std::vector<std::pair<std::string, std::string>> const& all);
    // The last chunk, the index and the footer.
    void finish();

    // The bytes that were finished since the last call.
    [[nodiscard]] std::string take() { return std::exchange(out_, {}); }
    // No memory to compress a chunk: the file is not whole.
    [[nodiscard]] error const& trouble() const noexcept { return why_; }

private:
    static constexpr std::size_t chunk_bytes = 1U << 20;

    struct channel_story {
        std::string topic{};
        std::uint16_t schema = 0;
        std::uint32_t count = 0;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> in_chunk{};  // time, place in the open chunk
        bool told = false;                                                // its record is in the file
    };
    struct chunk_story {
        std::uint64_t first = 0, last = 0, place = 0, length = 0, index_length = 0, packed = 0, unpacked = 0;
        bool compressed = false;
        std::vector<std::pair<std::uint16_t, std::uint64_t>> indices{};  // where the messages of a channel are listed
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
    std::uint64_t place_ = 0;  // bytes before the end of out_
    std::string chunk_{};
    std::uint64_t first_ = 0, last_ = 0, in_chunk_ = 0;  // of the open chunk: times, and how many messages
    std::vector<std::pair<std::string, std::string>> schemas_{};
    std::vector<channel_story> channels_{};
    std::map<std::string, std::uint16_t, std::less<>> by_topic_{};
    std::vector<chunk_story> chunks_{};
    std::vector<std::pair<std::string, stretch>> metadata_{};
    std::uint64_t messages_ = 0;
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
