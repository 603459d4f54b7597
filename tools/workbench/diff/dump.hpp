// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: tensors that another program wrote: a .npy, .npz or .safetensors file, or a folder of them.
#pragma once

#include "diff/safetensors_reader.hpp"
#include "diff/step_index.hpp"
#include "diff/zip_reader.hpp"

#include <spotter/file/file_system.hpp>

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The mapped bytes of a file, during the object's lifetime.
class mapped_bytes {
public:
    mapped_bytes(std::string const& path, file_system& files) : files_{files}, mapping_{files.map(path)} {}
    mapped_bytes(mapped_bytes const&) = delete;
    mapped_bytes& operator=(mapped_bytes const&) = delete;
    ~mapped_bytes();
    [[nodiscard]] spotter::error error() const noexcept { return mapping_.error(); }
    [[nodiscard]] std::span<std::byte const> bytes() const noexcept;

private:
    file_system& files_;
    result<file_mapping> mapping_;
};

// Turns a failed allocation into an error, since a file determines the requested size.
template <class Work>
[[nodiscard]] auto with_memory(Work&& work) -> decltype(work()) {
#if SPOTTER_EXCEPTIONS
    try {
        return work();
    } catch (std::bad_alloc const&) { return spotter::error{errc::out_of_memory, "no memory for what a file holds"}; }
#else
    return work();
#endif
}

}  // namespace detail

// The tensors at each step; values are read when they are requested. Layouts, in any combination:
//   <mode>-<index>.npz or .safetensors    the tensors of that step, by their keys, in the order of the file
//   <name>/<mode>-<index>.npy             one tensor at that step, as `spotter export` writes them, with its %XX
// A key `name@mode:index`, as `spotter export` writes it, names its own step. A key `name@mode` with `name@mode:steps`
// in the same file is a series with a number at each of these steps. Every other file belongs to step train:0, and a
// .npy file then has the tensor's name. `files` must outlive it.
class dump {
public:
    // Everything found; lives with the dump.
    [[nodiscard]] step_index const& index() const noexcept { return index_; }
    // Whether tensors within a step are in the order of writing; unknown for a folder of .npy files.
    [[nodiscard]] bool is_ordered() const noexcept { return !has_npy_; }

    // errc: corrupt, wrong_type, bad_config (a compressed archive without zlib), no_such_name, out_of_memory, and those
    // of the file.
    [[nodiscard]] recorded_value at(std::string_view name, step_id step) const;

    friend result<dump> open_dump(std::string_view path, inflate_function inflate, file_system& files);

private:
    struct source {
        std::string path{};
        std::uint64_t bytes = 0;  // size at the first reading
        std::vector<zip_entry> entries{};
        std::vector<safetensors_entry> tensors{};
    };
    struct place {
        std::size_t file = 0;
        std::size_t entry = 0;
    };

    dump(inflate_function inflate, file_system& files) noexcept : inflate_{inflate}, files_{&files} {}

    // A tensor at a step.
    struct snapshot {
        step_id step{};
        std::uint32_t name = 0;   // index of the name
        std::uint32_t place = 0;  // index among all places found

        friend bool operator<(snapshot const& a, snapshot const& b) noexcept {
            return a.step != b.step ? a.step < b.step : a.place < b.place;
        }
    };
    void meet(step_id step, std::uint32_t name) {
        met_.push_back({step, name, static_cast<std::uint32_t>(met_.size())});
    }
    // Numbers of one name and mode: element i of one array, at the step in element i of another.
    struct series {
        place values{};
        std::vector<std::pair<std::uint64_t, std::size_t>> steps{};  // index and element, ascending
    };

    [[nodiscard]] recorded_value read(std::string_view name, step_id step) const;
    [[nodiscard]] recorded_value read(place const& where) const;
    [[nodiscard]] recorded_value read(series const& from, step_id step) const;

    [[nodiscard]] static error changed() noexcept;
    [[nodiscard]] static error in_file(error why, std::string_view path) noexcept;
    [[nodiscard]] static recorded_value named(recorded_value value, std::string_view path);

    [[nodiscard]] error add(step_id step, std::string name, place where);
    [[nodiscard]] static std::string_view tail_of(std::string_view path) noexcept;

    // `inside` is its path below the folder of the dump.
    [[nodiscard]] error add_file(std::string const& path, std::string_view inside);
    // Lists the entries of an archive, and their keys: none where an entry is no tensor.
    [[nodiscard]] error list_archive(source& it, bool is_zip, std::vector<std::optional<std::string_view>>& keys) const;
    // Adds the series among these keys, and takes away their keys.
    [[nodiscard]] error take_series(std::size_t number, std::string const& before,
                                    std::vector<std::optional<std::string_view>>& keys);
    [[nodiscard]] error add_archive(std::size_t number, bool is_zip, step_id step, std::string const& before);
    [[nodiscard]] error add_key(std::string const& before, std::string_view key, step_id step, place where);
    // errc: wrong_type (they are not a series), exists.
    [[nodiscard]] error add_series(std::string name, mode which, place values, place steps);
    // Builds the index of everything found. errc: exists.
    [[nodiscard]] error build_index();

    // In the order of names, so that a folder is read in the same order everywhere.
    [[nodiscard]] error add_folder(std::string const& path, std::string const& inside, int depth);

    [[nodiscard]] static result<dump> open(std::string_view path, inflate_function inflate, file_system& files);

    inflate_function inflate_;
    file_system* files_;
    std::vector<source> files_list_{};
    std::map<std::pair<step_id, std::string>, place> places_{};
    std::map<std::pair<mode, std::string>, series> series_{};
    std::vector<snapshot> met_{};  // until they are in the index
    step_index index_{};
    mutable series const* read_ = nullptr;  // the last requested one, with its numbers:
    mutable recorded_value numbers_{error{}};
    bool has_npy_ = false;
};

// errc: not_a_run (nothing there, or no such file in it), corrupt, wrong_type, exists (a tensor twice at a step), and
// of the files.
[[nodiscard]] result<dump> open_dump(std::string_view path, inflate_function inflate, file_system& files);

}  // namespace spotter::inline SPOTTER_ABI
