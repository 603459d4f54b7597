// SPDX-License-Identifier: Apache-2.0
// Command line, `merge`: merges the results of several `check --json --shard` into the result of one check.
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <fstream>
#include <iostream>
#include <map>
#include <utility>

namespace spotter_tool {

namespace {

using namespace spotter;

// The document of `check --json` in a file, or on standard input.
[[nodiscard]] result<json> read_document(std::string const& path) {
    error const wrong = error_of(errc::bad_config, "\"", path, "\" is no document of `spotter check --json`");
    std::ifstream file;
    if (path != "-") { file.open(path); }
    std::istream& in = path == "-" ? std::cin : file;
    if (!in) { return error_of(errc::not_a_run, "no file \"", path, "\""); }
    json document = json::parse(in, nullptr, false);
    bool const ours = document.is_object() && document.value("verb", "") == "check" && document.contains("runs") &&
                      document["runs"].is_array();
    if (!ours) { return wrong; }
    for (json const& each : document["runs"]) {
        if (!each.is_object() || !each.contains("code") || !each["code"].is_number_integer() ||
            !each.contains("text") || !each["text"].is_string()) {
            return wrong;
        }
    }
    return document;
}

}  // namespace

int merge(merge_options const& wanted) {
    json all = json::array();
    progress bar{"merge", {wanted.paths.size(), "documents"}};
    for (std::string const& path : wanted.paths) {
        auto document = read_document(path);
        if (!document) { return fail(document.error(), wanted.json, "merge", path); }
        for (json& each : (*document)["runs"]) { all.push_back(std::move(each)); }
        bar.advance(1);
    }
    auto const key = [](json const& it) {
        return std::pair{it.value("path", std::string{}), it.value("worker", std::uint32_t{0})};
    };
    std::multimap<std::pair<std::string, std::uint32_t>, json> sorted;  // documents with equal keys stay in order
    for (json& each : all) { sorted.emplace(key(each), std::move(each)); }
    all = json::array();
    for (auto& each : sorted) { all.push_back(std::move(each.second)); }
    exit_code code = fine;
    std::size_t ill = 0;
    for (json const& each : all) {
        auto const its = static_cast<exit_code>(each["code"].get<int>());
        code = stronger(code, its);
        ill += its == found ? 1 : 0;
    }
    if (wanted.json) {
        json document = document_of("check", "");
        document["runs"] = std::move(all);
        say_document(document);
    } else {
        for (json const& each : all) {
            if (each["code"].get<int>() != fine) { say(each["text"].get<std::string>()); }
        }
        say(records_line(all.size(), ill));
    }
    return code;
}

}  // namespace spotter_tool
