// SPDX-License-Identifier: Apache-2.0
// The bodies of inspector.hpp.
#pragma once

#include <spotter/ext/json/inspector.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

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

}  // namespace spotter::inline SPOTTER_ABI::detail
