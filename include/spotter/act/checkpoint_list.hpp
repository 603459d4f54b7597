// SPDX-License-Identifier: Apache-2.0
// Act (L6): the list of a folder's checkpoints: their files, with length and hash as written.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/hook/vitals.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

//   unproven  completely written; the steps after it will decide whether it is good
//   good      no finding at its step or from there to the next checkpoint
//   bad       a rule reported a warning or an error at its step or after it, before the next checkpoint
enum class checkpoint_state : std::uint8_t { unproven, good, bad };
[[nodiscard]] constexpr std::string_view name_of(checkpoint_state state) noexcept {
    constexpr std::string_view names[] = {"unproven", "good", "bad"};
    return names[static_cast<std::size_t>(state)];
}

// An existing checkpoint.
struct checkpoint_file {
    step_id step{};  // the step at which it was saved
    checkpoint_state state = checkpoint_state::unproven;
    std::string path{};  // of the file
};

namespace detail {

// A hash of bytes that come in pieces of any size.
class running_hash {
public:
    void add(byte_view bytes) noexcept;
    [[nodiscard]] std::uint64_t value() const noexcept;

private:
    static constexpr std::size_t block = 16U << 10;
    [[nodiscard]] static std::uint64_t folded(std::uint64_t before, byte_view bytes) noexcept;

    std::byte rest_[block];  // the first `held_` bytes of a block
    std::size_t held_ = 0;
    std::uint64_t so_far_ = 0;
};
// The hash of a whole file. Reads it in pieces, since another process may truncate it meanwhile.
[[nodiscard]] result<std::uint64_t> hash_of_file(file_system& files, std::string_view path) noexcept;

struct listed_checkpoint {
    checkpoint_file file{};
    std::string ending{};               // of its name: ".safetensors"
    std::uint64_t bytes = 0, hash = 0;  // as written
    bool ours = true;                   // false: it existed before the list did, and is never removed or replaced
    run_moment moment{};                // of its step's close; empty where another process or hook saved it
    std::uint64_t identity = 0;         // of the file that this process wrote or read
    bool seen = false;                  // this process wrote or read it
};

// "train-500.unproven.safetensors"
[[nodiscard]] std::string checkpoint_name(step_id step, checkpoint_state state, std::string_view ending);

// A text file beside the checkpoints, with a line for each saved one; the line is written before the file gets its
// name. Files that it does not name belong to others, whatever their name:
//     spotter checkpoints 1
//     saved train 500 1048576 9f86d081884c7d65 .safetensors      step, bytes, their hash, the end of the name
//     found train 400 1048576 0000000000000000 .safetensors      existed when the list was begun
class checkpoint_list {
public:
    static constexpr std::string_view name = "checkpoints.list", lock_name = "checkpoints.lock",
                                      part_name = "checkpoints.part";

    checkpoint_list(std::string folder, file_system& files) : folder_{std::move(folder)}, files_{files} {}

    // Reads the listed checkpoints that exist, in the order in which they were saved; files of another length are left
    // out. Without a list: files with a checkpoint's name that are complete safetensors files.
    [[nodiscard]] error read(std::vector<listed_checkpoint>& all);
    // Begins a list where there is none, and rewrites it from the existing files where most of its lines name files
    // that are gone. errc::corrupt where the list must not be written to.
    [[nodiscard]] error begin(std::vector<listed_checkpoint> const& all, bool to_disk);
    [[nodiscard]] error add(listed_checkpoint const& one, bool to_disk);  // appends a line

    [[nodiscard]] std::string path_of(std::string_view file) const { return folder_ + '/' + std::string{file}; }

private:
    [[nodiscard]] static std::string line_of(listed_checkpoint const& one);
    [[nodiscard]] static bool read_line(std::string_view line, listed_checkpoint& into);
    [[nodiscard]] error load(std::string& text);
    [[nodiscard]] error match(std::vector<std::string> const& names, std::vector<listed_checkpoint>& all);
    [[nodiscard]] error find(std::vector<std::string> const& names, std::vector<listed_checkpoint>& all);
    [[nodiscard]] error append(std::string_view path, std::string_view text, bool to_disk);

    std::string folder_;
    file_system& files_;
    error unsound_{};  // why nothing may be added
    bool there_ = false;
    bool torn_ = false;      // its last line has no line end
    std::size_t lines_ = 0;  // number of its lines
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/checkpoint_list.ipp>
#endif
