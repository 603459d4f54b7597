// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: plans in SageMaker Debugger's form.
#pragma once

#include <spotter/core/nearest_word.hpp>
#include <spotter/core/result.hpp>
#include <spotter/ext/json/expression_reader.hpp>
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

    [[nodiscard]] static bool is_one(json const& root) noexcept {
        for (char const* key : {"HookParameters", "CollectionConfigurations", "LocalPath", "S3OutputPath", "S3Path"}) {
            if (root.contains(key)) { return true; }
        }
        return false;
    }

    [[nodiscard]] result<dynamic_plan> read(json const& root) {
        for (auto const& [key, value] : root.items()) {
            if (auto const wrong = wrong_with(key, value); !wrong.view().empty()) { return bad(key, wrong); }
        }
        setting_group hook{};
        if (auto const it = root.find("HookParameters"); it != root.end() && it->is_object()) {
            hook.settings = flat(*it);
        }
        std::vector<setting_group> collections;
        if (auto const it = root.find("CollectionConfigurations"); it != root.end()) {
            for (json const& each : *it) {
                setting_group& group = collections.emplace_back();
                if (error const why = read_collection(each, group)) { return why; }
            }
        }
        return read_smdebug(hook, collections, expression_matcher());
    }

private:
    // Why the value of a key is refused; empty if it is not.
    [[nodiscard]] static text<232> wrong_with(std::string_view key, json const& value) noexcept {
        auto const unless = [](bool fine, std::string_view why) { return fine ? text<232>{} : text<232>{why}; };
        if (key == "LocalPath" || key == "S3OutputPath" || key == "S3Path") {
            return unless(value.is_string(), "must be a text");
        }
        if (key == "HookParameters") { return unless(value.is_object() || value.is_null(), "must be an object"); }
        if (key == "CollectionConfigurations") { return unless(value.is_array() || value.is_null(), "must be a list"); }
        return nearest_word{key, {"LocalPath", "S3OutputPath", "S3Path", "HookParameters", "CollectionConfigurations"}}
            .sentence("unknown key");
    }

    [[nodiscard]] error read_collection(json const& it, setting_group& into) {
        auto const name = it.is_object() ? it.find("CollectionName") : it.end();
        if (name == it.end() || !name->is_string()) {
            return bad("CollectionConfigurations",
                       "each must be an object with CollectionName, a text, and CollectionParameters");
        }
        into.name = *name->get_ptr<json::string_t const*>();
        for (auto const& [key, value] : it.items()) {
            if (key == "CollectionName") { continue; }
            if (key != "CollectionParameters") {
                nearest_word const there{key, {"CollectionName", "CollectionParameters"}};
                return bad(key, there.sentence("unknown key"), into.name);
            }
            if (!value.is_object() && !value.is_null()) { return bad(key, "must be an object", into.name); }
            if (value.is_object()) { into.settings = flat(value); }
        }
        return {};
    }

    [[nodiscard]] static error bad(std::string_view key, std::string_view what, std::string_view name = {}) noexcept {
        error why{errc::bad_config, key.substr(0, 60)};
        if (!name.empty()) { why.what << " of collection \"" << name.substr(0, 40) << '"'; }
        why.what << ": " << what;
        return why;
    }

    [[nodiscard]] std::span<setting const> flat(json const& object) {
        std::vector<setting>& all = settings_.emplace_back();
        for (auto const& item : object.items()) { all.push_back(flat(item.key(), item.value())); }
        return all;
    }

    [[nodiscard]] setting flat(std::string const& key, json const& value) {
        setting it{texts_.emplace_back(key), {}, setting_kind::other};
        std::string& shown = texts_.emplace_back();
        auto const write = [&](json const& one) {
            if (std::string const* const text = one.get_ptr<json::string_t const*>()) {
                shown += *text;
            } else if (one.is_primitive() && !one.is_null()) {
                shown += one.dump();
            } else {
                shown += one.is_null() ? "null" : "{...}";
                return false;
            }
            return true;
        };
        if (value.is_array()) {
            it.kind = setting_kind::list;
            for (json const& each : value) {
                if (!shown.empty()) { shown += ','; }
                if (!write(each)) { it.kind = setting_kind::other; }
            }
        } else if (write(value)) {
            it.kind = value.is_string()    ? setting_kind::text
                      : value.is_boolean() ? setting_kind::boolean
                                           : setting_kind::number;
        }
        it.value = shown;
        return it;
    }

    std::deque<std::string> texts_;
    std::deque<std::vector<setting>> settings_;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
