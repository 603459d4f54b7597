// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for the bodies beside xgboost.hpp: reads a document from XGBoost, as text or as UBJSON, value by value,
// with the path to each.
#pragma once

#include <spotter/config.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// The callbacks of nlohmann's parser, with limits, since a damaged document could grow without end. `Reader` derives
// from it and redefines those functions at its end that it needs.
template <class Reader>
class document_reader {
public:
    using json = nlohmann::json;

    // False where the document is malformed, truncated, or nested deeper than any document of XGBoost.
    [[nodiscard]] bool read(std::string_view document, json::input_format_t format) {
        values_left_ = document.size();  // each takes at least a byte; in UBJSON ten bytes can announce any number of
                                         // nulls
        return json::sax_parse(document.begin(), document.end(), static_cast<Reader*>(this), format);
    }

    bool null() { return next(); }
    bool boolean(bool) { return next(); }
    bool binary(json::binary_t&) { return next(); }
    bool number_integer(json::number_integer_t value) { return number(static_cast<double>(value)); }
    bool number_unsigned(json::number_unsigned_t value) { return number(static_cast<double>(value)); }
    bool number_float(json::number_float_t const& value, std::string const&) { return number(value); }
    bool string(std::string& value) {
        if (!next()) { return false; }
        self().take(std::string_view{value});
        return true;
    }
    bool start_object(std::size_t count) { return enter(count, false); }
    bool start_array(std::size_t count) { return enter(count, true); }
    bool key(std::string& name) {
        levels_.back().key = name;
        return true;
    }
    bool end_object() { return leave(); }
    bool end_array() { return leave(); }
    template <class Exception>
    bool parse_error(std::size_t, std::string const&, Exception const&) {
        return false;
    }

protected:
    // An object or array around the current value: the key of the value in the object, or the number of values in the
    // array so far, this one included.
    struct level {
        std::string key{};
        std::size_t values = 0;
        bool is_array = false;
    };

    [[nodiscard]] std::vector<level> const& levels() const noexcept { return levels_; }

    void take(double const&) {}
    void take(std::string_view) {}
    void entered(std::size_t) {}  // an object or array with this many values; -1: unknown
    void left() {}

private:
    static constexpr std::size_t deepest = 32;

    [[nodiscard]] Reader& self() noexcept { return static_cast<Reader&>(*this); }
    bool next() {
        if (values_left_ == 0) { return false; }
        --values_left_;
        if (!levels_.empty()) { ++levels_.back().values; }
        return true;
    }
    bool number(double const& value) {
        if (!next()) { return false; }
        self().take(value);
        return true;
    }
    bool enter(std::size_t count, bool is_array) {
        if (!next() || levels_.size() == deepest) { return false; }
        levels_.push_back({{}, 0, is_array});
        self().entered(count);
        return true;
    }
    bool leave() {
        levels_.pop_back();
        self().left();
        return true;
    }

    std::vector<level> levels_{};
    std::size_t values_left_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
