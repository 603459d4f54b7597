// SPDX-License-Identifier: Apache-2.0
// Export (L5): Parquet files: columns in row groups, dictionary or plain pages, zstd, a footer.
// https://parquet.apache.org/docs/file-format
#pragma once

#include <spotter/format/bytes.hpp>
#include <spotter/format/zstd_codec.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Of a column: INT32, INT64, DOUBLE, or BYTE_ARRAY as UTF-8.
enum class parquet_type : std::uint8_t { i32, i64, f64, text };

struct parquet_column {  // as the schema has it
    std::string name{};
    parquet_type type = parquet_type::f64;  // of all its values
    bool may_be_missing = true;             // null where a row says nothing of it
};

// A table, row by row: put() what a row has, then end_row(); finish() in the end, without which nobody can read it.
// Bytes go to `to` as they come, a row group at a time; an error that it returns ends the writing, and is what finish()
// returns. Texts are kept once a row group, as a dictionary. The same rows give the same bytes. May throw where memory
// is exhausted. One thread.
class parquet_file {
public:
    static constexpr std::size_t group_rows = 1 << 17;  // rows of a group: what a reader skips by its statistics

    parquet_file(std::vector<parquet_column> columns, std::function<error(byte_view)> to);

    // Of the row at hand. A number goes into a column of numbers, a text into one of texts; of a column that is put
    // twice the first counts.
    void put(std::size_t column, std::int64_t value);
    void put(std::size_t column, double const& value);
    void put(std::size_t column, std::string_view value);
    // A column that must be there and was not put is 0, or the empty text.
    void end_row();
    [[nodiscard]] error finish();  // the last group and the footer; the first error there was

    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }  // that were ended

private:
    using bytes = std::vector<std::byte>;
    struct column {
        parquet_column what{};
        std::vector<bool> there{};  // of each row
        std::vector<std::int64_t> whole{};
        std::vector<double> real{};
        std::vector<std::uint32_t> places{};  // in the dictionary
        std::map<std::string, std::uint32_t, std::less<>> dictionary{};
        bool put = false;
    };
    // Of a column in a row group, for the footer.
    struct chunk {
        std::uint64_t begins = 0, dictionary_at = 0, data_at = 0;  // dictionary_at 0: there is none
        std::uint64_t unpacked = 0, packed = 0, missing = 0;
        std::string least{}, most{};  // as they are stored; empty where nothing is known
        bool has_bounds = false;
    };
    struct group {
        std::vector<chunk> chunks{};
        std::uint64_t rows = 0;
    };

    void end_group();
    [[nodiscard]] chunk write_chunk(column& it);
    // Compressed, with its head; `dictionary`: of texts.
    void write_page(bytes const& content, std::size_t values, bool dictionary, parquet_type type, chunk& of);
    [[nodiscard]] static bytes levels_of(column const& it);
    [[nodiscard]] static bytes values_of(column const& it);
    static void note_bounds(column const& it, chunk& into);
    void send(byte_view what);
    [[nodiscard]] bytes footer() const;

    std::vector<column> columns_{};
    std::function<error(byte_view)> to_{};
    std::vector<group> groups_{};
    std::uint64_t rows_ = 0, waiting_ = 0, at_ = 0;
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/parquet_file.ipp>
#endif
