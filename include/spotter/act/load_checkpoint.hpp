// SPDX-License-Identifier: Apache-2.0
// Act (L6): reads the tensors of a checkpoint back into the net that saved it.
#pragma once

#include <spotter/act/checkpoint_roles.hpp>
#include <spotter/core/source.hpp>
#include <spotter/export/safetensors.hpp>
#include <spotter/file/system.hpp>
#include <spotter/hook/naming.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Open a file, `check` each tensor, `prepare`, then `fill` each in the same order: nothing is written before all of
// them fit. Throws where memory is exhausted; the caller catches that.
class checkpoint_reader {
public:
    void open(file_system& files, std::string_view path);
    // `writable`: the view is of the net's own memory.
    void check(std::string_view name, offered const& values, bool writable);
    void prepare();
    void fill(std::string_view name, offered const& values);
    [[nodiscard]] error const& trouble() const noexcept { return why_; }

private:
    struct wanted {
        tensor_ref view{};
        dtype stored = dtype::none;
        std::uint64_t begin = 0;  // in the file
    };
    void refuse(errc code, std::string_view name, std::string_view what);
    void read_header();

    std::string path_{}, bytes_{};
    stored_tensors tensors_{};
    std::uint64_t values_ = 0;  // where they begin
    std::vector<wanted> all_{};
    std::size_t filled_ = 0;         // of all_
    std::vector<std::byte> made_{};  // room for the largest
    error why_{};
};

}  // namespace detail

// Reads a checkpoint that `checkpoints::save` wrote (or another .safetensors file) into the same tensors: a net with
// visit_tensors, `"step"_t = step`. Their memory is written, so none of them may be constant. The net must have its
// sizes; values of f16, bf16 and f32 are widened to f32 and f64. A net's tensors of a batch (checkpoint_options::batch)
// are left alone, and so are other tensors of the file. After an error nothing was written:
//     no_payload      the path is empty: there is no checkpoint
//     not_a_run       there is no such file
//     corrupt         the file is damaged or cut off
//     no_such_name    a tensor is not in the file
//     no_shape        it has another shape there
//     wrong_type      it has another element type there
//     not_contiguous  it is not in packed memory of the program
//     user_code_threw visit_tensors threw; in its second call tensors may have been written
template <class... Tensors>
[[nodiscard]] error load_checkpoint(std::string_view path, Tensors&&... tensors) noexcept {
    static_assert((!std::is_const_v<std::remove_reference_t<Tensors>> && ...),
                  "spotter: load_checkpoint writes into the net: it must not be const.");
    auto const read = [&] {
        detail::checkpoint_reader from;
        from.open(system_files(), path);
        auto const visit_one = [](auto& each, auto const& use) {
            using argument = std::remove_cvref_t<decltype(each)>;
            if constexpr (std::same_as<argument, named_tensor>) {
                use(each.name, each.values, true);
            } else {
                visit_tensors(each, [&](std::string_view name, auto&& values, auto... role_and_flags) {
                    if (detail::is_of_batch(name, role_and_flags...)) { return; }
                    using type = std::remove_cvref_t<decltype(values)>;
                    constexpr bool stays = std::is_lvalue_reference_v<decltype(values)> ||
                                           std::same_as<type, tensor_ref> ||
                                           requires { typename type::element_type; };  // a span
                    use(name, offer(values), stays);
                });
            }
        };
        // Everything is checked in a first visit and written in a second, while the net shows it.
        auto const check = [&](std::string_view name, auto const& values, bool stays) {
            from.check(name, values, stays);
        };
        auto const fill = [&](std::string_view name, auto const& values, bool) { from.fill(name, values); };
        (visit_one(tensors, check), ...);
        from.prepare();
        (visit_one(tensors, fill), ...);
        return error{from.trouble()};
    };
    return detail::answer_of_net(read, "no memory to read a checkpoint");
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/export/text.hpp>
#include <spotter/file/replacing_file.hpp>
#include <spotter/format/bytes.hpp>

#include <algorithm>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

// The last part of a path, and of that at most so much that a sentence has room.
[[nodiscard]] SPOTTER_BODY std::string_view file_name_in(std::string_view path) noexcept {
    std::string_view const name = path.substr(path.rfind('/') + 1);
    return name.substr(0, 80);
}

SPOTTER_BODY void checkpoint_reader::refuse(errc code, std::string_view name, std::string_view what) {
    if (why_) { return; }
    why_.code = code;
    why_.what << name.substr(0, 80) << what;
}

SPOTTER_BODY void checkpoint_reader::open(file_system& files, std::string_view path) {
    path_ = path;
    if (path.empty()) {
        why_ = {errc::no_payload, "there is no checkpoint to load: the path is empty; train from the beginning"};
        return;
    }
    auto const kind = files.kind_of(path);
    if (!kind) {
        why_ = kind.error();
    } else if (*kind != path_kind::file) {
        refuse(errc::not_a_run, file_name_in(path), " is no file");
    } else {
        why_ = read_all(files, path, bytes_);
    }
    if (!why_) { read_header(); }
}

SPOTTER_BODY void checkpoint_reader::read_header() {
    std::string_view const damaged = " is no whole .safetensors file: load an older checkpoint";
    std::uint64_t length = 0;
    if (bytes_.size() < sizeof length) { return refuse(errc::corrupt, file_name_in(path_), damaged); }
    length = load<std::uint64_t>(reinterpret_cast<std::byte const*>(bytes_.data()));
    if (length > bytes_.size() - sizeof length) { return refuse(errc::corrupt, file_name_in(path_), damaged); }
    std::string_view const header = std::string_view{bytes_}.substr(sizeof length, as_size(length));
    values_ = sizeof length + length;
    std::uint64_t end = 0;
    bool good = read_safetensors_header(header, tensors_);
    for (auto const& [name, each] : tensors_) { end = (std::max)(end, each.end); }
    good = good && end == bytes_.size() - values_;
    if (!good) { refuse(errc::corrupt, file_name_in(path_), damaged); }
}

[[nodiscard]] SPOTTER_BODY bool can_widen(dtype from, dtype to) noexcept {
    bool const is_float = from == dtype::f16 || from == dtype::bf16 || from == dtype::f32;
    return from == to || (is_float && (to == dtype::f64 || (to == dtype::f32 && from != dtype::f32)));
}

SPOTTER_BODY void put_shape(error& into, std::span<std::uint64_t const> shape) {
    into.what << "{";
    for (std::size_t i = 0; i < shape.size(); ++i) { into.what << (i > 0 ? ", " : "") << shape[i]; }
    into.what << "}";
}

SPOTTER_BODY void checkpoint_reader::check(std::string_view name, offered const& values, bool writable) {
    if (why_ || values.view.absent()) { return; }
    if (!writable || values.copy != nullptr || values.view.refused != refusal::none) {
        return refuse(errc::not_contiguous, name,
                      ": it is not in packed memory of the program, so it cannot be filled; load it yourself");
    }
    std::string const key = json_text(name);
    auto const found = tensors_.find(std::string_view{key}.substr(1, key.size() - 2));
    if (found == tensors_.end()) {
        refuse(errc::no_such_name, name, " is not in ");
        why_.what << file_name_in(path_) << ": another net was saved, or it has another name now";
        return;
    }
    stored_tensor const& its = found->second;
    tensor_ref const& view = values.view;
    auto const shape = view.shape.view();
    if (!std::equal(shape.begin(), shape.end(), its.shape.begin(), its.shape.end())) {
        refuse(errc::no_shape, name, " has the shape ");
        put_shape(why_, its.shape);
        why_.what << " in the file, and ";
        put_shape(why_, {shape.data(), shape.size()});
        why_.what << " in the program: make the net of the size that was saved";
        return;
    }
    dtype stored = dtype::none;
    for (unsigned i = 1; i <= static_cast<unsigned>(dtype::f8_e5m2); ++i) {
        auto const type = static_cast<dtype>(i);
        if (safetensors_type_of(type) == its.type) { stored = type; }
    }
    if (!can_widen(stored, view.type)) {
        refuse(errc::wrong_type, name, " is ");
        why_.what << std::string_view{its.type}.substr(0, 16) << " in the file, and " << safetensors_type_of(view.type)
                  << " in the program";
        return;
    }
    if (its.end - its.begin != view.count * size_of(stored)) {
        return refuse(errc::corrupt, name, ": its shape does not fit its values in the file; load an older checkpoint");
    }
    all_.push_back({view, stored, values_ + its.begin});
}

// Converts `count` elements that begin at `from`, of any alignment.
template <class Wide>
void widen(char const* from, dtype stored, std::size_t count, std::byte* to) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        float value = 0;
        std::uint16_t small = 0;
        if (stored == dtype::f32) {
            std::memcpy(&value, from + 4 * i, sizeof value);
        } else {
            std::memcpy(&small, from + 2 * i, sizeof small);
            value = stored == dtype::f16 ? to_float(f16{small}) : to_float(bf16{small});
        }
        Wide const wide = value;
        std::memcpy(to + i * sizeof wide, &wide, sizeof wide);
    }
}

SPOTTER_BODY void checkpoint_reader::prepare() {
    std::size_t most = 0;
    for (wanted const& each : all_) { most = (std::max)(most, as_size(each.view.bytes())); }
    if (!why_) { made_.resize(most); }
}

SPOTTER_BODY void checkpoint_reader::fill(std::string_view name, offered const& values) {
    if (why_ || values.view.absent()) { return; }
    bool const is_known = filled_ < all_.size() && all_[filled_].view.values.raw == values.view.values.raw;
    if (!is_known) {
        return refuse(errc::not_contiguous, name,
                      ": a second visit shows it at another place, so it cannot be filled; show the net's own memory");
    }
    wanted const& each = all_[filled_++];
    if (each.view.count == 0) { return; }
    char const* const from = bytes_.data() + each.begin;
    std::size_t const count = as_size(each.view.count), size = as_size(each.view.bytes());
    if (each.stored == each.view.type) {
        std::memcpy(made_.data(), from, size);
        make_sound(std::span{made_}.first(size), each.stored);
    } else if (each.view.type == dtype::f64) {
        widen<double>(from, each.stored, count, made_.data());
    } else {
        widen<float>(from, each.stored, count, made_.data());
    }
    visit_values(each.view, [&](auto into) {
        using value = std::remove_const_t<typename decltype(into)::element_type>;
        tensor_ref in_file = each.view;
        in_file.layout = order::row_major;
        in_file.values.raw = made_.data();
        copy_in_order(in_file, each.view.layout, const_cast<value*>(into.data()));
    });
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
