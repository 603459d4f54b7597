// SPDX-License-Identifier: Apache-2.0
// Record (L4): the sink that writes a run to files, and where it is asked for a flight recorder beside it.
#pragma once

#include <spotter/record/flight_recorder.hpp>

namespace spotter::inline SPOTTER_ABI {

// Each event goes to the flight recorder, if there is one, and then into the record (run_recorder has what it costs and
// promises).
class recorder {
public:
    // Takes the folder `path` (options::existing says what if a run is there) and locks it. `files` must outlive the
    // recorder.
    explicit recorder(std::string_view path, options const& choices = {}) noexcept;
    recorder(std::string_view path, options const& choices, file_system& files) noexcept;
    recorder(recorder&& other) noexcept : run_{std::move(other.run_)}, flight_{std::exchange(other.flight_, nullptr)} {}
    recorder& operator=(recorder&& other) noexcept;
    ~recorder() { delete flight_; }  // ends before the run

    void start(run_info const& run) noexcept;
    // Whether everything that is observed is wanted, with its values, whatever the plan keeps of it.
    [[nodiscard]] bool wants_all() const noexcept { return flight_ != nullptr && flight_->wants_all(); }
    void declare(tensor_info const& tensor) noexcept {
        if (flight_ != nullptr) { flight_->declare(tensor); }
        run_.declare(tensor);
    }
    void observe(observation const& seen, terms keep) noexcept {
        if (flight_ != nullptr) { flight_->observe(seen, keep); }
        run_.observe(seen, keep);
    }
    void feature(tensor_info const& tensor, step_id step, std::uint64_t key, std::span<double const> numbers) noexcept {
        run_.feature(tensor, step, key, numbers);
    }
    void scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value, double const* time) noexcept {
        if (flight_ != nullptr) { flight_->scalar(tensor, step, value, time); }
        run_.scalar(tensor, step, value, time);
    }
    void number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept {
        flight_ != nullptr ? number_twice(tensor, step, value) : run_.number(tensor, step, value);
    }
    void values(tensor_info const& tensor, step_id const& step, tensor_ref const& view, terms keep) noexcept {
        run_.values(tensor, step, view, keep);  // a flight recorder wants everything, and so gets it by `observe`
    }
    void stamp(step_moments const& times) noexcept {
        if (flight_ != nullptr) { flight_->stamp(times); }
        run_.stamp(times);
    }
    void close(step_id step, step_alarm const& found) noexcept {
        if (flight_ != nullptr) { flight_->close(step, found); }
        run_.close(step, found);
        show(found);
    }
    // A finding that no close comes with. An error is in the file before this returns.
    void tell(finding const& it) noexcept {
        run_.tell(it);
        if (it.severity == severity::error) { run_.show(); }
    }
    // The run failed amid the step: it has no close, so that readers know it as open.
    void leave(step_id step, step_alarm const& found) noexcept {
        if (flight_ != nullptr) { flight_->leave(step, found); }
        run_.leave(step, found);
        show(found);
    }
    void finish(run_end const& end) noexcept;
    void flush() noexcept { run_.flush(); }
    // With drain::poll, the work of the writer: to be called regularly, by the same thread as the rest.
    void poll() noexcept { run_.poll(); }

    // Somebody made the file `stop` in the run's folder (record/stop_file.hpp).
    [[nodiscard]] bool stop_asked() const noexcept { return run_.stop_asked(); }
    // The first line of the file `stop`; may be empty.
    [[nodiscard]] std::string_view stop_reason() const noexcept { return run_.stop_reason(); }
    // What options::beside has to tell to the loop.
    void tell_news(step_id step, step_alarm& into) noexcept { run_.tell_news(step, into); }
    // What somebody outside asks for (hook/control.hpp).
    void listen(detail::control_readers const& readers) noexcept { run_.listen(readers); }
    // null: nobody asks for anything.
    [[nodiscard]] detail::control_request const* request() const noexcept { return run_.request(); }
    void obeyed(error const& why) noexcept { run_.obeyed(why); }  // the request was done; an error: it was refused
    void start_anew(run_info const& run) noexcept { run_.start_anew(run); }  // other collections from the next step on
    // In which section the loop is (hook/sections.hpp).
    [[nodiscard]] section_watcher const* watcher() const noexcept { return run_.watcher(); }
    [[nodiscard]] sink_health health() const noexcept;
    // Of a run that was resumed how often before.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return run_.attempt(); }
    [[nodiscard]] std::string_view path() const noexcept { return run_.path(); }

private:
    // What the loop hears of and may die of in its next call is in the file before it hears of it: errors, and what
    // asks for a decision.
    void show(step_alarm const& found) noexcept {
        if (!found.empty() && (found.front().severity == severity::error || found.decision() != decision::proceed)) {
            run_.show();
        }
    }
    void number_twice(tensor_info const& tensor, step_id const& step, plain_number value) noexcept;

    run_recorder run_;
    flight_recorder* flight_ = nullptr;
};

static_assert(event_sink<recorder>);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/recorder.ipp>
#endif
