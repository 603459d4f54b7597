// SPDX-License-Identifier: Apache-2.0
// The bodies of run_recorder.hpp.
#pragma once

#include <spotter/hook/switch.hpp>
#include <spotter/record/begin_row.hpp>
#include <spotter/record/recorder_core.hpp>
#include <spotter/record/run_recorder.hpp>
#include <spotter/stat/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

template <class Encode>
bool run_recorder::put(row_kind kind, std::size_t bound, Encode const& encode_into) noexcept {
    std::byte* const at = core_->claim(bound, 0);
    if (at == nullptr) { return false; }
    byte_writer out{at, bound};
    encode_into(out);
    core_->commit(out.size(), static_cast<std::uint32_t>(kind));
    return true;
}

SPOTTER_BODY SPOTTER_NOINLINE run_recorder::run_recorder(std::string_view path, options const& choices,
                                                         file_system& files, std::uint32_t worker) noexcept
    : dry_{choices.dry_run || (choices.keep == recording_workers::one && choices.worker != 0)} {
    instant_ = choices.instant;
    workers_ = choices.keep == recording_workers::one ? 1 : choices.workers;
    if (choices.clock == nullptr) {
        zero_ = static_cast<std::int64_t>((seconds_since_epoch() - detail::steady_seconds()) * 1e9);
    }
    if (dry_) { return; }
    auto run = open_folder(files, path, choices.existing, choices.worker, choices.disk_sync);
    if (!run) {
        first_ = run.error();
        return;
    }
    run->place.worker = worker;
    core_ = new (std::nothrow) recorder_core{files, *run, choices};
    if (core_ == nullptr) { files.unlock(run->lock); }
    if (core_ == nullptr || !core_->take_memory()) {
        first_ = {errc::out_of_memory, "no memory for the ring, nothing is recorded: lower options::ring_bytes"};
        delete std::exchange(core_, nullptr);
    }
}

SPOTTER_BODY run_recorder& run_recorder::operator=(run_recorder&& other) noexcept {
    swap(other);
    return *this;
}

SPOTTER_BODY run_recorder::~run_recorder() {
    if (core_ == nullptr) { return; }
    if (is_open()) { finish({ending::failed, "hook was destroyed without finish", {}, 0}); }
    if (core_->in_child()) {  // the thread and the files are the parent's
        core_->leave_to_parent();
    } else {
        delete core_;
    }
}

SPOTTER_BODY void run_recorder::start(run_info const& run) noexcept {
    if (core_ == nullptr || core_->started() || child()) { return; }
    begun_at_ = core_->place().now();
    packs_ << run.packs;
    byte_buffer row;
    put_begin(run, row);
    core_->start(row.view());
}

SPOTTER_BODY void run_recorder::put_begin(run_info const& run, byte_buffer& into) const noexcept {
    rows::run_begin row{};
    row.run_id = core_->place().run_id;
    row.attempt = core_->place().attempt;
    row.time = begun_at_;
    row.worker = core_->place().worker;
    row.instant = static_cast<std::uint8_t>(instant_);
    row.workers = workers_;
    detail::encode_run_begin(row, run.collections, packs_.view(), into);
}

SPOTTER_COLD_BODY void run_recorder::declare(tensor_info const& tensor) noexcept {
    if (!recording()) { return; }
    if (waiting_count_ > 0 || !send(tensor)) { keep_waiting(tensor); }
    core_->declared();
}

SPOTTER_BODY void run_recorder::observe(observation const& seen, terms keep) noexcept {
    if (!any(keep)) { return; }
    if (plain_rows::is_scalar(seen, keep)) { return scalar(seen.tensor, &seen.step, seen.view, nullptr); }
    if (!recording()) { return drop(); }
    rows::observe row{};
    row.id = seen.tensor.id;
    row.step = seen.step;
    if (has(keep, terms::unit_activity)) {
        row.units = (std::min)(seen.units.active.size(), seen.units.finite.size());
        row.axis = static_cast<std::uint8_t>(seen.units.axis);
        row.active = bytes_of(seen.units.active.data(), as_size(row.units));
        row.finite = bytes_of(seen.units.finite.data(), as_size(row.units));
    }
    std::byte counts[histogram_bins * varint_limit];
    if (seen.distribution != nullptr) { take_distribution(*seen.distribution, keep, counts, row); }
    tensor_ref const& view = seen.view;
    std::size_t const bytes = as_size(view.bytes());
    row.has_values = has(keep, terms::payload) && !view.absent() && view.refused == refusal::none;
    row.type = view.type;
    row.layout = view.layout;
    row.shape = view.shape;
    std::size_t const bound =
        observe_limit + sizeof(ring_tag::values_head) + as_size(row.units) * 8 + row.levels.size() + row.counts.size();
    if (row.has_values && core_->policy() != overflow::block && core_->room() < room_for(bound, bytes)) {
        core_->ask_for_room();
        if (core_->policy() == overflow::drop) { return drop(); }
        row.has_values = false;
        row.thinned = true;
    }
    row.has_shape = !row.has_values && view.shape != seen.tensor.shape;
    std::size_t const inlined = row.has_values && bytes <= ring_tag::inline_bytes ? bytes : 0;
    if (row.has_values) { core_->choose_copying(bytes); }
    std::size_t const claimed = bound + inlined;
    std::byte* const at = claimed <= core_->largest() ? core_->claim(claimed, core_->spare()) : nullptr;
    if (at == nullptr) { return drop(); }
    std::size_t const head = row.has_values ? sizeof(ring_tag::values_head) : 0;
    std::uint32_t tag = static_cast<std::uint32_t>(row_kind::observe);
    if (row.has_values) {
        store(at, plain_rows::head_for(view, bytes, keep));
        tag |= bytes <= ring_tag::inline_bytes ? ring_tag::values_inside : ring_tag::values;
    }
    quick_writer out{at + head};
    encode(out, row, seen.stats, static_cast<std::uint32_t>(keep));
    auto const* const values = static_cast<std::byte const*>(view.values.raw);
    if (inlined > 0) { core_->copy(at + head + out.size(), values, inlined); }
    core_->commit(head + out.size() + inlined, tag);
    ++handed_;
    if (row.thinned || (row.has_values && bytes > inlined && !hand_over(values, bytes))) { ++thinned_; }
}

SPOTTER_BODY void run_recorder::number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept {
    std::byte* const at = recording() ? core_->claim(scalar_limit, core_->spare()) : nullptr;
    if (at == nullptr) { return drop(); }
    core_->commit(core_->rows().number(at, tensor.id, step, value), static_cast<std::uint32_t>(row_kind::scalar));
    ++handed_;
}

SPOTTER_BODY void run_recorder::values(tensor_info const& tensor, step_id const& step, tensor_ref const& view,
                                       terms keep) noexcept {
    if (!recording()) { return drop(); }
    if (view.shape.rank == 0 && tensor.shape.rank == 0 && view.layout == order::row_major) {
        return scalar(tensor, &step, view, nullptr);
    }
    if (core_->policy() != overflow::block) {
        return observe({tensor, step, summary{.count = view.count}, view}, keep);
    }
    auto const bytes = as_size(view.bytes());
    core_->choose_copying(bytes);
    bool const few = bytes <= ring_tag::inline_bytes;
    std::byte* const at =
        core_->claim(observe_limit + sizeof(ring_tag::values_head) + (few ? bytes : 0), core_->spare());
    if (at == nullptr) { return drop(); }
    std::size_t size = core_->rows().values(at, tensor.id, step, view, bytes, keep);
    auto const* const from = static_cast<std::byte const*>(view.values.raw);
    if (few && bytes > 0) { core_->copy(at + size, from, bytes), size += bytes; }
    core_->commit(size,
                  static_cast<std::uint32_t>(row_kind::observe) | (few ? ring_tag::values_inside : ring_tag::values));
    ++handed_;
    if (!few && !hand_over(from, bytes)) { ++thinned_; }
}

SPOTTER_BODY void run_recorder::feature(tensor_info const& tensor, step_id step, std::uint64_t key,
                                        std::span<double const> numbers) noexcept {
    if (!recording()) { return; }
    rows::feature row{};
    row.id = tensor.id;
    row.step = step;
    row.key = key;
    std::size_t const claimed = feature_limit + numbers.size() * sizeof(double);
    if (claimed > core_->largest()) {
        note({errc::bad_config, "a rule's feature is larger than half the ring; it was not recorded, and a replay "
                                "needs the values: raise options::ring_bytes"});
        return drop();
    }
    std::byte* const at = core_->claim(claimed, core_->spare());
    if (at == nullptr) { return drop(); }
    quick_writer out{at};
    encode(out, row, numbers);
    core_->commit(out.size(), static_cast<std::uint32_t>(row_kind::feature));
}

SPOTTER_BODY void run_recorder::finish(run_end const& end) noexcept {
    if (core_ == nullptr || core_->finished() || child()) { return; }
    core_->settle();
    if (core_->started()) {
        tell_losses();  // now there is room
        core_->settle();
    }
    std::size_t bound = 256 + end.why.size();
    for (coverage const& each : end.coverage) { bound += each.rule.size() + each.reason.size() + 6 * varint_limit; }
    byte_buffer list;
    byte_writer each_out{list.prepare(bound), list.failed() ? 0 : bound};
    for (coverage const& each : end.coverage) {
        encode(each_out, rows::coverage{each.rule, each.matched, each.judged, each.undecided, each.fired, each.reason});
    }
    rows::run_end row{};
    row.how = static_cast<std::uint8_t>(end.how);
    row.why = end.why;
    row.refused = end.refused;
    row.stored = handed_;
    row.dropped = dropped_;
    row.thinned = thinned_;
    row.closes = closes_;
    row.time = core_->place().now();
    row.coverages = list.failed() ? 0 : end.coverage.size();
    row.list = each_out.view();
    byte_buffer body;
    std::byte* const room = body.prepare(2 * bound);
    if (list.failed() || body.failed()) {
        note({errc::out_of_memory, "no memory for the end of the record; it lacks what the rules say of themselves"});
    }
    std::byte few[256];  // the end itself takes none
    if (body.failed()) { row.why = {}, row.coverages = 0, row.list = {}; }
    byte_writer out{body.failed() ? few : room, body.failed() ? sizeof few : 2 * bound};
    encode(out, row);
    core_->finish(out.view());
}

SPOTTER_BODY section_watcher const* run_recorder::watcher() const noexcept {
    return core_ != nullptr ? core_->watcher() : nullptr;
}

SPOTTER_BODY bool run_recorder::goes_on() noexcept {
    return core_ != nullptr && core_->started() && !core_->finished() && !child();
}
SPOTTER_BODY void run_recorder::flush() noexcept { goes_on() ? core_->flush() : void(); }
SPOTTER_BODY SPOTTER_COLD void run_recorder::show() noexcept { goes_on() ? core_->show() : void(); }
SPOTTER_BODY void run_recorder::poll() noexcept { goes_on() ? core_->poll() : void(); }

SPOTTER_BODY bool run_recorder::stop_asked() const noexcept { return core_ != nullptr && core_->stopping().asked(); }

SPOTTER_BODY void run_recorder::tell_news(step_id step, step_alarm& into) noexcept {
    if (core_ != nullptr) { core_->tell_news(step, into); }
}

SPOTTER_BODY void run_recorder::listen(detail::control_readers const& readers) noexcept {
    if (core_ != nullptr) { core_->control().listen(readers); }
}

SPOTTER_BODY detail::control_request const* run_recorder::request() const noexcept {
    detail::control_request const* const waits = core_ != nullptr ? core_->control().request() : nullptr;
    return waits != nullptr && !core_->in_child() ? waits : nullptr;
}

SPOTTER_BODY void run_recorder::obeyed(error const& why) noexcept { obeyed_ = true, core_->obeyed(why); }

SPOTTER_COLD_BODY void run_recorder::start_anew(run_info const& run) noexcept { put_begin(run, core_->begins_anew()); }

SPOTTER_BODY std::uint32_t run_recorder::attempt() const noexcept {
    return core_ != nullptr ? core_->place().attempt : 0;
}

SPOTTER_BODY void run_recorder::when_full(room_maker const& make) noexcept { core_->when_full(make); }

SPOTTER_BODY std::string_view run_recorder::stop_reason() const noexcept {
    return core_ != nullptr ? core_->stopping().reason() : std::string_view{};
}

SPOTTER_BODY sink_health run_recorder::health() const noexcept {
    sink_health health{};
    health.first_error = first_;
    health.stored = handed_;
    health.dropped = dropped_;
    health.thinned = thinned_;
    if (core_ != nullptr) { core_->report(health); }
    return health;
}

SPOTTER_BODY std::string_view run_recorder::path() const noexcept {
    if (core_ == nullptr) { return {}; }
    std::string_view folder = core_->place().folder.view();
    if (folder.size() > 1) { folder.remove_suffix(1); }  // the final slash
    return folder;
}

SPOTTER_BODY bool run_recorder::discard_step() noexcept {
    auto const gone = core_->discard_step();
    handed_ -= gone.values;
    closes_ -= gone.closed ? 1 : 0;
    return gone.closed;
}

SPOTTER_BODY void run_recorder::write_out() noexcept {
    if (recording()) { core_->write_out(); }
}

SPOTTER_COLD_BODY void run_recorder::declare_apart(tensor_info const& tensor) noexcept {
    std::size_t const bound = recording() ? bound_of(tensor) : 0;
    if (bound == 0) { return; }
    byte_buffer body;
    byte_writer out{body.prepare(bound), body.failed() ? 0 : bound};
    encode(out, rows::declare{tensor});
    core_->declare_apart(out.view());
}

SPOTTER_BODY bool run_recorder::is_open() const noexcept {
    return core_ != nullptr && !core_->in_child() && core_->started() && !core_->finished();
}

SPOTTER_BODY void run_recorder::end_step(step_id step, step_alarm const& found, bool whole) noexcept {
    put_close(step, found, whole);
    if (obeyed_) { obeyed_ = false, core_->end_request(); }
}

SPOTTER_COLD_BODY void run_recorder::tell(finding const& it) noexcept {
    if (!recording() || !send(it)) { drop(); }
}

SPOTTER_BODY void run_recorder::put_close(step_id step, step_alarm const& found, bool whole) noexcept {
    if (!recording()) { return; }
    core_->end_step();
    tell_losses();
    rows::close row{};
    row.step = step;
    row.left_out = found.left_out();
    for (finding const& each : found) { row.left_out += send(each) ? 0U : 1U; }
    if (!whole) { return; }
    std::byte* const at = core_->claim(close_limit, 0);
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
    core_->commit(out.size(), tag);
    ++closes_;
}

SPOTTER_BODY void run_recorder::scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value,
                                       double const* time) noexcept {
    if (!recording()) { return drop(); }
    std::size_t const bytes = as_size(value.bytes());
    bool const one = value.refused == refusal::none && (value.type == dtype::text || (value.count == 1 && bytes > 0));
    if (!one || bytes > core_->largest() - scalar_limit) {
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
    std::byte* const at = core_->claim(scalar_limit + bytes, core_->spare());
    if (at == nullptr) { return drop(); }
    quick_writer out{at};
    encode(out, row);
    std::uint32_t tag = static_cast<std::uint32_t>(row_kind::scalar);
    if (time != nullptr) {
        out.fixed(*time);
    } else if (step == nullptr) {
        tag |= ring_tag::stamp;
    }
    core_->commit(out.size(), tag);
    ++handed_;
}

SPOTTER_BODY bool run_recorder::recording() noexcept {
    if (core_ == nullptr || core_->silent() || child()) { return false; }
    if (waiting_count_ > 0) { send_waiting(); }
    return true;
}

SPOTTER_BODY bool run_recorder::child() noexcept { return core_->in_child() && (be_child(), true); }

SPOTTER_BODY SPOTTER_COLD void run_recorder::be_child() noexcept {
    core_->leave_to_parent();
    note({errc::busy, "this process was forked off from the run's; it cannot record into the same run, its events are "
                      "only counted"});
}

SPOTTER_BODY void run_recorder::note(error const& why) noexcept {
    if (!first_) { first_ = why; }
}

SPOTTER_BODY std::uint64_t run_recorder::room_for(std::size_t bound, std::uint64_t bytes) const noexcept {
    std::uint64_t const blocks = bytes / core_->block() + 1;
    return bytes + (blocks + 1) * 2 * byte_ring::header + bound + (std::max)(bound, core_->block()) + core_->spare();
}

SPOTTER_BODY bool run_recorder::hand_over(std::byte const* values, std::size_t bytes) noexcept {
    for (std::size_t done = 0; done < bytes;) {
        std::size_t const size = (std::min)(core_->block(), bytes - done);
        std::byte* const at = core_->claim(size, core_->spare());
        if (at == nullptr) { return false; }
        core_->copy(at, values + done, size);
        core_->commit(size, ring_tag::block);
        done += size;
    }
    return true;
}

SPOTTER_BODY void run_recorder::take_distribution(distribution const& from, terms keep, std::span<std::byte> counts,
                                                  rows::observe& row) noexcept {
    if (from.has_quantiles && has(keep, terms::quantiles)) {
        row.quantiles = from.quantiles.size();
        row.levels = bytes_of(from.quantiles.data(), from.quantiles.size());
    }
    if (from.has_histogram && has(keep, terms::histogram)) {
        byte_writer out{counts.data(), counts.size()};
        for (std::uint64_t const each : from.bins) { out.varint(each); }
        row.bins = from.bins.size();
        row.low = from.low;
        row.high = from.high;
        row.counts = out.view();
    }
}

SPOTTER_BODY void run_recorder::tell_losses() noexcept {
    if (dropped_ + thinned_ + closes_lost_ == told_) { return; }
    rows::drops const row{dropped_, thinned_, closes_lost_};
    if (put(row_kind::drops, 3 * varint_limit, [&](byte_writer& out) { encode(out, row); })) {
        told_ = dropped_ + thinned_ + closes_lost_;
    }
}

SPOTTER_BODY std::size_t run_recorder::bound_of(tensor_info const& tensor) noexcept {
    std::size_t const bound = tensor.name.size() + 160;
    if (bound <= core_->largest()) { return bound; }
    note({errc::bad_config,
          "a tensor's name is longer than half the ring; the tensor is recorded without it: shorten the name"});
    return 0;
}

SPOTTER_BODY bool run_recorder::send(tensor_info const& tensor) noexcept {
    std::size_t const bound = bound_of(tensor);
    return bound == 0 || put(row_kind::declare, bound, [&](byte_writer& out) { encode(out, rows::declare{tensor}); });
}

SPOTTER_BODY bool run_recorder::send(finding const& it) noexcept {
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

SPOTTER_BODY void run_recorder::keep_waiting(tensor_info const& tensor) noexcept {
    if (!waiting_.grow(waiting_count_ + 1)) {
        return note({errc::out_of_memory, "no memory to keep a tensor's name; the tensor is recorded without it"});
    }
    waiting_[waiting_count_++] = tensor;
}

SPOTTER_BODY SPOTTER_NOINLINE void run_recorder::send_waiting() noexcept {
    std::size_t sent = 0;
    while (sent < waiting_count_ && send(waiting_[sent])) { ++sent; }
    for (std::size_t i = sent; i < waiting_count_; ++i) { waiting_[i - sent] = waiting_[i]; }
    waiting_count_ -= sent;
}

SPOTTER_BODY void run_recorder::swap(run_recorder& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(first_, other.first_);
    std::swap(waiting_, other.waiting_), std::swap(waiting_count_, other.waiting_count_);
    for (auto member : {&run_recorder::handed_, &run_recorder::dropped_, &run_recorder::thinned_,
                        &run_recorder::closes_, &run_recorder::closes_lost_, &run_recorder::told_}) {
        std::swap(this->*member, other.*member);
    }
    std::swap(times_, other.times_);
    for (auto member : {&run_recorder::stamped_, &run_recorder::dry_, &run_recorder::obeyed_}) {
        std::swap(this->*member, other.*member);
    }
    std::swap(begun_at_, other.begun_at_), std::swap(zero_, other.zero_);
    std::swap(instant_, other.instant_), std::swap(workers_, other.workers_);
}

}  // namespace spotter::inline SPOTTER_ABI
