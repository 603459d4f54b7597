// SPDX-License-Identifier: Apache-2.0
// Tensors as .npy files: every element type, rank and order, and types that NumPy lacks.
#include <tests/export/numpy.hpp>

#include <spotter/workbench/npy.hpp>

#include <cstring>

using namespace spotter;
using namespace spotter_test;

namespace {

std::vector<char> letters_of(std::vector<std::byte> const& bytes) {
    std::vector<char> letters(bytes.size());
    std::memcpy(letters.data(), bytes.data(), bytes.size());
    return letters;
}
std::string dictionary(tensor_ref const& tensor, small_floats how = small_floats::bits) {
    std::string const header = npy_header(tensor, how);
    std::string const words = header.substr(10);
    return words.substr(0, words.find_last_of('}') + 1);
}

}  // namespace

TEST_CASE("a matrix of floats is the file that NumPy itself writes") {
    float const values[] = {1, 2, 3, 4, 5, 6};
    auto const file = to_npy(view_of(values, {2, 3})).value();
    std::string expected{"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 69};
    expected.append(127 - expected.size(), ' ');
    expected += '\n';
    REQUIRE(file.size() == 128 + sizeof values);
    CHECK(std::memcmp(file.data(), expected.data(), 128) == 0);
    CHECK(std::memcmp(file.data() + 128, values, sizeof values) == 0);
}

TEST_CASE("header: rank 0 to 8, empty axes, both orders; the values begin at a multiple of 64") {
    std::vector<double> const values(256);
    auto const words = [&](extents shape, order layout = order::row_major) {
        return dictionary(view_of(values.data(), shape, layout));
    };
    CHECK(words({}) == "{'descr': '<f8', 'fortran_order': False, 'shape': (), }");
    CHECK(words({7}) == "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }");
    CHECK(words({7}, order::column_major) == "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }");
    CHECK(words({3, 0}) == "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0), }");
    CHECK(words({4, 3}, order::column_major) == "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 3), }");
    CHECK(words({2, 2, 2, 2, 2, 2, 2, 2}) ==
          "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2, 2, 2, 2, 2, 2), }");
    for (std::uint64_t size = 1; size < 2'000'000'000'000'000ULL; size *= 10) {
        tensor_ref wide = view_of(values.data(), {1, 1});
        wide.shape = extents{size, size, size};
        std::string const header = npy_header(wide);
        CHECK(header.size() % 64 == 0);
        CHECK(header.back() == '\n');
        CHECK(static_cast<unsigned char>(header[8]) + 256U * static_cast<unsigned char>(header[9]) ==
              header.size() - 10);
    }
}

TEST_CASE("each element type has NumPy's name, and bf16 and f8 say that they are bits, or are widened") {
    struct row {
        dtype type;
        std::string_view letters;
    };
    constexpr row rows[] = {{dtype::boolean, "|b1"}, {dtype::i8, "|i1"},   {dtype::i16, "<i2"}, {dtype::i32, "<i4"},
                            {dtype::i64, "<i8"},     {dtype::u8, "|u1"},   {dtype::u16, "<u2"}, {dtype::u32, "<u4"},
                            {dtype::u64, "<u8"},     {dtype::f16, "<f2"},  {dtype::f32, "<f4"}, {dtype::f64, "<f8"},
                            {dtype::c64, "<c8"},     {dtype::c128, "<c16"}};
    for (row const& each : rows) {
        INFO(std::string{name_of(each.type)});
        for (small_floats how : {small_floats::bits, small_floats::widened}) {
            npy_type const type = npy_type_of(each.type, how);
            CHECK(type.letters == each.letters);
            CHECK(!type.is_bits);
            CHECK(!type.is_widened);
        }
    }
    for (dtype each : {dtype::bf16, dtype::f8_e4m3, dtype::f8_e5m2}) {
        CHECK(npy_type_of(each).letters == (each == dtype::bf16 ? "<u2" : "|u1"));
        CHECK(npy_type_of(each).is_bits);
        CHECK(npy_type_of(each, small_floats::widened).letters == "<f4");
        CHECK(npy_type_of(each, small_floats::widened).is_widened);
    }
    CHECK(npy_type_of(dtype::text, small_floats::bits, 5).letters == "|S5");
    CHECK(npy_type_of(dtype::text).letters == "|S1");
    CHECK(npy_type_of(dtype::none).letters.empty());
}

TEST_CASE("widened: a bf16 and an f8 keep their value, infinity and NaN") {
    bf16 const values[] = {{0x3F80}, {0xC000}, {0x7F80}, {0x7FC0}, {0x0001}};
    auto const file = to_npy(view_of(values, {5}), small_floats::widened).value();
    REQUIRE(file.size() == 128 + 5 * 4);
    std::uint32_t bits[5];
    std::memcpy(bits, file.data() + 128, sizeof bits);
    CHECK(std::vector<std::uint32_t>(bits, bits + 5) ==
          std::vector<std::uint32_t>{0x3F800000, 0xC0000000, 0x7F800000, 0x7FC00000, 0x00010000});
    CHECK(to_npy(view_of(values, {5})).value().size() == 128 + 5 * 2);
    f8_e4m3 const small[] = {{0x38}, {0x7F}};
    auto const wide = to_npy(view_of(small, {2}), small_floats::widened).value();
    std::memcpy(bits, wide.data() + 128, 8);
    CHECK(bits[0] == 0x3F800000);
    CHECK(classify(std::bit_cast<float>(bits[1])) == number_class::nan);
}

TEST_CASE("what has no values is an error, not an empty file") {
    CHECK(to_npy(tensor_ref{}).error().code == errc::no_payload);
    tensor_ref refused = view_of(static_cast<float const*>(nullptr), {3});
    CHECK(to_npy(refused).error().code == errc::not_contiguous);
    std::vector<float> const none;
    CHECK(to_npy(view_of(none.data(), {0})).value().size() == 128);
}

TEST_CASE("NumPy reads every type, order and rank as it was recorded") {
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    temporary_folder const folder;
    auto const reported = [&](tensor_ref const& tensor, small_floats how = small_floats::bits) {
        write_file(folder / "x.npy", letters_of(to_npy(tensor, how).value()));
        return ask_python(
            python, folder / "", folder / "x.npy",
            "import numpy, sys\n"
            "x = numpy.load(sys.argv[1], allow_pickle=False)\n"
            "print(x.dtype.str, x.shape, bool(x.flags.f_contiguous and not x.flags.c_contiguous), x.tolist())");
    };
    float const floats[] = {1, 2, 3, 4, 5, 6};
    CHECK(reported(view_of(floats, {2, 3})) == "<f4 (2, 3) False [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n");
    CHECK(reported(view_of(floats, {2, 3}, order::column_major)) ==
          "<f4 (2, 3) True [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]\n");
    CHECK(reported(view_of(floats, {1, 1, 1, 1, 1, 1, 1, 2})) ==
          "<f4 (1, 1, 1, 1, 1, 1, 1, 2) False [[[[[[[[1.0, 2.0]]]]]]]]\n");
    CHECK(reported(view_of(floats, {})) == "<f4 () False 1.0\n");
    CHECK(reported(view_of(floats, {0, 3})) == "<f4 (0, 3) False []\n");
    bool const flags[] = {true, false};
    CHECK(reported(view_of(flags, {2})) == "|b1 (2,) False [True, False]\n");
    std::int64_t const numbers[] = {-1, std::int64_t{1} << 62};
    CHECK(reported(view_of(numbers, {2})) == "<i8 (2,) False [-1, 4611686018427387904]\n");
    f16 const halves[] = {{0x3C00}, {0xFC00}};
    CHECK(reported(view_of(halves, {2})) == "<f2 (2,) False [1.0, -inf]\n");
    c64 const complexes[] = {{1, -2}};
    CHECK(reported(view_of(complexes, {1})) == "<c8 (1,) False [(1-2j)]\n");
    bf16 const brains[] = {{0x3F80}, {0xC000}};
    CHECK(reported(view_of(brains, {2})) == "<u2 (2,) False [16256, 49152]\n");
    CHECK(reported(view_of(brains, {2}), small_floats::widened) == "<f4 (2,) False [1.0, -2.0]\n");
    tensor_ref text = view_of(reinterpret_cast<std::uint8_t const*>("adam"), {4});
    text.type = dtype::text;
    CHECK(reported(text) == "|S4 () False b'adam'\n");
    text.count = 0, text.shape = extents{0};
    CHECK(reported(text) == "|S1 () False b''\n");
}
