// SPDX-License-Identifier: Apache-2.0
// Hook (L3): named parts of a step, and how long each took.
#pragma once

#include <spotter/core/failures.hpp>
#include <spotter/hook/registry.hpp>

namespace spotter::inline SPOTTER_ABI {

// A profiler that shows the same sections on its own time line (ext/nvtx.hpp, ext/tracy.hpp). The loop's thread calls
// it; the innermost section begins last and ends first. `name` ends with a zero and lives as long as the hook.
struct section_observer {
    void (*begin)(char const* name) noexcept = nullptr;
    void (*end)() noexcept = nullptr;
};

// Publishes the open section to other threads and to readers after a crash (core/loop_marks.hpp). The loop's thread
// calls it.
struct section_watcher {
    void* marks = nullptr;  // null: nothing is published
    void (*meet)(void* marks, std::size_t section,
                 std::string_view name) noexcept = nullptr;              // once for each section, before it is entered
    void (*enter)(void* marks, std::size_t section) noexcept = nullptr;  // the innermost open one; ~0: none
};

// The sections of one thread's loop. A section's path has the sections around it: "conv" in "forward" is
// `time/forward/conv`. The time spent in it is summed until the step is closed. Allocates when a section is entered for
// the first time.
class section_book {
public:
    section_book() noexcept = default;
    section_book(section_book const&) = delete;
    section_book& operator=(section_book const&) = delete;

    // The arguments must outlive this; `observer` may be null.
    void start(registry& names, double (*clock)() noexcept, section_observer const* observer) noexcept {
        names_ = &names, clock_ = clock, observer_ = observer;
    }

    // Call it before the first section. `watcher` may be null; its `marks` may change. It must outlive the sections.
    void show(section_watcher const* watcher) noexcept { watcher_ = watcher; }

    void begin(std::string_view name) noexcept;
    // Ends the innermost section.
    void end() noexcept;
    // Ends the section of that name and those still open inside it.
    void end(std::string_view name) noexcept;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // The end of a step: calls use(tensor, seconds) for each section that ran in it, outer ones first. The time of a
    // section that is still open is split here between this step and the next.
    template <class Use>
    void close(double now, Use&& use) noexcept {
        for (std::size_t i = open_; i != none; i = nodes_[i].parent) {
            note(trouble::left_open, i);
            add(nodes_[i], now);
            nodes_[i].since = now;
        }
        for (std::size_t i = 0; i < count_; ++i) {
            node& each = nodes_[i];
            if (!std::exchange(each.ran, false)) { continue; }
            use(*each.tensor, static_cast<float>(std::exchange(each.sum, 0)));
        }
    }

    // Adds the errors of this book.
    void add_to(failure_list& list) const noexcept;

private:
    static constexpr std::size_t none = ~std::size_t{0};
    enum class trouble : std::uint8_t { left_open, overlap, not_open, no_memory, count };

    // The sections directly inside one section or the step. A loop mostly enters them in the same order, or the same
    // one again.
    struct siblings {
        std::size_t first = none, latest = none;
    };
    struct node {
        std::string_view name{};  // the last part of its tensor's name
        tracked_tensor* tensor = nullptr;
        std::size_t parent = none;
        siblings inside{};
        std::size_t next = none;  // the next sibling
        double since = 0, sum = 0;
        bool ran = false;
        slot_array<char> label{};  // the name with a final zero, for the observer
    };

    [[nodiscard]] siblings& inside() noexcept { return open_ == none ? outer_ : nodes_[open_].inside; }
    [[nodiscard]] std::size_t find(std::string_view name) noexcept;
    // Cold: adds a section; `none` where memory is exhausted.
    [[nodiscard]] std::size_t meet(std::string_view name) noexcept;
    static void add(node& it, double now) noexcept {
        it.sum += now > it.since ? now - it.since : 0;
        it.ran = true;
    }
    void leave(double now) noexcept;
    void mark() const noexcept;
    void note(trouble which, std::size_t where) noexcept;

    registry* names_ = nullptr;
    double (*clock_)() noexcept = nullptr;
    section_observer const* observer_ = nullptr;
    section_watcher const* watcher_ = nullptr;
    slot_array<node> nodes_{};
    std::size_t count_ = 0, open_ = none;
    siblings outer_{};
    std::size_t ignored_ = 0;  // open sections that memory was too short for
    struct {
        std::size_t where = none;
        std::uint64_t times = 0;
    } troubles_[static_cast<std::size_t>(trouble::count)]{};
};

// What `section` returns: the section ends with the scope.
class section_scope {
public:
    explicit section_scope(section_book* book, std::string_view name) noexcept : book_{book} {
        if (book_ != nullptr) { book_->begin(name); }
    }
    section_scope(section_scope const&) = delete;
    section_scope& operator=(section_scope const&) = delete;
    ~section_scope() {
        if (book_ != nullptr) { book_->end(); }
    }

private:
    section_book* book_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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
#endif
