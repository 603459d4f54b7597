// SPDX-License-Identifier: Apache-2.0
// Act (L6): a folder of checkpoints: how files enter it, replace others and are removed.
#pragma once

#include <spotter/act/checkpoint_writer.hpp>
#include <spotter/file/system.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Options of a folder of checkpoints.
struct checkpoint_options {
    // Number of good checkpoints to keep of this run, at least 1. Older ones are removed once a newer one is good.
    // Those of other runs stay.
    std::uint32_t keep = 2;
    // Wider floating-point values are written in this type, rounded to nearest: f32, bf16 or f16. none: in their own
    // type.
    dtype as = dtype::none;
    // Whether a file is synced to the disk before it gets its name, against power failures.
    bool sync = true;
    // Whether a net's inputs, labels, activations, predictions, losses and gradients are written, too: what each batch
    // makes anew. Tensors that the call names are always written.
    bool batch = false;
};

namespace detail {

// Removes or replaces only files that the folder's list names as those of the run that asks, unchanged since they were
// written, and only while it holds the folder's lock. `run`: hook.run_id(), or unrecorded_run(). Reading alone changes
// nothing. Throws where memory is exhausted; the caller catches that.
class checkpoint_folder {
public:
    checkpoint_folder(std::string_view folder, checkpoint_options const& choices, file_system& files);
    checkpoint_folder(checkpoint_folder const&) = delete;
    checkpoint_folder& operator=(checkpoint_folder const&) = delete;
    ~checkpoint_folder();

    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }
    // In the order in which they were saved.
    [[nodiscard]] std::vector<listed_checkpoint> const& all() const noexcept { return all_; }
    // The newest good one of `run` (any_run: of all) whose file is unchanged.
    static constexpr std::uint64_t any_run = 0;
    [[nodiscard]] checkpoint_file last_good(std::uint64_t run);
    // The newest good one of the run that is recorded in a folder.
    [[nodiscard]] checkpoint_file last_good_of(std::string_view recorded);

    // Writes one file: begin, then the writer's calls, then `end`. `moment` is that of the step's close.
    [[nodiscard]] checkpoint_writer& begin(step_id step, run_moment moment, std::uint64_t run);
    [[nodiscard]] error end();
    // Adds a complete file that other code wrote.
    [[nodiscard]] error adopt(step_id step, run_moment moment, std::uint64_t run, std::string const& from);
    // Sets the state, according to the steps that followed.
    [[nodiscard]] error mark(std::size_t which, bool good);
    // Removes good ones of `run` beyond `keep`, and bad ones except its newest checkpoint.
    [[nodiscard]] error tidy(std::uint64_t run);

private:
    [[nodiscard]] error hold();
    // Whether this process is a fork of the one that holds the folder.
    [[nodiscard]] bool is_fork() const noexcept { return fork_ && fork_->in_child(); }
    [[nodiscard]] error sync_file(std::string const& path);
    // Removes its file and clears its path. Keeps the first error.
    void remove(listed_checkpoint& it, error& first);
    void remove_surplus(std::uint64_t run, error& first);
    void remove_without_use(std::uint64_t run, error& first);
    // Gives it a name that no other run's checkpoint has.
    void rename_if_taken(listed_checkpoint& one) const;
    [[nodiscard]] error make_room(listed_checkpoint const& one, std::string_view from = {});
    [[nodiscard]] error enter(listed_checkpoint one, std::string const& from);
    [[nodiscard]] listed_checkpoint* entry_at(std::string_view path) noexcept;
    [[nodiscard]] bool is_same_file(std::string_view a, std::string_view b) noexcept;
    [[nodiscard]] truth is_there(listed_checkpoint const& one) noexcept;
    [[nodiscard]] truth is_sound(listed_checkpoint& one);
    [[nodiscard]] std::size_t newest_good(std::uint64_t run);
    [[nodiscard]] std::string path_of(listed_checkpoint const& one, checkpoint_state state) const;

    checkpoint_options choices_;
    file_system& files_;
    std::string folder_;
    checkpoint_list list_;
    std::optional<fork_guard> fork_{};  // of the process that took the lock
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
#include <spotter/record/folder.hpp>

#include <algorithm>
#include <cstdio>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] SPOTTER_BODY std::string without_slashes(std::string_view folder) {
    while (folder.size() > 1 && folder.back() == '/') { folder.remove_suffix(1); }
    return std::string{folder};
}

SPOTTER_BODY checkpoint_folder::checkpoint_folder(std::string_view folder, checkpoint_options const& choices,
                                                  file_system& files)
    : choices_{choices}, files_{files}, folder_{without_slashes(files.absolute(folder).view())}, list_{folder_, files} {
    bool const known =
        choices.as == dtype::none || choices.as == dtype::f32 || choices.as == dtype::f16 || choices.as == dtype::bf16;
    if (!known) {
        trouble_ = {errc::bad_config, "checkpoints are written as f32, f16 or bf16, or as they are"};
        choices_.as = dtype::none;
    }
    choices_.keep = (std::max)(choices_.keep, std::uint32_t{1});
    if (error const why = files_.make_folder(folder_)) { trouble_ = why; }
    error const why = list_.read(all_);  // the checkpoints may exist nevertheless
    if (!trouble_) { trouble_ = why; }
}

SPOTTER_BODY checkpoint_folder::~checkpoint_folder() {
    if (lock_.open()) { is_fork() ? files_.leave_lock(lock_) : files_.unlock(lock_); }
}

[[nodiscard]] SPOTTER_BODY error saved_by_parent() noexcept {
    return {errc::busy, "the process that this one was forked from saves into this folder: use another folder"};
}

// Called before the first write. The previous holder of the lock may have changed the folder.
SPOTTER_BODY error checkpoint_folder::hold() {
    if (is_fork()) { return saved_by_parent(); }
    if (!held_) {
        if (!lock_.open()) {
            auto const lock = files_.lock(list_.path_of(checkpoint_list::lock_name));
            if (!lock && lock.error().code == errc::busy) { return lock.error(); }
            if (lock) { lock_ = *lock; }  // otherwise the file system has no locks
            fork_.emplace();
        }
        if (error const why = list_.read(all_)) { return why; }
        held_ = true;
    }
    std::string const part = list_.path_of(checkpoint_list::part_name);
    if (files_.kind_of(part).value_or(path_kind::missing) == path_kind::file) {  // a process was killed while writing
                                                                                 // it
        if (error const why = files_.remove(part)) { return why; }
    }
    return list_.begin(all_, choices_.sync);
}

SPOTTER_BODY std::string checkpoint_folder::path_of(listed_checkpoint const& one, checkpoint_state state) const {
    return list_.path_of(checkpoint_name(one.file.step, state, one.ending));
}

SPOTTER_BODY listed_checkpoint* checkpoint_folder::entry_at(std::string_view path) noexcept {
    for (listed_checkpoint& each : all_) {
        if (each.file.path == path) { return &each; }
    }
    return nullptr;
}

// A path has many spellings: relative, with `..`, through a link.
SPOTTER_BODY bool checkpoint_folder::is_same_file(std::string_view a, std::string_view b) noexcept {
    auto const one = files_.facts_of(a), other = files_.facts_of(b);
    return a == b || (one && other && one->identity != 0 && one->identity == other->identity);
}

// Whether the file has its written length; if it was read before, whether it is still the same file.
SPOTTER_BODY truth checkpoint_folder::is_there(listed_checkpoint const& one) noexcept {
    auto const facts = files_.facts_of(one.file.path);
    if (!facts) { return facts.error().code == errc::not_a_run ? truth::no : truth::undecided; }
    return facts->bytes == one.bytes && (!one.seen || facts->identity == one.identity) ? truth::yes : truth::no;
}

// Reads a file that another process wrote, once.
SPOTTER_BODY truth checkpoint_folder::is_sound(listed_checkpoint& one) {
    truth const there = is_there(one);
    if (there != truth::yes || one.seen || !one.ours) { return there; }
    auto const facts = files_.facts_of(one.file.path);
    auto const hash = hash_of_file(files_, one.file.path);
    if (!facts || !hash) { return truth::undecided; }
    if (*hash != one.hash) { return truth::no; }
    one.identity = facts->identity;
    one.seen = true;
    return truth::yes;
}

[[nodiscard]] SPOTTER_BODY bool is_good_of(listed_checkpoint const& one, std::uint64_t run) noexcept {
    return one.file.state == checkpoint_state::good && (run == checkpoint_folder::any_run || one.file.run == run);
}

// A file that was changed since is no checkpoint any more, and stays where it is. Returns all().size() where there is
// none.
SPOTTER_BODY std::size_t checkpoint_folder::newest_good(std::uint64_t run) {
    for (std::size_t i = all_.size(); i > 0; --i) {
        if (!is_good_of(all_[i - 1], run)) { continue; }
        truth const sound = is_sound(all_[i - 1]);
        if (sound == truth::yes) { return i - 1; }
        if (sound == truth::no) { all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i - 1)); }
    }
    return all_.size();
}

SPOTTER_BODY checkpoint_file checkpoint_folder::last_good(std::uint64_t run) {
    std::size_t const found = newest_good(run);
    if (found < all_.size()) { return all_[found].file; }
    for (auto it = all_.rbegin(); it != all_.rend(); ++it) {
        // Its content cannot be checked now; loading it will show.
        if (is_good_of(*it, run)) { return it->file; }
    }
    return {};
}

SPOTTER_BODY checkpoint_file checkpoint_folder::last_good_of(std::string_view recorded) {
    auto const run = run_id_in(files_, without_slashes(files_.absolute(recorded).view()));
    return run && *run != any_run ? last_good(*run) : checkpoint_file{};
}

// Files of other runs keep their names: "train-500.9f86d081.safetensors" is the second run's.
SPOTTER_BODY void checkpoint_folder::rename_if_taken(listed_checkpoint& one) const {
    bool const taken = std::any_of(all_.begin(), all_.end(), [&](listed_checkpoint const& each) {
        return each.file.run != one.file.run && each.file.step == one.file.step && each.ending == one.ending;
    });
    if (!taken) { return; }
    char run[20];
    std::snprintf(run, sizeof run, ".%08llx", static_cast<unsigned long long>(one.file.run >> 32U));
    one.ending.insert(0, run);
}

// Checks that none of the names that it may get belongs to a file of others.
SPOTTER_BODY error checkpoint_folder::make_room(listed_checkpoint const& one, std::string_view from) {
    for (checkpoint_state const state : {checkpoint_state::unproven, checkpoint_state::good, checkpoint_state::bad}) {
        std::string const path = path_of(one, state);
        listed_checkpoint* const mine = entry_at(path);
        bool const same_run = mine != nullptr && mine->ours && mine->file.run == one.file.run;
        if ((!from.empty() && is_same_file(path, from)) || (same_run && is_sound(*mine) == truth::yes)) { continue; }
        auto const kind = files_.kind_of(path);
        if (!kind) { return kind.error(); }
        if (*kind == path_kind::missing) { continue; }
        error why{errc::exists,
                  "there is a file that is none of these checkpoints, or not as it was written; move it away: "};
        why.what << std::string_view{path}.substr(path.size() > 120 ? path.size() - 120 : 0);
        return why;
    }
    return {};
}

SPOTTER_BODY checkpoint_writer& checkpoint_folder::begin(step_id step, run_moment moment, std::uint64_t run) {
    now_ = std::make_unique<checkpoint_writer>(list_.path_of(checkpoint_list::part_name), choices_.as, files_);
    coming_ = {};
    coming_.file.step = step;
    coming_.file.run = run;
    coming_.ending = safetensors_end;
    coming_.moment = moment;
    error why = hold();
    if (!why) {
        rename_if_taken(coming_);
        why = make_room(coming_);
    }
    if (why) { now_->refuse(why); }
    return *now_;
}

SPOTTER_BODY error checkpoint_folder::end() {
    std::unique_ptr<checkpoint_writer> const it = std::move(now_);
    error why = it->end(choices_.sync);
    if (why) { return why; }
    coming_.bytes = it->bytes();
    coming_.hash = it->hash();
    why = enter(std::move(coming_), it->path());
    if (why) { (void)files_.remove(it->path()); }
    return why;
}

// The file extension with its dot; that of safetensors if there is none.
[[nodiscard]] SPOTTER_BODY std::string ending_of(std::string const& path) {
    std::size_t const dot = path.rfind('.'), slash = path.rfind('/');
    bool const has_end =
        dot != std::string::npos && (slash == std::string::npos || dot > slash) && !path.ends_with(".part");
    return has_end ? path.substr(dot) : std::string{safetensors_end};
}

SPOTTER_BODY error checkpoint_folder::sync_file(std::string const& path) {
    auto const file = files_.open_append(path);
    if (!file) { return file.error(); }
    error const synced = files_.sync(*file), closed = files_.close(*file);
    return synced ? synced : closed;
}

SPOTTER_BODY error checkpoint_folder::adopt(step_id step, run_moment moment, std::uint64_t run,
                                            std::string const& from) {
    auto const kind = files_.kind_of(from);
    if (!kind) { return kind.error(); }
    if (*kind != path_kind::file) { return {errc::unwritable, "there is no file to take as a checkpoint"}; }
    if (error const why = hold()) { return why; }
    for (listed_checkpoint const& each : all_) {
        if (!is_same_file(each.file.path, from)) { continue; }
        return {errc::exists, "that file is one of these checkpoints already"};
    }
    listed_checkpoint one;
    one.ending = ending_of(from);
    one.moment = moment;
    one.file.step = step;
    one.file.run = run;
    rename_if_taken(one);
    if (one.ending.find('\n') != std::string::npos) {
        return {errc::bad_config, "a checkpoint's name has no line break"};
    }
    if (error const why = make_room(one, from)) { return why; }
    if (error const why = choices_.sync ? sync_file(from) : error{}) { return why; }
    auto const size = files_.size_of(from);
    auto const hash = hash_of_file(files_, from);
    if (!size || !hash) { return size ? hash.error() : size.error(); }
    one.bytes = *size, one.hash = *hash;
    return enter(std::move(one), from);
}

// The list is written first: a file with a checkpoint's name that the list does not have would count as a file of
// others.
SPOTTER_BODY error checkpoint_folder::enter(listed_checkpoint one, std::string const& from) {
    auto const facts = files_.facts_of(from);
    if (!facts) { return facts.error(); }
    if (error const why = list_.add(one, choices_.sync)) { return why; }
    one.file.path = path_of(one, checkpoint_state::unproven);
    one.identity = facts->identity;
    one.seen = true;
    if (error const why = files_.rename(from, one.file.path)) { return why; }
    error const why = choices_.sync ? files_.sync_folder(folder_) : error{};
    std::erase_if(all_, [&](listed_checkpoint const& each) { return each.file.path == one.file.path; });
    if (why) { one.moment = {}; }  // it exists, but the loop gets an error
    all_.push_back(std::move(one));
    return why;
}

SPOTTER_BODY error checkpoint_folder::mark(std::size_t which, bool good) {
    if (is_fork()) { return saved_by_parent(); }
    checkpoint_state const state = good ? checkpoint_state::good : checkpoint_state::bad;
    std::string const fresh = path_of(all_[which], state);
    if (all_[which].file.path != fresh) {  // otherwise the folder could not be synced last time
        if (is_there(all_[which]) == truth::no) {
            error gone{errc::not_a_run, "a checkpoint was removed or changed before it was good: "};
            gone.what << std::string_view{all_[which].file.path}.substr(fresh.size() > 120 ? fresh.size() - 120 : 0);
            all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(which));
            return gone;
        }
        if (error const why = make_room(all_[which])) { return why; }
        if (error const why = files_.rename(all_[which].file.path, fresh)) { return why; }
        // Saved again after a rewind: the previous file was replaced under the same name.
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (i != which && all_[i].file.path == fresh) { all_[i].file.path.clear(); }
        }
        all_[which].file.path = fresh;
    }
    error const why = choices_.sync ? files_.sync_folder(folder_) : error{};
    if (!why) { all_[which].file.state = state; }  // until then older ones are kept
    std::erase_if(all_, [](listed_checkpoint const& each) { return each.file.path.empty(); });
    return why;
}

// Only removes files that have newer, unchanged ones in their place.
SPOTTER_BODY error checkpoint_folder::tidy(std::uint64_t run) {
    if (!held_ || is_fork()) { return {}; }
    auto const gone = [](listed_checkpoint const& each) { return each.file.path.empty(); };
    error first;
    remove_surplus(run, first);
    std::erase_if(all_, gone);
    remove_without_use(run, first);
    std::erase_if(all_, gone);
    return first;
}

SPOTTER_BODY void checkpoint_folder::remove(listed_checkpoint& it, error& first) {
    truth const mine = is_sound(it);  // or another process replaced or removed it
    error const why = mine == truth::yes ? files_.remove(it.file.path) : error{};
    if (why && !first) { first = why; }
    if (!why && mine != truth::undecided) { it.file.path.clear(); }
}

SPOTTER_BODY void checkpoint_folder::remove_surplus(std::uint64_t run, error& first) {
    auto const is_good = [run](listed_checkpoint const& each) { return each.ours && is_good_of(each, run); };
    if (static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), is_good)) <= choices_.keep) { return; }
    std::uint32_t stay = 0;
    for (auto it = all_.rbegin(); it != all_.rend(); ++it) {
        if (!is_good(*it)) { continue; }
        if (stay == choices_.keep) {
            remove(*it, first);
        } else if (is_sound(*it) == truth::yes) {
            ++stay;
        }
    }
}

SPOTTER_BODY void checkpoint_folder::remove_without_use(std::uint64_t run, error& first) {
    auto const may_go = [run](listed_checkpoint const& each) {
        return each.ours && each.file.run == run && each.file.state != checkpoint_state::good;
    };
    if (std::none_of(all_.begin(), all_.end(), may_go)) { return; }
    std::size_t const good = newest_good(run);
    bool const any_good = good < all_.size();
    std::size_t last = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (all_[i].file.run == run) { last = i; }
    }
    for (std::size_t i = 0; i < all_.size(); ++i) {
        bool const is_bad = all_[i].file.state == checkpoint_state::bad;
        // An unproven one that is older than a good one comes from an earlier process.
        bool const goes = is_bad ? any_good || i < last : any_good && i < good;
        if (goes && may_go(all_[i])) { remove(all_[i], first); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
