// SPDX-License-Identifier: Apache-2.0
// Workbench, export: the bodies of parquet_table.hpp. Field numbers and enumerations are those of parquet.thrift,
// format 2.
#include "export/parquet_table.hpp"

#include <spotter/export/text.hpp>
#include <spotter/format/zstd_codec.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

// The part of Thrift's compact protocol that a footer needs.
class thrift_writer {
public:
    using bytes = std::vector<std::byte>;

    void whole(int field, std::int64_t value) { head(field, 6), zigzag(value); }        // i64
    void short_field(int field, std::int32_t value) { head(field, 5), zigzag(value); }  // i32
    void text(int field, std::string_view value) { head(field, 8), put_text(value); }
    void begin_struct(int field) {
        head(field, 12);
        enter();
    }
    // Begins an element of a list, or the outermost struct.
    void enter() { last_.push_back(0); }
    void end_struct() {
        byte(0);
        last_.pop_back();
    }
    // Begins a list, followed by `count` elements: structs between enter() and end_struct().
    void list(int field, std::size_t count, unsigned type) {
        head(field, 9);
        if (count < 15) { return byte(static_cast<unsigned>(count) << 4U | type); }
        byte(0xF0U | type);
        varint(count);
    }
    void element(std::int32_t value) { zigzag(value); }
    void element(std::string_view value) { put_text(value); }

    static constexpr unsigned i32 = 5, binary = 8, structure = 12;
    [[nodiscard]] bytes take() { return std::move(out_); }

private:
    void byte(unsigned value) { out_.push_back(static_cast<std::byte>(value)); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) { byte(static_cast<unsigned>(value & 0x7FU) | 0x80U); }
        byte(static_cast<unsigned>(value));
    }
    void zigzag(std::int64_t value) {
        varint((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63));
    }
    void put_text(std::string_view value) {
        varint(value.size());
        for (char const each : value) { byte(static_cast<unsigned char>(each)); }
    }
    // Fields of a struct must be in ascending order; each at most 15 after the previous.
    void head(int field, unsigned type) {
        byte(static_cast<unsigned>(field - last_.back()) << 4U | type);
        last_.back() = field;
    }

    bytes out_{};
    std::vector<int> last_{};
};

template <class Number>
void put_number(std::vector<std::byte>& into, Number const& value) {
    std::byte raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    if constexpr (std::endian::native == std::endian::big) { std::reverse(raw, raw + sizeof value); }
    into.insert(into.end(), raw, raw + sizeof value);
}

// Encodes numbers below 2^width as runs of equal ones and as bit-packed groups of eight.
class hybrid_writer {
public:
    hybrid_writer(std::vector<std::byte>& into, unsigned width) : into_{into}, width_{width} {}

    template <class Numbers>
    void write(Numbers const& all) {
        std::size_t const count = all.size();
        std::size_t first = 0;  // index of the first number that waits to be packed
        for (std::size_t i = 0; i < count;) {
            std::size_t run = 1;
            while (i + run < count && all[i + run] == all[i]) { ++run; }
            std::size_t const fill = (8 - (i - first) % 8) % 8;  // groups must be complete
            if (run >= fill + 8) {
                pack(all, first, i + fill);
                varint((run - fill) << 1U);
                for (unsigned at = 0; at < width_; at += 8) {
                    into_.push_back(static_cast<std::byte>(std::uint32_t{all[i]} >> at));
                }
                first = i + run;
            }
            i += run;
        }
        pack(all, first, count);
    }

private:
    template <class Numbers>
    void pack(Numbers const& all, std::size_t from, std::size_t to) {
        if (from == to) { return; }
        std::size_t const groups = (to - from + 7) / 8;
        varint(groups << 1U | 1U);
        std::uint64_t waiting = 0;
        unsigned bits = 0;
        for (std::size_t i = from; i < from + groups * 8; ++i) {
            waiting |= std::uint64_t{i < to ? std::uint32_t{all[i]} : 0U} << bits;
            for (bits += width_; bits >= 8; bits -= 8, waiting >>= 8U) {
                into_.push_back(static_cast<std::byte>(waiting));
            }
        }
    }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) { into_.push_back(static_cast<std::byte>((value & 0x7FU) | 0x80U)); }
        into_.push_back(static_cast<std::byte>(value));
    }

    std::vector<std::byte>& into_;
    unsigned width_;
};

// Enumerators of parquet.thrift.
constexpr std::int32_t parquet_i32 = 1, parquet_i64 = 2, parquet_f64 = 5, parquet_text = 6;
constexpr std::int32_t parquet_plain = 0, parquet_rle = 3, parquet_rle_dictionary = 8, parquet_zstd = 6;
constexpr std::int32_t parquet_data_page = 0, parquet_dictionary_page = 2, parquet_utf8 = 0;
constexpr std::string_view parquet_magic = "PAR1";
constexpr int parquet_zstd_level = 3;  // zstd's own default

[[nodiscard]] static std::int32_t physical(parquet_type type) noexcept {
    constexpr std::int32_t all[] = {parquet_i32, parquet_i64, parquet_f64, parquet_text};
    return all[static_cast<std::size_t>(type)];
}
[[nodiscard]] static byte_view as_bytes(std::string_view it) noexcept {
    return std::as_bytes(std::span{it.data(), it.size()});
}

parquet_table::parquet_table(std::vector<parquet_column> columns, std::function<error(byte_view)> to)
    : to_{std::move(to)} {
    for (parquet_column& each : columns) { columns_.push_back({.what = std::move(each)}); }
    send(detail::as_bytes(detail::parquet_magic));
}

void parquet_table::put(std::size_t place, std::int64_t value) {
    column& it = columns_[place];
    if (it.what.type == parquet_type::f64) { return put(place, static_cast<double>(value)); }
    if (it.what.type == parquet_type::text || std::exchange(it.put, true)) { return; }
    it.whole.push_back(value);
}
void parquet_table::put(std::size_t place, double const& value) {
    column& it = columns_[place];
    if (it.what.type != parquet_type::f64 || std::exchange(it.put, true)) { return; }
    it.real.push_back(value);
}
void parquet_table::put(std::size_t place, std::string_view value) {
    column& it = columns_[place];
    if (it.what.type != parquet_type::text || std::exchange(it.put, true)) { return; }
    auto found = it.dictionary.find(value);
    if (found == it.dictionary.end()) {  // new, or not UTF-8, which would invalidate the whole column
        found = it.dictionary.try_emplace(utf8_text(value), static_cast<std::uint32_t>(it.dictionary.size())).first;
    }
    it.places.push_back(found->second);
}

void parquet_table::end_row() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        column& it = columns_[i];
        if (!it.put && !it.what.may_be_missing) {
            it.what.type == parquet_type::text ? put(i, std::string_view{}) : put(i, std::int64_t{0});
        }
        it.there.push_back(std::exchange(it.put, false));
    }
    ++rows_;
    if (++waiting_ == parquet_file::group_rows) { end_group(); }
}

error parquet_table::finish() {
    end_group();
    bytes const end = footer();
    send(end);
    bytes tail;
    detail::put_number(tail, static_cast<std::uint32_t>(end.size()));
    send(tail);
    send(detail::as_bytes(detail::parquet_magic));
    return why_;
}

void parquet_table::end_group() {
    if (waiting_ == 0) { return; }
    group made{{}, waiting_};
    for (column& each : columns_) {
        made.chunks.push_back(write_chunk(each));
        each = {.what = std::move(each.what)};
    }
    groups_.push_back(std::move(made));
    waiting_ = 0;
}

parquet_table::chunk parquet_table::write_chunk(column& it) {
    chunk made;
    made.begins = at_;
    made.missing = static_cast<std::uint64_t>(std::count(it.there.begin(), it.there.end(), false));
    note_bounds(it, made);
    if (it.what.type == parquet_type::text) {
        made.dictionary_at = at_;
        std::vector<std::string_view> texts(it.dictionary.size());
        for (auto const& [text, place] : it.dictionary) { texts[place] = text; }
        bytes content;
        for (std::string_view const each : texts) {
            detail::put_number(content, static_cast<std::uint32_t>(each.size()));
            byte_view const raw = detail::as_bytes(each);
            content.insert(content.end(), raw.begin(), raw.end());
        }
        write_page(content, texts.size(), true, it.what.type, made);
    }
    made.data_at = at_;
    bytes content = it.what.may_be_missing ? levels_of(it) : bytes{};
    bytes const values = values_of(it);
    content.insert(content.end(), values.begin(), values.end());
    write_page(content, it.there.size(), false, it.what.type, made);
    return made;
}

parquet_table::bytes parquet_table::levels_of(column const& it) {
    bytes levels;
    detail::hybrid_writer{levels, 1}.write(it.there);
    bytes made;
    detail::put_number(made, static_cast<std::uint32_t>(levels.size()));
    made.insert(made.end(), levels.begin(), levels.end());
    return made;
}

parquet_table::bytes parquet_table::values_of(column const& it) {
    bytes made;
    switch (it.what.type) {
        case parquet_type::i32:
            for (std::int64_t const each : it.whole) { detail::put_number(made, static_cast<std::int32_t>(each)); }
            break;
        case parquet_type::i64:
            for (std::int64_t const each : it.whole) { detail::put_number(made, each); }
            break;
        case parquet_type::f64:
            for (double const& each : it.real) { detail::put_number(made, each); }
            break;
        case parquet_type::text: {
            std::size_t const texts = it.dictionary.size();
            auto const width = static_cast<unsigned>(std::bit_width(texts > 1 ? texts - 1 : std::size_t{1}));
            made.push_back(static_cast<std::byte>(width));
            detail::hybrid_writer{made, width}.write(it.places);
        }
    }
    return made;
}

// The least and the greatest value; none if a number is NaN. Zeros get the sign that includes both.
SPOTTER_STRICT void parquet_table::note_bounds(column const& it, chunk& into) {
    SPOTTER_STRICT_BODY
    auto const keep = [&](auto least, auto most) {
        bytes low, high;
        detail::put_number(low, least), detail::put_number(high, most);
        into.least.assign(reinterpret_cast<char const*>(low.data()), low.size());
        into.most.assign(reinterpret_cast<char const*>(high.data()), high.size());
        into.has_bounds = true;
    };
    if (it.what.type == parquet_type::text && !it.dictionary.empty()) {
        into.least = it.dictionary.begin()->first;
        into.most = it.dictionary.rbegin()->first;
        into.has_bounds = into.least.size() <= 100 && into.most.size() <= 100;
    } else if (!it.whole.empty()) {
        auto const [least, most] = std::minmax_element(it.whole.begin(), it.whole.end());
        if (it.what.type == parquet_type::i32) {
            keep(static_cast<std::int32_t>(*least), static_cast<std::int32_t>(*most));
        } else {
            keep(*least, *most);
        }
    } else if (!it.real.empty()) {
        double least = it.real[0], most = it.real[0];
        for (double const& each : it.real) {
            if (classify(each) == number_class::nan) { return; }
            least = each < least ? each : least;
            most = each > most ? each : most;
        }
        keep(least == 0 ? -0.0 : least, most == 0 ? 0.0 : most);
    }
}

void parquet_table::write_page(bytes const& content, std::size_t values, bool dictionary, parquet_type type,
                               chunk& of) {
    byte_buffer packed;
    if (!detail::append_zstd(content, detail::parquet_zstd_level, packed)) {
        why_ = why_ ? why_ : error{errc::out_of_memory, "no memory to compress a page"};
        return;
    }
    detail::thrift_writer head;
    head.enter();
    head.short_field(1, dictionary ? detail::parquet_dictionary_page : detail::parquet_data_page);
    head.short_field(2, static_cast<std::int32_t>(content.size()));
    head.short_field(3, static_cast<std::int32_t>(packed.view().size()));
    head.begin_struct(dictionary ? 7 : 5);
    head.short_field(1, static_cast<std::int32_t>(values));
    head.short_field(2,
                     dictionary || type != parquet_type::text ? detail::parquet_plain : detail::parquet_rle_dictionary);
    if (!dictionary) {
        head.short_field(3, detail::parquet_rle);
        head.short_field(4, detail::parquet_rle);
    }
    head.end_struct();
    head.end_struct();
    bytes const written = head.take();
    of.unpacked += written.size() + content.size();
    of.packed += written.size() + packed.view().size();
    send(written);
    send(packed.view());
}

void parquet_table::send(byte_view what) {
    at_ += what.size();
    if (!why_) { why_ = to_(what); }
}

parquet_table::bytes parquet_table::footer() const {
    detail::thrift_writer out;
    out.enter();
    out.short_field(1, 2);
    out.list(2, columns_.size() + 1, detail::thrift_writer::structure);
    out.enter();  // the root
    out.text(4, "spotter");
    out.short_field(5, static_cast<std::int32_t>(columns_.size()));
    out.end_struct();
    for (column const& each : columns_) {
        out.enter();
        out.short_field(1, detail::physical(each.what.type));
        out.short_field(3, each.what.may_be_missing ? 1 : 0);
        out.text(4, each.what.name);
        if (each.what.type == parquet_type::text) { out.short_field(6, detail::parquet_utf8); }
        out.end_struct();
    }
    out.whole(3, static_cast<std::int64_t>(rows_));
    out.list(4, groups_.size(), detail::thrift_writer::structure);
    for (group const& each : groups_) {
        std::uint64_t size = 0;
        out.enter();
        out.list(1, each.chunks.size(), detail::thrift_writer::structure);
        for (std::size_t i = 0; i < each.chunks.size(); ++i) {
            chunk const& it = each.chunks[i];
            bool const text = columns_[i].what.type == parquet_type::text;
            size += it.unpacked;
            out.enter();
            out.whole(2, static_cast<std::int64_t>(it.begins));
            out.begin_struct(3);
            out.short_field(1, detail::physical(columns_[i].what.type));
            out.list(2, text ? 3U : 2U, detail::thrift_writer::i32);
            out.element(detail::parquet_plain);
            out.element(detail::parquet_rle);
            if (text) { out.element(detail::parquet_rle_dictionary); }
            out.list(3, 1, detail::thrift_writer::binary);
            out.element(columns_[i].what.name);
            out.short_field(4, detail::parquet_zstd);
            out.whole(5, static_cast<std::int64_t>(each.rows));
            out.whole(6, static_cast<std::int64_t>(it.unpacked));
            out.whole(7, static_cast<std::int64_t>(it.packed));
            out.whole(9, static_cast<std::int64_t>(it.data_at));
            if (text) { out.whole(11, static_cast<std::int64_t>(it.dictionary_at)); }
            out.begin_struct(12);
            out.whole(3, static_cast<std::int64_t>(it.missing));
            if (it.has_bounds) {
                out.text(5, it.most);
                out.text(6, it.least);
            }
            out.end_struct();
            out.end_struct();
            out.end_struct();
        }
        out.whole(2, static_cast<std::int64_t>(size));
        out.whole(3, static_cast<std::int64_t>(each.rows));
        out.end_struct();
    }
    out.text(6, "spotter");
    out.list(7, columns_.size(), detail::thrift_writer::structure);
    for (std::size_t i = 0; i < columns_.size(); ++i) {  // bounds use the order of the type
        out.enter();
        out.begin_struct(1);
        out.end_struct();
        out.end_struct();
    }
    out.end_struct();
    return out.take();
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

parquet_file::parquet_file(std::vector<parquet_column> columns, std::function<error(byte_view)> to)
    : its_{std::make_unique<detail::parquet_table>(std::move(columns), std::move(to))} {}
parquet_file::parquet_file(parquet_file&& other) noexcept = default;
parquet_file& parquet_file::operator=(parquet_file&& other) noexcept = default;
parquet_file::~parquet_file() = default;

void parquet_file::put(std::size_t column, std::int64_t value) { its_->put(column, value); }
void parquet_file::put(std::size_t column, double const& value) { its_->put(column, value); }
void parquet_file::put(std::size_t column, std::string_view value) { its_->put(column, value); }
void parquet_file::end_row() { its_->end_row(); }
error parquet_file::finish() { return its_->finish(); }
std::uint64_t parquet_file::rows() const noexcept { return its_->rows(); }

}  // namespace spotter::inline SPOTTER_ABI
