// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: checksums, framing, messages, pictures.
#include <spotter/export/crc32.hpp>
#include <spotter/export/event_file.hpp>
#include <spotter/file/system.hpp>
#include <spotter/stat/summarize.hpp>

#include <tests/export/event_reader.hpp>

#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

std::span<std::byte const> bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text.data(), text.size()});
}
std::string letters(std::initializer_list<int> all) {
    std::string text;
    for (int const each : all) { text += static_cast<char>(each); }
    return text;
}

}  // namespace

TEST_CASE("event file: CRC-32C gives the values of RFC 3720, B.4, and of any part after another") {
    CHECK(crc32c(bytes_of("123456789")) == 0xE3069283U);
    CHECK(crc32c(bytes_of(std::string(32, '\0'))) == 0x8A9136AAU);
    CHECK(crc32c(bytes_of(std::string(32, '\xFF'))) == 0x62A8AB43U);
    std::string rising;
    for (int i = 0; i < 32; ++i) { rising += static_cast<char>(i); }
    CHECK(crc32c(bytes_of(rising)) == 0x46DD794EU);
    CHECK(crc32c({}) == 0);
    for (std::size_t cut = 0; cut <= rising.size(); ++cut) {
        std::string_view const text = rising;
        CHECK(crc32c(bytes_of(text.substr(cut)), crc32c(bytes_of(text.substr(0, cut)))) == 0x46DD794EU);
        CHECK(crc32c(bytes_of(text.substr(cut))) == slow_crc32c(text.substr(cut)));
    }
}

TEST_CASE("event file: fields of a message are those of protocol buffers") {
    CHECK(message{}.integer(1, 0).view() == letters({0x08, 0x00}));
    CHECK(message{}.integer(2, 300).view() == letters({0x10, 0xAC, 0x02}));
    CHECK(message{}.integer(16, ~std::uint64_t{0}).view() ==
          letters({0x80, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}));
    CHECK(message{}.number(1, 1.5).view() == letters({0x09, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F}));
    CHECK(message{}.small_number(2, 1.5F).view() == letters({0x15, 0, 0, 0xC0, 0x3F}));
    CHECK(message{}.nested(5, message{}.bytes(1, "ab")).view() == letters({0x2A, 4, 0x0A, 2, 'a', 'b'}));
    CHECK(message{}.packed(6, {0, 1}).view().size() == 2 + 16);
}

TEST_CASE("event file: a record is its length, its bytes, and a masked checksum of each") {
    std::string file;
    append_record("hello", file);
    REQUIRE(file.size() == 8 + 4 + 5 + 4);
    CHECK(file.substr(0, 8) == letters({5, 0, 0, 0, 0, 0, 0, 0}));
    CHECK(file.substr(12, 5) == "hello");
    temporary_folder const folder;
    write_file(folder / "x", {file.begin(), file.end()});
    CHECK(read_records(folder / "x") == std::vector<std::string>{"hello"});
}

TEST_CASE("event file: scalars are float32 and keep NaN and infinities [D24]") {
    for (double const each :
         {0.1, -0.0, 1e30, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
        message const value = scalar_summary("loss", each);
        CHECK(field_of(value.view(), 1).bytes == "loss");
        CHECK(field_of(value.view(), 2).bits == std::bit_cast<std::uint32_t>(static_cast<float>(each)));
    }
    message const nan = scalar_summary("x", std::numeric_limits<double>::quiet_NaN());
    CHECK((field_of(nan.view(), 2).bits & 0x7FC00000U) == 0x7FC00000U);
}

TEST_CASE("event file: a histogram has 64 bins from the least to the greatest value, or one where these are equal") {
    std::vector<double> const values{0, 1, 1, 4};
    distribution const spread = distribution_of(view_of(values, {4}), stats_mask::histogram, {});
    message const value =
        histogram_summary("h", spread, summarize(view_of(values, {4}), stats_mask::sum | stats_mask::sum_squares));
    std::string const made = field_of(value.view(), 5).bytes;
    CHECK(double_of(field_of(made, 1)) == 0);
    CHECK(double_of(field_of(made, 2)) == 4);
    CHECK(double_of(field_of(made, 3)) == 4);
    CHECK(double_of(field_of(made, 4)) == 6);
    CHECK(double_of(field_of(made, 5)) == 18);
    std::vector<double> limits(64), counts(64);
    REQUIRE(field_of(made, 6).bytes.size() == 64 * sizeof(double));
    std::memcpy(limits.data(), field_of(made, 6).bytes.data(), 64 * sizeof(double));
    std::memcpy(counts.data(), field_of(made, 7).bytes.data(), 64 * sizeof(double));
    CHECK(limits[0] == 0.0625);
    CHECK(limits[63] == 4);
    CHECK(counts[0] == 1);
    CHECK(counts[16] == 2);
    CHECK(counts[63] == 1);

    std::vector<double> const same(5, 2.5);
    message const flat = histogram_summary("h", distribution_of(view_of(same, {5}), stats_mask::histogram, {}), {});
    std::string const one = field_of(flat.view(), 5).bytes;
    CHECK(field_of(one, 6).bytes.size() == sizeof(double));
    CHECK(double_of(field_of(one, 1)) == 2.5);
    CHECK(double_of(field_of(one, 2)) == 2.5);
    CHECK(field_of(one, 4).bytes.empty());  // no sum was recorded, and the file has none
}

TEST_CASE("event file: texts are UTF-8, whatever they were") {
    std::string const tensor = field_of(text_summary("t", "a\xFFz\xC3\xA9").view(), 8).bytes;
    CHECK(field_of(tensor, 1).bits == 7);  // DT_STRING
    CHECK(field_of(tensor, 8).bytes == "a\\xffz\xC3\xA9");
}

TEST_CASE("event file: a folder with event files is left alone, but for our own with `replace`") {
    temporary_folder const folder;
    { event_file first{folder / "x", 1000, false, system_files()}; }
    CHECK(read_records(event_file_in(folder / "x")).size() == 1);
    event_file second{folder / "x", 2000, false, system_files()};
    error const why = second.flush();
    CHECK(why.code == errc::exists);
    CHECK(why.what.view().find("--force") != std::string_view::npos);
    {
        event_file third{folder / "x", 2000, true, system_files()};
        CHECK(!third.flush());
    }
    CHECK(event_file_in(folder / "x").ends_with("tfevents.0000002000.spotter"));
    std::filesystem::rename(event_file_in(folder / "x"), folder / "x/events.out.tfevents.1.host");
    event_file fourth{folder / "x", 3000, true, system_files()};
    CHECK(fourth.flush().code == errc::exists);  // it belongs to another program
    write_file(folder / "file", {'x'});
    event_file fifth{folder / "file", 3000, true, system_files()};
    CHECK(fifth.flush());
}
