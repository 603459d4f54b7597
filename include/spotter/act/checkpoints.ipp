// SPDX-License-Identifier: Apache-2.0
// The bodies of checkpoints.hpp.
#pragma once

#include <spotter/act/checkpoints.hpp>
#include <spotter/core/narrow.hpp>
#include <spotter/export/row_major.hpp>
#include <spotter/export/safetensors.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

inline constexpr std::string_view part_end = ".part", safetensors_end = ".safetensors";

[[nodiscard]] constexpr std::string_view mark_of(checkpoint_state state) noexcept {
    constexpr std::string_view marks[] = {".unproven", "", ".bad"};
    return marks[static_cast<std::size_t>(state)];
}

// The type in which values of one are written.
[[nodiscard]] constexpr dtype written_as(dtype from, dtype wanted) noexcept {
    bool const is_real = from == dtype::f64 || from == dtype::f32;
    bool const smaller = wanted == dtype::f32 ? from == dtype::f64 : wanted == dtype::f16 || wanted == dtype::bf16;
    return is_real && smaller ? wanted : from;
}

// Values in row-major order as they are written, and how many of them are not finite there.
struct written_values {
    std::vector<std::byte> bytes{};
    std::uint64_t not_finite = 0;
};
template <class Value>
[[nodiscard]] bool is_no_number(Value const& value) noexcept {
    return see(value).kind >= number_class::pos_inf;
}
[[nodiscard]] SPOTTER_BODY written_values values_as(tensor_ref const& tensor, dtype type) {
    written_values made;
    made.bytes.resize(static_cast<std::size_t>(tensor.count * size_of(type)));
    in_row_major(tensor, [&](auto const* first) {
        using value = std::remove_cvref_t<decltype(*first)>;
        if constexpr (std::same_as<value, float> || std::same_as<value, double>) {
            std::byte* to = made.bytes.data();
            auto const put = [&](auto one) {
                made.not_finite += is_no_number(one) ? 1 : 0;
                std::memcpy(to, &one, sizeof one);
                to += sizeof one;
            };
            for (std::uint64_t i = 0; i < tensor.count; ++i) {
                switch (type) {
                    case dtype::f16:
                        put(to_f16(static_cast<float>(first[i])));
                        break;
                    case dtype::bf16:
                        put(to_bf16(static_cast<float>(first[i])));
                        break;
                    case dtype::f32:
                        put(static_cast<float>(first[i]));
                        break;
                    default:
                        put(first[i]);
                }
            }
        } else {
            if (!made.bytes.empty()) { std::memcpy(made.bytes.data(), first, made.bytes.size()); }
            for (std::uint64_t i = 0; i < tensor.count; ++i) { made.not_finite += is_no_number(first[i]) ? 1 : 0; }
        }
    });
    return made;
}

struct checkpoint_folder::writing {
    step_id step{};
    std::string part{};
    safetensors_header header{};
    opened_file file{};
    error why{};
};

SPOTTER_BODY checkpoint_folder::checkpoint_folder(std::string_view folder, checkpoint_options const& choices,
                                                  file_system& files)
    : folder_{folder}, choices_{choices}, files_{files} {
    while (folder_.size() > 1 && folder_.back() == '/') { folder_.pop_back(); }
    bool const known = choices.as == dtype::none || choices.as == dtype::f32 || choices.as == dtype::f16 || choices.as == dtype::bf16;
    if (!known) {
        trouble_ = {errc::bad_config, "checkpoints are written as f32, f16 or bf16, or as they are"};
        choices_.as = dtype::none;
    }
    choices_.keep = (std::max)(choices_.keep, std::uint32_t{1});
    if (error const why = files_.make_folder(folder_)) { trouble_ = why; }
    look();  // it may be there all the same
}

SPOTTER_BODY std::string checkpoint_folder::path_of(step_id step, std::string_view end) const {
    return folder_ + '/' + std::string{name_of(step.mode)} + '-' + std::to_string(step.index) + std::string{end};
}

// Names of files are all that is remembered.
SPOTTER_BODY void checkpoint_folder::look() {
    std::vector<std::string> names;
    error const why = files_.list(
        folder_,
        [](void* context, std::string_view name) {
            static_cast<std::vector<std::string>*>(context)->emplace_back(name);
            return true;
        },
        &names);
    if (why && !trouble_) { trouble_ = why; }
    for (std::string const& name : names) {
        for (mode const which : {mode::train, mode::eval, mode::predict}) {
            std::string const begin = std::string{name_of(which)} + '-';
            if (!name.starts_with(begin)) { continue; }
            checkpoint_file one{{which, 0}, checkpoint_state::good, folder_ + '/' + name};
            char const* const first = name.data() + begin.size();
            auto const number = std::from_chars(first, name.data() + name.size(), one.step.index);
            std::string_view const end = std::string_view{name}.substr(static_cast<std::size_t>(number.ptr - name.data()));
            if (number.ec != std::errc{} || !end.starts_with('.')) { continue; }
            if (end == part_end) {  // somebody was killed there
                (void)files_.remove(one.path);
                continue;
            }
            for (checkpoint_state const state : {checkpoint_state::unproven, checkpoint_state::bad}) {
                if (end.starts_with(std::string{mark_of(state)} + '.')) { one.state = state; }
            }
            all_.push_back(std::move(one));
        }
    }
    std::sort(all_.begin(), all_.end(), [](checkpoint_file const& a, checkpoint_file const& b) {
        return a.step.index != b.step.index ? a.step.index < b.step.index : a.path < b.path;
    });
}

SPOTTER_BODY void checkpoint_folder::begin(step_id step) {
    now_ = std::make_shared<writing>();
    now_->step = step;
    now_->part = path_of(step, part_end);
}

SPOTTER_BODY bool checkpoint_folder::take(offered const& values, tensor_ref& view) {
    view = values.view;
    if (values.copy != nullptr) {
        refusal_words const trouble = copies_.take(values, view);
        if (trouble.code != errc::none) { now_->why = {trouble.code, trouble.sentence}; }
    } else if (view.refused != refusal::none) {
        refusal_words const trouble = words_of(view.refused);
        now_->why = {trouble.code, trouble.sentence};
    }
    return !now_->why;
}

SPOTTER_BODY void checkpoint_folder::declare(std::string_view name, offered const& values) {
    tensor_ref view;
    if (now_->why || values.view.absent()) { return; }
    if (!take(values, view)) {
        error named{now_->why.code, {}};
        named.what << name.substr(0, 80) << " " << now_->why.what.view();
        now_->why = named;
        return;
    }
    dtype const type = written_as(view.type, choices_.as);
    written_values const made = values_as(view, type);
    if (made.not_finite > 0) {
        now_->why.code = errc::wrong_type;
        now_->why.what << name.substr(0, 80) << ": " << made.not_finite << " of " << view.count << " values are not finite as " << name_of(type);
        return;
    }
    view.type = type;
    now_->why = now_->header.add(name, view);
}

SPOTTER_BODY void checkpoint_folder::write(offered const& values) {
    tensor_ref view;
    if (now_->why || values.view.absent()) { return; }
    if (!now_->file.open()) {
        (void)files_.remove(now_->part);  // of an earlier try
        auto const made = files_.create(now_->part);
        if (!made) {
            now_->why = made.error();
            return;
        }
        now_->file = *made;
        std::string const head = now_->header.text();
        put(head.data(), head.size());
    }
    if (!take(values, view)) { return; }
    written_values const made = values_as(view, written_as(view.type, choices_.as));
    if (made.not_finite > 0) {  // since it was declared
        now_->why = {errc::wrong_type, "values changed while the checkpoint was written: save it where nobody updates them"};
        return;
    }
    put(made.bytes.data(), made.bytes.size());
}

SPOTTER_BODY void checkpoint_folder::put(void const* bytes, std::size_t size) {
    if (!now_->why) { now_->why = files_.append(now_->file, {static_cast<std::byte const*>(bytes), size}); }
}

SPOTTER_BODY error checkpoint_folder::end() {
    std::shared_ptr<writing> const it = std::move(now_);
    if (!it->why && !it->file.open()) { return {errc::no_payload, "a checkpoint of no tensors"}; }
    if (it->file.open()) {
        if (!it->why && choices_.sync) { it->why = files_.sync(it->file); }
        error const closed = files_.close(it->file);
        if (!it->why) { it->why = closed; }
    }
    if (!it->why) { it->why = enter(it->step, it->part); }
    if (it->why) { (void)files_.remove(it->part); }
    return it->why;
}

SPOTTER_BODY error checkpoint_folder::enter(step_id step, std::string const& part) {
    std::size_t const dot = part.rfind('.'), slash = part.rfind('/');
    bool const has_end = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    std::string const end = part.ends_with(part_end) || !has_end ? std::string{safetensors_end} : part.substr(dot);
    checkpoint_file one{step, checkpoint_state::unproven, path_of(step, std::string{mark_of(checkpoint_state::unproven)} + end)};
    if (error const why = files_.rename(part, one.path)) { return why; }
    error const why = choices_.sync ? files_.sync_folder(folder_) : error{};
    std::erase_if(all_, [&](checkpoint_file const& each) { return each.path == one.path; });
    all_.push_back(std::move(one));
    return why;
}

SPOTTER_BODY error checkpoint_folder::adopt(step_id step, std::string_view from) {
    auto const kind = files_.kind_of(from);
    if (!kind) { return kind.error(); }
    if (*kind != path_kind::file) { return {errc::unwritable, "there is no file to take as a checkpoint"}; }
    return enter(step, std::string{from});
}

SPOTTER_BODY error checkpoint_folder::settle(std::size_t which, bool good) {
    checkpoint_file& it = all_[which];
    checkpoint_state const state = good ? checkpoint_state::good : checkpoint_state::bad;
    std::string_view const old_mark = mark_of(checkpoint_state::unproven);
    // Where the folder could not be synced the time before, it has its name already.
    std::size_t const at = it.path.rfind(old_mark);
    if (at != std::string::npos && at > it.path.rfind('/')) {
        std::string fresh = it.path;
        fresh.replace(at, old_mark.size(), mark_of(state));
        if (error const why = files_.rename(it.path, fresh)) { return why; }
        it.path = std::move(fresh);
    }
    error const why = choices_.sync ? files_.sync_folder(folder_) : error{};
    if (!why) { it.state = state; }  // until then older ones stay
    return why;
}

SPOTTER_BODY error checkpoint_folder::tidy() {
    std::size_t goods = 0, last_good = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (all_[i].state == checkpoint_state::good) { ++goods, last_good = i; }
    }
    error first;
    std::vector<checkpoint_file> left;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        checkpoint_file const& each = all_[i];
        bool const newest = i + 1 == all_.size();
        bool goes = false;
        switch (each.state) {
            case checkpoint_state::good:
                goes = goods > choices_.keep;
                goods -= goes ? 1 : 0;
                break;
            case checkpoint_state::bad:
                goes = goods > 0 || !newest;
                break;
            case checkpoint_state::unproven:  // of an earlier process: one that is good came after it
                goes = goods > 0 && i < last_good;
                break;
        }
        error const why = goes ? files_.remove(each.path) : error{};
        if (why && !first) { first = why; }
        if (!goes || why) { left.push_back(each); }
    }
    all_ = std::move(left);
    return first;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
