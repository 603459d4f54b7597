// SPDX-License-Identifier: Apache-2.0
// Fuzzer: any text as the settings of a plan, and as a pattern. An accepted plan is written and read again, and must be
// equal. A pattern must answer for any name within its promised number of steps.
#include <spotter/ext/json.hpp>

#include <cstdint>
#include <string>

using namespace spotter;

namespace {

// Names that patterns look for, and one that makes a naive matcher backtrack exponentially.
std::string const asked_names[] = {"", "loss", "conv0/relu_output:0", std::string(300, 'a') + "!"};

void match(std::string_view text) {
    detail::regex_program program;
    pattern_fault const fault = detail::regex_reader::read(text, program);
    pattern_fault const of_glob = glob{text}.fault();
    if (fault.at > text.size() || of_glob.at > text.size()) { __builtin_trap(); }
    for (std::string const& name : asked_names) {
        std::uint64_t looks = 0, steps = 0;
        if (fault.empty()) { (void)program.search(name, &looks); }
        if (of_glob.empty()) { (void)detail::glob_matcher::match(text, name, &steps); }
        if (looks > 2 * (program.size() + 1) * (name.size() + 1)) { __builtin_trap(); }
        if (steps > 2 * (text.size() + 1) * (name.size() + 1)) { __builtin_trap(); }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const input{reinterpret_cast<char const*>(data), size};
    match(input);
    result<dynamic_plan> const found = parse_plan(input);
    if (!found) {
        if (found.error().what.view().empty()) { __builtin_trap(); }
        return 0;
    }
    std::string const text = to_json(*found);
    result<dynamic_plan> const again = parse_plan(text);
    if (!again || !(*again == *found)) { __builtin_trap(); }
    for (std::uint64_t i = 0; i < 20; ++i) { (void)found->due(train(i)); }
    for (std::string const& name : asked_names) {
        tensor_info tensor;
        tensor.name = name;
        (void)found->members(tensor);
    }
    return 0;
}
