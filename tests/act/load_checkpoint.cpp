// SPDX-License-Identifier: Apache-2.0
// What `save` wrote comes back into the net, and what does not fit changes nothing.
#include <spotter/checkpoints.hpp>
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

std::string file_of(std::string const& header, std::string const& values) {
    std::string bytes;
    for (unsigned shift = 0; shift < 64; shift += 8) { bytes += static_cast<char>(header.size() >> shift & 0xFFU); }
    return bytes + header + values;
}
void write(std::string const& path, std::string const& bytes) { std::ofstream{path, std::ios::binary} << bytes; }

struct two_layers {
    std::vector<float> w = std::vector<float>(6, 0.0F), grad = std::vector<float>(6, 0.0F);
    std::vector<double> b = std::vector<double>(3, 0.0);
    bool on = false;
    std::uint64_t drawn = 0;
    explicit two_layers(float from = 0) {
        for (std::size_t i = 0; i < w.size(); ++i) { w[i] = from + static_cast<float>(i), grad[i] = -from; }
        for (std::size_t i = 0; i < b.size(); ++i) { b[i] = static_cast<double>(from) + 0.1 * static_cast<double>(i); }
        on = from > 0, drawn = static_cast<std::uint64_t>(from);
    }
    bool operator==(two_layers const&) const = default;
};
template <class Visit>
void visit_tensors(two_layers const& it, Visit visit) {
    visit("fc1/w", view_of(it.w.data(), {2, 3}));
    visit("fc1/\"b\"\xC3\xA4", it.b);
    visit("grad/fc1/w", it.grad);
    visit("on", it.on);
    visit("drawn", it.drawn);
}

// A net that shows its weights in columns.
struct in_columns {
    std::vector<float> w = std::vector<float>(6, 0.0F);
};
template <class Visit>
void visit_tensors(in_columns const& it, Visit visit) {
    tensor_ref view = view_of(it.w.data(), {2, 3});
    view.layout = order::column_major;
    visit("fc1/w", view);
}

// A net that throws while it is shown.
struct throwing {
    std::vector<float> w = std::vector<float>(6, 0.0F);
    int what = 0;
};
template <class Visit>
void visit_tensors(throwing const& it, Visit visit) {
    visit("fc1/w", it.w);
    if (it.what == 1) { throw std::runtime_error{"the layer is gone"}; }
    if (it.what == 2) { throw 7; }
    if (it.what == 3) { throw std::bad_alloc{}; }
}

template <class... Tensors>
std::string saved(temporary_folder const& folder, checkpoint_options const& choices, Tensors const&... tensors) {
    hook watch{plan{}};
    (void)watch.step(train(0), "x"_t = 1.0F);
    checkpoints kept{folder / "kept", choices};
    REQUIRE(!kept.save(watch, train(0), tensors...));
    return kept.all().at(0).path;
}

}  // namespace

TEST_CASE("a net comes back as it was saved, and its gradients stay") {
    temporary_folder const folder;
    two_layers const before{5};
    float momentum = 0.5F;
    std::string const path = saved(folder, {}, before, "momentum"_t = momentum);
    two_layers after;
    momentum = 0;
    CHECK(!load_checkpoint(path, after, "momentum"_t = momentum));
    CHECK(momentum == 0.5F);
    CHECK(after.grad == two_layers{}.grad);
    after.grad = before.grad;
    CHECK(after == before);
    two_layers alone;
    CHECK(!load_checkpoint(path, alone));  // the file has one more
    CHECK(alone.w == before.w);
}

TEST_CASE("narrowed values are widened, and columns filled in their order") {
    temporary_folder const folder;
    dtype const as = GENERATE(dtype::f16, dtype::bf16, dtype::f32);
    two_layers const before{4};
    std::string const path = saved(folder, {.as = as}, before);
    two_layers after;
    CHECK(!load_checkpoint(path, after));
    CHECK(after.w == before.w);
    CHECK(after.b[2] == Approx(before.b[2]).epsilon(0.01));
    in_columns turned;
    CHECK(!load_checkpoint(path, turned));
    CHECK(turned.w == std::vector<float>{4, 7, 5, 8, 6, 9});
}

TEST_CASE("what does not fit is named, and nothing is written") {
    temporary_folder const folder;
    std::string const path = folder / "a.safetensors", values(24, '\1');
    auto const trouble = [&](std::string const& header, std::string const& those) {
        write(path, file_of(header, those));
        in_columns it;
        error const why = load_checkpoint(path, it);
        CHECK(it.w == in_columns{}.w);
        return why;
    };
    error const other = trouble(R"({"fc2/w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", values);
    CHECK(other.code == errc::no_such_name);
    CHECK(other.what.view() == "fc1/w is not in a.safetensors: another net was saved, or it has another name now");
    error const shape = trouble(R"({"fc1/w":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}})", values);
    CHECK(shape.code == errc::no_shape);
    CHECK(shape.what.view() == "fc1/w has the shape {3, 2} in the file, and {2, 3} in the program: make the net "
                               "of the size that was saved");
    error const type = trouble(R"({"fc1/w":{"dtype":"I32","shape":[2,3],"data_offsets":[0,24]}})", values);
    CHECK(type.code == errc::wrong_type);
    CHECK(type.what.view() == "fc1/w is I32 in the file, and F32 in the program");
    CHECK(trouble(R"({"fc1/w":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]}})", values + values).code ==
          errc::wrong_type);
    CHECK(trouble(R"({"fc1/w":{"dtype":"F4","shape":[2,3],"data_offsets":[0,24]}})", values).code == errc::wrong_type);
    CHECK(trouble(R"({"fc1/w":{"dtype":"F32","shape":[2,3],"data_offsets":[4,24]}})", values).code == errc::corrupt);
    CHECK(trouble(R"({"fc1/w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", values + "x").code ==
          errc::corrupt);
    for (char const* const header :
         {"", "{", "[]", R"({"fc1/w":{"dtype":"F32","shape":[2,3],"data_offsets":[24,0]}})",
          R"({"fc1/w":{"dtype":"F32","shape":[2,-3],"data_offsets":[0,24]}})", R"({"fc1/w":{"dtype":"F32"}})",
          R"({"fc1/w":7})", R"({"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}} x)", R"({"fc1/w\)",
          R"({"a":{"dtype":"U8","shape":[24],"data_offsets":[0,24]},)"
          R"("a":{"dtype":"U8","shape":[24],"data_offsets":[0,24]}})"}) {
        INFO(header);
        CHECK(trouble(header, values).code == errc::corrupt);
    }
    CHECK(!trouble(R"( { "__metadata__" : {"format":"pt"}, "fc1/w": {"shape": [2, 3], "data_offsets":[0, 24], )"
                   R"("dtype":"F32"}} )",
                   std::string(24, '\0')));
    in_columns it;
    CHECK(load_checkpoint("", it).code == errc::no_payload);
    CHECK(load_checkpoint(folder / "none", it).code == errc::not_a_run);
    CHECK(load_checkpoint(folder / "", it).code == errc::not_a_run);
}

TEST_CASE("a checkpoint that is cut off anywhere loads nothing") {
    temporary_folder const folder;
    std::string const whole = bytes_at(saved(folder, {}, two_layers{3}));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        write(folder / "cut", whole.substr(0, size));
        two_layers it;
        REQUIRE(load_checkpoint(folder / "cut", it).code == errc::corrupt);
        REQUIRE(it == two_layers{});
    }
}

TEST_CASE("a checkpoint with a changed bit in its header loads whole or not at all") {
    temporary_folder const folder;
    std::string const whole = bytes_at(saved(folder, {}, two_layers{3}));
    unsigned refused = 0;
    for (std::size_t bit = 0; bit < 8 * (whole.size() - 76); ++bit) {
        std::string changed = whole;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        write(folder / "changed", changed);
        two_layers it;
        if (load_checkpoint(folder / "changed", it)) {
            ++refused;
            REQUIRE(it == two_layers{});
        }
    }
    CHECK(refused > 1000);
}

namespace {

struct made_anew {
    std::vector<float> w = std::vector<float>(4, 1);
};
template <class Visit>
void visit_tensors(made_anew const& it, Visit visit) {
    visit("fc1/w", std::vector<float>{it.w});
}

}  // namespace

TEST_CASE("a tensor that is made anew when it is shown cannot be filled") {
    temporary_folder const folder;
    made_anew it;
    std::string const path = saved(folder, {}, it);
    error const why = load_checkpoint(path, it);
    CHECK(why.code == errc::not_contiguous);
    CHECK(why.what.view() ==
          "fc1/w: it is not in packed memory of the program, so it cannot be filled; load it yourself");
}

TEST_CASE("a net that throws is reported as such, and not as missing memory") {
    temporary_folder const folder;
    hook watch{plan{}};
    checkpoints kept{folder / "kept"};
    throwing net;
    auto const [what, code, said] = GENERATE(table<int, errc, std::string>(
        {{1, errc::user_code_threw, "visit_tensors threw an exception. It says: the layer is gone"},
         {2, errc::user_code_threw, "visit_tensors threw an exception"},
         {3, errc::out_of_memory, ""}}));
    (void)watch.step(0, "x"_t = 1.0F);
    REQUIRE(!kept.save(watch, train(0), net));
    net.what = what;
    (void)watch.step(1, "x"_t = 1.0F);
    error const saved = kept.save(watch, train(1), net), loaded = load_checkpoint(kept.all().at(0).path, net);
    CHECK(saved.code == code);
    CHECK(loaded.code == code);
    if (!said.empty()) { CHECK((saved.what.view() == said && loaded.what.view() == said)); }
    net.what = 0;
    CHECK(!kept.save(watch, train(1), net));
}
