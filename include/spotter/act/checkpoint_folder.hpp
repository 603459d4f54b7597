// SPDX-License-Identifier: Apache-2.0
// Act (L6): a folder of checkpoints: how files enter it, replace others and are removed.
#pragma once

#include <spotter/act/checkpoint_writer.hpp>
#include <spotter/file/system.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Options of a folder of checkpoints.
struct checkpoint_options {
    // Number of good checkpoints to keep, at least 1. Older ones are removed once a newer one is good.
    std::uint32_t keep = 2;
    // Wider floating-point values are written in this type, rounded to nearest: f32, bf16 or f16. none: in their own
    // type.
    dtype as = dtype::none;
    // Whether a file is synced to the disk before it gets its name, against power failures.
    bool sync = true;
};

namespace detail {

// Removes or replaces only files that the folder's list names, unchanged since they were written, and only while it
// holds the folder's lock. Reading alone changes nothing. Throws where memory is exhausted; the caller catches that.
class checkpoint_folder {
public:
    checkpoint_folder(std::string_view folder, checkpoint_options const& choices, file_system& files);
    checkpoint_folder(checkpoint_folder const&) = delete;
    checkpoint_folder& operator=(checkpoint_folder const&) = delete;
    ~checkpoint_folder();

    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }
    // In the order in which they were saved.
    [[nodiscard]] std::vector<listed_checkpoint> const& all() const noexcept { return all_; }
    // The newest good one whose file is unchanged.
    [[nodiscard]] checkpoint_file last_good();

    // Writes one file: begin, then the writer's calls, then `end`. `moment` is that of the step's close.
    [[nodiscard]] checkpoint_writer& begin(step_id step, run_moment moment);
    [[nodiscard]] error end();
    // Adds a complete file that other code wrote.
    [[nodiscard]] error adopt(step_id step, run_moment moment, std::string const& from);
    // Sets the state, according to the steps that followed.
    [[nodiscard]] error mark(std::size_t which, bool good);
    // Removes good ones beyond `keep`, and bad ones except the newest checkpoint of all.
    [[nodiscard]] error tidy();

private:
    [[nodiscard]] error hold();
    [[nodiscard]] error sync_file(std::string const& path);
    // Removes its file and clears its path. Keeps the first error.
    void remove(listed_checkpoint& it, error& first);
    void remove_surplus(error& first);
    void remove_without_use(error& first);
    [[nodiscard]] error make_room(listed_checkpoint const& one, std::string_view from = {});
    [[nodiscard]] error enter(listed_checkpoint one, std::string const& from);
    [[nodiscard]] listed_checkpoint* entry_at(std::string_view path) noexcept;
    [[nodiscard]] truth is_there(listed_checkpoint const& one) noexcept;
    [[nodiscard]] truth is_sound(listed_checkpoint& one);
    [[nodiscard]] std::size_t newest_good();
    [[nodiscard]] std::string path_of(listed_checkpoint const& one, checkpoint_state state) const;

    checkpoint_options choices_;
    file_system& files_;
    std::string folder_;
    checkpoint_list list_;
    fork_guard fork_{};
    opened_file lock_{};
    bool held_ = false;
    error trouble_{};
    std::vector<listed_checkpoint> all_{};
    std::unique_ptr<checkpoint_writer> now_{};
    listed_checkpoint coming_{};  // the one that `now_` writes
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/checkpoint_folder.ipp>
#endif
