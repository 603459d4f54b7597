// SPDX-License-Identifier: Apache-2.0
// Workbench, export: several tensors as one NumPy .npz file.
#include "error_of.hpp"
#include "export/npy_refusal.hpp"

#include <spotter/export/crc32.hpp>
#include <spotter/export/text.hpp>
#include <spotter/workbench/npy.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

// The implementation of npz_writer.
class npz_archive {
public:
    npz_archive(std::function<error(std::span<std::byte const>)> put, small_floats how, zip64 wide)
        : put_{std::move(put)}, how_{how}, always_{wide == zip64::always} {}

    [[nodiscard]] error add(std::string_view name, tensor_ref const& tensor) {
        if (failed_) { return failed_; }
        if (error const why = npy_refusal(tensor)) { return why; }
        // The archive declares its names as UTF-8, so every name must be.
        std::string const key = utf8_text(name);
        if (key.size() > 0xFFFF - suffix.size()) {
            return error_of(errc::bad_config, "a name in an npz file has 65531 letters at most, and this one has ",
                            key.size(), ": \"", std::string_view{key}.substr(0, 60), "...\"");
        }
        if (!names_.insert(key).second) { return {errc::exists, "there is a tensor of that name in the npz file"}; }
        npy_parts const parts{tensor, how_};
        entry each{key + std::string{suffix}, parts.bytes(), at_, 0};
        each.checksum = crc32(parts.values(), crc32(parts.header()));
        send(local_header(each));
        send(parts.header());
        send(parts.values());
        entries_.push_back(std::move(each));
        return failed_;
    }

    [[nodiscard]] error finish(std::string_view comment) {
        if (failed_) { return failed_; }
        std::uint64_t const begin = at_;
        for (entry const& each : entries_) { send(central_header(each)); }
        std::uint64_t const bytes = at_ - begin;
        std::uint64_t const count = entries_.size();
        bool const wide = always_ || count >= limit16 || begin >= limit32 || bytes >= limit32;
        record end;
        if (wide) {
            std::uint64_t const here = at_;
            end.put(0x06064B50, 4), end.put(44, 8), end.put(made_by, 2), end.put(needs_zip64, 2);
            end.put(0, 4), end.put(0, 4), end.put(count, 8), end.put(count, 8), end.put(bytes, 8), end.put(begin, 8);
            end.put(0x07064B50, 4), end.put(0, 4), end.put(here, 8), end.put(1, 4);
        }
        std::uint64_t const short_count = wide ? limit16 : count;
        end.put(0x06054B50, 4), end.put(0, 2), end.put(0, 2), end.put(short_count, 2), end.put(short_count, 2);
        std::string words = utf8_text(comment);
        words.resize((std::min)(words.size(), static_cast<std::size_t>(limit16)));
        end.put(wide ? limit32 : bytes, 4), end.put(wide ? limit32 : begin, 4), end.put(words.size(), 2);
        end.bytes += words;
        send(end);
        return failed_;
    }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return at_; }

private:
    static constexpr std::string_view suffix = ".npy";
    static constexpr std::uint64_t limit16 = 0xFFFF, limit32 = 0xFFFFFFFF;
    static constexpr std::uint64_t needs_plain = 20, needs_zip64 = 45, made_by = 0x032D;  // Unix, version 4.5
    static constexpr std::uint64_t utf8_name = 0x0800;
    static constexpr std::uint64_t no_date = 0x00210000;  // 1980-01-01, the earliest date of the format

    struct entry {
        std::string name;
        std::uint64_t bytes;
        std::uint64_t offset;
        std::uint32_t checksum;
    };
    struct record {
        std::string bytes{};
        void put(std::uint64_t value, int width) {
            for (int i = 0; i < width; ++i) { bytes += static_cast<char>((value >> (8 * i)) & 0xFFU); }
        }
    };

    // PKWARE APPNOTE 4.3.7; in a local header both sizes are wide, or neither.
    [[nodiscard]] record local_header(entry const& each) const {
        bool const wide = always_ || each.bytes >= limit32;
        std::uint64_t const size = wide ? limit32 : each.bytes;
        record head;
        head.put(0x04034B50, 4), head.put(wide ? needs_zip64 : needs_plain, 2), head.put(utf8_name, 2);
        head.put(0, 2), head.put(no_date, 4), head.put(each.checksum, 4), head.put(size, 4), head.put(size, 4);
        head.put(each.name.size(), 2), head.put(wide ? 20 : 0, 2);
        head.bytes += each.name;
        if (wide) { head.put(1, 2), head.put(16, 2), head.put(each.bytes, 8), head.put(each.bytes, 8); }
        return head;
    }
    // 4.3.12; here each field may be wide separately.
    [[nodiscard]] record central_header(entry const& each) const {
        bool const wide_size = always_ || each.bytes >= limit32;
        bool const wide_offset = always_ || each.offset >= limit32;
        std::uint64_t const extra = (wide_size ? 16U : 0U) + (wide_offset ? 8U : 0U);
        std::uint64_t const size = wide_size ? limit32 : each.bytes;
        record head;
        head.put(0x02014B50, 4), head.put(made_by, 2), head.put(extra > 0 ? needs_zip64 : needs_plain, 2);
        head.put(utf8_name, 2), head.put(0, 2), head.put(no_date, 4), head.put(each.checksum, 4);
        head.put(size, 4), head.put(size, 4), head.put(each.name.size(), 2), head.put(extra > 0 ? extra + 4 : 0, 2);
        head.put(0, 2), head.put(0, 2), head.put(0, 2);
        head.put(std::uint64_t{0100644} << 16U, 4);  // a regular file that everyone may read
        head.put(wide_offset ? limit32 : each.offset, 4);
        head.bytes += each.name;
        if (extra > 0) { head.put(1, 2), head.put(extra, 2); }
        if (wide_size) { head.put(each.bytes, 8), head.put(each.bytes, 8); }
        if (wide_offset) { head.put(each.offset, 8); }
        return head;
    }

    void send(record const& what) {
        send(std::span{reinterpret_cast<std::byte const*>(what.bytes.data()), what.bytes.size()});
    }
    void send(std::span<std::byte const> bytes) {
        if (failed_ || bytes.empty()) { return; }
        failed_ = put_(bytes);
        at_ += bytes.size();
    }

    std::function<error(std::span<std::byte const>)> put_;
    small_floats how_;
    bool always_;
    std::uint64_t at_ = 0;
    std::set<std::string, std::less<>> names_{};
    std::vector<entry> entries_{};
    error failed_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

npz_writer::npz_writer(std::function<error(std::span<std::byte const>)> put, small_floats how, zip64 wide)
    : its_{std::make_unique<detail::npz_archive>(std::move(put), how, wide)} {}
npz_writer::npz_writer(npz_writer&& other) noexcept = default;
npz_writer& npz_writer::operator=(npz_writer&& other) noexcept = default;
npz_writer::~npz_writer() = default;

error npz_writer::add(std::string_view name, tensor_ref const& tensor) { return its_->add(name, tensor); }
error npz_writer::finish(std::string_view comment) { return its_->finish(comment); }
std::uint64_t npz_writer::bytes() const noexcept { return its_->bytes(); }

}  // namespace spotter::inline SPOTTER_ABI
