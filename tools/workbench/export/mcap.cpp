// SPDX-License-Identifier: Apache-2.0
// Workbench, export: a run as an MCAP file, for Foxglove and similar programs.
#include "export/mcap_file.hpp"

#include <spotter/export/recorded_steps.hpp>
#include <spotter/export/text.hpp>
#include <spotter/rule/describe.hpp>
#include <spotter/workbench/export.hpp>

#include <cmath>

namespace spotter::inline SPOTTER_ABI::detail {

struct mcap_schemas {
    std::uint16_t number = 0, statistics = 0, text = 0, log = 0;
};

class mcap_worker {
public:
    mcap_worker(export_choice const& choice, mcap_file& file, mcap_schemas const& schemas, export_counts& counts,
                error& why, std::string front)
        : choice_{&choice}, file_{&file}, schemas_{&schemas}, counts_{&counts}, why_{&why}, front_{std::move(front)} {}

    void step(recorded_step const&) { ++counts_->steps; }
    void entry(recorded_step const& at, recorded_entry& it) { tell(at, it, false); }
    void finding(recorded_step const& at, spotter::finding const& it);
    void end(recorded_step const&) {}
    void loose(recorded_step const& at, recorded_entry& it) { tell(at, it, true); }

private:
    void tell(recorded_step const& at, recorded_entry& it, bool loose);
    void send(std::string const& topic, std::uint16_t schema, double seconds, std::string const& data);
    // A foxglove.Log at `/findings`.
    void log(double time, int level, std::string_view message, std::string_view rule, std::string_view tensor,
             std::uint64_t index);

    export_choice const* choice_;
    mcap_file* file_;
    mcap_schemas const* schemas_;
    export_counts* counts_;
    error* why_;
    std::string front_;  // "", or "/worker-1"
};

[[nodiscard]] static mcap_schemas add_mcap_schemas(mcap_file& file) {
    constexpr std::string_view head = R"({"type":"object","properties":{"step":{"type":"integer"},)";
    auto const schema = [&](std::string_view name, std::string_view rest) {
        return file.add_schema(name, std::string{head} + std::string{rest} + "}}");
    };
    mcap_schemas made;
    made.number = schema("spotter.Number", R"("value":{"type":["number","null"]})");
    std::string all;
    for (statistic const each : usual_statistics) {
        all += (all.empty() ? "" : ",") + json_text(each.name()) + R"(:{"type":["number","null"]})";
    }
    made.statistics = schema("spotter.Statistics", all);
    made.text = schema("spotter.Text", R"("text":{"type":"string"})");
    // https://docs.foxglove.dev/docs/sdk/schemas/log
    made.log = file.add_schema(
        "foxglove.Log",
        R"({"title":"foxglove.Log","type":"object","properties":{"timestamp":{"type":"object","properties":)"
        R"({"sec":{"type":"integer"},"nsec":{"type":"integer"}}},"level":{"type":"integer"},)"
        R"("message":{"type":"string"},"name":{"type":"string"},"file":{"type":"string"},"line":{"type":"integer"}}})");
    return made;
}

[[nodiscard]] static std::uint64_t nanoseconds_of(double seconds) noexcept {
    return seconds > 0 ? static_cast<std::uint64_t>(std::llround(seconds * 1e9)) : 0;
}

// A number, or null: JSON has no NaN and no infinity.
[[nodiscard]] static std::string json_or_null(double const& value, export_counts& counts) {
    if (is_finite(value)) { return json_number(value); }
    ++counts.left_out;
    return "null";
}

void mcap_worker::send(std::string const& topic, std::uint16_t schema, double seconds, std::string const& data) {
    ++counts_->values;
    auto const channel = file_->channel(topic, schema);
    if (!channel) {
        *why_ = *why_ ? *why_ : channel.error();
        return;
    }
    file_->add_message(*channel, nanoseconds_of(seconds), data);
}

void mcap_worker::tell(recorded_step const& at, recorded_entry& it, bool loose) {
    double const time = it.time().value_or(at.timing ? at.timing->closed : at.time);
    std::string const topic = front_ + '/' + std::string{name_of(at.step.mode)} + '/' + utf8_text(it.name());
    std::string const head = loose ? "{" : "{\"step\":" + std::to_string(at.step.index) + ',';
    if (it.is_text()) {
        send(topic, schemas_->text, time, head + "\"text\":" + json_text(it.text()) + '}');
    } else if (it.is_number()) {
        std::string const digits = it.digits();
        measurement const found = it.number();
        if (found.known) {
            send(topic, schemas_->number, time,
                 head + "\"value\":" + (digits.empty() ? json_or_null(found.value, *counts_) : digits) + '}');
        }
    } else {
        std::string fields;
        each_statistic(it, *choice_, [&](statistic which, double const& value) {
            fields += (fields.empty() ? "" : ",") + json_text(which.name()) + ':' + json_or_null(value, *counts_);
        });
        if (!fields.empty()) { send(topic, schemas_->statistics, time, head + fields + '}'); }
    }
    if (!it.damaged()) { return; }
    counts_->damaged.push_back(place_of(at, it.name()));
    log(time, 4, "its values cannot be read", "spotter", it.name(), at.step.index);
}

void mcap_worker::finding(recorded_step const& at, spotter::finding const& it) {
    constexpr int levels[] = {2, 3, 4};  // note, warning, error
    text<1024> line;
    describe(it, line);
    double const time = at.timing ? at.timing->closed : at.time;
    log(time, levels[static_cast<std::size_t>(it.severity)], line.view(), it.rule, it.tensor, at.step.index);
}

void mcap_worker::log(double time, int level, std::string_view message, std::string_view rule, std::string_view tensor,
                      std::uint64_t index) {
    std::uint64_t const all = nanoseconds_of(time);
    send(front_ + "/findings", schemas_->log, time,
         "{\"timestamp\":{\"sec\":" + std::to_string(all / 1'000'000'000) +
             ",\"nsec\":" + std::to_string(all % 1'000'000'000) + "},\"level\":" + std::to_string(level) +
             ",\"message\":" + json_text(message) + ",\"name\":" + json_text(rule) + ",\"file\":" + json_text(tensor) +
             ",\"line\":" + std::to_string(index) + '}');
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

error write_mcap(trial const& run, export_choice const& choice, text_sink const& put, export_counts& counts) {
    detail::mcap_file file;
    detail::mcap_schemas const schemas = detail::add_mcap_schemas(file);
    bool const several = run.readers().size() > 1 || run.expected_workers() > 1;
    error why;
    // One worker's steps at once, so that little data waits to be written.
    struct worker_sink {
        detail::mcap_worker take;
        detail::mcap_file* file;
        text_sink const* put;
        error* why;
        void step(recorded_step const& at) { take.step(at); }
        void entry(recorded_step const& at, recorded_entry& it) { take.entry(at, it); }
        void finding(recorded_step const& at, spotter::finding const& it) { take.finding(at, it); }
        void loose(recorded_step const& at, recorded_entry& it) { take.loose(at, it); }
        void end(recorded_step const&) {
            std::string const piece = file->take();
            if (!*why && !piece.empty()) { *why = (*put)(std::string_view{piece}); }
        }
    };
    recorded_workers<worker_sink> workers{choice};
    workers.advance(run, [&](worker_reader const& each) {
        std::string front = several ? "/worker-" + std::to_string(each.number()) : std::string{};
        return worker_sink{{choice, file, schemas, counts, why, std::move(front)}, &file, &put, &why};
    });
    file.add_metadata("spotter", {{"run", std::string{run.path()}},
                                  {"status", std::string{name_of(run.status())}},
                                  {"steps", std::to_string(run.closed_steps())}});
    file.finish();
    if (!why) { why = file.trouble(); }
    return why ? why : put(std::string_view{file.take()});
}

}  // namespace spotter::inline SPOTTER_ABI
