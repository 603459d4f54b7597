// SPDX-License-Identifier: Apache-2.0
// Command line: writes a file completely or not at all.
#pragma once

#include "workbench/error_of.hpp"

#include <spotter/file/replacing_file.hpp>
#include <spotter/file/system.hpp>

#include <string>
#include <utility>
#include <vector>

namespace spotter_tool {

// Writes under a temporary name; finish() renames the file. A file that `grows` has its final name from the beginning,
// for readers that follow it.
class new_file {
public:
    new_file(std::string path, bool force, bool grows = false) : path_{std::move(path)}, part_{path_} {
        using namespace spotter;
        file_system& files = system_files();
        why_ = refusal_of(path_, force);
        if (std::size_t const cut = path_.rfind('/'); !why_ && cut != path_.npos && cut > 0) {
            why_ = files.make_folder(std::string_view{path_}.substr(0, cut));
        }
        if (why_) { return; }
        if (grows) { (void)files.remove(path_); }  // requested by the user
        text<longest_path> part;
        auto const file = grows ? files.create(path_) : spotter::detail::create_beside(files, path_, part);
        if (!grows) { part_ = part.view(); }
        if (file) {
            file_ = *file;
        } else {
            why_ = file.error();
        }
    }
    new_file(new_file const&) = delete;
    new_file& operator=(new_file const&) = delete;
    ~new_file() {
        if (!file_.open()) { return; }
        (void)spotter::system_files().close(file_);
        if (part_ != path_) { (void)spotter::system_files().remove(part_); }
    }

    // Why nothing can be written; known from the start where the file exists or cannot be created.
    [[nodiscard]] spotter::error const& trouble() const noexcept { return why_; }
    [[nodiscard]] spotter::error put(std::span<std::byte const> bytes) {
        if (why_) { return why_; }
        // Buffers small pieces (a zip's headers, lines), for which system calls would dominate the cost.
        if (waiting_.size() + bytes.size() < gather_bytes) {
            waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
            return {};
        }
        if (!flush()) { why_ = spotter::system_files().append(file_, bytes); }
        return why_;
    }
    [[nodiscard]] spotter::error put(std::string_view text) {
        return put(std::as_bytes(std::span{text.data(), text.size()}));
    }
    // Writes the buffer to the file.
    spotter::error flush() {
        if (!why_ && !waiting_.empty()) { why_ = spotter::system_files().append(file_, waiting_); }
        waiting_.clear();
        return why_;
    }
    [[nodiscard]] spotter::error finish() {
        if (flush()) { return why_; }
        why_ = spotter::system_files().close(std::exchange(file_, {}));
        if (why_) { return why_; }
        return part_ == path_ ? spotter::error{} : spotter::system_files().rename(part_, path_);
    }

private:
    static constexpr std::size_t gather_bytes = 64U << 10;

    // What is there already is only replaced by `force`, and a folder never.
    [[nodiscard]] static spotter::error refusal_of(std::string_view path, bool force) {
        using namespace spotter;
        auto const kind = system_files().kind_of(path);
        bool const is_folder = kind && *kind == path_kind::folder;
        if (!kind || *kind == path_kind::missing || (force && !is_folder)) { return {}; }
        return error_of(
            is_folder ? errc::io_error : errc::exists, path.substr(path.size() > 150 ? path.size() - 150 : 0),
            is_folder ? " is a folder: choose another name" : " is there already: choose another name, or --force");
    }

    std::string path_;
    std::string part_;
    spotter::opened_file file_{};
    std::vector<std::byte> waiting_{};
    spotter::error why_{};
};

[[nodiscard]] inline spotter::error write_file(std::string path, std::string_view text, bool force) {
    new_file file{std::move(path), force};
    (void)file.put(text);  // finish() returns its error
    return file.finish();
}

// A letter, a digit, '_' or '-': usual in a name of a file, on any system.
[[nodiscard]] constexpr bool is_usual_letter(char letter) noexcept {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-';
}

}  // namespace spotter_tool
