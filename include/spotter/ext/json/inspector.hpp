// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: checks a text before it is parsed into a document.
#pragma once

#include <spotter/core/result.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// Passes the characters of a text to a parser one by one, and counts lines.
class counted_letters {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;

    counted_letters(char const* at, std::size_t& line) noexcept : at_{at}, line_{&line} {}
    [[nodiscard]] char const& operator*() const noexcept { return *at_; }
    counted_letters& operator++() noexcept;
    counted_letters operator++(int) noexcept;
    friend bool operator==(counted_letters const& a, counted_letters const& b) noexcept { return a.at_ == b.at_; }

private:
    char const* at_;
    std::size_t* line_;
};

// Checks a text before it is parsed into a document. Refuses invalid JSON, duplicate keys, deep nesting, and what would
// need more memory or time than any settings do.
class json_inspector {
public:
    using value = nlohmann::json;
    static constexpr std::size_t deepest = 64, most_keys = 256, most_values = std::size_t{1} << 20U;

    explicit json_inspector(std::string_view text) noexcept : text_{text} {}

    [[nodiscard]] bool look();
    bool null() { return count(); }
    bool boolean(bool) { return count(); }
    bool number_integer(value::number_integer_t) { return count(); }
    bool number_unsigned(value::number_unsigned_t) { return count(); }
    bool number_float(value::number_float_t, std::string const&) { return count(); }
    bool string(std::string&) { return count(); }
    bool binary(value::binary_t&) { return count(); }
    bool start_object(std::size_t) { return open(); }
    bool key(std::string& name);
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
        if (text_.find_first_not_of(" \t\r\n") == text_.npos) {
            why_.what << "empty: there is no JSON in it";
            return false;
        }
        why_.what << "line " << line << " is no JSON, at \"" << std::string_view{last}.substr(0, 40)
                  << "\": a comma, a quote or a bracket too many or too few?";
        return false;
    }
    [[nodiscard]] error const& why() const noexcept { return why_; }

private:
    bool refuse(std::string_view what) noexcept;
    bool count() noexcept { return ++values_ <= most_values || refuse("the settings hold more than a million values"); }
    bool open();
    bool close();

    std::string_view text_;
    std::vector<std::vector<std::string>> keys_;
    std::size_t line_ = 1, values_ = 0;
    error why_{};
};

#if SPOTTER_BODIES

SPOTTER_BODY counted_letters& counted_letters::operator++() noexcept {
    *line_ += *at_++ == '\n' ? 1U : 0U;
    return *this;
}

SPOTTER_BODY counted_letters counted_letters::operator++(int) noexcept {
    counted_letters const before = *this;
    ++*this;
    return before;
}

SPOTTER_BODY bool json_inspector::look() {
    return value::sax_parse(counted_letters{text_.data(), line_}, counted_letters{text_.data() + text_.size(), line_},
                            this, nlohmann::json::input_format_t::json, true, true);
}

SPOTTER_BODY bool json_inspector::key(std::string& name) {
    if (keys_.back().size() == most_keys) { return refuse("an object has more than 256 keys"); }
    for (std::string const& each : keys_.back()) {
        if (each == name) {
            why_.code = errc::bad_config;
            why_.what << '"' << std::string_view{name}.substr(0, 60) << "\" is given twice in one object, in line "
                      << line_;
            return false;
        }
    }
    keys_.back().push_back(name);
    return true;
}

SPOTTER_BODY bool json_inspector::refuse(std::string_view what) noexcept {
    why_ = {errc::bad_config, "line "};
    why_.what << line_ << ": " << what;
    return false;
}

SPOTTER_BODY bool json_inspector::open() {
    keys_.emplace_back();
    if (keys_.size() > deepest) { return refuse("the settings are nested more than 64 deep"); }
    return count();
}

SPOTTER_BODY bool json_inspector::close() {
    keys_.pop_back();
    return true;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
