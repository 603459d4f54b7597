// SPDX-License-Identifier: Apache-2.0
// The bodies of sections.hpp.
#pragma once

#include <spotter/hook/sections.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void section_book::begin(std::string_view name) noexcept {
    std::size_t which = find(name);
    if (which == none) { which = meet(name); }
    if (which == none) {
        ++ignored_;
        return;
    }
    if (observer_ != nullptr) { observer_->begin(nodes_[which].label.data()); }
    open_ = which;
    mark();
    nodes_[which].since = clock_();
}

SPOTTER_BODY void section_book::end() noexcept {
    double const now = clock_();
    if (ignored_ > 0) {
        --ignored_;
        return;
    }
    if (open_ == none) { return note(trouble::not_open, none); }
    leave(now);
}

SPOTTER_BODY void section_book::end(std::string_view name) noexcept {
    double const now = clock_();
    if (ignored_ > 0) {
        --ignored_;
        return;
    }
    std::size_t wanted = open_;
    while (wanted != none && nodes_[wanted].name != name) { wanted = nodes_[wanted].parent; }
    if (wanted == none) { return note(trouble::not_open, open_); }
    for (std::size_t const outer = nodes_[wanted].parent; open_ != outer;) {
        if (open_ != wanted) { note(trouble::overlap, open_); }
        leave(now);
    }
}

SPOTTER_BODY void section_book::leave(double now) noexcept {
    node& it = nodes_[open_];
    add(it, now);
    open_ = it.parent;
    mark();
    if (observer_ != nullptr) { observer_->end(); }
}

SPOTTER_BODY void section_book::mark() const noexcept {
    if (watcher_ != nullptr && watcher_->marks != nullptr) { watcher_->enter(watcher_->marks, open_); }
}

SPOTTER_BODY std::size_t section_book::find(std::string_view name) noexcept {
    siblings& mine = inside();
    for (std::size_t tries = 0, i = mine.latest; i != none && tries < 2; ++tries) {
        if (nodes_[i].name == name) { return mine.latest = i; }
        i = nodes_[i].next != none ? nodes_[i].next : mine.first;
    }
    for (std::size_t i = mine.first; i != none; i = nodes_[i].next) {
        if (nodes_[i].name == name) { return mine.latest = i; }
    }
    return none;
}

SPOTTER_BODY SPOTTER_NOINLINE std::size_t section_book::meet(std::string_view name) noexcept {
    kept_text path;
    bool const named = open_ == none ? path.assign("time/", name) : path.assign(nodes_[open_].tensor->name, "/", name);
    tracked_tensor* const it = named && names_ != nullptr ? names_->find_or_add(path) : nullptr;
    if (it == nullptr || !nodes_.grow(count_ + 1)) {
        note(trouble::no_memory, none);
        return none;
    }
    node& fresh = nodes_[count_];
    fresh = {};
    fresh.parent = open_;
    fresh.tensor = it;
    if (observer_ != nullptr) {
        if (!fresh.label.grow(name.size() + 1)) {
            note(trouble::no_memory, none);
            return none;
        }
        for (std::size_t i = 0; i < name.size(); ++i) { fresh.label[i] = name[i]; }
    }
    fresh.name = it->name.view().substr(it->name.view().size() - name.size());
    if (watcher_ != nullptr && watcher_->marks != nullptr) {
        watcher_->meet(watcher_->marks, count_, it->name.view().substr(std::string_view{"time/"}.size()));
    }
    siblings& mine = inside();
    std::size_t* last = &mine.first;
    while (*last != none) { last = &nodes_[*last].next; }
    *last = mine.latest = count_;
    return count_++;
}

SPOTTER_BODY void section_book::note(trouble which, std::size_t where) noexcept {
    auto& it = troubles_[static_cast<std::size_t>(which)];
    if (it.times++ == 0) { it.where = where; }
}

SPOTTER_BODY void section_book::add_to(failure_list& list) const noexcept {
    constexpr std::string_view sentences[] = {
        "was open when its step was closed; its time until then belongs to that step, the rest to the next one: end it "
        "before end() or step()",
        "was open when the section around it ended, and ended with it: end sections in the order inner, outer",
        "ended where it was not open: begin_section and end_section go in pairs", "no memory for one more section"};
    for (std::size_t i = 0; i < static_cast<std::size_t>(trouble::count); ++i) {
        if (troubles_[i].times == 0) { continue; }
        std::size_t const where = troubles_[i].where;
        error why{static_cast<trouble>(i) == trouble::no_memory ? errc::out_of_memory : errc::bad_config, {}};
        why.what << "section \"" << (where == none ? std::string_view{} : nodes_[where].name) << "\" " << sentences[i];
        list.add(why);
    }
}

}  // namespace spotter::inline SPOTTER_ABI
