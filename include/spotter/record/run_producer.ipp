// SPDX-License-Identifier: Apache-2.0
// The bodies of run_producer.hpp.
#pragma once

#include <spotter/hook/switch.hpp>
#include <spotter/record/environment.hpp>
#include <spotter/record/run_producer.hpp>
#include <spotter/record/run_recording.hpp>

namespace spotter::inline SPOTTER_ABI {

template <class Encode>
bool run_producer::put(row_kind kind, std::size_t bound, Encode const& encode_into) noexcept {
    std::byte* const at = at_->input.claim(bound, 0);
    if (at == nullptr) { return false; }
    byte_writer out{at, bound};
    encode_into(out);
    at_->input.commit(out.size(), static_cast<std::uint32_t>(kind));
    return true;
}

SPOTTER_BODY SPOTTER_NOINLINE run_producer::run_producer(std::string_view path, options const& choices,
                                                         file_system& files, std::uint32_t worker) noexcept {
    bool const judges_only = choices.keep == recording_workers::one && choices.worker != 0;
    instant_ = choices.instant;
    workers_ = choices.keep == recording_workers::one ? 1 : choices.workers;
    if (choices.clock == nullptr) {
        zero_ = static_cast<std::int64_t>((seconds_since_epoch() - detail::steady_seconds()) * 1e9);
    }
    if (choices.dry_run || judges_only) {
        state_ = producer_state::off;
        return;
    }
    auto run = open_folder(files, path, choices.existing, choices.worker, choices.disk_sync);
    if (!run) {
        first_ = run.error();
        return;
    }
    run->place.worker = worker;
    at_ = new (std::nothrow) run_recording{files, *run, choices};
    if (at_ == nullptr) { files.unlock(run->lock); }
    if (at_ == nullptr || !at_->take_memory()) {
        first_ = {errc::out_of_memory, "no memory for the ring, nothing is recorded: lower options::ring_bytes"};
        delete std::exchange(at_, nullptr);
        return;
    }
    state_ = producer_state::ready;
}

SPOTTER_BODY run_producer& run_producer::operator=(run_producer&& other) noexcept {
    swap(other);
    return *this;
}

SPOTTER_BODY run_producer::~run_producer() {
    if (at_ == nullptr) { return; }
    if (is_open()) { finish({ending::failed, "hook was destroyed without finish", {}, 0}); }
    if (at_->fork.in_child()) {  // thread and files belong to the parent
        leave_to_parent();
    } else {
        delete at_;
    }
}

SPOTTER_BODY void run_producer::start(run_info const& run) noexcept {
    if (state_ != producer_state::ready || child()) { return; }
    begun_at_ = at_->place().now();
    packs_ << run.packs;
    byte_buffer row;
    put_begin(run, row);
    at_->start(row.view());
    state_ = producer_state::recording;
}

SPOTTER_BODY void run_producer::put_begin(run_info const& run, byte_buffer& into) const noexcept {
    rows::run_begin row{};
    row.run_id = at_->place().run_id;
    row.attempt = at_->place().attempt;
    row.time = begun_at_;
    row.worker = at_->place().worker;
    row.instant = static_cast<std::uint8_t>(instant_);
    row.workers = workers_;
    detail::encode_run_begin(row, run.collections, packs_.view(), into);
}

SPOTTER_COLD_BODY void run_producer::declare(tensor_info const& tensor) noexcept {
    if (!recording()) { return; }
    if (waiting_count_ > 0 || !send(tensor)) { keep_waiting(tensor); }
    at_->input.declared();
}

SPOTTER_BODY void run_producer::observe(observation const& seen, stats_mask keep) noexcept {
    if (!any(keep)) { return; }
    if (plain_rows::is_scalar(seen, keep)) { return scalar(seen.tensor, &seen.step, seen.view, nullptr); }
    if (!recording()) { return drop(); }
    std::byte counts[histogram_bins * varint_limit];
    rows::observe row{};
    detail::describe(seen, keep, counts, row);
    std::size_t const bound = detail::bound_of(row), bytes = as_size(seen.view.bytes());
    if (row.has_values && at_->input.policy() != overflow::block && at_->input.room() < room_for(bound, bytes) &&
        !thin(row)) {
        return drop();
    }
    row.has_shape = !row.has_values && seen.view.shape != seen.tensor.shape;
    put_observation(seen, keep, row, bound, bytes);
}

SPOTTER_BODY bool run_producer::thin(rows::observe& row) noexcept {
    at_->input.ask_for_room();
    if (at_->input.policy() == overflow::drop) { return false; }
    row.has_values = false;
    row.thinned = true;
    return true;
}

SPOTTER_INLINE void run_producer::put_observation(observation const& seen, stats_mask keep, rows::observe const& row,
                                                  std::size_t bound, std::size_t bytes) noexcept {
    std::size_t const inlined = row.has_values && bytes <= ring_tag::inline_bytes ? bytes : 0;
    if (row.has_values) { at_->input.choose_copying(bytes); }
    std::size_t const claimed = bound + inlined;
    std::byte* const at = claimed <= at_->input.largest() ? at_->input.claim(claimed, at_->input.spare()) : nullptr;
    if (at == nullptr) { return drop(); }
    std::size_t const head = row.has_values ? sizeof(ring_tag::values_head) : 0;
    std::uint32_t tag = static_cast<std::uint32_t>(row_kind::observe);
    if (row.has_values) {
        store(at, plain_rows::head_for(seen.view, bytes, keep));
        tag |= bytes <= ring_tag::inline_bytes ? ring_tag::values_inside : ring_tag::values;
    }
    quick_writer out{at + head};
    encode(out, row, seen.stats, static_cast<std::uint32_t>(keep));
    auto const* const values = static_cast<std::byte const*>(seen.view.values.raw);
    if (inlined > 0) { at_->input.copy(at + head + out.size(), values, inlined); }
    at_->input.commit(head + out.size() + inlined, tag);
    ++handed_;
    if (row.thinned || (row.has_values && bytes > inlined && !hand_over(values, bytes))) { ++thinned_; }
}

SPOTTER_BODY void run_producer::number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept {
    std::byte* const at = recording() ? at_->input.claim(scalar_limit, at_->input.spare()) : nullptr;
    if (at == nullptr) { return drop(); }
    at_->input.commit(at_->rows.number(at, tensor.id, step, value), static_cast<std::uint32_t>(row_kind::scalar));
    ++handed_;
}

SPOTTER_BODY void run_producer::values(tensor_info const& tensor, step_id const& step, tensor_ref const& view,
                                       stats_mask keep) noexcept {
    if (!recording()) { return drop(); }
    if (view.shape.rank == 0 && tensor.shape.rank == 0 && view.layout == order::row_major) {
        return scalar(tensor, &step, view, nullptr);
    }
    if (at_->input.policy() != overflow::block) {
        return observe({tensor, step, summary{.count = view.count}, view}, keep);
    }
    auto const bytes = as_size(view.bytes());
    at_->input.choose_copying(bytes);
    bool const few = bytes <= ring_tag::inline_bytes;
    std::byte* const at =
        at_->input.claim(observe_limit + sizeof(ring_tag::values_head) + (few ? bytes : 0), at_->input.spare());
    if (at == nullptr) { return drop(); }
    std::size_t size = at_->rows.values(at, tensor.id, step, view, bytes, keep);
    auto const* const from = static_cast<std::byte const*>(view.values.raw);
    if (few && bytes > 0) { at_->input.copy(at + size, from, bytes), size += bytes; }
    at_->input.commit(size, static_cast<std::uint32_t>(row_kind::observe) |
                                (few ? ring_tag::values_inside : ring_tag::values));
    ++handed_;
    if (!few && !hand_over(from, bytes)) { ++thinned_; }
}

SPOTTER_BODY void run_producer::feature(tensor_info const& tensor, step_id step, std::uint64_t key,
                                        std::span<double const> numbers) noexcept {
    if (!recording()) { return; }
    rows::feature row{};
    row.id = tensor.id;
    row.step = step;
    row.key = key;
    std::size_t const claimed = feature_limit + numbers.size() * sizeof(double);
    if (claimed > at_->input.largest()) {
        note({errc::bad_config, "a rule's feature is larger than half the ring; it was not recorded, and a replay "
                                "needs the values: raise options::ring_bytes"});
        return drop();
    }
    std::byte* const at = at_->input.claim(claimed, at_->input.spare());
    if (at == nullptr) { return drop(); }
    quick_writer out{at};
    encode(out, row, numbers);
    at_->input.commit(out.size(), static_cast<std::uint32_t>(row_kind::feature));
}

SPOTTER_BODY rows::run_end run_producer::end_row(run_end const& end) const noexcept {
    rows::run_end row{};
    row.how = static_cast<std::uint8_t>(end.how);
    row.why = end.why;
    row.refused = end.refused;
    row.stored = handed_;
    row.dropped = dropped_;
    row.thinned = thinned_;
    row.closes = closes_;
    row.time = at_->place().now();
    return row;
}

SPOTTER_BODY void run_producer::finish(run_end const& end) noexcept {
    bool const begun = state_ == producer_state::recording;
    if ((!begun && state_ != producer_state::ready) || child()) { return; }
    at_->writer.stop_and_drain();
    if (begun) {
        tell_losses();  // there is room now
        at_->writer.stop_and_drain();
    }
    std::size_t bound = 256 + end.why.size();
    for (coverage const& each : end.coverage) { bound += each.rule.size() + each.reason.size() + 6 * varint_limit; }
    byte_buffer list;
    byte_writer each_out{list.prepare(bound), list.failed() ? 0 : bound};
    for (coverage const& each : end.coverage) {
        encode(each_out, rows::coverage{each.rule, each.matched, each.judged, each.undecided, each.fired, each.reason});
    }
    rows::run_end row = end_row(end);
    row.coverages = list.failed() ? 0 : end.coverage.size();
    row.list = each_out.view();
    byte_buffer body;
    std::byte* const room = body.prepare(2 * bound);
    if (list.failed() || body.failed()) {
        note({errc::out_of_memory, "no memory for the end of the record; it lacks the coverage of the rules"});
    }
    std::byte few[256];  // needs no memory
    if (body.failed()) { row.why = {}, row.coverages = 0, row.list = {}; }
    byte_writer out{body.failed() ? few : room, body.failed() ? sizeof few : 2 * bound};
    encode(out, row);
    at_->finish(begun ? out.view() : byte_view{});
    state_ = producer_state::over;
}

SPOTTER_BODY section_watcher const* run_producer::watcher() const noexcept {
    return at_ != nullptr ? at_->writer.errands().place.watcher() : nullptr;
}

SPOTTER_BODY bool run_producer::goes_on() noexcept { return state_ == producer_state::recording && !child(); }
SPOTTER_BODY void run_producer::flush() noexcept { goes_on() ? at_->input.flush() : void(); }
SPOTTER_BODY SPOTTER_COLD void run_producer::show() noexcept { goes_on() ? at_->input.show() : void(); }
SPOTTER_BODY void run_producer::poll() noexcept { goes_on() ? at_->writer.poll() : void(); }

SPOTTER_BODY bool run_producer::stop_asked() const noexcept {
    return at_ != nullptr && at_->writer.errands().stop.asked();
}

SPOTTER_BODY void run_producer::tell_news(step_id step, step_alarm& into) noexcept {
    if (at_ != nullptr) { at_->writer.errands().beside.tell_news(step, into); }
}

SPOTTER_BODY void run_producer::set_readers(detail::control_readers const& readers) noexcept {
    if (at_ != nullptr) { at_->writer.errands().control.set_readers(readers); }
}

SPOTTER_BODY detail::control_request const* run_producer::poll_request() const noexcept {
    detail::control_request const* const waits = at_ != nullptr ? at_->writer.errands().control.request() : nullptr;
    return waits != nullptr && !at_->fork.in_child() ? waits : nullptr;
}

SPOTTER_BODY void run_producer::acknowledge(error const& why) noexcept { acknowledged_ = true, at_->outcome.why = why; }

SPOTTER_COLD_BODY void run_producer::reset_collections(run_info const& run) noexcept {
    put_begin(run, at_->outcome.run_begin);
}

SPOTTER_BODY std::uint32_t run_producer::attempt() const noexcept { return at_ != nullptr ? at_->place().attempt : 0; }
SPOTTER_BODY std::uint64_t run_producer::run_id() const noexcept { return at_ != nullptr ? at_->place().run_id : 0; }

SPOTTER_BODY void run_producer::when_full(room_maker const& make) noexcept { at_->input.when_full(make); }

SPOTTER_BODY std::string_view run_producer::stop_reason() const noexcept {
    return at_ != nullptr ? at_->writer.errands().stop.reason() : std::string_view{};
}

SPOTTER_BODY sink_health run_producer::health() const noexcept {
    sink_health health{};
    health.first_error = first_;
    health.stored = handed_;
    health.dropped = dropped_;
    health.thinned = thinned_;
    if (at_ != nullptr) { at_->report(health); }
    return health;
}

SPOTTER_BODY std::string_view run_producer::path() const noexcept {
    if (at_ == nullptr) { return {}; }
    std::string_view folder = at_->place().folder.view();
    if (folder.size() > 1) { folder.remove_suffix(1); }  // the final slash
    return folder;
}

SPOTTER_BODY bool run_producer::discard_step() noexcept {
    auto const gone = at_->input.discard_step();
    handed_ -= gone.values;
    closes_ -= gone.closed ? 1 : 0;
    return gone.closed;
}

SPOTTER_BODY void run_producer::write_out() noexcept {
    if (recording()) { at_->writer.write_out(); }
}

SPOTTER_COLD_BODY void run_producer::declare_apart(tensor_info const& tensor) noexcept {
    std::size_t const bound = recording() ? bound_of(tensor) : 0;
    if (bound == 0) { return; }
    byte_buffer body;
    byte_writer out{body.prepare(bound), body.failed() ? 0 : bound};
    encode(out, rows::declare{tensor});
    at_->writer.declare_apart(out.view());
}

SPOTTER_BODY bool run_producer::is_open() const noexcept {
    return state_ == producer_state::recording && !at_->fork.in_child();
}

SPOTTER_BODY void run_producer::end_step(step_id step, step_alarm const& found, bool whole) noexcept {
    put_close(step, found, whole);
    if (acknowledged_) { acknowledged_ = false, at_->end_request(); }
}

SPOTTER_COLD_BODY void run_producer::tell(finding const& it) noexcept {
    if (!recording() || !send(it)) { drop(); }
}

SPOTTER_BODY void run_producer::put_close(step_id step, step_alarm const& found, bool whole) noexcept {
    if (!recording()) { return; }
    at_->input.end_step();
    tell_losses();
    rows::close row{};
    row.step = step;
    row.left_out = found.left_out();
    for (finding const& each : found) { row.left_out += send(each) ? 0U : 1U; }
    if (!whole) { return; }
    std::byte* const at = at_->input.claim(close_limit, 0);
    if (at == nullptr) {
        ++closes_lost_;
        return;
    }
    byte_writer out{at, close_limit};
    encode(out, row);
    std::uint32_t tag = static_cast<std::uint32_t>(row_kind::close);
    if (std::exchange(stamped_, false)) {
        out.fixed(nanoseconds_since(zero_, times_.begun));
        out.fixed(nanoseconds_since(zero_, times_.closed));
        tag |= ring_tag::timed;
    }
    at_->input.commit(out.size(), tag);
    ++closes_;
}

SPOTTER_BODY void run_producer::scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value,
                                       double const* time) noexcept {
    if (!recording()) { return drop(); }
    std::size_t const bytes = as_size(value.bytes());
    bool const one = value.refused == refusal::none && (value.type == dtype::text || (value.count == 1 && bytes > 0));
    if (!one || bytes > at_->input.largest() - scalar_limit) {
        note({errc::wrong_type,
              "a scalar must be one number, or a text smaller than half the ring; it was not recorded"});
        return drop();
    }
    rows::scalar row{};
    row.id = tensor.id;
    row.has_step = step != nullptr;
    if (step != nullptr) { row.step = *step; }
    row.has_time = time != nullptr || step == nullptr;
    row.type = value.type;
    row.value = {static_cast<std::byte const*>(value.values.raw), bytes};
    std::byte* const at = at_->input.claim(scalar_limit + bytes, at_->input.spare());
    if (at == nullptr) { return drop(); }
    quick_writer out{at};
    encode(out, row);
    std::uint32_t tag = static_cast<std::uint32_t>(row_kind::scalar);
    if (time != nullptr) {
        out.fixed(*time);
    } else if (step == nullptr) {
        tag |= ring_tag::stamp;
    }
    at_->input.commit(out.size(), tag);
    ++handed_;
}

SPOTTER_BODY bool run_producer::recording() noexcept {
    if (state_ != producer_state::recording || at_->writer.failed() || child()) { return false; }
    if (waiting_count_ > 0) { send_waiting(); }
    return true;
}

SPOTTER_BODY bool run_producer::child() noexcept { return at_->fork.in_child() && (be_child(), true); }

SPOTTER_BODY SPOTTER_COLD void run_producer::be_child() noexcept {
    leave_to_parent();
    note({errc::busy, "this process was forked off from the run's; it cannot record into the same run, its events are "
                      "only counted"});
}

SPOTTER_BODY SPOTTER_COLD void run_producer::leave_to_parent() noexcept {
    if (state_ == producer_state::forked || state_ == producer_state::over) { return; }
    state_ = producer_state::forked;
    at_->leave_to_parent();
}

SPOTTER_BODY void run_producer::note(error const& why) noexcept {
    if (!first_) { first_ = why; }
}

SPOTTER_BODY std::uint64_t run_producer::room_for(std::size_t bound, std::uint64_t bytes) const noexcept {
    std::uint64_t const blocks = bytes / at_->input.block() + 1;
    return bytes + (blocks + 1) * 2 * byte_ring::header + bound + (std::max)(bound, at_->input.block()) +
           at_->input.spare();
}

SPOTTER_BODY bool run_producer::hand_over(std::byte const* values, std::size_t bytes) noexcept {
    for (std::size_t done = 0; done < bytes;) {
        std::size_t const size = (std::min)(at_->input.block(), bytes - done);
        std::byte* const at = at_->input.claim(size, at_->input.spare());
        if (at == nullptr) { return false; }
        at_->input.copy(at, values + done, size);
        at_->input.commit(size, ring_tag::block);
        done += size;
    }
    return true;
}

SPOTTER_BODY void run_producer::tell_losses() noexcept {
    if (dropped_ + thinned_ + closes_lost_ == losses_recorded_) { return; }
    rows::drops const row{dropped_, thinned_, closes_lost_};
    if (put(row_kind::drops, 3 * varint_limit, [&](byte_writer& out) { encode(out, row); })) {
        losses_recorded_ = dropped_ + thinned_ + closes_lost_;
    }
}

SPOTTER_BODY std::size_t run_producer::bound_of(tensor_info const& tensor) noexcept {
    std::size_t const bound = tensor.name.size() + 160;
    if (bound <= at_->input.largest()) { return bound; }
    note({errc::bad_config,
          "a tensor's name is longer than half the ring; the tensor is recorded without it: shorten the name"});
    return 0;
}

SPOTTER_BODY bool run_producer::send(tensor_info const& tensor) noexcept {
    std::size_t const bound = bound_of(tensor);
    return bound == 0 || put(row_kind::declare, bound, [&](byte_writer& out) { encode(out, rows::declare{tensor}); });
}

SPOTTER_BODY bool run_producer::send(finding const& it) noexcept {
    rows::finding row{};
    row.step = it.step;
    row.rule = it.rule;
    row.reason = it.reason;
    row.tensor = it.tensor;
    row.measure = it.measure;
    row.remedy = it.remedy;
    row.detail = it.detail.view();
    row.measured = it.measured;
    row.threshold = it.threshold;
    row.how = static_cast<std::uint8_t>(it.how);
    row.severity = static_cast<std::uint8_t>(it.severity);
    row.decision = static_cast<std::uint8_t>(it.decision);
    row.decision_is_set = it.decision_is_set;
    row.others = it.others;
    std::size_t const bound = 128 + row.rule.size() + row.reason.size() + row.tensor.size() + row.measure.size() +
                              row.remedy.size() + row.detail.size();
    return put(row_kind::finding, bound, [&](byte_writer& out) { encode(out, row); });
}

SPOTTER_BODY void run_producer::keep_waiting(tensor_info const& tensor) noexcept {
    if (!waiting_.grow(waiting_count_ + 1)) {
        return note({errc::out_of_memory, "no memory to keep a tensor's name; the tensor is recorded without it"});
    }
    waiting_[waiting_count_++] = tensor;
}

SPOTTER_BODY SPOTTER_NOINLINE void run_producer::send_waiting() noexcept {
    std::size_t sent = 0;
    while (sent < waiting_count_ && send(waiting_[sent])) { ++sent; }
    for (std::size_t i = sent; i < waiting_count_; ++i) { waiting_[i - sent] = waiting_[i]; }
    waiting_count_ -= sent;
}

SPOTTER_BODY void run_producer::swap(run_producer& other) noexcept {
    std::swap(at_, other.at_), std::swap(state_, other.state_);
    std::swap(first_, other.first_);
    std::swap(waiting_, other.waiting_), std::swap(waiting_count_, other.waiting_count_);
    for (auto member : {&run_producer::handed_, &run_producer::dropped_, &run_producer::thinned_,
                        &run_producer::closes_, &run_producer::closes_lost_, &run_producer::losses_recorded_}) {
        std::swap(this->*member, other.*member);
    }
    std::swap(times_, other.times_);
    std::swap(stamped_, other.stamped_), std::swap(acknowledged_, other.acknowledged_);
    std::swap(begun_at_, other.begun_at_), std::swap(zero_, other.zero_);
    std::swap(instant_, other.instant_), std::swap(workers_, other.workers_);
}

}  // namespace spotter::inline SPOTTER_ABI
