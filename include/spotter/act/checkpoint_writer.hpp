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
#include <spotter/act/checkpoint_writer.ipp>
#endif
