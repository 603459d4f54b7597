// SPDX-License-Identifier: Apache-2.0
// The command line of all studies: the data files first, then options.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace studies {

struct arguments {
    std::vector<std::string> data{};  // paths, in the order of the study's usage
    std::vector<std::string> own{};   // options of this study only, as given: "--tool=…"
    bool quick = false;               // a smaller study that makes the same claims
    bool plain = false;               // one short training that prints its parameters and ignores findings
    std::uint64_t seed = 0;           // the first seed that the study uses
    std::string out{};                // the folder for records and tables

    // The text after `--name=` among the study's own options.
    [[nodiscard]] std::optional<std::string> choice(std::string_view name) const {
        for (std::string_view each : own) {
            if (each.starts_with(name) && each.substr(name.size()).starts_with("=")) {
                return std::string{each.substr(name.size() + 1)};
            }
        }
        return std::nullopt;
    }
};

inline constexpr std::size_t any_number = 0;  // number of files, at least one

// Returns nothing, and prints the usage on standard error, when the command line is invalid: a number of files other
// than `files`, or an option that is neither common to all studies nor begins with one of `own` ("--tool").
[[nodiscard]] inline std::optional<arguments> parse(int count, char** given, std::string_view study,
                                                    std::string_view usage, std::size_t files,
                                                    std::vector<std::string_view> const& own = {}) {
    arguments result;
    result.out = "runs/" + std::string{study};
    bool understood = true;
    for (int i = 1; i < count; ++i) {
        std::string_view const each = given[i];
        if (each == "--quick") {
            result.quick = true;
        } else if (each == "--plain") {
            result.plain = true;
        } else if (each.starts_with("--out=") && each.size() > 6) {
            result.out = each.substr(6);
        } else if (each.starts_with("--seed=")) {
            auto const [end, error] = std::from_chars(each.data() + 7, each.data() + each.size(), result.seed);
            understood = understood && error == std::errc{} && end == each.data() + each.size();
        } else if (!each.starts_with("--")) {
            result.data.emplace_back(each);
        } else {
            bool known = false;
            for (std::string_view name : own) {
                known = known || each == name || (each.starts_with(name) && each[name.size()] == '=');
            }
            understood = understood && known;
            result.own.emplace_back(each);
        }
    }
    if (understood && (files == any_number ? !result.data.empty() : result.data.size() == files)) { return result; }
    std::fprintf(stderr, "usage: study_%.*s %.*s[--quick] [--plain] [--seed=N] [--out=FOLDER]\n",
                 static_cast<int>(study.size()), study.data(), static_cast<int>(usage.size()), usage.data());
    return std::nullopt;
}

}  // namespace studies
