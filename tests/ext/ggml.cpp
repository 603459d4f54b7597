// SPDX-License-Identifier: Apache-2.0
// A struct with the members of ggml_tensor, and a backend buffer that may be device memory.
#include <cstddef>
#include <cstdint>

struct fake_ggml_buffer {
    bool host = true;
};
extern "C" inline bool ggml_backend_buffer_is_host(fake_ggml_buffer* buffer) { return buffer->host; }

enum fake_ggml_type {
    fake_f32 = 0,
    fake_f16 = 1,
    fake_q4_0 = 2,
    fake_q6_k = 14,
    fake_i8 = 24,
    fake_i16,
    fake_i32,
    fake_i64,
    fake_f64,
    fake_bf16 = 30
};

struct fake_ggml_tensor {
    fake_ggml_type type = fake_f32;
    fake_ggml_buffer* buffer = nullptr;
    std::int64_t ne[4] = {1, 1, 1, 1};
    std::size_t nb[4] = {4, 4, 4, 4};
    void* data = nullptr;
    char name[64] = {};
};

#include <spotter/ext/ggml.hpp>
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

using namespace spotter;

namespace {

fake_ggml_tensor tensor_of(std::vector<float>& values, std::int64_t fastest, std::int64_t next, std::int64_t slow = 1) {
    fake_ggml_tensor it;
    it.data = values.data();
    it.ne[0] = fastest;
    it.ne[1] = next;
    it.ne[2] = slow;
    for (std::size_t i = 1; i < 4; ++i) { it.nb[i] = it.nb[i - 1] * static_cast<std::size_t>(it.ne[i - 1]); }
    return it;
}

}  // namespace

TEST_CASE("axes are counted with the slowest first") {
    std::vector<float> values(24);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<float>(i); }
    CHECK(as_tensor(tensor_of(values, 4, 3, 2)).shape == extents{2, 3, 4});
    CHECK(as_tensor(tensor_of(values, 4, 3)).shape == extents{3, 4});
    CHECK(as_tensor(tensor_of(values, 4, 1)).shape == extents{4});
    CHECK(as_tensor(tensor_of(values, 1, 1)).shape == extents{1});
    tensor_ref const view = as_tensor(tensor_of(values, 4, 6));
    CHECK(view.layout == order::row_major);
    CHECK(view.values.f32[23] == 23);
}

TEST_CASE("a transposed tensor is column-major, one with gaps is refused") {
    std::vector<float> values(24);
    auto it = tensor_of(values, 4, 3);
    std::swap(it.ne[0], it.ne[1]);
    std::swap(it.nb[0], it.nb[1]);
    CHECK(as_tensor(it).layout == order::column_major);
    CHECK(as_tensor(it).shape == extents{4, 3});
    it = tensor_of(values, 3, 3);
    it.nb[1] = 4 * sizeof(float);
    CHECK(as_tensor(it).refused == refusal::not_contiguous);
    it.nb[1] = 13;
    CHECK(as_tensor(it).refused == refusal::not_contiguous);
    it = tensor_of(values, 3, 3);
    it.data = nullptr;
    CHECK(as_tensor(it).refused == refusal::null);
}

TEST_CASE("plain types are known, quantised ones are refused") {
    struct row {
        fake_ggml_type type;
        std::size_t bytes;
        dtype as;
    };
    std::vector<float> values(8);
    for (row const& each : {row{fake_f32, 4, dtype::f32}, row{fake_f16, 2, dtype::f16}, row{fake_bf16, 2, dtype::bf16},
                            row{fake_i8, 1, dtype::i8}, row{fake_i16, 2, dtype::i16}, row{fake_i32, 4, dtype::i32},
                            row{fake_i64, 8, dtype::i64}, row{fake_f64, 8, dtype::f64}}) {
        auto it = tensor_of(values, 2, 2);
        it.type = each.type;
        it.nb[0] = each.bytes;
        it.nb[1] = 2 * each.bytes;
        CHECK(as_tensor(it).type == each.as);
        CHECK(as_tensor(it).refused == refusal::none);
    }
    for (fake_ggml_type quantised : {fake_q4_0, fake_q6_k}) {
        auto it = tensor_of(values, 2, 2);
        it.type = quantised;
        CHECK(as_tensor(it).refused == refusal::unknown_element);
        CHECK(name_of(as_tensor(it).refused) == "unknown_element");
    }
}

TEST_CASE("memory of a device is refused") {
    std::vector<float> values(4);
    auto it = tensor_of(values, 2, 2);
    fake_ggml_buffer buffer;
    it.buffer = &buffer;
    CHECK(as_tensor(it).refused == refusal::none);
    buffer.host = false;
    CHECK(as_tensor(it).refused == refusal::other_device);
}

TEST_CASE("the evaluation callback observes every named node") {
    std::vector<float> values{1, 2, 3, 4};
    auto node = tensor_of(values, 2, 2);
    hook watch{plan{}, any("ffn_*", maximum > 3.5)};
    bool (*evaluate)(fake_ggml_tensor*, bool, void*) = observe_ggml<decltype(watch), fake_ggml_tensor>;
    watch.begin(train(0));
    CHECK_FALSE(evaluate(&node, true, &watch));
    CHECK(evaluate(&node, false, &watch));
    std::strcpy(node.name, "ffn_out-0");
    CHECK(evaluate(&node, true, &watch));
    CHECK(evaluate(&node, false, &watch));
    CHECK(watch.end());
    CHECK(watch.health().declared == 1);
}

TEST_CASE("what ggml names itself is passed over, and the names of its optimizer have their roles") {
    std::vector<float> values{1, 2, 3, 4};
    auto node = tensor_of(values, 2, 2);
    auto one = tensor_of(values, 1, 1);
    hook watch{plan{collection{"all", "*"}}};
    bool (*evaluate)(fake_ggml_tensor*, bool, void*) = observe_ggml<decltype(watch), fake_ggml_tensor>;
    watch.begin(train(0));
    for (char const* name : {"node_12", "leaf_3"}) {
        std::strcpy(node.name, name);
        CHECK_FALSE(evaluate(&node, true, &watch));
        CHECK(evaluate(&node, false, &watch));
    }
    for (char const* name : {"node_", "node_12b", "AdamW m for fc1.weight", "AdamW v for fc1.weight",
                             "loss_squared_error", "grad for fc1.weight"}) {
        std::strcpy(node.name, name);
        CHECK(evaluate(&node, true, &watch));
        CHECK(evaluate(&node, false, &watch));
    }
    std::strcpy(one.name, "loss_mean_squared_error");
    CHECK(evaluate(&one, false, &watch));
    (void)watch.end();
    std::vector<std::pair<std::string, role>> seen;
    watch.each_tensor([&](tensor_info const& each) { seen.emplace_back(each.name, each.role); });
    CHECK(seen == std::vector<std::pair<std::string, role>>{{"node_", role::other},
                                                            {"node_12b", role::other},
                                                            {"AdamW m for fc1.weight", role::optimizer},
                                                            {"AdamW v for fc1.weight", role::optimizer},
                                                            {"loss_squared_error", role::other},
                                                            {"grad for fc1.weight", role::gradient},
                                                            {"loss_mean_squared_error", role::loss}});
}

TEST_CASE("a tensor without memory is refused as a null pointer") {
    std::vector<float> values(4);
    auto node = tensor_of(values, 2, 2);
    node.data = nullptr;
    std::strcpy(node.name, "fc1.weight");
    hook watch{plan{collection{"all", "*"}}};
    watch.begin(train(0));
    CHECK(observe_ggml<decltype(watch)>(&node, false, &watch));
    (void)watch.end();
    CHECK(watch.health().first_error.code == errc::null_pointer);
}
