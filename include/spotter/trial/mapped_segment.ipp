// SPDX-License-Identifier: Apache-2.0
// The bodies of mapped_segment.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/trial/mapped_segment.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void lost_place::add(step_span const* spans) noexcept {
    for (std::size_t m = 0; m < 3; ++m) {
        if (spans[m].first > spans[m].last) { continue; }
        steps[m].add(spans[m].first);
        steps[m].add(spans[m].last);
    }
}

SPOTTER_BODY std::optional<rows::run_begin> side_owner(byte_view beside) noexcept {
    frame_walker walker{beside};
    if (walker.next() != walked::rows) { return std::nullopt; }
    row_reader rows{walker.frame().body};
    row_view row;
    rows::run_begin begin;
    if (!rows.next(row) || row.kind != row_kind::run_begin || decode(row, begin)) { return std::nullopt; }
    return begin;
}

SPOTTER_BODY error mapped_segment::extend(file_system& files, std::string const& name, std::string const& side_name,
                                          byte_view merged, std::uint32_t number, std::uint64_t run_id) {
    if (error const why = take_mapping(files, name)) { return why; }
    if (superseded_) { return {}; }
    if (!has_head_ && bytes().size() >= layout::head_bytes) { take_head(number, run_id); }
    if (foreign()) { return {}; }
    if (known_to_ == 0 && skip_ == 0) { take_sidecar(files, side_name, merged, name); }
    std::size_t const groups = groups_.size(), lost = lost_.size();
    std::uint64_t const skip = skip_;
    detail::listed(
        [&] {
            walk_on();
            lost_.insert(lost_.end(), lost_past_end_.begin(), lost_past_end_.end());
            lost_past_end_.clear();
        },
        [&] { groups_.resize(groups), lost_.resize(lost), skip_ = skip; });  // otherwise they would be added twice
    return {};
}

SPOTTER_BODY void mapped_segment::walk_on() {
    std::size_t const known = groups_.size();
    demand(known_to_, bytes().size() - known_to_);
    frame_walker walker{bytes(), known_to_};
    for (walked what = walker.next(); what != walked::end; what = walker.next()) {
        // Damage of the head alone loses no rows.
        if (what == walked::corrupt && walker.damage().offset + walker.damage().bytes > layout::head_bytes) {
            lost_place it{walker.damage().offset};
            it.exact = it.begun = !lost_past_end_.empty();  // all lost rows are known from the sidecar
            for (lost_place const& each : lost_past_end_) { it.add(each.steps); }
            lost_.push_back(it);
        }
        if (what != walked::rows) { continue; }
        if (skip_ > 0) {
            --skip_;
            continue;
        }
        if (groups_.size() == known || !groups_.back().takes(walker.frame().offset)) { groups_.emplace_back(); }
        groups_.back().add(walker.frame());
    }
    known_to_ = walker.good_end();
    torn_end_ = walker.torn_end();
    if (known_to_ >= sizeof tail_) { tail_ = load<std::uint64_t>(bytes().data() + known_to_ - sizeof tail_); }
}

SPOTTER_BODY void mapped_segment::guard(file_system& files, std::string const& name) noexcept {
    if (superseded_ || readable_ == 0) { return; }
    result<file_facts> const facts = files.facts_of(name);
    if (!facts || facts->identity != identity_ || facts->bytes >= readable_) { return; }
    readable_ = static_cast<std::size_t>(facts->bytes);
}

SPOTTER_BODY void mapped_segment::go_on_from(mapped_segment const& before) noexcept {
    for (side_place const& each : before.groups_) { skip_ += each.frames; }
}

SPOTTER_BODY void mapped_segment::release(file_system& files) noexcept {
    files.unmap(mapping_);
    mapping_ = {};
    readable_ = 0;
}

SPOTTER_BODY bool mapped_segment::whole() const noexcept {
    return !groups_.empty() && (groups_.back().flags & layout::last_of_segment) != 0;
}

SPOTTER_BODY bool mapped_segment::has_marks() const {
    for (side_place const& group : groups_) {
        frame_walker walker = frames_of(group);
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what != walked::rows) { continue; }
            bool restates = true;
            row_reader rows{walker.frame().body};
            for (row_view row; rows.next(row);) {
                if (row.kind == row_kind::drained) { return true; }
                restates = restates && (row.kind == row_kind::run_begin || row.kind == row_kind::declare);
            }
            if (!restates) { return false; }  // all other frames have a mark, or none has
        }
    }
    return false;
}

SPOTTER_BODY std::uint64_t mapped_segment::next_ordinal() const noexcept {
    if (groups_.empty()) { return head_ ? head_->first_ordinal : 0; }
    return groups_.back().first_ordinal + groups_.back().closes;
}

SPOTTER_BODY bool mapped_segment::ends_open(side_place const& group) const {
    bool open = false;
    frame_walker walker = frames_of(group);
    for (walked what = walker.next(); what != walked::end; what = walker.next()) {
        if (what != walked::rows) { continue; }
        row_reader rows{walker.frame().body};
        for (row_view row; rows.next(row);) {
            rows::scalar one{};
            bool const closes = row.kind == row_kind::close || row.kind == row_kind::steps;
            bool const in_step = row.kind == row_kind::scalar && !decode(row, one) && one.has_step;
            open = (open && !closes) || row.kind == row_kind::observe || in_step;
        }
    }
    return open;
}

SPOTTER_BODY error mapped_segment::fetch(std::uint64_t offset, std::uint64_t size) const noexcept {
    if (!mapping_.partial || offset > bytes().size() || size > bytes().size() - offset) { return {}; }
    byte_view const part = bytes().subspan(as_size(offset), as_size(size));
    return files_->fetch({&part, 1});
}

SPOTTER_BODY void mapped_segment::fetch_groups(std::size_t first) const {
    if (!mapping_.partial) { return; }
    std::vector<byte_view> parts;
    for (std::size_t i = first; i < groups_.size(); ++i) {
        std::size_t const end = (std::min)(static_cast<std::size_t>(groups_[i].end), bytes().size());
        auto const begin = static_cast<std::size_t>(groups_[i].offset);
        if (begin < end) { parts.push_back(bytes().subspan(begin, end - begin)); }
    }
    if (error const why = files_->fetch(parts)) { detail::say_unreachable(why); }
}

SPOTTER_BODY void mapped_segment::demand(std::uint64_t offset, std::uint64_t size) const {
    if (error const why = fetch(offset, size)) { detail::say_unreachable(why); }
}

SPOTTER_BODY frame_walker mapped_segment::frames_of(side_place const& group, std::uint64_t from) const {
    std::size_t const end = (std::min)(static_cast<std::size_t>(group.end), bytes().size());
    std::uint64_t const begin = (std::max)(group.offset, from);
    if (begin < end) { demand(begin, end - begin); }
    return frame_walker{bytes().first(end), begin};
}

SPOTTER_BODY error mapped_segment::take_mapping(file_system& files, std::string const& name) {
    result<file_facts> const facts = files.facts_of(name);
    if (!facts) { return detail::is_trouble(facts.error()) ? facts.error() : error{}; }
    if (facts->identity == identity_ && facts->bytes == looked_at_) {
        return is_another(bytes()) ? another_run() : error{};
    }
    result<file_mapping> const fresh = files.map(name);
    if (!fresh) { return fresh.error(); }
    if (fresh->partial && known_to_ >= sizeof tail_ && known_to_ <= fresh->bytes.size()) {
        byte_view const tail = fresh->bytes.subspan(as_size(known_to_) - sizeof tail_, sizeof tail_);
        if (error const why = files.fetch({&tail, 1})) {
            files.unmap(*fresh);
            return why;
        }
    }
    if (is_another(fresh->bytes)) {
        files.unmap(*fresh);
        return another_run();
    }
    identity_ = facts->identity;
    looked_at_ = facts->bytes;
    superseded_ = superseded_ || (!bytes().empty() && is_thinned(fresh->bytes) && !is_thinned(bytes()));
    files.unmap(superseded_ ? *fresh : mapping_);
    if (superseded_) { return {}; }
    mapping_ = *fresh;
    files_ = &files;
    readable_ = mapping_.bytes.size();
    return {};
}

SPOTTER_BODY bool mapped_segment::is_another(byte_view fresh) const noexcept {
    bool const thinned = superseded_ || (is_thinned(fresh) && !is_thinned(bytes()));
    if (fresh.size() < (thinned ? layout::head_bytes : known_to_)) { return true; }
    if (has_head_ && std::memcmp(fresh.data(), head_bytes_, sizeof head_bytes_) != 0) { return true; }
    return !thinned && known_to_ >= sizeof tail_ &&
           load<std::uint64_t>(fresh.data() + known_to_ - sizeof tail_) != tail_;
}

SPOTTER_BODY error mapped_segment::another_run() noexcept {
    return {errc::replaced, "another run has taken the place of the one that was read: it is read from its beginning"};
}

SPOTTER_BODY void mapped_segment::take_head(std::uint32_t number, std::uint64_t run_id) noexcept {
    has_head_ = true;
    std::memcpy(head_bytes_, bytes().data(), sizeof head_bytes_);
    auto const stated = decode_head(bytes());
    foreign_ = stated.error().code == errc::unknown_version;
    if (!stated) { return; }
    head_ = *stated;
    stray_ = stated->number != number || (run_id != 0 && stated->run_id != run_id);
}

SPOTTER_BODY void mapped_segment::take_sidecar(file_system& files, std::string const& name, byte_view merged,
                                               std::string const& segment) {
    if (!head_) { return; }
    result<file_mapping> const side = merged.empty() ? files.map(name) : file_mapping{};
    if (!side) { return; }
    detail::listed([&] { take_places(files, merged.empty() ? side->bytes : merged, segment); },
                   [&] {
                       files.unmap(*side);
                       groups_.clear(), lost_past_end_.clear(), beside_.clear(), known_to_ = 0;
                   });
    files.unmap(*side);
}

SPOTTER_BODY void mapped_segment::take_places(file_system& files, byte_view side, std::string const& segment) {
    byte_view const places = side.first(as_size(side_places(side)) * layout::place_bytes);
    byte_view const rest = side.subspan(places.size());
    bool const some = rest.size() > sizeof(std::uint32_t) && load<std::uint32_t>(rest.data()) == layout::row_magic;
    std::optional<rows::run_begin> const owner = some ? side_owner(rest) : std::nullopt;
    if (owner && (owner->run_id != head_->run_id || owner->attempt != head_->attempt)) { return; }
    if (some) { beside_.assign(rest.begin(), rest.end()); }
    std::uint64_t end = layout::head_bytes, i = 0;
    for (;; ++i) {
        result<side_place> const place = decode_side_place(places, i, bytes().size());
        if (!place || place->previous_end != end || place->frames == 0) { break; }
        bool const of_thinned = (place->flags & layout::thinned_segment) != 0;
        if (of_thinned != is_thinned(bytes())) { break; }  // it was thinned between the two reads
        groups_.push_back(*place);
        known_to_ = end = place->end;
    }
    if (!owner && !groups_.empty() && !any_belongs()) {
        groups_.clear();
        known_to_ = 0;
    } else {
        take_lost_end(files, segment, places, i, end);
    }
}

SPOTTER_BODY bool mapped_segment::belongs(side_place const& place) const {
    demand(place.offset, place.end - place.offset);
    auto const frame = decode_row_frame(bytes(), place.offset);
    return frame && frame->first_ordinal == place.first_ordinal && frame->previous_end == place.previous_end &&
           frame->end() <= place.end;
}

SPOTTER_BODY bool mapped_segment::any_belongs() const {
    return belongs(groups_.back()) ||
           std::any_of(groups_.begin(), groups_.end() - 1, [this](side_place const& each) { return belongs(each); });
}

SPOTTER_BODY void mapped_segment::take_lost_end(file_system& files, std::string const& segment, byte_view side,
                                                std::uint64_t i, std::uint64_t end) {
    lost_place missing{bytes().size(), true};
    bool any = false;
    lost_past_end_.clear();
    for (;; ++i) {
        result<side_place> const place = decode_side_place(side, i, ~std::uint64_t{0});
        bool const goes_on = place && place->previous_end == end && place->end > bytes().size() &&
                             ((place->flags & layout::thinned_segment) != 0) == is_thinned(bytes());
        if (!goes_on) { break; }
        end = place->end;
        if (place->offset < bytes().size()) {
            lost_place& part = lost_past_end_.emplace_back(missing);
            part.add(place->spans);
            part.begun = true;
            part.end_ordinal = place->first_ordinal + place->closes;
        } else {
            missing.add(place->spans);
            any = true;
        }
    }
    if (any) { lost_past_end_.push_back(missing); }
    result<std::uint64_t> const now = files.size_of(segment);  // it may have grown since
    has_rows_past_end_ = !lost_past_end_.empty() && now && *now < end;
    if (!has_rows_past_end_) { lost_past_end_.clear(); }
}

SPOTTER_BODY bool mapped_segment::is_thinned(byte_view segment) noexcept {
    constexpr std::size_t flags = layout::head_bytes + 44;
    return segment.size() >= layout::head_bytes + layout::row_head_bytes &&
           load<std::uint32_t>(segment.data() + layout::head_bytes) == layout::row_magic &&
           (load<std::uint32_t>(segment.data() + flags) & layout::thinned_segment) != 0;
}

}  // namespace spotter::inline SPOTTER_ABI
