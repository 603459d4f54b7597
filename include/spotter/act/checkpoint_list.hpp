// SPDX-License-Identifier: Apache-2.0
// Act (L6): the list of a folder's checkpoints: which files are theirs, how long they were written, and what was in
// them.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/hook/vitals.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

//   unproven  written whole; whether what it holds is good, the steps behind it will say
//   good      nothing went wrong at its step or from there to the next checkpoint
//   bad       a rule told a warning or an error at its step or behind it, before the next checkpoint
enum class checkpoint_state : std::uint8_t { unproven, good, bad };
[[nodiscard]] constexpr std::string_view name_of(checkpoint_state state) noexcept {
    constexpr std::string_view names[] = {"unproven", "good", "bad"};
    return names[static_cast<std::size_t>(state)];
}

// A checkpoint that is there.
struct checkpoint_file {
    step_id step{};  // at which it was saved
    checkpoint_state state = checkpoint_state::unproven;
    std::string path{};  // of the file
};

namespace detail {

// Of bytes that come in pieces of any size.
class running_hash {
public:
    void add(byte_view bytes) noexcept;
    [[nodiscard]] std::uint64_t value() const noexcept;

private:
    static constexpr std::size_t block = 16U << 10;
    [[nodiscard]] static std::uint64_t folded(std::uint64_t before, byte_view bytes) noexcept;

    std::byte rest_[block];  // of a block, its first `held_` bytes
    std::size_t held_ = 0;
    std::uint64_t so_far_ = 0;
};
// Of a whole file, in pieces that are read, as somebody may cut it meanwhile.
[[nodiscard]] result<std::uint64_t> hash_of_file(file_system& files, std::string_view path) noexcept;

struct listed_checkpoint {
    checkpoint_file file{};
    std::string ending{};               // of its name: ".safetensors"
    std::uint64_t bytes = 0, hash = 0;  // as it was written
    bool ours = true;                   // else it was here before the list was, and is never removed or replaced
    run_moment moment{};                // of its step's close; none where another process or hook saved it
    std::uint64_t identity = 0;         // of the file that was written here, or looked through
    bool seen = false;                  // it was
};

// "train-500.unproven.safetensors"
[[nodiscard]] std::string checkpoint_name(step_id step, checkpoint_state state, std::string_view ending);

// A text beside the checkpoints, with a line for each that was saved, written down before the file has its name. What
// it does not name is somebody else's, whatever it is called:
//     spotter checkpoints 1
//     saved train 500 1048576 9f86d081884c7d65 .safetensors      step, bytes, their hash, the end of the name
//     found train 400 1048576 0000000000000000 .safetensors      was here when the list was begun
class checkpoint_list {
public:
    static constexpr std::string_view name = "checkpoints.list", lock_name = "checkpoints.lock",
                                      part_name = "checkpoints.part";

    checkpoint_list(std::string folder, file_system& files) : folder_{std::move(folder)}, files_{files} {}

    // What is there of what the list says, in the order in which it was saved; a file of another length is not. Where
    // there is no list: files of a checkpoint's name that are whole as safetensors.
    [[nodiscard]] error read(std::vector<listed_checkpoint>& all);
    // Begins one where there is none (any more), and anew where most of its lines are of files that are gone, by what
    // there is; errc::corrupt where there is one that is not to be written to.
    [[nodiscard]] error begin(std::vector<listed_checkpoint> const& all, bool to_disk);
    [[nodiscard]] error add(listed_checkpoint const& one, bool to_disk);  // behind the others

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
    bool torn_ = false;      // its last line has no end
    std::size_t lines_ = 0;  // in it
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/checkpoint_list.ipp>
#endif
