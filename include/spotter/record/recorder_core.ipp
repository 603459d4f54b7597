// SPDX-License-Identifier: Apache-2.0
// The bodies of recorder_core.hpp.
#pragma once

#include <spotter/file/size_limit.hpp>
#include <spotter/record/recorder_core.hpp>
#include <spotter/ring/copy.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY recorder_core::recorder_core(file_system& files, open_run const& run, options const& choices) noexcept
    : files_{files}, run_{run}, choices_{choices}, policy_{choices.overflow}, segments_{files, choices},
      drain_{ring_, segments_, choices.flush_milliseconds}, stop_file_{files, run.place.folder, run.place.worker},
      control_{files, run.place.folder, run.place.worker}, day_clock_{choices.clock == nullptr},
      beside_{choices.beside} {
    if (choices.clock != nullptr) { run_.place.now = choices.clock; }
    trouble_ = run.left;
}

SPOTTER_BODY recorder_core::~recorder_core() {
    stop();
    end_beside();
    (void)shared_.remove();
    files_.unlock(run_.lock);
    if (given_ != nullptr && choices_.memory.give_back != nullptr) {
        choices_.memory.give_back(given_, byte_ring::size_for(ring_bytes()), choices_.memory.context);
    }
}

SPOTTER_COLD_BODY bool recorder_core::take_memory() noexcept {
    bool const good = choices_.ring_in == ring_in::shared_memory && share_memory() ? ring_.start(*shared_.header())
                                                                                   : take_plain_memory();
    if (!good) { return false; }
    if (shared_.header() != nullptr) { watcher_.marks = &shared_.header()->marks; }
    pages_.begin();
    block_ = (std::min)(layout::block_bytes, ring_.size() / 4);
    stream_from_ = choices_.copying == copying::streaming ? few_bytes : never;
    // A ring that is too small to measure in stays in a cache.
    measured_ = choices_.copying != copying::automatic || !detail::can_stream || copied_room > ring_.largest();
    return true;
}

SPOTTER_BODY void recorder_core::copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept {
    if (bytes >= stream_from_) { return detail::copy_streaming(into, from, bytes); }
    detail::copy_cached(into, from, bytes);
}

SPOTTER_BODY void recorder_core::start(byte_view run_begin) noexcept {
    segments_.start_helpers(choices_.compressors, choices_.compression_level);
    segments_.begin(run_.place, run_begin);
    publish();
    started_ = true;
    if (choices_.drain == drain::thread) { start_thread(); }
}

SPOTTER_BODY void recorder_core::settle() noexcept {
    stop();
    while (drain_.take()) {}
    drain_.give_up();
}

SPOTTER_BODY void recorder_core::write_out() noexcept {
    while (drain_.take()) {}
    drain_.flush(steady_milliseconds());
    publish();
}

SPOTTER_COLD_BODY void recorder_core::declare_apart(byte_view body) noexcept {
    segments_.add(row_kind::declare, body);
    segments_.flush();
}

SPOTTER_BODY void recorder_core::when_full(room_maker const& make) noexcept {
    make_ = make;
    pages_.whole();  // no writer makes them ready
}

SPOTTER_BODY void recorder_core::declared() noexcept {
    if (!std::exchange(declares_, true)) { declared_at_ = ring_.committed(); }
    start_writing();
}

SPOTTER_BODY void recorder_core::end_step() noexcept {
    if (!std::exchange(declares_, false)) { return; }
    start_writing();
    pages_.ahead(ring_.committed() - declared_at_);
}

SPOTTER_COLD_BODY void recorder_core::end_request() noexcept {
    if (!begins_anew_.empty()) {
        byte_view const body = begins_anew_.view();
        std::byte* const at = body.size() <= largest() ? claim(body.size(), 0) : nullptr;
        if (at != nullptr) {
            detail::copy_cached(at, body.data(), body.size());
            commit(body.size(), static_cast<std::uint32_t>(row_kind::run_begin));
        } else {
            note({errc::dropped,
                  "the ring has no room for the collections of the new plan: readers do not know them by name"});
        }
        begins_anew_.clear();
    }
    control_.done(outcome_);
}

SPOTTER_BODY void recorder_core::finish(byte_view run_end) noexcept {
    end_beside();
    control_.end();
    segments_.look();
    if (started_) { segments_.add(row_kind::run_end, run_end); }
    segments_.finish();
    publish();
    watcher_.marks = &own_marks_;
    (void)shared_.remove();
    files_.unlock(run_.lock);
    run_.lock = {};
    finished_ = true;
}

SPOTTER_COLD_BODY void recorder_core::leave_to_parent() noexcept {
    if (std::exchange(left_, true) || finished_) { return; }
    path_text const lock{run_.place.folder, layout::lock_name};
    if (files_.is_at(run_.lock, lock).value_or(false)) { files_.leave_lock(run_.lock); }
    watcher_.marks = &own_marks_;
    shared_.leave_to_parent();
}

SPOTTER_BODY bool recorder_core::silent() const noexcept {
    return !started_ || finished_ || failed_.load(std::memory_order_relaxed);
}

SPOTTER_BODY std::byte* recorder_core::claim(std::size_t bytes, std::size_t spare_bytes) noexcept {
    std::byte* const at = ring_.prepare(bytes, spare_bytes);
    return at != nullptr ? at : wait(bytes, spare_bytes);
}

SPOTTER_BODY void recorder_core::ask_for_room() noexcept {
    start_writing();
    if (shared_.header() != nullptr && !room_wanted_.load(std::memory_order_relaxed)) {
        room_wanted_.store(true, std::memory_order_relaxed);
    }
}

SPOTTER_BODY void recorder_core::flush() noexcept {
    if (!threaded_) { return write_out(); }
    std::uint64_t const wanted = ask_for_flush();
    while (!flushed(wanted)) { nap(50); }
}

SPOTTER_BODY void recorder_core::show() noexcept {
    if (!threaded_) { return write_out(); }
    bool const behind = !flushed(flush_wanted_.load(std::memory_order_relaxed));  // it was waited for before, in vain
    std::uint64_t const wanted = ask_for_flush(), since = steady_milliseconds();
    for (int round = 0; policy_ == overflow::block && !behind && !flushed(wanted); ++round) {
        if (steady_milliseconds() - since >= patience_milliseconds) {
            return note(
                {errc::not_yet,
                 "the writer took longer than 2 s for an alarm, which was told before it was in the record; nobody "
                 "waits for it until it has caught up, and if the program dies before, the record may not say why; "
                 "check the disk"});
        }
        if (round < 64) {
            std::this_thread::yield();
        } else {
            nap(50);
        }
    }
}

SPOTTER_BODY std::uint64_t recorder_core::ask_for_flush() noexcept {
    std::uint64_t const wanted = flush_wanted_.load(std::memory_order_relaxed) + 1;
    flush_wanted_.store(wanted, std::memory_order_release);
    sleeper_.wake();
    return wanted;
}

SPOTTER_BODY void recorder_core::poll() noexcept {
    if (threaded_) { return; }
    (void)pages_.more();
    while (drain_.take()) {}
    look_around();
}

SPOTTER_BODY void recorder_core::report(sink_health& into) const noexcept {
    std::uint64_t const lost = lost_.load(std::memory_order_acquire);
    into.stored -= lost < into.stored ? lost : into.stored;
    into.dropped += lost;
    into.bytes = bytes_.load(std::memory_order_relaxed);
    into.ring_peak = peak_.load(std::memory_order_relaxed);
    if (!into.first_error && has_error_.load(std::memory_order_acquire)) { into.first_error = writer_error_; }
    if (!into.first_error) { into.first_error = trouble_; }
}

SPOTTER_BODY std::uint64_t recorder_core::ring_bytes() const noexcept {
    return choices_.ring_bytes < smallest_ring ? smallest_ring : choices_.ring_bytes;
}

SPOTTER_COLD_BODY bool recorder_core::take_plain_memory() noexcept {
    memory_source const& from = choices_.memory;
    if (from.take != nullptr) {
        given_ =
            static_cast<std::byte*>(from.take(byte_ring::size_for(ring_bytes()), byte_ring::alignment, from.context));
        if (given_ == nullptr) { return false; }
    }
    return ring_.start(ring_bytes(), given_);
}

SPOTTER_COLD_BODY bool recorder_core::share_memory() noexcept {
    ring_owner const owner{run_.place.run_id, run_.place.worker, run_.place.attempt};
    error const why = shared_.make(files_, run_.place.folder, owner, byte_ring::size_for(ring_bytes()));
    if (!why) {
        segments_.mark_from(0);
        return true;
    }
    error told{why.code, "the ring is in plain memory, a SIGKILL will lose what is in it: "};
    told.what << why.what.view();
    note(told);
    return false;
}

SPOTTER_COLD_BODY void recorder_core::note(error const& why) noexcept {
    if (!trouble_) { trouble_ = why; }
}

SPOTTER_COLD_BODY void recorder_core::measure_copying() noexcept {
    constexpr std::size_t rounds = copied_rounds, bytes = copied_bytes;
    std::byte* const first = ring_.prepare(copied_room);
    if (first == nullptr) { return; }
    // What a page costs is not what is measured; and a new one is in the caches, as none of a ring in use is.
    ring_.touch(copied_room + byte_ring::header);
    detail::leave_caches(first, 2 * rounds * bytes);
    std::byte const* const from = first + 2 * rounds * bytes;
    auto const seconds = [&](std::byte* to, std::size_t piece, auto&& copy_to) {
        auto const begin = std::chrono::steady_clock::now();
        for (std::size_t at = 0; at < bytes; at += piece) { copy_to(to + at, from + at, piece); }
        return std::chrono::steady_clock::now() - begin;
    };
    std::size_t won[2]{};  // by streaming, whole blocks and pieces; a sum of times would be that of a round that was
                           // interrupted
    for (std::size_t i = 0; i < rounds; ++i) {
        std::byte* const to = first + 2 * i * bytes;
        std::size_t const piece = i % 2 == 0 ? bytes : few_bytes;
        auto const cached = seconds(to, piece, detail::copy_cached);
        won[i % 2] += seconds(to + bytes, piece, detail::copy_streaming) < cached ? 1U : 0U;
    }
    bool const streams = 4 * won[0] > rounds;
    stream_from_ = !streams ? never : 4 * won[1] > rounds ? few_bytes : ring_tag::inline_bytes + 1;
    measured_ = true;
}

SPOTTER_BODY void recorder_core::start_writing() noexcept {
    if (!std::exchange(writing_, true) && threaded_) { sleeper_.wake(); }
}

SPOTTER_BODY SPOTTER_NOINLINE std::byte* recorder_core::wait(std::size_t bytes, std::size_t spare_bytes) noexcept {
    start_writing();
    if (policy_ != overflow::block || bytes > ring_.largest()) { return nullptr; }
    if (make_.make != nullptr) {
        std::byte* at = nullptr;
        while ((at = ring_.prepare(bytes, spare_bytes)) == nullptr && make_.make(make_.context)) {}
        return at;
    }
    if (!threaded_) {
        while (drain_.take()) {}
        drain_.make_room();
        publish();
        return ring_.prepare(bytes, spare_bytes);
    }
    auto const progress = [this] { return ring_.released() + bytes_.load(std::memory_order_relaxed); };
    std::uint64_t done = progress();
    std::uint64_t since = steady_milliseconds();
    for (int round = 0; !failed_.load(std::memory_order_relaxed); ++round) {
        if (std::byte* const at = ring_.prepare(bytes, spare_bytes)) { return at; }
        ask_for_room();
        std::uint64_t const now = steady_milliseconds();
        if (std::uint64_t const seen = progress(); seen != done) {
            done = seen;
            since = now;
        } else if (now - since >= patience_milliseconds) {
            policy_ = overflow::thin;
            note({errc::dropped,
                  "the writer made no progress for 2 s, so the training no longer waits for it: payloads "
                  "that do not fit the ring are dropped and counted; check the disk"});
            return nullptr;
        }
        if (round < 32) {
            std::this_thread::yield();
        } else {
            nap(50);
        }
    }
    return nullptr;
}

SPOTTER_BODY discarded_step recorder_core::discard_step() noexcept {
    discarded_step gone{};
    while (!gone.closed && ring_.peek().some) {
        std::uint32_t const tag = ring_.take().tag;
        if ((tag & ring_tag::block) != 0) { continue; }
        auto const kind = static_cast<row_kind>(tag & ring_tag::kind);
        gone.closed = kind == row_kind::close;
        gone.values += kind == row_kind::observe || kind == row_kind::scalar ? 1 : 0;
    }
    segments_.reach(ring_.taken());
    ring_.release();
    return gone;
}

SPOTTER_COLD_BODY void recorder_core::start_thread() noexcept {
#if SPOTTER_EXCEPTIONS
    try {
        thread_ = std::thread{[this]() noexcept { work(); }};
    } catch (...) {
        note({errc::out_of_memory,
              "no thread could be started for writing; the training thread writes itself, more slowly"});
        return;
    }
#else
    thread_ = std::thread{[this]() noexcept { work(); }};
#endif
    threaded_ = true;
}

SPOTTER_BODY void recorder_core::stop() noexcept {
    if (!threaded_) { return; }
    stop_.store(true, std::memory_order_release);
    sleeper_.wake();
    thread_.join();
    threaded_ = false;
}

SPOTTER_BODY void recorder_core::work() noexcept {
    size_limit_as_error::for_this_thread();
    int idle = 0;
    bool used = false;
    for (;;) {
        bool const stopping = stop_.load(std::memory_order_acquire);
        std::uint64_t const wanted = flush_wanted_.load(std::memory_order_acquire);
        bool const made_ready = !stopping && flushed(wanted) && pages_.more();
        int taken = 0;
        while (taken < 16 && drain_.take()) { ++taken; }
        look_around();
        if (taken > 0 || made_ready) {
            used = true;
            idle = 0;
            continue;
        }
        if (room_wanted_.load(std::memory_order_relaxed)) {
            room_wanted_.store(false, std::memory_order_relaxed);
            drain_.make_room();
        }
        if (wanted != flush_done_.load(std::memory_order_relaxed)) {
            drain_.flush(steady_milliseconds());
            publish();
            flush_done_.store(wanted, std::memory_order_release);
        }
        if (stopping) { return; }
        // Until something is recorded it is woken for that. Then it spins briefly, and naps longer and longer up to 2
        // ms: an idle run costs nothing that could be measured.
        if (!used) {
            used = sleeper_.sleep(unused_microseconds);
        } else if (++idle < 32) {
            std::this_thread::yield();
        } else {
            (void)sleeper_.sleep(idle < 40 ? 200 : idle < 100 ? 1000 : 2000);
        }
    }
}

SPOTTER_BODY void recorder_core::look_around() noexcept {
    std::uint64_t const now = steady_milliseconds();
    drain_.tick(now);
    publish();
    stop_file_.look(now);
    if (control_.look(now)) {
        while (drain_.take()) {}
        drain_.flush(now);
        control_.answer();
    }
    day_clock_.look(now);
    look_at_section(now);
    if (beside_ != nullptr && now >= beside_due_) { work_beside(now); }
}

SPOTTER_BODY void recorder_core::look_at_section(std::uint64_t now) noexcept {
    rows::stay row{};
    std::uint64_t const milliseconds = stay_.look(*static_cast<loop_marks const*>(watcher_.marks), now, row.section);
    if (milliseconds == 0) { return; }
    while (drain_.take()) {}
    row.time = segments_.now();
    row.seconds = static_cast<double>(milliseconds) / 1000;
    segments_.stay(row);
    drain_.flush(now);
}

SPOTTER_BODY SPOTTER_NOINLINE void recorder_core::work_beside(std::uint64_t now) noexcept {
    if (!std::exchange(beside_begun_, true)) { beside_->begin(run_.place.folder, choices_, now); }
    beside_due_ = beside_->work(now, drain_.loop());
    if (beside_->has_news()) { has_news_.store(true, std::memory_order_relaxed); }
}

SPOTTER_BODY void recorder_core::end_beside() noexcept {
    if (!std::exchange(beside_begun_, false)) { return; }
    beside_->end();
    beside_ = nullptr;
}

SPOTTER_BODY SPOTTER_NOINLINE void recorder_core::take_news(step_id step, step_alarm& into) noexcept {
    has_news_.store(false, std::memory_order_relaxed);
    if (choices_.beside != nullptr) { choices_.beside->tell(step, into); }
}

SPOTTER_BODY void recorder_core::publish() noexcept {
    if (shared_.header() != nullptr) { shared_.header()->note_time(segments_.now()); }
    bytes_.store(segments_.written(), std::memory_order_relaxed);
    peak_.store(drain_.peak(), std::memory_order_relaxed);
    lost_.store(segments_.lost(), std::memory_order_release);
    if (!has_error_.load(std::memory_order_relaxed)) { publish_trouble(); }
    failed_.store(segments_.failed(), std::memory_order_relaxed);
}

SPOTTER_COLD_BODY void recorder_core::publish_trouble() noexcept {
    for (error const& each : {segments_.first_error(), stop_file_.trouble(), control_.trouble(), day_clock_.trouble(),
                              beside_begun_ ? beside_->trouble() : error{}}) {
        if (!each) { continue; }
        writer_error_ = each;
        has_error_.store(true, std::memory_order_release);
        return;
    }
}

}  // namespace spotter::inline SPOTTER_ABI
