// SPDX-License-Identifier: Apache-2.0
// Act (L6): a folder of checkpoints: how a file comes to be in it, which takes another's place, and which goes.
#pragma once

#include <spotter/act/checkpoint_writer.hpp>
#include <spotter/file/system.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What may be said of a folder of checkpoints.
struct checkpoint_options {
    // Good ones that stay; 1 at least. Older ones are removed once a newer one is good.
    std::uint32_t keep = 2;
    // Floating-point values of more bits are written in this type, rounded to the nearest: f32, bf16 or f16. none: as
    // they are.
    dtype as = dtype::none;
    // Down to the disk before it takes its name: against power cuts.
    bool sync = true;
};

namespace detail {

// Nothing is removed or replaced but files that the folder's list names, as they were written, and nothing before the
// folder's lock is taken: whoever only looks changes nothing. Throws where memory is exhausted; its caller does not let
// that out.
class checkpoint_folder {
public:
    checkpoint_folder(std::string_view folder, checkpoint_options const& choices, file_system& files);
    checkpoint_folder(checkpoint_folder const&) = delete;
    checkpoint_folder& operator=(checkpoint_folder const&) = delete;
    ~checkpoint_folder();

    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }
    // In the order in which they were saved.
    [[nodiscard]] std::vector<listed_checkpoint> const& all() const noexcept { return all_; }
    // The newest good one, if its file is as it was written; else an older one.
    [[nodiscard]] checkpoint_file last_good();

    // Of one file: begin, then the writer's calls, then `end`. `moment`: of the step's close.
    [[nodiscard]] checkpoint_writer& begin(step_id step, run_moment moment);
    [[nodiscard]] error end();
    // A whole file that somebody wrote.
    [[nodiscard]] error adopt(step_id step, run_moment moment, std::string const& from);
    // What the steps behind it said.
    [[nodiscard]] error settle(std::size_t which, bool good);
    // Good ones beyond `keep`, and bad ones but the newest of all, go.
    [[nodiscard]] error tidy();

private:
    [[nodiscard]] error hold();
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
    listed_checkpoint coming_{};  // that `now_` writes
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/checkpoint_folder.ipp>
#endif
