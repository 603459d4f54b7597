// SPDX-License-Identifier: Apache-2.0
// The bodies of ring_input.hpp.
#pragma once

#include <spotter/record/ring_input.hpp>
#include <spotter/record/run_writer.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY ring_input::~ring_input() {
    remove_shared();
    if (given_ != nullptr && choices_.memory.give_back != nullptr) {
        choices_.memory.give_back(given_, byte_ring::size_for(ring_bytes()), choices_.memory.context);
    }
}

SPOTTER_COLD_BODY bool ring_input::take_memory(run_place const& place) noexcept {
    bool const good = choices_.ring_in == ring_in::shared_memory && share_memory(place) ? ring_.start(*shared_.header())
                                                                                        : take_plain_memory();
    if (!good) { return false; }
    pages_.begin();
    block_ = (std::min)(layout::block_bytes, ring_.size() / 4);
    copier_.begin(choices_.copying, ring_);
    return true;
}

SPOTTER_COLD_BODY bool ring_input::take_plain_memory() noexcept {
    memory_source const& from = choices_.memory;
    if (from.take != nullptr) {
        given_ =
            static_cast<std::byte*>(from.take(byte_ring::size_for(ring_bytes()), byte_ring::alignment, from.context));
        if (given_ == nullptr) { return false; }
    }
    return ring_.start(ring_bytes(), given_);
}

SPOTTER_COLD_BODY bool ring_input::share_memory(run_place const& place) noexcept {
    ring_owner const owner{place.run_id, place.worker, place.attempt};
    error const why = shared_.make(files_, place.folder, owner, byte_ring::size_for(ring_bytes()));
    if (!why) { return true; }
    error wrapped{why.code, "the ring is in plain memory, a SIGKILL will lose what is in it: "};
    wrapped.what << why.what.view();
    note(wrapped);
    return false;
}

SPOTTER_BODY std::byte* ring_input::claim(std::size_t bytes, std::size_t spare_bytes) noexcept {
    std::byte* const at = ring_.prepare(bytes, spare_bytes);
    return at != nullptr ? at : wait(bytes, spare_bytes);
}

SPOTTER_BODY void ring_input::ask_for_room() noexcept { writer_.ask_for_room(); }

SPOTTER_BODY void ring_input::declared() noexcept {
    if (declared_at_ == no_entry) { declared_at_ = ring_.committed(); }
    writer_.wake();
}

SPOTTER_BODY void ring_input::end_step() noexcept {
    if (declared_at_ == no_entry) { return; }
    writer_.wake();
    pages_.ahead(ring_.committed() - std::exchange(declared_at_, no_entry));
}

SPOTTER_BODY void ring_input::flush() noexcept {
    if (!writer_.has_thread()) { return writer_.write_out(); }
    std::uint64_t const wanted = writer_.ask_for_flush();
    while (!writer_.flushed(wanted)) { pause(0, 0); }
}

SPOTTER_BODY void ring_input::show() noexcept {
    if (!writer_.has_thread()) { return writer_.write_out(); }
    bool const behind = writer_.is_behind();  // an earlier wait has failed
    std::uint64_t const wanted = writer_.ask_for_flush(), since = steady_milliseconds();
    for (int round = 0; policy_ == overflow::block && !behind && !writer_.flushed(wanted); ++round) {
        if (steady_milliseconds() - since >= patience_milliseconds) {
            return note(
                {errc::not_yet,
                 "the writer took longer than 2 s for an alarm, which was returned before it was in the record; nobody "
                 "waits for it until it has caught up, and if the program dies before, the record may not say why; "
                 "check the disk"});
        }
        pause(round, 64);
    }
}

SPOTTER_BODY void ring_input::when_full(room_maker const& make) noexcept {
    make_ = make;
    pages_.whole();  // no writer prepares them
}

SPOTTER_BODY discarded_step ring_input::discard_step() noexcept {
    discarded_step gone{};
    while (!gone.closed && ring_.peek().some) {
        std::uint32_t const tag = ring_.take().tag;
        if ((tag & ring_tag::block) != 0) { continue; }
        auto const kind = static_cast<row_kind>(tag & ring_tag::kind);
        gone.closed = kind == row_kind::close;
        gone.values += kind == row_kind::observe || kind == row_kind::scalar ? 1 : 0;
    }
    writer_.gave_up(ring_.taken());
    ring_.release();
    return gone;
}

SPOTTER_COLD_BODY void ring_input::note(error const& why) noexcept {
    if (why && !trouble_) { trouble_ = why; }
}

SPOTTER_BODY SPOTTER_NOINLINE std::byte* ring_input::wait(std::size_t bytes, std::size_t spare_bytes) noexcept {
    writer_.wake();
    if (policy_ != overflow::block || bytes > ring_.largest()) { return nullptr; }
    if (make_.make != nullptr) {
        std::byte* at = nullptr;
        while ((at = ring_.prepare(bytes, spare_bytes)) == nullptr && make_.make(make_.context)) {}
        return at;
    }
    if (writer_.has_thread()) { return wait_for_writer(bytes, spare_bytes); }
    writer_.make_room();
    return ring_.prepare(bytes, spare_bytes);
}

SPOTTER_BODY std::byte* ring_input::wait_for_writer(std::size_t bytes, std::size_t spare_bytes) noexcept {
    auto const progress = [this] { return ring_.released() + writer_.written(); };
    std::uint64_t done = progress();
    std::uint64_t since = steady_milliseconds();
    for (int round = 0; !writer_.failed(); ++round) {
        if (std::byte* const at = ring_.prepare(bytes, spare_bytes)) { return at; }
        writer_.ask_for_room();
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
        pause(round, 32);
    }
    return nullptr;
}

SPOTTER_BODY void ring_input::pause(int round, int yields) noexcept {
    if (round < yields) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
}

}  // namespace spotter::inline SPOTTER_ABI
