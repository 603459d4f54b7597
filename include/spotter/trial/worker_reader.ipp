// SPDX-License-Identifier: Apache-2.0
// The bodies of worker_reader.hpp.
#pragma once

#include <spotter/trial/worker_reader.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY worker_reader::worker_reader(told_worker told, std::string_view folder, file_system& files,
                                          payload_unpacker& unpacker)
    : number_{told.who.number}, index_{folder, files, unpacker}, told_{std::move(told)} {
    constexpr run_status ends[] = {run_status::died, run_status::finished, run_status::failed};
    status_ = ends[told_->who.how < 3 ? told_->who.how : 0];
    look_at_clock();
}

SPOTTER_BODY error worker_reader::refresh() {
    if (told_ && is_as_told()) {
        look_at_clock();
        return {};
    }
    if (told_) { index_.take_sides(std::move(std::exchange(told_, std::nullopt)->sides)); }
    result<bool> const live = index_.is_locked();  // first: the next refresh then sees a run that ends now
    trouble_ = index_.refresh();
    if (index_.ended()) {
        status_ = index_.ended_how() == 1 ? run_status::finished : run_status::failed;
    } else if (live) {  // if the system cannot tell, the status is unchanged
        status_ = *live ? run_status::running : run_status::died;
    }
    if (!trouble_) { trouble_ = index_.settle_ends(!running()); }
    look_at_clock();
    return trouble_;
}

SPOTTER_BODY std::uint32_t worker_reader::expected_workers() const noexcept {
    return told_ ? told_->who.expected_workers : index_.expected_workers();
}

SPOTTER_BODY void worker_reader::open() noexcept {
    index_.take_sides(std::move(told_->sides));
    told_.reset();
    trouble_ = detail::answered([&]() -> error { return refresh(); });
}

SPOTTER_BODY bool worker_reader::is_as_told() const noexcept {
    segment_folder const& folder = index_.folder();
    char name[32];
    auto const path = [&](std::uint32_t number) {
        return path_text{folder.path(), {name, name_segment(number, layout::data_suffix, name)}};
    };
    auto const bytes = folder.files().size_of(path(told_->last.number));
    if (!bytes || *bytes != told_->last.bytes) { return false; }
    auto const next = folder.files().kind_of(path(told_->last.number + 1));
    return next && *next == path_kind::missing;
}

SPOTTER_BODY void worker_reader::look_at_clock() noexcept {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    looked_at_ = std::chrono::duration<double>(now).count();
}

SPOTTER_BODY step_state worker_reader::state(step_id step) const {
    if (closed(step)) { return step_state::present; }
    return past(step) || !running() ? step_state::absent : step_state::pending;
}

SPOTTER_BODY double worker_reader::age() const {
    if (told_) { return (std::max)(0.0, looked_at_ - told_->who.last_sign); }
    double last = index_.begun_at();
    if (!index_.steps().empty()) { last = (std::max)(last, index_.steps().back().time); }
    last = (std::max)(last, index_.ended_at());
    return (std::max)(0.0, looked_at_ - last);
}

SPOTTER_BODY step_ranges const& worker_reader::ranges() const {
    auto const& steps = index().steps();
    return detail::listed([&]() -> step_ranges const& {
        for (auto it = steps.from(ranged_); it != steps.end(); ++it, ++ranged_) { closed_.add((*it).step); }
        return closed_;
    });
}

}  // namespace spotter::inline SPOTTER_ABI
