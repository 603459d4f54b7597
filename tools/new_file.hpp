// SPDX-License-Identifier: Apache-2.0
// Command line: where every verb puts what it writes: in a file, completely or not at all, or in a device or a pipe.
#pragma once

#include "workbench/error_of.hpp"

#include <spotter/file/replacing_file.hpp>
#include <spotter/file/system.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace spotter_tool {

[[nodiscard]] inline std::string folder_above(std::string const& path) {
    std::size_t const cut = path.rfind('/');
    return cut == path.npos ? std::string{"."} : cut == 0 ? std::string{"/"} : path.substr(0, cut);
}

// Writes under a temporary name; finish() renames the file. A file that `grows` has its final name from the beginning,
// for readers that follow it. A link stays, and what it leads to is written. A device or a pipe has no such name: a
// file in its place would remove it, so it is written into.
class new_file {
public:
    new_file(std::string path, bool force, bool grows = false) : path_{std::move(path)} {
        using namespace spotter;
        using std::filesystem::file_type;
        file_system& files = system_files();
        std::error_code unknown;
        file_type const type = std::filesystem::status(path_, unknown).type();
        constexpr file_type flows[] = {file_type::character, file_type::fifo, file_type::socket};
        bool const loses_nothing = std::find(std::begin(flows), std::end(flows), type) != std::end(flows);
        why_ = refusal_of(path_, force || loses_nothing);
        if (!why_ && (loses_nothing || type == file_type::block)) {
            stream_.open(path_, std::ios::binary);
            why_ = trouble_of_stream();
            return;
        }
        path_ = part_ = target_of(path_);
        if (!why_ && std::filesystem::is_symlink(path_, unknown)) {
            why_ = error_of(errc::unwritable, std::string_view{path_}.substr(0, 150), " is a link that leads nowhere");
        }
        if (!why_) { why_ = files.make_folder(folder_above(path_)); }
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
        if (!flush()) { why_ = write(bytes); }
        return why_;
    }
    [[nodiscard]] spotter::error put(std::string_view text) {
        return put(std::as_bytes(std::span{text.data(), text.size()}));
    }
    // Writes the buffer to the file.
    spotter::error flush() {
        if (!why_ && !waiting_.empty()) { why_ = write(waiting_); }
        waiting_.clear();
        return why_;
    }
    [[nodiscard]] spotter::error finish() {
        if (flush()) { return why_; }
        if (stream_.is_open()) {
            stream_.close();
            return why_ = trouble_of_stream();
        }
        why_ = spotter::system_files().close(std::exchange(file_, {}));
        if (why_) { return why_; }
        return part_ == path_ ? spotter::error{} : spotter::system_files().rename(part_, path_);
    }

private:
    static constexpr std::size_t gather_bytes = 64U << 10;

    [[nodiscard]] spotter::error write(std::span<std::byte const> bytes) {
        if (!stream_.is_open()) { return spotter::system_files().append(file_, bytes); }
        stream_.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        stream_.flush();  // a reader at the other end follows
        return trouble_of_stream();
    }
    [[nodiscard]] spotter::error trouble_of_stream() const {
        if (stream_) { return {}; }
        std::string_view const path = path_;
        return error_of(spotter::errc::unwritable, path.substr(path.size() > 150 ? path.size() - 150 : 0),
                        " cannot be written");
    }

    // Where the links at a path lead, also if nothing is there.
    [[nodiscard]] static std::string target_of(std::string const& path) {
        constexpr int most_links = 40;  // as the kernel follows
        std::error_code none;
        std::filesystem::path at{path};
        for (int i = 0; i < most_links && std::filesystem::is_symlink(at, none); ++i) {
            at = at.parent_path() / std::filesystem::read_symlink(at, none);
        }
        return at.string();
    }

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
    std::string part_{};
    std::ofstream stream_{};  // a device or a pipe
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
