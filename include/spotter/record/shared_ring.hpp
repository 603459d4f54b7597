// SPDX-License-Identifier: Apache-2.0
// Record (L4): the shared memory of a ring, and the file `ring` in the worker's folder that holds its name.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/record/clock.hpp>
#include <spotter/ring/ring_header.hpp>

namespace spotter::inline SPOTTER_ABI {

// The file is created before the memory and removed after it, so that no memory is left behind unnoticed. Each ring has
// a new random name. A copy of the folder names the same ring, which is busy while its creator lives.
//
// The destructor only unmaps the memory; `remove` deletes it.
class shared_ring {
public:
    shared_ring() noexcept = default;
    shared_ring(shared_ring const&) = delete;
    shared_ring& operator=(shared_ring const&) = delete;
    ~shared_ring() { let_go(); }

    // Creates a ring of `bytes` for the recording in `folder`, which is locked.
    [[nodiscard]] SPOTTER_COLD error make(file_system& files, std::string_view folder, ring_owner const& owner,
                                          std::uint64_t bytes) noexcept {
        files_ = &files;
        file_ = path_text{folder, layout::ring_name};
        auto const file = files.create(file_);
        if (!file) { return file.error(); }
        name_text const name = new_name();
        std::string_view const letters = name;
        error why = files.append(*file, {reinterpret_cast<std::byte const*>(letters.data()), letters.size()});
        error const closed = files.close(*file);
        if (!why) { why = closed; }
        if (!why) {
            auto const memory = files.create_shared(name, ring_header::own_bytes + bytes);
            why = memory.error();
            if (memory) { memory_ = *memory; }
        }
        if (why) {
            (void)files.remove(file_);
            return why;
        }
        name_ = name;
        header_ = ring_header::make(memory_.bytes, owner);
        return {};
    }

    // Opens the ring that an ended process left; the folder is locked. No ring is no error: header() is then null. A
    // name without memory (the machine was switched off) or an unfinished ring (killed before it had begun) is removed.
    // errc::unwritable if a non-file has the file's name. Every error sentence names the obstacle.
    [[nodiscard]] SPOTTER_COLD error open(file_system& files, std::string_view folder) noexcept {
        files_ = &files;
        file_ = path_text{folder, layout::ring_name};
        auto const kind = files.kind_of(file_);
        if (!kind || *kind == path_kind::missing) { return kind.error(); }
        char letters[name_size + 1];
        auto const size = files.read(file_, 0, std::as_writable_bytes(std::span{letters}));
        if (!size && size.error().code != errc::not_a_run) { return size.error(); }
        std::string_view const text{letters, size ? *size : 0};
        bool const ours = size && begins_name(text);
        bool const whole = text.size() == name_size;
        if (ours && !whole) { return files.remove(file_); }  // the memory would have been created next
        if (!ours) { return in_the_way(errc::corrupt, "names no ring of spotter's and was left as it is"); }
        name_text const name{text};
        auto const memory = files.open_shared(name);
        if (!memory && memory.error().code == errc::not_a_run) {
            (void)files.remove_shared(name);  // an incomplete ring
            return files.remove(file_);
        }
        if (!memory) { return memory.error(); }
        memory_ = *memory;
        name_ = name;
        return open_header();
    }

    // Deletes the memory and the file; the content of the ring is lost.
    SPOTTER_COLD error remove() noexcept {
        if (name_.empty()) { return {}; }
        let_go();
        error const why = files_->remove_shared(name_);
        name_ = {};
        if (why && why.code != errc::not_a_run) { return why; }
        return files_->remove(file_);
    }

    // In a forked child: memory and lock belong to the parent.
    SPOTTER_COLD void leave_to_parent() noexcept {
        let_go();
        name_ = {};
    }

    // Removes any ring that the recording in `folder` has left; the folder is locked.
    [[nodiscard]] static SPOTTER_COLD error discard(file_system& files, std::string_view folder) noexcept {
        {
            shared_ring ring;
            error const why = ring.open(files, folder);
            bool const of_the_ring = why.code == errc::corrupt || why.code == errc::unknown_version ||
                                     why.code == errc::busy || why.code == errc::unwritable;
            if (why && !of_the_ring) { return why; }
            (void)ring.remove();
        }
        path_text const file{folder, layout::ring_name};
        auto const kind = files.kind_of(file);
        if (!kind) { return kind.error(); }
        return *kind == path_kind::missing ? error{} : files.remove(file);
    }

    [[nodiscard]] ring_header* header() const noexcept { return header_; }  // null if not open; valid while mapped
    // The error for an unusable ring, with the names of file and memory.
    [[nodiscard]] SPOTTER_COLD error in_the_way(errc code, std::string_view why) const noexcept {
        std::string_view const file = file_.view();
        error wrapped{code, {}};
        wrapped.what << file.substr(file.size() > 80 ? file.size() - 80 : 0) << ' ' << why;
        if (!name_.empty()) { wrapped.what << " (" << files_->shared_place() << '/' << name_ << ')'; }
        return wrapped;
    }

private:
    static constexpr std::string_view prefix = "spotter-";
    static constexpr std::size_t name_size = prefix.size() + 16;
    using name_text = text<name_size>;

    [[nodiscard]] static SPOTTER_COLD name_text new_name() noexcept {
        name_text name{prefix};
        std::uint64_t const number = make_run_id();
        for (int shift = 60; shift >= 0; shift -= 4) { name << "0123456789abcdef"[(number >> shift) & 15]; }
        return name;
    }

    // Only memory whose name begins as spotter's do is opened and removed, whatever the file says.
    [[nodiscard]] static SPOTTER_COLD bool begins_name(std::string_view text) noexcept {
        if (text.size() > name_size) { return false; }
        for (std::size_t i = 0; i < text.size(); ++i) {
            bool const digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
            if (i < prefix.size() ? text[i] != prefix[i] : !digit) { return false; }
        }
        return true;
    }

    // Of the open memory.
    [[nodiscard]] SPOTTER_COLD error open_header() noexcept {
        auto const header = ring_header::open(memory_.bytes);
        if (header) {
            header_ = *header;
            return {};
        }
        if (header.error().code == errc::no_more_data) { return remove(); }
        bool const other = header.error().code == errc::unknown_version;
        return in_the_way(
            header.error().code,
            other ? "leads to a ring of another version of spotter: recover it with that one, or remove both"
                  : "leads to a ring that is damaged and was left as it is; remove both to be rid of it");
    }

    SPOTTER_COLD void let_go() noexcept {
        if (memory_.lock.open()) { files_->unmap_shared(memory_); }
        memory_ = {};
        header_ = nullptr;
    }

    file_system* files_ = nullptr;
    path_text file_{};
    name_text name_{};
    shared_memory memory_{};
    ring_header* header_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI
