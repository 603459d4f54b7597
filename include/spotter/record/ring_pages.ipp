// SPDX-License-Identifier: Apache-2.0
// The bodies of ring_pages.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/file/system.hpp>
#include <spotter/record/ring_pages.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void ring_pages::begin() noexcept {
    std::span<std::byte> const all = ring_.unused();
    quietly_ = make_ready(all.first((std::min)(all.size(), std::size_t{1})));
    if (!quietly_) { done_ = ring_.size(); }  // the producer touches all pages
}

SPOTTER_BODY void ring_pages::whole() noexcept {
    if (ready_ == ring_.size()) { return; }
    std::span<std::byte> const rest = ring_.unused();
    if (!quietly_ || !make_ready(rest)) { ring_.touch(rest.size()); }
    done_ = ring_.size();
    ready_ = ring_.size();
}

SPOTTER_BODY bool ring_pages::more() noexcept {
    bool any = false;
    for (std::size_t i = 0; i < pieces && done_ < ring_.size(); ++i) {
        std::span<std::byte> const rest = ring_.unused();
        std::size_t const used = ring_.size() - rest.size();
        if (used == 0) { return false; }
        std::size_t const from = (std::max)(done_, used);
        std::size_t const bytes = (std::min)(piece_bytes, ring_.size() - from);
        bool const good = bytes > 0 && make_ready(rest.subspan(from - used, bytes));
        done_ = good ? from + bytes : ring_.size();
        any = any || good;
    }
    return any;
}

SPOTTER_BODY void ring_pages::ahead(std::uint64_t step_bytes) noexcept {
    std::span<std::byte> const rest = ring_.unused();
    std::uint64_t const used = ring_.size() - rest.size();
    std::uint64_t const step = (std::min)(step_bytes, std::uint64_t{ring_.size()});
    std::uint64_t const wanted = (std::min)(step * ahead_steps + ahead_least, (std::max)(2 * step, ahead_most));
    std::uint64_t const end = quietly_ ? (std::min)(used + wanted, std::uint64_t{ring_.size()}) : ring_.size();
    std::uint64_t const from = (std::max)(used, ready_);
    if (end <= from) { return; }
    auto const part = rest.subspan(as_size(from - used), as_size(end - from));
    if (!quietly_ || !make_ready(part)) { ring_.touch(as_size(end - used)); }
    ready_ = end;
}

}  // namespace spotter::inline SPOTTER_ABI
