// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: plans in SageMaker Debugger's form.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/plan/smdebug.hpp>

#include <nlohmann/json.hpp>

#include <deque>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// Reads SageMaker Debugger's form into texts for read_smdebug.
class json_smdebug_reader {
public:
    using json = nlohmann::json;

    [[nodiscard]] static bool is_one(json const& root) noexcept;
    [[nodiscard]] result<dynamic_plan> read(json const& root);

private:
    // Why the value of a key is refused; empty if it is not.
    [[nodiscard]] static text<232> wrong_with(std::string_view key, json const& value) noexcept;
    [[nodiscard]] error read_collection(json const& it, setting_group& into);
    [[nodiscard]] static error bad(std::string_view key, std::string_view what, std::string_view name = {}) noexcept;
    [[nodiscard]] std::span<setting const> flat(json const& object);
    [[nodiscard]] setting flat(std::string const& key, json const& value);

    std::deque<std::string> texts_;
    std::deque<std::vector<setting>> settings_;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/ext/json/smdebug_reader.ipp>
#endif
