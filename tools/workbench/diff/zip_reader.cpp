// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of zip_reader.hpp.
#include "diff/zip_reader.hpp"

#include "error_of.hpp"

#include <spotter/core/casts.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] static error damaged_zip(std::string_view what) noexcept {
    return error_of(errc::corrupt, "the archive is damaged: ", what);
}

error zip_directory::read(std::vector<zip_entry>& into) {
    if (error const why = find_directory()) { return why; }
    std::uint64_t at = begin_;
    for (std::uint64_t i = 0; i < entries_; ++i) {
        if (error const why = read_entry(at, into)) { return why; }
    }
    return at == end_ ? error{} : damaged_zip("its directory is longer than its entries");
}

error zip_directory::find_directory() noexcept {
    constexpr std::size_t end_bytes = 22, locator_bytes = 20, wide_bytes = 56;
    std::size_t const size = file_.size();
    std::size_t at = size;
    bool found = false;
    for (std::size_t comment = 0; !found && comment <= limit16 && comment + end_bytes <= size; ++comment) {
        at = size - end_bytes - comment;
        found =
            zip_number<std::uint32_t>(file_, at) == 0x06054B50 && zip_number<std::uint16_t>(file_, at + 20) == comment;
    }
    if (!found) { return damaged_zip("it does not end as a zip file does (a truncated copy?)"); }
    entries_ = zip_number<std::uint16_t>(file_, at + 10);
    std::uint64_t bytes = zip_number<std::uint32_t>(file_, at + 12);
    begin_ = zip_number<std::uint32_t>(file_, at + 16);
    end_ = at;
    if (at >= locator_bytes && zip_number<std::uint32_t>(file_, at - locator_bytes) == 0x07064B50) {
        auto const wide = zip_number<std::uint64_t>(file_, at - locator_bytes + 8);
        if (wide > size || size - wide < wide_bytes ||
            zip_number<std::uint32_t>(file_, static_cast<std::size_t>(wide)) != 0x06064B50) {
            return damaged_zip("its zip64 end is not where it says");
        }
        auto const here = static_cast<std::size_t>(wide);
        entries_ = zip_number<std::uint64_t>(file_, here + 32);
        bytes = zip_number<std::uint64_t>(file_, here + 40);
        begin_ = zip_number<std::uint64_t>(file_, here + 48);
        end_ = wide;
    }
    if (begin_ > end_ || bytes != end_ - begin_) { return damaged_zip("its directory is not where it says"); }
    return {};
}

error zip_directory::read_entry(std::uint64_t& at, std::vector<zip_entry>& into) {
    constexpr std::size_t head_bytes = 46;
    if (end_ - at < head_bytes || number32(at) != 0x02014B50) { return damaged_zip("an entry of its directory"); }
    auto const flags = number16(at + 8), method = number16(at + 10);
    std::uint64_t const name = number16(at + 28), extra = number16(at + 30), comment = number16(at + 32);
    if (end_ - at < head_bytes + name + extra + comment) { return damaged_zip("an entry of its directory"); }
    zip_entry it;
    it.checksum = number32(at + 16);
    it.packed = number32(at + 20);
    it.bytes = number32(at + 24);
    std::uint64_t local = number32(at + 42);
    it.name.assign(reinterpret_cast<char const*>(file_.data() + at + head_bytes), static_cast<std::size_t>(name));
    if (!read_wide_fields(at + head_bytes + name, extra, it, local)) { return damaged_zip("its zip64 fields"); }
    at += head_bytes + name + extra + comment;
    if ((flags & 1U) != 0) { return {errc::wrong_type, "the archive is encrypted: save it without a password"}; }
    if (method != 0 && method != 8) {
        return {errc::wrong_type, "the archive is packed by another method than deflate: numpy.savez writes none"};
    }
    it.deflated = method == 8;
    if (!it.deflated && it.packed != it.bytes) { return damaged_zip("the sizes of a stored entry"); }
    if (error const why = find_values(local, it)) { return why; }
    into.push_back(std::move(it));
    return {};
}

bool zip_directory::read_wide_fields(std::uint64_t at, std::uint64_t left, zip_entry& it,
                                     std::uint64_t& local) const noexcept {
    std::uint64_t* const fields[] = {it.bytes == limit32 ? &it.bytes : nullptr,
                                     it.packed == limit32 ? &it.packed : nullptr, local == limit32 ? &local : nullptr};
    while (left >= 4) {
        std::uint64_t const id = number16(at);
        std::uint64_t size = number16(at + 2);
        at += 4, left -= 4;
        if (size > left) { return false; }
        left -= size;
        if (id != 1) {
            at += size;
            continue;
        }
        for (std::uint64_t* const field : fields) {
            if (field == nullptr) { continue; }
            if (size < 8) { return false; }
            *field = zip_number<std::uint64_t>(file_, as_size(at));
            at += 8, size -= 8;
        }
        return true;
    }
    return true;
}

error zip_directory::find_values(std::uint64_t local, zip_entry& it) const noexcept {
    constexpr std::uint64_t head_bytes = 30;
    if (local > begin_ || begin_ - local < head_bytes || number32(local) != 0x04034B50) {
        return damaged_zip("an entry is not where the directory says");
    }
    it.begin = local + head_bytes + number16(local + 26) + number16(local + 28);
    if (it.begin > begin_ || it.packed > begin_ - it.begin) { return damaged_zip("an entry is longer than its file"); }
    return {};
}

std::uint32_t zip_directory::number32(std::uint64_t at) const noexcept {
    return zip_number<std::uint32_t>(file_, as_size(at));
}

std::uint16_t zip_directory::number16(std::uint64_t at) const noexcept {
    return zip_number<std::uint16_t>(file_, as_size(at));
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

result<std::vector<zip_entry>> read_zip(std::span<std::byte const> file) {
    std::vector<zip_entry> entries;
    if (error const why = detail::zip_directory{file}.read(entries)) { return why; }
    return entries;
}

result<std::span<std::byte const>> unzip(std::span<std::byte const> file, zip_entry const& it,
                                         std::vector<std::byte>& buffer, inflate_function inflate) {
    std::span<std::byte const> bytes =
        file.subspan(static_cast<std::size_t>(it.begin), static_cast<std::size_t>(it.packed));
    if (it.deflated) {
        if (inflate == nullptr) {
            return {errc::bad_config,
                    "the archive is compressed and this program was built without zlib (zlib1g-dev on Debian and "
                    "Ubuntu): write it by numpy.savez, or build with zlib"};
        }
        // Deflate expands a byte to 1032 at most; checked before memory is allocated.
        if (it.bytes / 1032 > it.packed) { return detail::damaged_zip("an entry claims more than can be in it"); }
        buffer.resize(static_cast<std::size_t>(it.bytes));
        if (error const why = inflate(bytes, buffer)) { return why; }
        bytes = buffer;
    }
    if (crc32(bytes) != it.checksum) { return detail::damaged_zip("the checksum of an entry is wrong"); }
    return bytes;
}

}  // namespace spotter::inline SPOTTER_ABI
