// SPDX-License-Identifier: Apache-2.0
// Workbench, export: writes a timeline as Chrome's JSON or as Perfetto packets.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/export/event_file.hpp>
#include <spotter/export/text.hpp>
#include <spotter/workbench/export.hpp>

#include <map>

namespace spotter::inline SPOTTER_ABI::detail {

// Chrome's trace events (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). Times are
// seconds since the run began.
class chrome_trace {
public:
    explicit chrome_trace(text_sink const& put, error& why) : put_{&put}, why_{&why} {}

    void begin() { write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"); }
    // Declares a worker with a line for each mode; call it before its events.
    void process(std::uint32_t worker) {
        std::string const name = "worker " + std::to_string(worker);
        send("\"ph\":\"M\",\"name\":\"process_name\"," + process_of(worker) +
             ",\"tid\":0,\"args\":{\"name\":" + json_text(name) + "}");
        for (mode const each : {mode::train, mode::eval, mode::predict}) {
            send("\"ph\":\"M\",\"name\":\"thread_name\"," + process_of(worker) + thread_of(each) +
                 ",\"args\":{\"name\":" + json_text(name_of(each)) + "}");
        }
    }
    // An event that took `seconds`; `kind` is its category.
    void slice(std::uint32_t worker, mode of, std::string_view name, std::string_view kind, double from,
               double seconds) {
        send("\"ph\":\"X\",\"name\":" + json_text(name) + ",\"cat\":" + json_text(kind) + ",\"ts\":" +
             microseconds(from) + ",\"dur\":" + microseconds(seconds) + ',' + process_of(worker) + thread_of(of));
    }
    // An instant event; with a text it applies to the whole process.
    void instant(std::uint32_t worker, mode of, std::string_view name, std::string_view kind, double at,
                 std::string_view text = {}) {
        send(std::string{"\"ph\":\"i\",\"s\":\""} + (text.empty() ? 't' : 'p') + "\",\"name\":" + json_text(name) +
             ",\"cat\":" + json_text(kind) + ",\"ts\":" + microseconds(at) + ',' + process_of(worker) + thread_of(of) +
             (text.empty() ? std::string{} : ",\"args\":{\"text\":" + json_text(text) + "}"));
    }
    // A value of a counter, drawn as a curve of the worker.
    void counter(std::uint32_t worker, std::string_view name, double at, double const& value) {
        send("\"ph\":\"C\",\"name\":" + json_text(name) + ",\"ts\":" + microseconds(at) + ',' + process_of(worker) +
             ",\"args\":{\"value\":" + number_text(value) + "}");
    }
    void end(std::string_view status) {
        write("{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0,\"args\":{\"labels\":" +
              json_text(status) + "}}]}\n");
    }

private:
    [[nodiscard]] static std::string process_of(std::uint32_t worker) { return "\"pid\":" + std::to_string(worker); }
    [[nodiscard]] static std::string thread_of(mode which) { return ",\"tid\":" + std::to_string(index_of(which) + 1); }
    [[nodiscard]] static std::string microseconds(double const& seconds) { return number_text(seconds * 1e6); }
    void send(std::string const& fields) { write("{" + fields + "},\n"); }
    void write(std::string const& text) {
        if (!*why_) { *why_ = (*put_)(std::string_view{text}); }
    }

    text_sink const* put_;
    error* why_;
};

// Packets of Perfetto's traces (https://perfetto.dev/docs/reference/trace-packet-proto): each event of a timeline as
// one message.
class perfetto_packets {
public:
    [[nodiscard]] std::string process(std::uint32_t worker);
    [[nodiscard]] std::string slice(std::uint32_t worker, mode of, std::string_view name, std::string_view kind,
                                    double from, double seconds);
    [[nodiscard]] std::string instant(std::uint32_t worker, mode of, std::string_view name, std::string_view kind,
                                      double at, std::string_view text);
    [[nodiscard]] std::string counter(std::uint32_t worker, std::string_view name, double at, double const& value);

private:
    [[nodiscard]] std::string packet(message const& content, std::uint32_t field, double const* at = nullptr);

    std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> counters_{};  // their track numbers
    bool begun_ = false;
};

// The same as protocol buffers, in less than half of the bytes.
class perfetto_trace {
public:
    explicit perfetto_trace(text_sink const& put, error& why) : put_{&put}, why_{&why} {}

    void begin() {}
    void process(std::uint32_t worker) { write(packets_.process(worker)); }  // as of chrome_trace
    // As of chrome_trace.
    void slice(std::uint32_t worker, mode of, std::string_view name, std::string_view kind, double from,
               double seconds) {
        write(packets_.slice(worker, of, name, kind, from, seconds));
    }
    // As of chrome_trace.
    void instant(std::uint32_t worker, mode of, std::string_view name, std::string_view kind, double at,
                 std::string_view text = {}) {
        write(packets_.instant(worker, of, name, kind, at, text));
    }
    // As of chrome_trace.
    void counter(std::uint32_t worker, std::string_view name, double at, double const& value) {
        write(packets_.counter(worker, name, at, value));
    }
    void end(std::string_view) {}

private:
    void write(std::string const& bytes) {
        if (!*why_) { *why_ = (*put_)(std::string_view{bytes}); }
    }

    text_sink const* put_;
    error* why_;
    perfetto_packets packets_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
