// SPDX-License-Identifier: Apache-2.0
// DLPack tensors: a look-alike always, the real header where it is installed.
#include <spotter/ext/dlpack.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>

#if defined(SPOTTER_TEST_DLPACK)
#include <dlpack/dlpack.h>
#endif

#include <cstdint>
#include <vector>

using namespace spotter;

namespace look_alike {

enum device_kind { cpu = 1, cuda = 2, cuda_host = 3 };
struct device {
    device_kind device_type = cpu;
    std::int32_t device_id = 0;
};
struct element_type {
    std::uint8_t code = 2;
    std::uint8_t bits = 32;
    std::uint16_t lanes = 1;
};
struct tensor {
    void* data = nullptr;
    look_alike::device device{};
    std::int32_t ndim = 0;
    element_type dtype{};
    std::int64_t* shape = nullptr;
    std::int64_t* strides = nullptr;
    std::uint64_t byte_offset = 0;
};
struct managed {
    tensor dl_tensor{};
    void* manager_ctx = nullptr;
    void (*deleter)(managed*) = nullptr;
};

}  // namespace look_alike

namespace {

struct memory {
    std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7};
    std::int64_t shape[9] = {2, 3};
    std::int64_t strides[9] = {3, 1};

    look_alike::tensor tensor() {
        look_alike::tensor it;
        it.data = values.data();
        it.ndim = 2;
        it.shape = shape;
        return it;
    }
};

}  // namespace

TEST_CASE("a tensor is taken without strides, with strides, and from an offset") {
    memory m;
    auto it = m.tensor();
    tensor_ref view = as_tensor(it);
    CHECK(view.refused == refusal::none);
    CHECK(view.type == dtype::f32);
    CHECK(view.shape == extents{2, 3});
    CHECK(view.values.f32[5] == 5);
    it.strides = m.strides;
    CHECK(as_tensor(it).layout == order::row_major);
    m.strides[0] = 1;
    m.strides[1] = 2;
    CHECK(as_tensor(it).layout == order::column_major);
    m.strides[0] = 4;
    m.strides[1] = 1;
    CHECK(as_tensor(it).refused == refusal::not_contiguous);
    it.strides = nullptr;
    it.byte_offset = 2 * sizeof(float);
    CHECK(as_tensor(it).values.f32[0] == 2);
    it.byte_offset = 3;
    CHECK(as_tensor(it).refused == refusal::not_contiguous);
    look_alike::managed const owner{m.tensor()};
    CHECK(as_tensor(owner).shape == extents{2, 3});
    it.byte_offset = 0;
    it.ndim = 0;
    CHECK(as_tensor(it).shape == extents{});
    CHECK(as_tensor(it).count == 1);
}

TEST_CASE("what cannot be read is refused with a reason") {
    memory m;
    auto it = m.tensor();
    it.device.device_type = look_alike::cuda;
    CHECK(as_tensor(it).refused == refusal::other_device);
    CHECK(name_of(as_tensor(it).refused) == "other_device");
    it.device.device_type = look_alike::cpu;
    it.dtype.lanes = 4;
    CHECK(as_tensor(it).refused == refusal::unknown_element);
    CHECK(name_of(as_tensor(it).refused) == "unknown_element");
    it.dtype.lanes = 1;
    it.ndim = 9;
    CHECK(as_tensor(it).refused == refusal::rank_too_deep);
    it.ndim = 2;
    it.data = nullptr;
    CHECK(as_tensor(it).refused == refusal::null);
    m.shape[0] = 0;
    CHECK(as_tensor(it).refused == refusal::none);
    CHECK(as_tensor(it).count == 0);

    memory other;
    it = other.tensor();
    hook watch{plan{}, non_finite{}};
    it.device.device_type = look_alike::cuda_host;  // page-locked memory, readable by the processor
    (void)watch.step(train(0), "w"_t = it);
    CHECK(watch.health().refused == 0);
    it.device.device_type = look_alike::cuda;
    (void)watch.step(train(1), "w"_t = it);
    CHECK(watch.health().refused == 1);
}

TEST_CASE("every type of element has its dtype") {
    struct row {
        std::uint8_t code, bits;
        dtype type;
    };
    constexpr row rows[] = {{0, 8, dtype::i8},       {0, 16, dtype::i16},    {0, 32, dtype::i32},
                            {0, 64, dtype::i64},     {1, 8, dtype::u8},      {1, 16, dtype::u16},
                            {1, 32, dtype::u32},     {1, 64, dtype::u64},    {2, 16, dtype::f16},
                            {2, 32, dtype::f32},     {2, 64, dtype::f64},    {4, 16, dtype::bf16},
                            {5, 64, dtype::c64},     {5, 128, dtype::c128},  {6, 8, dtype::boolean},
                            {10, 8, dtype::f8_e4m3}, {12, 8, dtype::f8_e5m2}};
    alignas(16) static std::uint8_t blank[64] = {};
    memory m;
    for (row const& each : rows) {
        auto it = m.tensor();
        it.data = blank;
        it.ndim = 1;
        it.dtype.code = each.code;
        it.dtype.bits = each.bits;
        CHECK(as_tensor(it).type == each.type);
        CHECK(as_tensor(it).refused == refusal::none);
    }
    constexpr row unknown[] = {{3, 64, {}}, {2, 8, {}},  {2, 128, {}}, {4, 32, {}}, {0, 4, {}},
                               {7, 8, {}},  {11, 8, {}}, {17, 4, {}},  {99, 8, {}}};
    for (row const& each : unknown) {
        auto it = m.tensor();
        it.dtype.code = each.code;
        it.dtype.bits = each.bits;
        CHECK(as_tensor(it).refused == refusal::unknown_element);
    }
}

TEST_CASE("the installed header's tensors are tensors") {
#if defined(SPOTTER_TEST_DLPACK)
    std::vector<double> values{1, 2, 3, 4};
    std::int64_t sizes[] = {2, 2}, steps[] = {1, 2};
    DLManagedTensor owner{};
    owner.dl_tensor.data = values.data();
    owner.dl_tensor.device = {kDLCPU, 0};
    owner.dl_tensor.ndim = 2;
    owner.dl_tensor.dtype = {kDLFloat, 64, 1};
    owner.dl_tensor.shape = sizes;
    owner.dl_tensor.strides = steps;
    CHECK(as_tensor(owner).layout == order::column_major);
    CHECK(as_tensor(owner.dl_tensor).type == dtype::f64);
    owner.dl_tensor.device.device_type = kDLROCM;
    CHECK(as_tensor(owner).refused == refusal::other_device);
#else
    SPOTTER_SKIP("dlpack/dlpack.h is not installed");
#endif
}
