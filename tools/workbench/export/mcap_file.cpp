// SPDX-License-Identifier: Apache-2.0
// Workbench, export: the bodies of mcap_file.hpp.
#include "export/mcap_file.hpp"

#include <spotter/export/crc32.hpp>
#include <spotter/format/zstd_codec.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

constexpr std::string_view mcap_magic{"\x89MCAP0\r\n", 8};
enum mcap_code : std::uint8_t {
    mcap_header = 1,
    mcap_footer,
    mcap_schema,
    mcap_channel,
    mcap_message,
    mcap_chunk,
    mcap_message_index,
    mcap_chunk_index,
    mcap_statistics = 11,
    mcap_metadata,
    mcap_metadata_index,
    mcap_summary_offset,
    mcap_data_end
};

// Numbers in little-endian order, texts after their length.
class mcap_bytes {
public:
    template <class Integer>
    mcap_bytes& put(Integer value) {
        for (std::size_t i = 0; i < sizeof value; ++i) {
            bytes_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFFU);
        }
        return *this;
    }
    mcap_bytes& text(std::string_view value) { return put(static_cast<std::uint32_t>(value.size())).raw(value); }
    mcap_bytes& raw(std::string_view value) {
        bytes_ += value;
        return *this;
    }
    [[nodiscard]] std::string const& view() const noexcept { return bytes_; }

private:
    std::string bytes_{};
};

[[nodiscard]] static std::uint32_t mcap_checksum(std::string_view of, std::uint32_t before = 0) noexcept {
    return crc32({reinterpret_cast<std::byte const*>(of.data()), of.size()}, before);
}
[[nodiscard]] static std::string mcap_record(std::uint8_t code, std::string_view content) {
    return mcap_bytes{}.put(code).put(std::uint64_t{content.size()}).raw(content).view();
}

using detail::mcap_bytes;

mcap_file::mcap_file() {
    out_ = detail::mcap_magic;
    place_ = out_.size();
    put_record(detail::mcap_header, mcap_bytes{}.text("").text("spotter").view());
}

void mcap_file::put_record(std::uint8_t code, std::string_view content) {
    std::string const record = detail::mcap_record(code, content);
    out_ += record;
    place_ += record.size();
}

std::uint16_t mcap_file::add_schema(std::string_view name, std::string_view json_schema) {
    schemas_.emplace_back(name, json_schema);
    return static_cast<std::uint16_t>(schemas_.size());
}

result<std::uint16_t> mcap_file::channel(std::string_view topic, std::uint16_t schema) {
    constexpr std::size_t most = 65535;
    if (auto const known = by_topic_.find(topic); known != by_topic_.end()) { return known->second; }
    if (channels_.size() == most) {
        return error{errc::bad_config, "an MCAP file has 65535 channels at most: choose names"};
    }
    auto const id = static_cast<std::uint16_t>(channels_.size());
    channels_.push_back({std::string{topic}, schema, 0, {}, false});
    by_topic_.emplace(topic, id);
    return id;
}

std::string mcap_file::schema_record(std::size_t which) const {
    return mcap_bytes{}
        .put(static_cast<std::uint16_t>(which + 1))
        .text(schemas_[which].first)
        .text("jsonschema")
        .text(schemas_[which].second)
        .view();
}

std::string mcap_file::channel_record(std::size_t which) const {
    channel_story const& it = channels_[which];
    return mcap_bytes{}
        .put(static_cast<std::uint16_t>(which))
        .put(it.schema)
        .text(it.topic)
        .text("json")
        .text("")
        .view();
}

void mcap_file::add_message(std::uint16_t channel, std::uint64_t time, std::string_view data) {
    channel_story& it = channels_[channel];
    if (!it.written) {
        // A chunk contains what its messages need: a reader of a channel's first message has read its schema before.
        it.written = true;
        chunk_ += detail::mcap_record(detail::mcap_schema, schema_record(it.schema - 1U));
        chunk_ += detail::mcap_record(detail::mcap_channel, channel_record(channel));
    }
    first_ = in_chunk_ == 0 ? time : (std::min)(first_, time);
    last_ = (std::max)(last_, time);
    ++in_chunk_;
    it.in_chunk.emplace_back(time, chunk_.size());
    chunk_ += detail::mcap_record(detail::mcap_message,
                                  mcap_bytes{}.put(channel).put(it.count++).put(time).put(time).raw(data).view());
    ++messages_;
    if (chunk_.size() >= chunk_bytes) { close_chunk(); }
}

void mcap_file::close_chunk() {
    constexpr int level = 3;  // zstd's own default
    if (chunk_.empty()) { return; }
    byte_buffer packed;
    auto const* const content = reinterpret_cast<std::byte const*>(chunk_.data());
    if (!detail::append_zstd({content, chunk_.size()}, level, packed)) {
        why_ = error{errc::out_of_memory, "no memory to compress a chunk"};
        return;
    }
    chunk_story it;
    it.first = first_, it.last = last_, it.place = place_;
    it.packed = packed.view().size(), it.unpacked = chunk_.size();
    mcap_bytes record;
    record.put(it.first).put(it.last).put(it.unpacked).put(detail::mcap_checksum(chunk_)).text("zstd").put(it.packed);
    record.raw({reinterpret_cast<char const*>(packed.view().data()), packed.view().size()});
    put_record(detail::mcap_chunk, record.view());
    it.length = place_ - it.place;
    std::uint64_t const indices = place_;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        auto& listed = channels_[i].in_chunk;
        if (listed.empty()) { continue; }
        it.indices.emplace_back(static_cast<std::uint16_t>(i), place_);
        mcap_bytes index;
        index.put(static_cast<std::uint16_t>(i)).put(static_cast<std::uint32_t>(16 * listed.size()));
        for (auto const& [time, at] : listed) { index.put(time).put(at); }
        put_record(detail::mcap_message_index, index.view());
        listed.clear();
    }
    it.index_length = place_ - indices;
    chunks_.push_back(std::move(it));
    chunk_.clear();
    first_ = last_ = in_chunk_ = 0;
}

void mcap_file::add_metadata(std::string_view name, std::vector<std::pair<std::string, std::string>> const& all) {
    close_chunk();
    mcap_bytes pairs;
    for (auto const& [key, value] : all) { pairs.text(key).text(value); }
    std::uint64_t const begin = place_;
    put_record(detail::mcap_metadata, mcap_bytes{}.text(name).text(pairs.view()).view());
    metadata_.push_back({std::string{name}, {detail::mcap_metadata, begin, place_ - begin}});
}

std::string mcap_file::chunk_index(chunk_story const& it) const {
    mcap_bytes record;
    record.put(it.first).put(it.last).put(it.place).put(it.length).put(
        static_cast<std::uint32_t>(10 * it.indices.size()));
    for (auto const& [channel, place] : it.indices) { record.put(channel).put(place); }
    return record.put(it.index_length).text("zstd").put(it.packed).put(it.unpacked).view();
}

std::string mcap_file::statistics() const {
    std::uint64_t first = 0, last = 0;
    for (chunk_story const& each : chunks_) {
        first = &each == &chunks_.front() ? each.first : (std::min)(first, each.first);
        last = (std::max)(last, each.last);
    }
    mcap_bytes record;
    record.put(messages_)
        .put(static_cast<std::uint16_t>(schemas_.size()))
        .put(static_cast<std::uint32_t>(channels_.size()));
    record.put(std::uint32_t{0})
        .put(static_cast<std::uint32_t>(metadata_.size()))
        .put(static_cast<std::uint32_t>(chunks_.size()));
    record.put(first).put(last).put(static_cast<std::uint32_t>(10 * channels_.size()));
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        record.put(static_cast<std::uint16_t>(i)).put(static_cast<std::uint64_t>(channels_[i].count));
    }
    return record.view();
}

void mcap_file::finish() {
    close_chunk();
    put_record(detail::mcap_data_end, mcap_bytes{}.put(std::uint32_t{0}).view());
    std::uint64_t const summary = place_;
    std::size_t const summary_in_out = out_.size();
    std::vector<stretch> groups;
    auto const group = [&](std::uint8_t code, std::size_t count, auto const& content) {
        stretch it{code, place_, 0};
        for (std::size_t i = 0; i < count; ++i) { put_record(code, content(i)); }
        it.length = place_ - it.place;
        if (count > 0) { groups.push_back(it); }
    };
    group(detail::mcap_schema, schemas_.size(), [&](std::size_t i) { return schema_record(i); });
    group(detail::mcap_channel, channels_.size(), [&](std::size_t i) { return channel_record(i); });
    group(detail::mcap_statistics, 1, [&](std::size_t) { return statistics(); });
    group(detail::mcap_chunk_index, chunks_.size(), [&](std::size_t i) { return chunk_index(chunks_[i]); });
    group(detail::mcap_metadata_index, metadata_.size(), [&](std::size_t i) {
        auto const& [name, where] = metadata_[i];
        return mcap_bytes{}.put(where.place).put(where.length).text(name).view();
    });
    std::uint64_t const offsets = place_;
    for (stretch const& each : groups) {
        put_record(detail::mcap_summary_offset, mcap_bytes{}.put(each.code).put(each.place).put(each.length).view());
    }
    // The checksum covers the summary, and the footer up to the checksum.
    std::string const footer =
        mcap_bytes{}.put(detail::mcap_footer).put(std::uint64_t{20}).put(summary).put(offsets).view();
    out_ += footer;
    std::uint32_t const checksum = detail::mcap_checksum(std::string_view{out_}.substr(summary_in_out));
    out_ += mcap_bytes{}.put(checksum).raw(detail::mcap_magic).view();
    place_ = 0;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
