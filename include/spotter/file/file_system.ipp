// SPDX-License-Identifier: Apache-2.0
// The bodies of file_system.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/file/file_system.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY result<bool> file_system::is_at(opened_file, std::string_view path) noexcept {
    auto const kind = kind_of(path);
    if (!kind) { return kind.error(); }
    return *kind == path_kind::file;
}

SPOTTER_COLD_BODY result<file_facts> file_system::facts_of(std::string_view path) noexcept {
    auto const bytes = size_of(path);
    return bytes ? result<file_facts>{file_facts{*bytes, 0}} : bytes.error();
}

SPOTTER_COLD_BODY result<std::size_t> file_system::read(std::string_view path, std::uint64_t from,
                                                        std::span<std::byte> into) noexcept {
    auto const whole = map(path);
    if (!whole) { return whole.error(); }
    std::size_t const size = whole->bytes.size();
    std::size_t const at = from < size ? as_size(from) : size;
    std::size_t const count = size - at < into.size() ? size - at : into.size();
    if (count > 0) { std::memcpy(into.data(), whole->bytes.data() + at, count); }
    unmap(*whole);
    return count;
}

SPOTTER_COLD_BODY result<shared_memory> file_system::create_shared(std::string_view, std::uint64_t) noexcept {
    return none();
}

SPOTTER_COLD_BODY path_text::path_text(std::string_view folder, std::string_view name) noexcept {
    text_ << folder;
    if (!folder.empty() && folder.back() != '/') { text_ << '/'; }
    text_ << name;
    good_ = folder.size() + name.size() < longest_path;
}

}  // namespace spotter::inline SPOTTER_ABI
