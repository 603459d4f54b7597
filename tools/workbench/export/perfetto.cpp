// SPDX-License-Identifier: Apache-2.0
// Workbench, export: the bodies of trace_out.hpp for Perfetto packets.
#include "export/trace_out.hpp"

#include <cmath>

namespace spotter::inline SPOTTER_ABI::detail {

// Field numbers of Trace, TracePacket, TrackDescriptor and TrackEvent, under their names there.
enum perfetto_field : std::uint32_t {
    perfetto_packet = 1,
    perfetto_timestamp = 8,
    perfetto_sequence_id = 10,
    perfetto_track_event = 11,
    perfetto_sequence_flags = 13,
    perfetto_track_descriptor = 60,
    perfetto_uuid = 1,
    perfetto_track_name = 2,
    perfetto_process = 3,
    perfetto_thread = 4,
    perfetto_parent_uuid = 5,
    perfetto_counter = 8,
    perfetto_debug_annotations = 4,
    perfetto_type = 9,
    perfetto_track_uuid = 11,
    perfetto_categories = 22,
    perfetto_event_name = 23,
    perfetto_double_counter_value = 44
};
enum perfetto_event : std::uint64_t {
    perfetto_slice_begin = 1,
    perfetto_slice_end,
    perfetto_instant,
    perfetto_counter_event
};

// Processes and their threads have odd track numbers, counters even ones. Small numbers have short encodings.
[[nodiscard]] static std::uint64_t track_of_process(std::uint32_t worker) noexcept {
    return std::uint64_t{worker} * 8 + 1;
}
[[nodiscard]] static std::uint64_t track_of_thread(std::uint32_t worker, mode of) noexcept {
    return track_of_process(worker) + 2 * (1 + index_of(of));
}

[[nodiscard]] static message track_event(perfetto_event type, std::uint64_t track, std::string_view name = {},
                                         std::string_view kind = {}) {
    message it;
    it.integer(perfetto_type, type).integer(perfetto_track_uuid, track);
    if (!kind.empty()) { it.bytes(perfetto_categories, kind); }
    if (!name.empty()) { it.bytes(perfetto_event_name, utf8_text(name)); }
    return it;
}

std::string perfetto_packets::packet(message const& content, std::uint32_t field, double const* at) {
    constexpr std::uint64_t cleared = 1;  // the sequence does not depend on earlier packets
    message it;
    if (at != nullptr) {
        it.integer(perfetto_timestamp, *at > 0 ? static_cast<std::uint64_t>(std::llround(*at * 1e9)) : 0);
    }
    it.integer(perfetto_sequence_id, 1);
    if (!begun_) { it.integer(perfetto_sequence_flags, cleared); }
    begun_ = true;
    it.nested(field, content);
    return std::string{message{}.nested(perfetto_packet, it).view()};
}

std::string perfetto_packets::process(std::uint32_t worker) {
    std::uint64_t const pid = worker + std::uint64_t{1};  // 0 is the idle process
    message const descriptor = message{}.integer(1, pid).bytes(6, "worker " + std::to_string(worker));
    std::string all =
        packet(message{}.integer(perfetto_uuid, track_of_process(worker)).nested(perfetto_process, descriptor),
               perfetto_track_descriptor);
    for (mode const each : {mode::train, mode::eval, mode::predict}) {
        // A number that no other process uses.
        message const thread = message{}.integer(1, pid).integer(2, pid * 8 + index_of(each)).bytes(5, name_of(each));
        all += packet(message{}
                          .integer(perfetto_uuid, track_of_thread(worker, each))
                          .integer(perfetto_parent_uuid, track_of_process(worker))
                          .nested(perfetto_thread, thread),
                      perfetto_track_descriptor);
    }
    return all;
}

std::string perfetto_packets::slice(std::uint32_t worker, mode of, std::string_view name, std::string_view kind,
                                    double from, double seconds) {
    std::uint64_t const track = track_of_thread(worker, of);
    double const to = from + seconds;
    return packet(track_event(perfetto_slice_begin, track, name, kind), perfetto_track_event, &from) +
           packet(track_event(perfetto_slice_end, track), perfetto_track_event, &to);
}

std::string perfetto_packets::instant(std::uint32_t worker, mode of, std::string_view name, std::string_view kind,
                                      double at, std::string_view text) {
    message it = track_event(perfetto_instant, track_of_thread(worker, of), name, kind);
    if (!text.empty()) { it.nested(perfetto_debug_annotations, message{}.bytes(10, "text").bytes(6, utf8_text(text))); }
    return packet(it, perfetto_track_event, &at);
}

std::string perfetto_packets::counter(std::uint32_t worker, std::string_view name, double at, double const& value) {
    auto const [known, fresh] = counters_.try_emplace({worker, std::string{name}}, 2 * (counters_.size() + 1));
    std::string all;
    if (fresh) {
        message it;
        it.integer(perfetto_uuid, known->second).bytes(perfetto_track_name, utf8_text(name));
        it.integer(perfetto_parent_uuid, track_of_process(worker)).nested(perfetto_counter, {});
        all = packet(it, perfetto_track_descriptor);
    }
    message it = track_event(perfetto_counter_event, known->second);
    it.number(perfetto_double_counter_value, value);
    return all + packet(it, perfetto_track_event, &at);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
