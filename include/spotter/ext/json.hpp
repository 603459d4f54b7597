// SPDX-License-Identifier: Apache-2.0
// Ext (L6): plans from settings files and back, with nlohmann_json 3.10 or later. Both forms are described in docs/settings.md.
#pragma once

#include <spotter/hook/guard.hpp>
#include <spotter/plan/smdebug.hpp>
#include <spotter/plan/write_json.hpp>
#if SPOTTER_EXCEPTIONS
#include <spotter/plan/regex.hpp>
#endif

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

[[nodiscard]] inline text_matcher const* expression_matcher() noexcept {
#if SPOTTER_EXCEPTIONS
    return &matcher_of<regex>;
#else
    return nullptr;
#endif
}

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

// spotter's own form.
class json_plan_reader {
public:
    using json = nlohmann::json;

    [[nodiscard]] result<dynamic_plan> read(json const& root) {
        for (auto const& [key, ignored] : root.items()) {
            if (key != "collections" && key != "fallback" && key != "dry_run") {
                refuse(key, "unknown key; allowed: collections, fallback, dry_run");
            }
        }
        if (auto const it = root.find("dry_run"); it != root.end()) {
            auto const* const asked_for = it->get_ptr<json::boolean_t const*>();
            if (asked_for == nullptr) { refuse("dry_run", "must be true or false"); }
            plan_.dry_run = asked_for != nullptr && *asked_for;
        }
        if (auto const it = root.find("fallback"); it != root.end()) { fallback(*it); }
        auto const list = root.find("collections");
        if (list == root.end() || !list->is_array()) {
            refuse("collections", "must be a list of collections (a file of SageMaker Debugger has HookParameters or "
                                  "CollectionConfigurations instead)");
        } else {
            for (json const& each : *list) { collection(each); }
        }
        if (!why_ && !plan_.whole()) { refuse("collections", "a plan holds at most 64 collections"); }
        if (why_) { return why_; }
        return std::move(plan_);
    }

private:
    using part = dynamic_plan::part;

    // The first thing that is wrong is told.
    void refuse(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept {
        if (why_) { return; }
        why_.code = code;
        why_.what << key.substr(0, 60);
        if (!name_.empty()) {
            why_.what << " of " << (name_ == "fallback" ? "" : "collection \"") << std::string_view{name_}.substr(0, 40)
                      << (name_ == "fallback" ? "" : "\"");
        }
        why_.what << ": " << what;
    }
    part refused(std::string_view key, std::string_view what, errc code = errc::bad_config) noexcept {
        refuse(key, what, code);
        return {};
    }
    [[nodiscard]] static std::string const* text_of(json const& it) noexcept {
        return it.get_ptr<json::string_t const*>();
    }
    [[nodiscard]] static bool whole(json const& it, std::uint64_t& number) noexcept {
        auto const* const found = it.get_ptr<json::number_unsigned_t const*>();
        number = found == nullptr ? 0 : *found;
        return found != nullptr;
    }

    void fallback(json const& it) {
        name_ = "fallback";
        if (!it.is_object()) { return refuse("fallback", "must be an object with when, what or both"); }
        for (auto const& [key, value] : it.items()) {
            if (key == "when") {
                fallback_when_ = policy(value);
                has_fallback_when_ = true;
            } else if (key == "what") {
                fallback_what_ = contents(value);
            } else {
                refuse(key, "unknown key; allowed: when, what");
            }
        }
        name_.clear();
    }
    void collection(json const& it) {
        name_.clear();
        if (!it.is_object()) { return refuse("collections", "each must be an object with name, pattern, when, what"); }
        auto const named = it.find("name");
        if (named == it.end() || text_of(*named) == nullptr) {
            return refuse("name", "each collection needs one, a text");
        }
        name_ = *text_of(*named);
        part which{}, when = has_fallback_when_ ? fallback_when_ : plan_.keep(always{});
        terms what = fallback_what_;
        if (it.find("pattern") == it.end() && !default_of(name_, which, when, what)) {
            refuse("pattern", "missing, and this is no default collection (losses metrics weights biases gradients "
                              "optimizer inputs outputs all ...): which tensors?");
        }
        for (auto const& [key, value] : it.items()) {
            if (key == "pattern") {
                which = pattern(value);
            } else if (key == "when") {
                when = policy(value);
            } else if (key == "what") {
                what = contents(value);
            } else if (key != "name") {
                refuse(key, "unknown key; allowed: name, pattern, when, what");
            }
        }
        if (!why_) { plan_.add(name_, which, when, what); }
        name_.clear();
    }

    // What a default collection keeps under the file's fallback.
    template <class Policy>
    [[nodiscard]] part in_place_of(Policy const& it) noexcept {
        return plan_.keep(it);
    }
    template <class Policy>
    [[nodiscard]] part in_place_of(by_default<Policy> const& it) noexcept {
        return has_fallback_when_ ? fallback_when_ : plan_.keep(it);
    }
    template <class Left, class Right>
    [[nodiscard]] part in_place_of(both<Left, Right> const& it) noexcept {
        part const left = in_place_of(it.left);
        return plan_.join(asked::both, left, in_place_of(it.right));
    }
    [[nodiscard]] bool default_of(std::string_view name, part& which, part& when, terms& what) noexcept {
        bool found = false;
        auto const look = [&](auto const&... each) {
            auto const take = [&](auto const& it) {
                if (found || it.name != name) { return; }
                found = true;
                which = plan_.keep(it.which);
                when = in_place_of(it.when);
                if (it.what_is_said) { what = it.what; }
            };
            (take(each), ...);
        };
        namespace d = defaults;
        look(d::losses, d::metrics, d::weights, d::biases, d::gradients, d::optimizer, d::inputs, d::outputs, d::all,
             d::boosted::feature_importance, d::boosted::average_shap, d::boosted::full_shap, d::boosted::trees,
             d::boosted::hyperparameters, d::boosted::predictions, d::boosted::labels);
        return found;
    }

    [[nodiscard]] terms contents(json const& it) {
        terms all = terms::none;
        auto const take = [&](json const& item) {
            std::string const* const text = text_of(item);
            terms found = terms::none;
            if (text != nullptr) {
                for (named_terms const& each : other_contents) {
                    if (*text == each.name) { found = each.what; }
                }
                each_statistic([&](statistic each) {
                    if (*text == each.name()) { found = stats(each); }
                });
            }
            if (!any(found)) {
                std::string const shown = item.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40);
                refuse("what", shown + " is none of payload, shape, minimum maximum mean stddev variance sum product "
                                       "l1 l2 (most also with _abs), zeros, zero_fraction, nonfinite");
            }
            all |= found;
        };
        if (!it.is_array()) { take(it); }
        if (it.is_array()) {
            for (json const& each : it) { take(each); }
        }
        return all;
    }

    // {"and": [...]}, {"or": [...]}, {"not": ...} of either kind; other keys are the kind's own.
    template <class Leaf>
    [[nodiscard]] part compound(std::string_view which, json const& it, Leaf const& leaf) {
        if (!it.is_object()) { return leaf(std::string_view{}, it); }
        if (it.size() != 1 || it.begin().key().empty()) { return refused(which, "must have exactly one key here"); }
        std::string const& key = it.begin().key();
        json const& value = it.begin().value();
        if (key == "not") { return plan_.negate(compound(which, value, leaf)); }
        if (key != "and" && key != "or") { return leaf(std::string_view{key}, value); }
        if (!value.is_array() || value.empty()) {
            return refused(which, "\"and\" and \"or\" take a list that is not empty");
        }
        if (value.size() > 256) {
            return refused(which, "\"and\" and \"or\" take 256 items at most; \"names\" and \"at\" have no limit");
        }
        part all = compound(which, value[0], leaf);
        for (std::size_t i = 1; i < value.size(); ++i) {
            all = plan_.join(key == "and" ? asked::both : asked::either, all, compound(which, value[i], leaf));
        }
        return all;
    }

    [[nodiscard]] part pattern(json const& it) {
        return compound("pattern", it,
                        [this](std::string_view key, json const& value) { return pattern_leaf(key, value); });
    }
    [[nodiscard]] part pattern_leaf(std::string_view key, json const& value) {
        std::string const* const text = text_of(value);
        if (key.empty() || key == "glob") {
            if (text == nullptr) {
                return refused("pattern", "must be a glob, or one of {\"glob\"} {\"regex\"} {\"role\"} {\"names\"} "
                                          "{\"and\"} {\"or\"} {\"not\"}");
            }
            if (!glob_matcher::well_formed(*text)) {
                return refused("pattern", "\"" + text->substr(0, 80) + "\" is a malformed glob: close its [ ] and { }",
                               errc::bad_pattern);
            }
            return plan_.keep(glob{std::string_view{*text}});
        }
        if (key == "regex") {
            if (text == nullptr) { return refused("pattern", "\"regex\" takes a text"); }
            if (expression_matcher() == nullptr) {
                return refused("pattern", "regular expressions need a program built with exceptions; use a glob");
            }
            if (!expression_matcher()->well_formed(*text)) {
                return refused("pattern",
                               "\"" + text->substr(0, 80) +
                                   "\" is a malformed regular expression (ECMAScript): close its ( ) and [ ]",
                               errc::bad_pattern);
            }
            return plan_.keep_regex(*text, *expression_matcher());
        }
        if (key == "role") {
            for (std::size_t i = 0; i < role_count; ++i) {
                if (text != nullptr && *text == name_of(static_cast<role>(i))) {
                    return plan_.keep(of_role{static_cast<role>(i)});
                }
            }
            return refused("pattern", "\"role\" takes one of loss gradient weight bias input label prediction "
                                      "preactivation activation optimizer metric tree ... (docs/settings.md)");
        }
        if (key == "names") {
            std::vector<std::string_view> list;
            if (value.is_array()) {
                for (json const& each : value) {
                    if (text_of(each) != nullptr) { list.push_back(*text_of(each)); }
                }
            }
            if (!value.is_array() || list.size() != value.size()) {
                return refused("pattern", "\"names\" takes a list of texts");
            }
            return plan_.keep_names(list);
        }
        return refused("pattern",
                       "\"" + std::string{key.substr(0, 40)} + "\" is none of glob, regex, role, names, and, or, not");
    }

    [[nodiscard]] part policy(json const& it) {
        return compound("when", it,
                        [this](std::string_view key, json const& value) { return policy_leaf(key, value); });
    }
    [[nodiscard]] part policy_leaf(std::string_view key, json const& value) {
        std::string const* const text = text_of(value);
        std::uint64_t number = 0;
        if (key.empty()) {
            if (text != nullptr && *text == "always") { return plan_.keep(always{}); }
            if (text != nullptr && *text == "never") { return plan_.keep(never{}); }
            return refused("when", "must be \"always\", \"never\", or one of {\"every\"} {\"from\"} {\"before\"} "
                                   "{\"between\"} {\"at\"} {\"during\"} {\"and\"} {\"or\"} {\"not\"}");
        }
        if (key == "every") {
            if (!whole(value, number) || number == 0) {
                return refused("when", "\"every\" takes a whole number of steps, from 1 on");
            }
            return plan_.keep(every{number});
        }
        if (key == "from" || key == "before") {
            if (!whole(value, number)) {
                return refused("when", "\"" + std::string{key} + "\" takes a step: a whole number, from 0 on");
            }
            return key == "from" ? plan_.keep(from{number}) : plan_.keep(before{number});
        }
        if (key == "during") {
            for (std::size_t i = 0; i < mode_count; ++i) {
                if (text != nullptr && *text == name_of(static_cast<mode>(i))) {
                    return plan_.keep(during{static_cast<mode>(i)});
                }
            }
            return refused("when", "\"during\" takes \"train\", \"eval\" or \"predict\"");
        }
        if (key == "at" || key == "between") {
            std::vector<std::uint64_t> list;
            bool fine = value.is_array() && (key == "at" || value.size() == 2);
            for (std::size_t i = 0; fine && i < value.size(); ++i) {
                fine = whole(value[i], number);
                list.push_back(number);
            }
            if (!fine) {
                return refused("when", key == "at" ? "\"at\" takes a list of steps, [0, 1, 700]"
                                                   : "\"between\" takes two steps, [first, one past the last]");
            }
            return key == "at" ? plan_.keep_at(list) : plan_.keep(between{list[0], list[1]});
        }
        return refused("when", "\"" + std::string{key.substr(0, 40)} +
                                   "\" is none of every, from, before, between, at, during, and, or, not");
    }

    dynamic_plan plan_{};
    std::string name_{};  // of the collection that is being read
    part fallback_when_{};
    bool has_fallback_when_ = false;
    terms fallback_what_ = terms::payload;
    error why_{};
};

// SageMaker Debugger's form, as texts for read_smdebug.
class json_smdebug_reader {
public:
    using json = nlohmann::json;

    [[nodiscard]] static bool is_one(json const& root) noexcept {
        for (char const* key : {"HookParameters", "CollectionConfigurations", "LocalPath", "S3OutputPath"}) {
            if (root.contains(key)) { return true; }
        }
        return false;
    }
    [[nodiscard]] result<dynamic_plan> read(json const& root) {
        for (auto const& [key, value] : root.items()) {
            bool const path = key == "LocalPath" || key == "S3OutputPath";
            if (!path && key != "HookParameters" && key != "CollectionConfigurations") {
                return bad(key,
                           "unknown key; allowed: LocalPath, S3OutputPath, HookParameters, CollectionConfigurations");
            }
            if (path && !value.is_string()) { return bad(key, "must be a text"); }
            if (key == "HookParameters" && !value.is_object() && !value.is_null()) {
                return bad(key, "must be an object");
            }
            if (key == "CollectionConfigurations" && !value.is_array() && !value.is_null()) {
                return bad(key, "must be a list");
            }
        }
        setting_group hook{};
        if (auto const it = root.find("HookParameters"); it != root.end() && it->is_object()) {
            hook.settings = flat(*it);
        }
        std::vector<setting_group> collections;
        if (auto const it = root.find("CollectionConfigurations"); it != root.end()) {
            for (json const& each : *it) {
                auto const name = each.is_object() ? each.find("CollectionName") : each.end();
                if (!each.is_object() || name == each.end() || !name->is_string()) {
                    return bad("CollectionConfigurations",
                               "each must be an object with CollectionName, a text, and CollectionParameters");
                }
                setting_group group{*name->get_ptr<json::string_t const*>(), {}};
                for (auto const& [key, value] : each.items()) {
                    if (key == "CollectionParameters" && (value.is_object() || value.is_null())) {
                        if (value.is_object()) { group.settings = flat(value); }
                    } else if (key != "CollectionName") {
                        return bad(key,
                                   key == "CollectionParameters"
                                       ? "must be an object"
                                       : "unknown key; allowed: CollectionName, CollectionParameters",
                                   group.name);
                    }
                }
                collections.push_back(group);
            }
        }
        return read_smdebug(hook, collections, expression_matcher());
    }

private:
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

}  // namespace detail

// A plan from a text in either form, or the first thing that is wrong with it: errc::bad_config or errc::bad_pattern, and
// nothing is applied. Comments (// and /* */) are allowed.
[[nodiscard]] inline result<dynamic_plan> parse_plan(std::string_view text) noexcept {
    result<dynamic_plan> found{errc::out_of_memory, "no memory to read the settings"};
    (void)guarded([&] {
        detail::json_inspector inspector{text};
        if (!nlohmann::json::sax_parse(text.begin(), text.end(), &inspector, nlohmann::json::input_format_t::json, true,
                                       true)) {
            found = inspector.why();
            return;
        }
        nlohmann::json const root = nlohmann::json::parse(text.begin(), text.end(), nullptr, false, true);
        if (!root.is_object()) {
            found = error{errc::bad_config, "the settings must be one object: {\"collections\": [...]}"};
        } else if (detail::json_smdebug_reader::is_one(root)) {
            found = detail::json_smdebug_reader{}.read(root);
        } else {
            found = detail::json_plan_reader{}.read(root);
        }
    });
    return found;
}

// The same from a file.
[[nodiscard]] inline result<dynamic_plan> load_plan(char const* path) noexcept {
    error why{errc::io_error, "the settings file \""};
    why.what << path << "\" cannot be read";
    std::FILE* const file = std::fopen(path, "rb");
    if (file == nullptr) { return why; }
    std::string text;
    char piece[4096];
    bool fine = true;
    for (std::size_t size = 1; fine && size > 0;) {
        size = std::fread(piece, 1, sizeof piece, file);
        fine = guarded([&] { text.append(piece, size); }) && text.size() < (64U << 20);
    }
    fine = fine && std::ferror(file) == 0;
    std::fclose(file);
    return fine ? parse_plan(text) : result<dynamic_plan>{why};
}
[[nodiscard]] inline result<dynamic_plan> load_plan(std::string const& path) noexcept {
    return load_plan(path.c_str());
}

// From the file that the environment variable SPOTTER_CONFIG names.
[[nodiscard]] inline result<dynamic_plan> load_plan() noexcept {
    char const* const path = std::getenv("SPOTTER_CONFIG");
    if (path == nullptr || *path == '\0') {
        return {errc::bad_config, "SPOTTER_CONFIG is not set: it names the file with the settings"};
    }
    return load_plan(path);
}
// The same, and `otherwise` where the variable is not set. A file that is wrong is still an error.
template <class... Collections>
[[nodiscard]] result<dynamic_plan> load_plan_or(plan<Collections...> const& otherwise) noexcept {
    char const* const path = std::getenv("SPOTTER_CONFIG");
    return path == nullptr || *path == '\0' ? result<dynamic_plan>{dynamic_plan{otherwise}} : load_plan(path);
}

// A plan in spotter's own form, one collection a line: parse_plan gives an equal plan back. Empty where memory is exhausted.
[[nodiscard]] inline std::string to_json(dynamic_plan const& plan) noexcept {
    std::string all;
    if (!guarded([&] { write_json(plan, [&](std::string_view piece) { all += piece; }); })) { all.clear(); }
    return all;
}
template <class... Collections>
[[nodiscard]] std::string to_json(plan<Collections...> const& plan) noexcept {
    return to_json(dynamic_plan{plan});
}

}  // namespace spotter::inline SPOTTER_ABI
