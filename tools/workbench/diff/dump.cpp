// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of dump.hpp.
#include "diff/dump.hpp"

#include "diff/npy_reader.hpp"
#include "error_of.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace spotter::inline SPOTTER_ABI::detail {

mapped_bytes::~mapped_bytes() {
    if (mapping_) { files_.unmap(*mapping_); }
}

std::span<std::byte const> mapped_bytes::bytes() const noexcept {
    return mapping_ ? mapping_->bytes : std::span<std::byte const>{};
}

[[nodiscard]] static std::optional<mode> mode_of(std::string_view word) noexcept {
    for (mode const each : {mode::train, mode::eval, mode::predict}) {
        if (word == name_of(each)) { return each; }
    }
    return std::nullopt;
}

// Reads "train-8" or "train:8"; nothing for other texts.
[[nodiscard]] static std::optional<step_id> step_in(std::string_view word, char between) noexcept {
    for (mode const each : {mode::train, mode::eval, mode::predict}) {
        std::string_view const name = name_of(each);
        if (!word.starts_with(name) || word.size() < name.size() + 2 || word[name.size()] != between) { continue; }
        std::string_view const digits = word.substr(name.size() + 1);
        step_id step{each, 0};
        auto const read = std::from_chars(digits.data(), digits.data() + digits.size(), step.index);
        if (read.ec == std::errc{} && read.ptr == digits.data() + digits.size()) { return step; }
    }
    return std::nullopt;
}

// A tensor's name from its folder's name: `spotter export` writes unusual characters as %XX, and a lone % for an empty
// name.
[[nodiscard]] static std::string name_of_file(std::string_view path) {
    std::string name;
    if (path == "%") { return name; }
    for (std::size_t i = 0; i < path.size(); ++i) {
        unsigned code = 0;
        bool const escaped =
            path[i] == '%' && i + 2 < path.size() &&
            std::from_chars(path.data() + i + 1, path.data() + i + 3, code, 16).ptr == path.data() + i + 3;
        name += escaped ? static_cast<char>(code) : path[i];
        i += escaped ? 2 : 0;
    }
    return name;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

recorded_value dump::at(std::string_view name, step_id step) const {
    return detail::with_memory([&] { return read(name, step); });
}

recorded_value dump::read(std::string_view name, step_id step) const {
    if (auto const found = places_.find(std::pair{step, std::string{name}}); found != places_.end()) {
        return read(found->second);
    }
    if (auto const found = series_.find(std::pair{step.mode, std::string{name}}); found != series_.end()) {
        return read(found->second, step);
    }
    return error{errc::no_such_name, "the dump has no such tensor at this step"};
}

recorded_value dump::read(series const& from, step_id step) const {
    auto const at = std::lower_bound(from.steps.begin(), from.steps.end(), std::pair{step.index, std::size_t{0}});
    if (at == from.steps.end() || at->first != step.index) {
        return error{errc::no_such_name, "the dump has no such tensor at this step"};
    }
    if (std::exchange(read_, &from) != &from) { numbers_ = read(from.values); }
    recorded_value const& all = numbers_;
    if (!all) { return all.error(); }
    if (all.view().count != from.steps.size()) { return changed(); }
    tensor_ref one{};
    one.type = all.type();
    one.count = 1;
    std::size_t const bytes = size_of(one.type);
    auto const* const first = static_cast<std::byte const*>(all.view().values.raw) + at->second * bytes;
    return {std::vector<std::byte>(first, first + bytes), one};
}

recorded_value dump::read(place const& it) const {
    detail::mapped_bytes const file{files_list_[it.file].path, *files_};
    if (file.error()) { return file.error(); }
    source const& from = files_list_[it.file];
    if (!from.tensors.empty()) {
        safetensors_entry const& entry = from.tensors[it.entry];
        if (file.bytes().size() != from.bytes) { return changed(); }
        return named(read_values(file.bytes(), entry), from.path);
    }
    if (from.entries.empty()) { return named(read_npy(file.bytes()), from.path); }
    if (file.bytes().size() != from.bytes) { return changed(); }
    std::vector<std::byte> buffer;
    auto const bytes = unzip(file.bytes(), from.entries[it.entry], buffer, inflate_);
    return named(bytes ? read_npy(*bytes) : recorded_value{bytes.error()}, from.path);
}

error dump::changed() noexcept {
    return {errc::busy, "the file changed while it was compared: begin again when it is complete"};
}

error dump::in_file(error why, std::string_view path) noexcept {
    return error_of(why.code, path.substr(path.size() > 80 ? path.size() - 80 : 0), ": ", why.what.view());
}

recorded_value dump::named(recorded_value value, std::string_view path) {
    return value ? std::move(value) : recorded_value{in_file(value.error(), path)};
}

error dump::add(step_id step, std::string name, place where) {
    meet(step, index_.number_of(name));
    auto const [at, is_new] = places_.try_emplace(std::pair{step, std::move(name)}, where);
    if (is_new) { return {}; }
    return error_of(errc::exists, "\"", std::string_view{at->first.second}.substr(0, 60), "\" is there twice at ",
                    name_of(step.mode), ':', step.index, ", in ", tail_of(files_list_[at->second.file].path),
                    " and in ", tail_of(files_list_[where.file].path), ": name files <mode>-<index>");
}

std::string_view dump::tail_of(std::string_view path) noexcept {
    return path.substr(path.size() > 50 ? path.size() - 50 : 0);
}

error dump::add_file(std::string const& path, std::string_view inside) {
    std::size_t const dot = inside.rfind('.');
    std::string_view const ending = dot == inside.npos ? std::string_view{} : inside.substr(dot);
    if (ending != ".npy" && ending != ".npz" && ending != ".safetensors") { return {}; }
    std::string_view const stem = inside.substr(0, dot);
    std::size_t const cut = stem.rfind('/');
    std::string_view const parent = cut == stem.npos ? std::string_view{} : stem.substr(0, cut);
    auto const step = detail::step_in(cut == stem.npos ? stem : stem.substr(cut + 1), '-');
    std::size_t const number = files_list_.size();
    files_list_.push_back({path, 0, {}, {}});
    if (ending == ".npy") {
        has_npy_ = true;
        bool const by_folder = step && !parent.empty();
        return add(by_folder ? *step : step_id{}, detail::name_of_file(by_folder ? parent : stem), {number, 0});
    }
    std::string const before = parent.empty() ? std::string{} : detail::name_of_file(parent) + '/';
    error const why = add_archive(number, ending == ".npz", step.value_or(step_id{}), before);
    return why.code == errc::exists ? why : why ? in_file(why, path) : why;
}

error dump::list_archive(source& it, bool is_zip, std::vector<std::optional<std::string_view>>& keys) const {
    detail::mapped_bytes const file{it.path, *files_};
    if (file.error()) { return file.error(); }
    it.bytes = file.bytes().size();
    if (is_zip) {
        auto entries = read_zip(file.bytes());
        if (!entries) { return entries.error(); }
        it.entries = std::move(*entries);
        for (zip_entry const& each : it.entries) {
            std::string_view const key = each.name;
            keys.push_back(key.ends_with(".npy") ? std::optional{key.substr(0, key.size() - 4)} : std::nullopt);
        }
        return {};
    }
    auto tensors = read_safetensors(file.bytes());
    if (!tensors) { return tensors.error(); }
    it.tensors = std::move(*tensors);
    for (safetensors_entry const& each : it.tensors) { keys.emplace_back(each.name); }
    return {};
}

error dump::take_series(std::size_t number, std::string const& before,
                        std::vector<std::optional<std::string_view>>& keys) {
    std::map<std::string_view, std::size_t> steps_of;  // by the name of the series, with its mode
    constexpr std::string_view beside = ":steps";
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto const& key = keys[i];
        if (key && key->ends_with(beside)) { steps_of.emplace(key->substr(0, key->size() - beside.size()), i); }
    }
    if (steps_of.empty()) { return {}; }
    std::vector<bool> done(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto const steps = keys[i] ? steps_of.find(*keys[i]) : steps_of.end();
        if (steps == steps_of.end()) { continue; }
        std::size_t const cut = keys[i]->rfind('@');
        auto const which = cut == std::string_view::npos ? std::nullopt : detail::mode_of(keys[i]->substr(cut + 1));
        if (!which) { continue; }
        std::string name = before + std::string{keys[i]->substr(0, cut)};
        error const why = add_series(std::move(name), *which, {number, i}, {number, steps->second});
        if (why && why.code != errc::wrong_type) { return why; }
        done[i] = done[steps->second] = !why;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (done[i]) { keys[i].reset(); }
    }
    return {};
}

error dump::add_archive(std::size_t number, bool is_zip, step_id step, std::string const& before) {
    std::vector<std::optional<std::string_view>> keys;
    if (error const why = list_archive(files_list_[number], is_zip, keys)) { return why; }
    if (error const why = take_series(number, before, keys)) { return why; }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!keys[i]) { continue; }
        if (error const why = add_key(before, *keys[i], step, {number, i})) { return why; }
    }
    return {};
}

error dump::add_series(std::string name, mode which, place values, place steps) {
    recorded_value const indices = read(steps), numbers = read(values);
    bool const fit = indices && numbers && indices.type() == dtype::u64 && indices.shape().rank == 1 &&
                     numbers.shape() == indices.shape();
    if (!fit) { return {errc::wrong_type, "no series"}; }
    auto const* const first = static_cast<std::uint64_t const*>(indices.view().values.raw);
    series it{values, {}};
    for (std::size_t i = 0; i < indices.view().count; ++i) { it.steps.emplace_back(first[i], i); }
    std::sort(it.steps.begin(), it.steps.end());
    std::uint32_t const number = index_.number_of(name);
    for (auto const& [index, element] : it.steps) { meet({which, index}, number); }
    if (series_.try_emplace(std::pair{which, name}, std::move(it)).second) { return {}; }
    return error_of(errc::exists, "\"", std::string_view{name}.substr(0, 60), "\" of ", name_of(which),
                    " is there twice, once in ", tail_of(files_list_[values.file].path));
}

error dump::build_index() {
    std::sort(met_.begin(), met_.end());
    std::vector<std::uint32_t> names;
    for (std::size_t i = 0; i < met_.size(); ++i) {
        names.push_back(met_[i].name);
        if (i + 1 < met_.size() && met_[i + 1].step == met_[i].step) { continue; }
        std::vector<std::uint32_t> sorted = names;
        std::sort(sorted.begin(), sorted.end());
        if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
            return error_of(errc::exists, "\"", std::string_view{index_.names()[*twice]}.substr(0, 60),
                            "\" is there twice at ", name_of(met_[i].step.mode), ':', met_[i].step.index);
        }
        index_.put(met_[i].step, names);
        names.clear();
    }
    met_ = {};
    index_.sort_steps_by_index();
    return {};
}

error dump::add_key(std::string const& before, std::string_view key, step_id step, place where) {
    std::size_t const cut = key.rfind('@');
    auto const own = cut == key.npos ? std::nullopt : detail::step_in(key.substr(cut + 1), ':');
    return add(own.value_or(step), before + std::string{own ? key.substr(0, cut) : key}, where);
}

error dump::add_folder(std::string const& path, std::string const& inside, int depth) {
    constexpr int deepest = 32;  // names are paths, and a link may lead to a parent folder
    if (depth > deepest) { return {}; }
    std::vector<std::string> names;
    auto const take = [](void* context, std::string_view name) {
        static_cast<std::vector<std::string>*>(context)->emplace_back(name);
        return true;
    };
    if (error const why = files_->list(path, take, &names)) { return why; }
    std::sort(names.begin(), names.end());
    for (std::string const& name : names) {
        std::string const below = path + '/' + name;
        auto const kind = files_->kind_of(below);
        error why{};
        if (kind && *kind == path_kind::folder) { why = add_folder(below, inside + name + '/', depth + 1); }
        if (kind && *kind == path_kind::file) { why = add_file(below, inside + name); }
        if (why) { return why; }
    }
    return {};
}

result<dump> dump::open(std::string_view path, inflate_function inflate, file_system& files) {
    dump it{inflate, files};
    std::string whole{files.absolute(path).view()};  // needed for later reads
    while (whole.size() > 1 && whole.back() == '/') { whole.pop_back(); }
    auto const kind = files.kind_of(whole);
    if (!kind) { return kind.error(); }
    error why{};
    if (*kind == path_kind::folder) {
        why = it.add_folder(whole, {}, 0);
    } else if (*kind == path_kind::file) {
        std::size_t const cut = whole.rfind('/');
        why = it.add_file(whole, std::string_view{whole}.substr(cut == whole.npos ? 0 : cut + 1));
    }
    if (why) { return why; }
    if (it.index_.names().empty()) {
        return error_of(errc::not_a_run, path.substr(path.size() > 100 ? path.size() - 100 : 0),
                        *kind == path_kind::missing ? " does not exist"
                                                    : " is no run (it holds no 000000.spot), and there is no tensor in "
                                                      ".npy, .npz or .safetensors files");
    }
    if (error const twice = it.build_index()) { return twice; }
    return it;
}

result<dump> open_dump(std::string_view path, inflate_function inflate, file_system& files) {
    return detail::with_memory([&]() -> result<dump> { return dump::open(path, inflate, files); });
}

}  // namespace spotter::inline SPOTTER_ABI
