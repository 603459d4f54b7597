// SPDX-License-Identifier: Apache-2.0
// Act (L6): writes tensors to a safetensors file, if every value is finite in the written type.
#pragma once

#include <spotter/act/checkpoint_list.hpp>
#include <spotter/export/safetensors.hpp>
#include <spotter/hook/naming.hpp>
#include <spotter/hook/source_copy.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

// Call `declare` for each tensor, `write` for each in the same order, then end. After an error the remaining calls do
// nothing, and end returns the error. Throws where memory is exhausted; the caller catches that.
class checkpoint_writer {
public:
    checkpoint_writer(std::string path, dtype as, file_system& files)
        : path_{std::move(path)}, as_{as}, files_{files} {}
    checkpoint_writer(checkpoint_writer const&) = delete;
    checkpoint_writer& operator=(checkpoint_writer const&) = delete;
    ~checkpoint_writer();

    void declare(std::string_view name, offered const& values);
    void write(offered const& values);
    // Syncs to the disk if requested. The file stays if there was no error.
    [[nodiscard]] error end(bool to_disk);
    void refuse(error const& why) noexcept { why_ = why; }

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }        // bytes written
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_.value(); }  // their hash

private:
    [[nodiscard]] bool take(offered const& values, tensor_ref& view);
    void put(void const* bytes, std::size_t size);

    std::string path_;
    dtype as_;
    file_system& files_;
    safetensors_header header_{};
    source_copy copies_{};
    opened_file file_{};
    bool made_ = false;
    std::uint64_t bytes_ = 0;
    running_hash hash_{};
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/core/narrow.hpp>
#include <spotter/export/row_major.hpp>

#include <cstring>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

// The type in which values of type `from` are written.
[[nodiscard]] constexpr dtype written_as(dtype from, dtype wanted) noexcept {
    bool const is_real = from == dtype::f64 || from == dtype::f32;
    bool const smaller = wanted == dtype::f32 ? from == dtype::f64 : wanted == dtype::f16 || wanted == dtype::bf16;
    return is_real && smaller ? wanted : from;
}

// Values in row-major order in the written type, and the number of those that are not finite in it.
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
    made.bytes.resize(as_size(tensor.count * size_of(type)));
    in_row_major(tensor, [&](auto const* first) {
        using value = std::remove_cvref_t<decltype(*first)>;
        if constexpr (std::same_as<value, float> || std::same_as<value, double>) {
            std::byte* to = made.bytes.data();
            auto const put = [&](auto one) {
                made.not_finite += is_no_number(one) ? 1U : 0U;
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
            for (std::uint64_t i = 0; i < tensor.count; ++i) { made.not_finite += is_no_number(first[i]) ? 1U : 0U; }
        }
    });
    return made;
}

SPOTTER_BODY checkpoint_writer::~checkpoint_writer() {
    if (file_.open()) { (void)files_.close(file_); }
    if (made_) { (void)files_.remove(path_); }
}

SPOTTER_BODY bool checkpoint_writer::take(offered const& values, tensor_ref& view) {
    view = values.view;
    if (values.copy != nullptr) {
        refusal_words const trouble = copies_.take(values, view);
        if (trouble.code != errc::none) { why_ = {trouble.code, trouble.sentence}; }
    } else if (view.refused != refusal::none) {
        refusal_words const trouble = words_of(view.refused);
        why_ = {trouble.code, trouble.sentence};
    }
    return !why_;
}

SPOTTER_BODY void checkpoint_writer::declare(std::string_view name, offered const& values) {
    tensor_ref view;
    if (why_ || values.view.absent()) { return; }
    if (!take(values, view)) {
        error named{why_.code, {}};
        named.what << name.substr(0, 80) << " " << why_.what.view();
        why_ = named;
        return;
    }
    dtype const type = written_as(view.type, as_);
    written_values const made = values_as(view, type);
    if (made.not_finite > 0) {
        why_.code = errc::wrong_type;
        why_.what << name.substr(0, 80) << ": " << made.not_finite << " of " << view.count
                  << " values are not finite as " << name_of(type);
        return;
    }
    view.type = type;
    why_ = header_.add(name, view);
}

SPOTTER_BODY void checkpoint_writer::write(offered const& values) {
    tensor_ref view;
    if (why_ || values.view.absent()) { return; }
    if (!made_) {
        auto const made = files_.create(path_);
        if (!made) {
            why_ = made.error();
            return;
        }
        file_ = *made;
        made_ = true;
        std::string const head = header_.text();
        put(head.data(), head.size());
    }
    if (!take(values, view)) { return; }
    written_values const made = values_as(view, written_as(view.type, as_));
    if (made.not_finite > 0) {  // changed since it was declared
        why_ = {errc::wrong_type, "values changed while the checkpoint was written: save it where nobody updates them"};
        return;
    }
    put(made.bytes.data(), made.bytes.size());
}

SPOTTER_BODY void checkpoint_writer::put(void const* bytes, std::size_t size) {
    byte_view const all{static_cast<std::byte const*>(bytes), size};
    if (!why_) { why_ = files_.append(file_, all); }
    hash_.add(all);
    bytes_ += size;
}

SPOTTER_BODY error checkpoint_writer::end(bool to_disk) {
    if (!why_ && !made_) { why_ = {errc::no_payload, "a checkpoint of no tensors"}; }
    if (file_.open()) {
        if (!why_ && to_disk) { why_ = files_.sync(file_); }
        error const closed = files_.close(std::exchange(file_, {}));
        if (!why_) { why_ = closed; }
    }
    if (!why_) { made_ = false; }  // from now on the caller owns the path
    return why_;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
