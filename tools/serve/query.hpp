// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the objects that a request names.
#pragma once

#include "api.hpp"

#include <charconv>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace spotter_tool::live {

[[nodiscard]] inline std::string text_in(query const& asked, std::string const& name, std::string_view usual = {}) {
    auto const it = asked.find(name);
    return it == asked.end() ? std::string{usual} : it->second;
}
[[nodiscard]] inline std::uint64_t number_of(std::string_view text, std::uint64_t usual) noexcept {
    std::uint64_t value = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? value : usual;
}
// A request that is refused with status 400.
struct bad_request : std::runtime_error {
    using std::runtime_error::runtime_error;
};
[[nodiscard]] inline std::uint64_t number_in(query const& asked, std::string const& name, std::uint64_t usual) {
    std::string const text = text_in(asked, name);
    if (text.empty()) { return usual; }
    bool const is_number = text.size() < 20 && text.find_first_not_of("0123456789") == text.npos;
    if (!is_number) { throw bad_request{name + ": a whole number from 0 on, not \"" + text.substr(0, 60) + '"'}; }
    return number_of(text, usual);
}

// The run of "run=3", or of "3:17", where the client knows version 17. Kept open during the object's lifetime.
class asked_run {
public:
    asked_run(run_list& runs, query const& asked) : asked_run{runs, text_in(asked, "run")} {}
    asked_run(run_list& runs, std::string_view text) {
        std::size_t const cut = text.find(':');
        id_ = number_of(text.substr(0, cut), 0);
        version_ = cut == text.npos ? 0 : number_of(text.substr(cut + 1), 0);
        its_ = runs.run(id_, &name_);
    }

    [[nodiscard]] explicit operator bool() const noexcept { return its_ != nullptr; }
    [[nodiscard]] live_run* operator->() const noexcept { return its_.get(); }
    [[nodiscard]] live_run* get() const noexcept { return its_.get(); }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

private:
    std::uint64_t id_ = 0, version_ = 0;
    std::string name_{};
    std::shared_ptr<live_run> its_{};
};

// The name of the tensor that a document has as `shown`; `shown` where there is none.
[[nodiscard]] inline std::string name_in(spotter::trial const& run, std::string const& shown) {
    for (auto const& reader : run.readers()) {
        if (reader->index().find(shown) != nullptr) { return shown; }
    }
    for (auto const& reader : run.readers()) {
        for (auto const& each : reader->index().tensors()) {
            if (utf8_of(each->name) == shown) { return each->name; }
        }
    }
    return shown;
}

[[nodiscard]] inline answer gone() {
    return refusal(404, "there is no run with this id, or it cannot be shown: `runs` lists the ids");
}

}  // namespace spotter_tool::live
