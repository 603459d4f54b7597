// SPDX-License-Identifier: Apache-2.0
// The readers of .npy, .npz and .safetensors: files that NumPy writes, hand-made ones, damaged ones and hostile ones.
#include <tests/diff/files.hpp>

#include "diff/compare.hpp"
#include "diff/dump.hpp"
#include "diff/zlib_inflate.hpp"
#include <spotter/workbench/npy.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

inflate_function const inflate_or_null = inflate_here();
bool const has_zlib = inflate_or_null != nullptr;

std::vector<char> npy_file(std::string_view words, std::size_t value_bytes, char version = 1) {
    std::string file{"\x93NUMPY", 6};
    file += version;
    file += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) { file += static_cast<char>((words.size() >> (8 * i)) & 0xFFU); }
    file += words;
    file.append(value_bytes, '\1');
    return {file.begin(), file.end()};
}
errc code_of(std::string_view words, std::size_t value_bytes) {
    return read_npy(bytes_of(npy_file(words, value_bytes))).error().code;
}

// Two tensors, f32 [2, 2] and u8 [3].
constexpr std::string_view two_tensors =
    R"({"__metadata__": {"format": "pt"}, "b": {"dtype": "U8", "shape": [3], "data_offsets": [16, 19]},)"
    R"( "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}   )";

errc code_of_header(std::string_view header, std::size_t value_bytes) {
    std::vector<std::byte> const values(value_bytes);
    return read_safetensors(bytes_of(safetensors_file(header, values))).error().code;
}

}  // namespace

TEST_CASE("npy: every type, order and version that NumPy writes") {
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    temporary_folder const folder;
    std::string const out = ask_python(python, folder / "", folder / "", R"(
import numpy as np, sys
f = sys.argv[1]
x = np.arange(6).reshape(2, 3)
for t in ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16']:
    np.save(f + 'little_' + t.replace('?', 'b') + '.npy', x.astype('<' + t))
    np.save(f + 'big_' + t.replace('?', 'b') + '.npy', x.astype('>' + t))
    np.save(f + 'fortran_' + t.replace('?', 'b') + '.npy', np.asfortranarray(x.astype(t)))
for v in [(1, 0), (2, 0), (3, 0)]:
    np.lib.format.write_array(open(f + 'version_%d.npy' % v[0], 'wb'), x.astype('f4'), version=v)
np.save(f + 'scalar.npy', np.float32(2.5))
np.save(f + 'empty.npy', np.zeros((0, 5), 'f4'))
np.save(f + 'text.npy', np.bytes_(b'words'))
np.save(f + 'objects.npy', np.array([{}, None], dtype=object), allow_pickle=True)
np.save(f + 'dates.npy', np.array(['2020-01-01'], dtype='M8[D]'))
np.save(f + 'records.npy', np.zeros(2, dtype=[('x', 'f4'), ('y', 'i4')]))
print('written')
)");
    REQUIRE(out == "written\n");
    auto const read = [&](std::string const& name) { return read_npy(bytes_of(read_file(folder / (name + ".npy")))); };
    for (std::string const type :
         {"b", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"}) {
        INFO(type);
        recorded_value const little = read("little_" + type), big = read("big_" + type);
        recorded_value const fortran = read("fortran_" + type);
        REQUIRE(little);
        CHECK(little.shape() == extents{2, 3});
        CHECK(fortran.view().layout == order::column_major);
        CHECK(compare(little.view(), big.view()).value().same());
        CHECK(compare(little.view(), fortran.view()).value().same());
        float const expected[] = {0, 1, 2, 3, 4, 5};
        if (type[0] != 'c' && type != "b") { CHECK(compare(little.view(), view_of(expected, {2, 3})).value().same()); }
    }
    for (std::string const version : {"version_1", "version_2", "version_3"}) {
        CHECK(read(version).to<std::vector<float>>().value() == std::vector<float>{0, 1, 2, 3, 4, 5});
    }
    CHECK(read("scalar").to<float>().value() == 2.5F);
    CHECK(read("empty").shape() == extents{0, 5});
    CHECK(read("text").to<std::string>().value() == "words");
    CHECK(read("objects").error().code == errc::wrong_type);
    CHECK(std::string{read("objects").error().what.view()}.find("Python objects") != std::string::npos);
    CHECK(read("dates").error().code == errc::wrong_type);
    CHECK(read("records").error().code == errc::wrong_type);
}

TEST_CASE("npy: truncated, too long, overflowing or malformed is an error and takes no memory") {
    std::string const good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";
    std::vector<char> const whole = npy_file(good, 16);
    CHECK(read_npy(bytes_of(whole)));
    for (std::size_t size = 0; size < whole.size(); ++size) { CHECK_FALSE(read_npy(bytes_of(whole).first(size))); }
    CHECK(code_of(good, 17) == errc::corrupt);
    for (std::string_view const words :
         {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)", "[1, 2]",
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}",
          "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 2)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), 'x': 1}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} import os",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387908,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"}) {
        INFO(std::string{words});
        CHECK(code_of(words, 16) == errc::corrupt);
    }
    CHECK(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4) == errc::rank_too_deep);
    CHECK(read_npy(bytes_of(npy_file(good, 16, 4))).error().code == errc::unknown_version);
}

TEST_CASE("npz: what spotter and NumPy write, stored and deflated") {
    std::vector<char> file;
    auto const keep = [&](std::span<std::byte const> bytes) {
        auto const* const at = reinterpret_cast<char const*>(bytes.data());
        file.insert(file.end(), at, at + bytes.size());
        return error{};
    };
    for (zip64 const wide : {zip64::where_needed, zip64::always}) {
        file.clear();
        float const weights[] = {1, 2, 3};
        npz_writer writer{keep, small_floats::bits, wide};
        CHECK_FALSE(writer.add("fc1/w", view_of(weights, {3})));
        CHECK_FALSE(writer.finish());
        auto const entries = read_zip(bytes_of(file)).value();
        REQUIRE(entries.size() == 1);
        CHECK(entries[0].name == "fc1/w.npy");
        std::vector<std::byte> buffer;
        CHECK(read_npy(unzip(bytes_of(file), entries[0], buffer, nullptr).value()).to<std::vector<float>>().value() ==
              std::vector<float>{1, 2, 3});
        for (std::size_t size = 0; size < file.size(); ++size) { CHECK_FALSE(read_zip(bytes_of(file).first(size))); }
        std::vector<char> flipped = file;
        flipped[entries[0].begin + entries[0].bytes - 1] ^= 1;
        CHECK(unzip(bytes_of(flipped), entries[0], buffer, nullptr).error().code == errc::corrupt);
    }
    // With any byte of the archive changed: an error, or entries whose bytes are unchanged.
    for (std::size_t at = 0; at < file.size(); ++at) {
        std::vector<char> changed = file;
        changed[at] = static_cast<char>(changed[at] ^ 0xFF);
        auto const entries = read_zip(bytes_of(changed));
        if (!entries) { continue; }
        for (zip_entry const& each : *entries) {
            std::vector<std::byte> buffer;
            (void)unzip(bytes_of(changed), each, buffer, inflate_or_null);
        }
    }

    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    temporary_folder const folder;
    REQUIRE(ask_python(python, folder / "", folder / "", R"(
import numpy as np, sys
f = sys.argv[1]
x = np.arange(100000, dtype='f4')
np.savez(f + 'stored.npz', **{'b/w': x, 'a': x[:3].astype('f8')})
np.savez_compressed(f + 'packed.npz', **{'b/w': x, 'a': x[:3].astype('f8')})
print('written')
)") == "written\n");
    dump const stored = open_dump(folder / "stored.npz", nullptr, system_files()).value();
    CHECK(stored.index().names() == std::vector<std::string>{"b/w", "a"});
    CHECK(stored.at("b/w", train(0)).to<std::vector<float>>().value()[99999] == 99999);
    dump const none = open_dump(folder / "packed.npz", nullptr, system_files()).value();
    CHECK(none.at("a", train(0)).error().code == errc::bad_config);
    if (!has_zlib) { SPOTTER_SKIP("zlib was not found"); }
    dump const packed = open_dump(folder / "packed.npz", inflate_or_null, system_files()).value();
    CHECK(packed.at("b/w", train(0)).to<std::vector<float>>().value() ==
          stored.at("b/w", train(0)).to<std::vector<float>>().value());
    CHECK(packed.at("a", train(0)).to<std::vector<double>>().value() == std::vector<double>{0, 1, 2});
    std::vector<char> damaged = read_file(folder / "packed.npz");
    damaged[damaged.size() / 2] ^= 4;
    write_file(folder / "damaged.npz", damaged);
    dump const broken = open_dump(folder / "damaged.npz", inflate_or_null, system_files()).value();
    CHECK(broken.at("b/w", train(0)).error().code == errc::corrupt);
}

TEST_CASE("safetensors: tensors in the order of their values") {
    float const numbers[] = {1, 2, 3, 4};
    std::vector<std::byte> values(19, std::byte{7});
    std::memcpy(values.data(), numbers, sizeof numbers);
    std::vector<char> const file = safetensors_file(two_tensors, values);
    auto const found = read_safetensors(bytes_of(file)).value();
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "a");
    CHECK(found[0].like.shape == extents{2, 2});
    CHECK(read_values(bytes_of(file), found[0]).to<std::vector<float>>().value() == std::vector<float>{1, 2, 3, 4});
    CHECK(read_values(bytes_of(file), found[1]).to<std::vector<std::uint8_t>>().value() ==
          std::vector<std::uint8_t>{7, 7, 7});
    for (std::size_t size = 0; size < file.size(); ++size) {
        CHECK(read_safetensors(bytes_of(file).first(size)).error().code == errc::corrupt);
    }
    std::vector<char> const strange =
        safetensors_file(R"({"x": {"dtype": "F4", "shape": [2], "data_offsets": [0, 1]}})", std::vector<std::byte>(1));
    auto const unknown = read_safetensors(bytes_of(strange)).value();
    CHECK(read_values(bytes_of(strange), unknown[0]).error().code == errc::wrong_type);
}

TEST_CASE("safetensors: a header that lies, nests or repeats is an error") {
    for (std::string_view const header :
         {"",
          "{",
          "[]",
          "3",
          "\"x\"",
          "null",
          R"({"a": 5})",
          R"({"a": [5]})",
          R"({"a": {"b": {}}})",
          R"({"a": {}})",
          R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 15]}})",
          R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [1, 17]}})",
          R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [16, 0]}})",
          R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 18446744073709551615]}})",
          R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [4.0], "data_offsets": [0, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [4], "shape": [4], "data_offsets": [0, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [4]}})",
          R"({"a": {"dtype": 4, "shape": [4], "data_offsets": [0, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,4], "data_offsets": [0, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
          "a": {"dtype": "F32", "shape": [0], "data_offsets": [16, 16]}})",
          R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
          "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}})",
          R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})"}) {
        INFO(std::string{header});
        CHECK(code_of_header(header, 16) == errc::corrupt);
    }
    CHECK(code_of_header(std::string(1'000'000, '['), 0) == errc::corrupt);
    CHECK(code_of_header("{}", 0) == errc::none);
    std::vector<char> huge(8, '\x7F');
    CHECK(read_safetensors(bytes_of(huge)).error().code == errc::corrupt);
}

TEST_CASE(
    "an array with steps beside it is a number at each of them; without, or where they do not fit, it is a tensor") {
    temporary_folder const folder;
    std::vector<char> file;
    float const losses[] = {1, 2, 3}, other[] = {4, 5};
    std::uint64_t const steps[] = {7, 0, 5};
    std::int64_t const not_steps[] = {1, 2};
    auto const keep = [&](std::span<std::byte const> bytes) {
        auto const* const at = reinterpret_cast<char const*>(bytes.data());
        file.insert(file.end(), at, at + bytes.size());
        return error{};
    };
    npz_writer writer{keep};
    CHECK_FALSE(writer.add("b/loss@eval:steps", view_of(steps, {3})));
    CHECK_FALSE(writer.add("b/loss@eval", view_of(losses, {3})));
    CHECK_FALSE(writer.add("short@train", view_of(other, {2})));
    CHECK_FALSE(writer.add("short@train:steps", view_of(steps, {3})));
    CHECK_FALSE(writer.add("signed@train", view_of(other, {2})));
    CHECK_FALSE(writer.add("signed@train:steps", view_of(not_steps, {2})));
    CHECK_FALSE(writer.add("lonely@train", view_of(other, {2})));
    CHECK_FALSE(writer.add("x@eval:5", view_of(other, {2})));
    CHECK_FALSE(writer.finish());
    write_file(folder / "all.npz", file);
    dump const it = open_dump(folder / "all.npz", nullptr, system_files()).value();
    CHECK(it.index().steps() == ids{train(0), eval(0), eval(5), eval(7)});
    CHECK(it.at("b/loss", eval(7)).to<float>().value() == 1);
    CHECK(it.at("b/loss", eval(0)).to<float>().value() == 2);
    CHECK(it.at("b/loss", eval(5)).to<float>().value() == 3);
    CHECK(it.at("b/loss", eval(5)).shape() == extents{});
    CHECK(it.at("b/loss", eval(6)).error().code == errc::no_such_name);
    CHECK(it.at("b/loss", train(0)).error().code == errc::no_such_name);
    for (char const* each :
         {"short@train", "short@train:steps", "signed@train", "signed@train:steps", "lonely@train"}) {
        CHECK(it.at(each, train(0)));
    }
    CHECK(it.index().at(eval(5)).size() == 2);

    // The same step twice: in one array, in two arrays, and in two files.
    auto const refused = [&](std::vector<std::uint64_t> const& at, char const* beside) {
        file.clear();
        npz_writer again{keep};
        CHECK_FALSE(again.add("loss@train", view_of(losses, {3})));
        CHECK_FALSE(again.add("loss@train:steps", view_of(at, {3})));
        CHECK_FALSE(again.add(beside, view_of(losses, {})));
        CHECK_FALSE(again.finish());
        write_file(folder / "twice/a.npz", file);
        return open_dump(folder / "twice", nullptr, system_files()).error().code;
    };
    std::filesystem::create_directories(folder / "twice");
    CHECK(refused({1, 2, 3}, "loss@train:4") == errc::none);
    CHECK(refused({1, 2, 2}, "loss@train:4") == errc::exists);
    CHECK(refused({1, 2, 4}, "loss@train:4") == errc::exists);
    CHECK(refused({1, 2, 3}, "loss@train:4") == errc::none);
    write_file(folder / "twice/b.npz", file);
    CHECK(open_dump(folder / "twice", nullptr, system_files()).error().code == errc::exists);
}

TEST_CASE("which tensors at which step: lists are kept once, steps in any order") {
    step_index it;
    std::uint32_t const a = it.number_of("a"), b = it.number_of("b"), c = it.number_of("c");
    CHECK(it.number_of("b") == b);
    using list = std::vector<std::uint32_t>;
    auto const at = [&](step_id step) { return list{it.at(step).begin(), it.at(step).end()}; };
    for (std::uint64_t i = 0; i < 100; ++i) { it.put(train(i * 2), list{a, b}); }
    it.put(train(5), list{c});
    it.put(eval(4), list{b, c});
    it.put(train(8), list{a, c});
    it.put_missing(train(10), list{c, b});
    CHECK(at(train(0)) == list{a, b});
    CHECK(at(train(5)) == list{c});
    CHECK(at(train(8)) == list{b, a, c});
    CHECK(at(train(10)) == list{a, b, c});
    CHECK(at(eval(4)) == list{b, c});
    CHECK((at(train(3)).empty() && !it.has(train(3)) && it.has(train(5)) && !it.has(eval(5))));
    CHECK((it.has(train(10), c) && !it.has(train(12), c) && !it.has(train(3), a)));
    CHECK(it.steps().size() == 102);
    CHECK(it.steps()[100] == train(5));
    it.sort_steps_by_index();
    CHECK(ids(it.steps().begin(), it.steps().begin() + 6) ==
          ids{train(0), train(2), train(4), eval(4), train(5), train(6)});
}

TEST_CASE("a folder of files: steps from their names, a file without one is train:0, and a tensor is there once") {
    temporary_folder const folder;
    auto const put = [&](std::string const& path, std::vector<char> const& bytes) {
        std::filesystem::create_directories(std::filesystem::path{folder / path}.parent_path());
        write_file(folder / path, bytes);
    };
    std::vector<char> const npy = npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", 1);
    put("npy/fc1/w/train-10.npy", npy);
    put("npy/fc1/w/eval-2.npy", npy);
    put("npy/a%20b/%2E./train-2.npy", npy);
    put("npy/bias.npy", npy);
    put("npy/notes.txt", {'x'});
    dump const it = open_dump(folder / "npy/", nullptr, system_files()).value();
    CHECK(it.index().steps() == ids{train(0), train(2), eval(2), train(10)});
    CHECK_FALSE(it.is_ordered());
    CHECK(it.at("fc1/w", train(10)));
    CHECK(it.at("a b/..", train(2)));
    CHECK(it.at("bias", train(0)));
    CHECK(it.at("bias", train(1)).error().code == errc::no_such_name);

    std::vector<std::byte> const values(19);
    put("tensors/train-3.safetensors", safetensors_file(two_tensors, values));
    put("tensors/eval-0.safetensors", safetensors_file(two_tensors, values));
    dump const tensors = open_dump(folder / "tensors", nullptr, system_files()).value();
    CHECK(tensors.is_ordered());
    CHECK(tensors.index().steps() == ids{eval(0), train(3)});
    CHECK(tensors.index().names() == names_list{"a", "b"});

    put("tensors/again.safetensors", safetensors_file(two_tensors, values));
    CHECK(open_dump(folder / "tensors", nullptr, system_files()));
    put("tensors/train-0.safetensors", safetensors_file(two_tensors, values));
    CHECK(open_dump(folder / "tensors", nullptr, system_files()).error().code == errc::exists);
    std::filesystem::create_directories(folder / "empty");
    CHECK(open_dump(folder / "empty", nullptr, system_files()).error().code == errc::not_a_run);
    CHECK(open_dump(folder / "missing", nullptr, system_files()).error().code == errc::not_a_run);
    put("bad.npz", {'n', 'o'});
    CHECK(open_dump(folder / "bad.npz", nullptr, system_files()).error().code == errc::corrupt);
}
