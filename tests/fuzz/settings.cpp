// SPDX-License-Identifier: Apache-2.0
// Fuzzer: any text as the settings of a plan. What is taken is written out and read again: the same plan.
#include <spotter/ext/json.hpp>

#include <cstdint>

using namespace spotter;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    result<dynamic_plan> const found = parse_plan({reinterpret_cast<char const*>(data), size});
    if (!found) {
        if (found.error().what.view().empty()) { __builtin_trap(); }
        return 0;
    }
    std::string const text = to_json(*found);
    result<dynamic_plan> const again = parse_plan(text);
    if (!again || !(*again == *found)) { __builtin_trap(); }
    for (std::uint64_t i = 0; i < 20; ++i) { (void)found->due(train(i)); }
    return 0;
}
