// SPDX-License-Identifier: Apache-2.0
// Workbench, export: Parquet files: columns in row groups, dictionary or plain pages, zstd, a footer.
#pragma once

#include <spotter/format/bytes.hpp>
#include <spotter/workbench/parquet.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// The implementation of parquet_file.
class parquet_table {
public:
    parquet_table(std::vector<parquet_column> columns, std::function<error(byte_view)> to);

    void put(std::size_t column, std::int64_t value);
    void put(std::size_t column, double const& value);
    void put(std::size_t column, std::string_view value);
    void end_row();
    [[nodiscard]] error finish();

    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

private:
    using bytes = std::vector<std::byte>;
    struct column {
        parquet_column what{};
        std::vector<bool> there{};  // for each row
        std::vector<std::int64_t> whole{};
        std::vector<double> real{};
        std::vector<std::uint32_t> places{};  // indices in the dictionary
        std::map<std::string, std::uint32_t, std::less<>> dictionary{};
        bool put = false;
    };
    // A column in a row group, for the footer.
    struct chunk {
        std::uint64_t begins = 0, dictionary_at = 0, data_at = 0;  // offsets; dictionary_at 0: no dictionary
        std::uint64_t unpacked = 0, packed = 0, missing = 0;
        std::string least{}, most{};  // in stored form; empty where unknown
        bool has_bounds = false;
    };
    struct group {
        std::vector<chunk> chunks{};
        std::uint64_t rows = 0;
    };

    void end_group();
    [[nodiscard]] chunk write_chunk(column& it);
    // Writes a compressed page with its header; `dictionary`: of texts.
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

}  // namespace spotter::inline SPOTTER_ABI::detail
