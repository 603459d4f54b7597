// SPDX-License-Identifier: Apache-2.0
// Several tensors in one .npz: the zip's fields, and how Python's zipfile and NumPy read it.
#include <tests/export/numpy.hpp>

#include <spotter/export/crc32.hpp>
#include <spotter/workbench/npy.hpp>

#include <cstring>

using namespace spotter;
using namespace spotter_test;

namespace {

// A sink that keeps the bytes.
struct keeper {
    std::vector<char>* bytes;
    error operator()(std::span<std::byte const> more) const {
        auto const* const at = reinterpret_cast<char const*>(more.data());
        bytes->insert(bytes->end(), at, at + more.size());
        return {};
    }
};

std::vector<char> two_tensors(zip64 wide) {
    float const weights[] = {1, 2, 3, 4, 5, 6};
    std::int32_t const label = 7;
    std::vector<char> file;
    npz_writer writer{keeper{&file}, small_floats::bits, wide};
    CHECK(!writer.add("fc1/w", view_of(weights, {2, 3})));
    CHECK(!writer.add("l\xC3\xA4"
                      "bel",
                      view_of(&label, {})));
    CHECK(!writer.finish());
    CHECK(writer.bytes() == file.size());
    return file;
}
std::uint32_t word_at(std::vector<char> const& file, std::size_t at) {
    std::uint32_t word = 0;
    std::memcpy(&word, file.data() + at, sizeof word);
    return word;
}

constexpr char ask_all[] = "import numpy, sys, zipfile\n"
                           "z = zipfile.ZipFile(sys.argv[1])\n"
                           "assert z.testzip() is None\n"
                           "x = numpy.load(sys.argv[1], allow_pickle=False)\n"
                           "print([(k, x[k].tolist()) for k in x.files])\n";
constexpr char reported_all[] = "[('fc1/w', [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), ('l\xC3\xA4"
                                "bel', 7)]\n";

}  // namespace

TEST_CASE("CRC-32 has its check value, in one piece or in two of any length") {
    char const digits[] = "123456789";
    auto const bytes = std::as_bytes(std::span{digits, 9});
    CHECK(crc32(bytes) == 0xCBF43926U);
    CHECK(crc32({}) == 0);
    std::vector<std::uint8_t> many(1000);
    for (std::size_t i = 0; i < many.size(); ++i) { many[i] = static_cast<std::uint8_t>(i * 7 + i / 13); }
    auto const all = std::as_bytes(std::span{many});
    for (std::size_t cut = 0; cut < 40; ++cut) { CHECK(crc32(all.subspan(cut), crc32(all.first(cut))) == crc32(all)); }
}

TEST_CASE("an npz is a stored zip: local headers, directory, end, in this order and without zip64 fields") {
    std::vector<char> const file = two_tensors(zip64::where_needed);
    CHECK(word_at(file, 0) == 0x04034B50);
    CHECK(word_at(file, 18) == 128 + 24);  // the first entry's size
    CHECK(std::string(file.data() + 30, 9) == "fc1/w.npy");
    CHECK(word_at(file, file.size() - 22) == 0x06054B50);
    std::size_t const directory = word_at(file, file.size() - 6);
    CHECK(word_at(file, directory) == 0x02014B50);
    CHECK(file[directory + 10] == 0);                              // stored
    CHECK(word_at(file, file.size() - 14) == ((2U << 16U) | 2U));  // entries on this disk and in total
    CHECK(two_tensors(zip64::where_needed) == file);               // the bytes do not depend on the time of writing
}

TEST_CASE("a name once, a failed sink for good, and a tensor without values not at all") {
    std::vector<char> file;
    float const one = 1;
    npz_writer writer{keeper{&file}};
    CHECK(!writer.add("x", view_of(&one, {})));
    CHECK(writer.add("x", view_of(&one, {})).code == errc::exists);
    CHECK(writer.add("y", tensor_ref{}).code == errc::no_payload);
    CHECK(writer.add(std::string(70000, 'n'), view_of(&one, {})).code == errc::bad_config);
    CHECK(!writer.finish());

    int calls = 0;
    npz_writer failing{[&](std::span<std::byte const>) -> error {
        ++calls;
        return {errc::disk_full, "full"};
    }};
    CHECK(failing.add("x", view_of(&one, {})).code == errc::disk_full);
    CHECK(failing.add("y", view_of(&one, {})).code == errc::disk_full);
    CHECK(failing.finish().code == errc::disk_full);
    CHECK(calls == 1);
}

TEST_CASE("NumPy and zipfile read an npz, with and without zip64 fields") {
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    temporary_folder const folder;
    for (zip64 wide : {zip64::where_needed, zip64::always}) {
        write_file(folder / "x.npz", two_tensors(wide));
        CHECK(ask_python(python, folder / "", folder / "x.npz", ask_all) == reported_all);
    }
}

TEST_CASE("more entries than a plain zip can count") {
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    temporary_folder const folder;
    std::vector<char> file;
    npz_writer writer{keeper{&file}};
    for (std::uint32_t i = 0; i < 66'000; ++i) { REQUIRE(!writer.add(std::to_string(i), view_of(&i, {}))); }
    CHECK(!writer.finish());
    write_file(folder / "many.npz", file);
    CHECK(ask_python(python, folder / "", folder / "many.npz",
                     "import numpy, sys\nx = numpy.load(sys.argv[1])\nprint(len(x.files), int(x['65999']))\n") ==
          "66000 65999\n");
}
