// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: looks a text over before it becomes a document.
#pragma once

#include <spotter/core/result.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// Looks a text over before it becomes a document: where it is no JSON, what is given twice, what is nested too deep.
class json_inspector {
public:
    using value = nlohmann::json;

    explicit json_inspector(std::string_view text) noexcept : text_{text} {}

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(value::number_integer_t) { return true; }
    bool number_unsigned(value::number_unsigned_t) { return true; }
    bool number_float(value::number_float_t, std::string const&) { return true; }
    bool string(std::string&) { return true; }
    bool binary(value::binary_t&) { return true; }
    bool start_object(std::size_t) { return open(); }
    bool key(std::string& name) {
        for (std::string const& each : keys_.back()) {
            if (each == name) {
                why_.code = errc::bad_config;
                why_.what << '"' << std::string_view{name}.substr(0, 60) << "\" is given twice in one object";
                return false;
            }
        }
        keys_.back().push_back(name);
        return true;
    }
    bool end_object() { return close(); }
    bool start_array(std::size_t) { return open(); }
    bool end_array() { return close(); }
    template <class Exception>
    bool parse_error(std::size_t position, std::string const& last, Exception const&) {
        if (why_) { return false; }
        std::size_t line = 1;
        for (char const letter : text_.substr(0, (std::min)(position, text_.size()))) {
            line += letter == '\n' ? 1 : 0;
        }
        why_.code = errc::bad_config;
        why_.what << "line " << line << " is no JSON, at \"" << std::string_view{last}.substr(0, 40)
                  << "\": a comma, a quote or a bracket too many or too few?";
        return false;
    }
    [[nodiscard]] error const& why() const noexcept { return why_; }

private:
    bool open() {
        keys_.emplace_back();
        if (keys_.size() <= 64) { return true; }
        why_ = {errc::bad_config, "the settings are nested more than 64 deep"};
        return false;
    }
    bool close() {
        keys_.pop_back();
        return true;
    }

    std::string_view text_;
    std::vector<std::vector<std::string>> keys_;
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
