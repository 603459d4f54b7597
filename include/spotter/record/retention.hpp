// SPDX-License-Identifier: Apache-2.0
// Record (L4): keeps a run below a size limit: the oldest segments lose their values, but no statistics.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/segment_files.hpp>
#include <spotter/record/thinned_copy.hpp>

namespace spotter::inline SPOTTER_ABI {

// A segment is closed beyond this size; in a run with a limit, a quarter of the limit at most.
[[nodiscard]] std::uint64_t segment_bytes_of(options const& choices) noexcept;

// For one worker. The limit (options::run_bytes) covers the closed segments and the one being written.
class retention {
public:
    retention(file_system& files, std::uint64_t run_bytes, std::uint64_t segment_bytes, bool to_disk) noexcept;

    // `folder` may hold earlier attempts' segments; `number` is the first of this attempt.
    [[nodiscard]] error begin(path_text const& folder, std::uint32_t number) noexcept;
    // A segment was closed; `last`: the run ends with it. Thins only a few of the oldest segments, so that the writer
    // is not delayed for long; later calls thin more. After an error nothing is lost and the next call tries again; but
    // an error of writing ends thinning.
    [[nodiscard]] error closed(std::uint32_t number, bool last) noexcept;

private:
    static constexpr int most_at_once = 64;  // units of work in one call; a segment that needs nothing costs one
    static constexpr int to_read = 32;       // units for a segment that is read

    enum class outcome : std::uint8_t { needs_nothing, read, copied, must_wait };

    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] std::uint64_t size_of(std::uint32_t number) noexcept;
    // Thins the segment at a place of the list. Does not replace it if its file changed meanwhile.
    [[nodiscard]] result<outcome> thin(std::size_t place, bool last) noexcept;
    [[nodiscard]] result<outcome> copy_thinned(std::size_t place, detail::segment_image& whole, bool last,
                                               byte_buffer& side) noexcept;
    [[nodiscard]] error write(std::uint32_t number, detail::thinned_copy& copy, byte_buffer& side) noexcept;
    [[nodiscard]] error put_in_place(std::uint32_t number, byte_view side) noexcept;
    [[nodiscard]] error read_back(path_text const& part, byte_buffer& side) noexcept;

    file_system& files_;
    path_text folder_{};
    std::uint64_t limit_;
    std::uint64_t total_ = 0;  // size of the closed segments and their sidecars
    detail::number_list numbers_{};
    std::size_t oldest_ = 0;  // place of the next one to thin
    bool works_;
    bool to_disk_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/sidecar.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY std::uint64_t segment_bytes_of(options const& choices) noexcept {
    constexpr std::uint64_t smallest = 4096;
    std::uint64_t const most = choices.run_bytes > 0 ? choices.run_bytes / 4 : choices.segment_bytes;
    return (std::max)((std::min)(choices.segment_bytes, most), smallest);
}

SPOTTER_COLD_BODY retention::retention(file_system& files, std::uint64_t run_bytes, std::uint64_t segment_bytes,
                                       bool to_disk) noexcept
    : files_{files}, limit_{run_bytes > segment_bytes ? run_bytes - segment_bytes : 0}, works_{run_bytes > 0},
      to_disk_{to_disk} {}

SPOTTER_COLD_BODY error retention::begin(path_text const& folder, std::uint32_t number) noexcept {
    if (!works_) { return {}; }
    folder_ = folder;
    detail::number_list there;
    if (error const why = there.read_segments(files_, folder)) { return why; }
    for (std::size_t i = 0; i < there.size() && there[i] < number; ++i) {
        if (!numbers_.add(there[i])) { return no_memory(); }
        total_ += size_of(there[i]);
    }
    return {};
}

SPOTTER_COLD_BODY error retention::closed(std::uint32_t number, bool last) noexcept {
    if (!works_) { return {}; }
    if (!numbers_.add(number)) { return no_memory(); }
    total_ += size_of(number);
    for (int cost = 0; total_ > limit_ && oldest_ < numbers_.size() && cost < most_at_once; ++oldest_) {
        std::uint64_t const before = size_of(numbers_[oldest_]);
        auto const done = thin(oldest_, last);
        if (!done) { return done.error(); }
        if (*done == outcome::must_wait) { return {}; }
        cost += *done == outcome::needs_nothing ? 1 : to_read;
        if (*done == outcome::needs_nothing) { continue; }
        total_ -= (std::min)(total_, before);  // its size may have been unknown before
        total_ += size_of(numbers_[oldest_]);
    }
    return {};
}

SPOTTER_COLD_BODY error retention::no_memory() noexcept {
    return {errc::out_of_memory, "no memory to thin an old segment, which stays as it was"};
}

SPOTTER_COLD_BODY std::uint64_t retention::size_of(std::uint32_t number) noexcept {
    return files_.size_of(detail::path_of_segment(folder_, number)).value_or(0) +
           files_.size_of(detail::path_of_segment(folder_, number, layout::side_suffix)).value_or(0);
}

SPOTTER_COLD_BODY result<retention::outcome> retention::thin(std::size_t place, bool last) noexcept {
    path_text const path = detail::path_of_segment(folder_, numbers_[place]);
    detail::segment_image whole;
    if (error const why = whole.open(files_, path)) {
        if (detail::is_no_file(files_, path)) { return outcome::needs_nothing; }
        return why;
    }
    byte_buffer side;
    auto done = copy_thinned(place, whole, last, side);
    if (!done) { return done; }
    if (*done == outcome::copied && !whole.is_same()) {
        (void)files_.remove(detail::path_of_segment(folder_, numbers_[place], detail::part_suffix));
        done = outcome::read;
    }
    if (whole.trouble()) { return whole.trouble(); }
    if (*done != outcome::copied) { return done; }
    if (error const why = put_in_place(numbers_[place], side.view())) {
        works_ = false;
        return why;
    }
    return outcome::read;
}

SPOTTER_COLD_BODY result<retention::outcome> retention::copy_thinned(std::size_t place, detail::segment_image& whole,
                                                                     bool last, byte_buffer& side) noexcept {
    detail::thinned_copy copy{files_, whole};
    if (copy.is_thinned()) { return outcome::needs_nothing; }
    if (!copy.cite()) { return no_memory(); }
    using detail::thinned_copy;
    auto found = thinned_copy::follower::goes_on;
    for (std::size_t next = place + 1; next < numbers_.size() && found == thinned_copy::follower::goes_on; ++next) {
        path_text const path = detail::path_of_segment(folder_, numbers_[next]);
        detail::segment_image follower;
        if (error const why = follower.open(files_, path)) {
            if (detail::is_no_file(files_, path)) { continue; }
            return why;
        }
        found = copy.cite_next(follower);
        if (follower.trouble()) { return follower.trouble(); }
    }
    if (found == thinned_copy::follower::no_memory) { return no_memory(); }
    if (found == thinned_copy::follower::damaged) { return outcome::read; }  // the damaged part may cite values
    if (found == thinned_copy::follower::goes_on && !last) { return outcome::must_wait; }
    if (copy.survey() == 0) { return outcome::read; }
    if (error const why = write(numbers_[place], copy, side)) {
        works_ = false;
        return why;
    }
    return outcome::copied;
}

SPOTTER_COLD_BODY error retention::write(std::uint32_t number, detail::thinned_copy& copy, byte_buffer& side) noexcept {
    path_text const part = detail::path_of_segment(folder_, number, detail::part_suffix);
    auto const file = files_.create(part);
    if (!file) { return file.error(); }
    error why = copy.write(*file);
    if (!why) { why = files_.sync(*file); }  // otherwise a power cut might lose both the old and the new file
    error const closed = files_.close(*file);
    if (!why) { why = closed; }
    if (!why) { why = read_back(part, side); }
    if (why) { (void)files_.remove(part); }
    return why;
}

SPOTTER_COLD_BODY error retention::put_in_place(std::uint32_t number, byte_view side) noexcept {
    path_text const part = detail::path_of_segment(folder_, number, detail::part_suffix);
    path_text const side_path = detail::path_of_segment(folder_, number, layout::side_suffix);
    (void)files_.remove(side_path);
    if (error const why = files_.rename(part, detail::path_of_segment(folder_, number))) {
        (void)files_.remove(part);
        return why;
    }
    auto const cache = files_.create(side_path);  // a sidecar is a cache: it may be missing
    if (cache) {
        (void)files_.append(*cache, side);
        (void)files_.close(*cache);
    }
    return to_disk_ ? files_.sync_folder(folder_) : error{};
}

SPOTTER_COLD_BODY error retention::read_back(path_text const& part, byte_buffer& side) noexcept {
    detail::segment_image copy;
    if (error const why = copy.open(files_, part)) { return why; }
    error const why = rebuild_sidecar(copy.part(0, copy.bytes().size()), side);
    return copy.trouble() ? copy.trouble() : why;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
