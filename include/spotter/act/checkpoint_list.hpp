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
    std::string path{};     // of the file
    std::uint64_t run = 0;  // hook.run_id() of the run that saved it; 0: unknown
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

// Identifies a run that is not recorded, in this process; `hook` is the one of its moments (run_moment::hook).
[[nodiscard]] std::uint64_t unrecorded_run(std::uint64_t hook) noexcept;

// "train-500.unproven.safetensors"
[[nodiscard]] std::string checkpoint_name(step_id step, checkpoint_state state, std::string_view ending);

// A text file beside the checkpoints, with a line for each saved one; the line is written before the file gets its
// name. Files that it does not name belong to others, whatever their name:
//     spotter checkpoints 2
//     saved train 500 1048576 9f86d081884c7d65 4be2f00d5a1c9e37 .safetensors    step, bytes, their hash, the id of the
//                                                                               run, the end of the name
//     found train 400 1048576 0000000000000000 0000000000000000 .safetensors    existed when the list was begun
// Lines of version 1 have no run; it is unknown.
class checkpoint_list {
public:
    static constexpr std::string_view name = "checkpoints.list", lock_name = "checkpoints.lock",
                                      part_name = "checkpoints.part";

    checkpoint_list(std::string folder, file_system& files) : folder_{std::move(folder)}, files_{files} {}

    // Reads the listed checkpoints that exist, in the order in which they were saved; files of another length are left
    // out. Without a list: files with a checkpoint's name that are complete safetensors files.
    [[nodiscard]] error read(std::vector<listed_checkpoint>& all);
    // Begins a list where there is none. Rewrites it from the existing files where it is of version 1, or most of its
    // lines name files that are gone. errc::corrupt where the list must not be written to.
    [[nodiscard]] error begin(std::vector<listed_checkpoint> const& all, bool to_disk);
    [[nodiscard]] error add(listed_checkpoint const& one, bool to_disk);  // appends a line

    [[nodiscard]] std::string path_of(std::string_view file) const { return folder_ + '/' + std::string{file}; }

private:
    [[nodiscard]] static std::string line_of(listed_checkpoint const& one);
    [[nodiscard]] static bool read_line(std::string_view line, bool has_run, listed_checkpoint& into);
    [[nodiscard]] error load(std::string& text);
    [[nodiscard]] error match(std::vector<std::string> const& names, std::vector<listed_checkpoint>& all);
    [[nodiscard]] error find(std::vector<std::string> const& names, std::vector<listed_checkpoint>& all);
    [[nodiscard]] error append(std::string_view path, std::string_view text, bool to_disk);

    std::string folder_;
    file_system& files_;
    error unsound_{};  // why nothing may be added
    bool there_ = false;
    bool has_runs_ = false;  // it is of the current version
    bool torn_ = false;      // its last line has no line end
    std::size_t lines_ = 0;  // number of its lines
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/safetensors.hpp>
#include <spotter/file/replacing_file.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/checksum.hpp>
#include <spotter/record/clock.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>

namespace spotter::inline SPOTTER_ABI::detail {

inline constexpr std::uint64_t unknown_size = ~std::uint64_t{0};
inline constexpr std::string_view checkpoints_head = "spotter checkpoints 2",
                                  head_without_runs = "spotter checkpoints 1", safetensors_end = ".safetensors";

SPOTTER_BODY void running_hash::add(byte_view bytes) noexcept {
    while (!bytes.empty()) {
        byte_view const some = bytes.first((std::min)(bytes.size(), block - held_));
        bytes = bytes.subspan(some.size());
        if (some.size() == block) {
            so_far_ = folded(so_far_, some);
            continue;
        }
        std::memcpy(rest_ + held_, some.data(), some.size());
        held_ += some.size();
        if (held_ == block) { so_far_ = folded(so_far_, rest_), held_ = 0; }
    }
}

SPOTTER_BODY std::uint64_t running_hash::value() const noexcept {
    return held_ == 0 ? so_far_ : folded(so_far_, byte_view{rest_}.first(held_));
}

SPOTTER_BODY std::uint64_t running_hash::folded(std::uint64_t before, byte_view bytes) noexcept {
    std::byte both[16];
    store(both, before);
    store(both + 8, xxh64(bytes));
    return xxh64(both);
}

SPOTTER_BODY result<std::uint64_t> hash_of_file(file_system& files, std::string_view path) noexcept {
    std::byte piece[64U << 10];
    running_hash hash;
    for (std::uint64_t from = 0;; from += sizeof piece) {
        auto const read = files.read(path, from, piece);
        if (!read) { return read.error(); }
        hash.add(byte_view{piece}.first(*read));
        if (*read < sizeof piece) { return hash.value(); }
    }
}

SPOTTER_BODY std::uint64_t unrecorded_run(std::uint64_t hook) noexcept {
    static std::uint64_t const process = make_run_id();
    std::byte both[16];
    store(both, process);
    store(both + 8, hook);
    return xxh64(both) | 1U;
}

SPOTTER_BODY std::string checkpoint_name(step_id step, checkpoint_state state, std::string_view ending) {
    constexpr std::string_view marks[] = {".unproven", "", ".bad"};
    return std::string{name_of(step.mode)} + '-' + std::to_string(step.index) +
           std::string{marks[static_cast<std::size_t>(state)]} + std::string{ending};
}

SPOTTER_BODY error checkpoint_list::read(std::vector<listed_checkpoint>& all) {
    all.clear();
    std::vector<std::string> names;
    error why = files_.list(
        folder_,
        [](void* context, std::string_view each) {
            static_cast<std::vector<std::string>*>(context)->emplace_back(each);
            return true;
        },
        &names);
    std::string text;
    if (!why) { why = load(text); }
    std::string_view rest = text;
    bool head = true;
    torn_ = !rest.empty() && rest.back() != '\n';
    for (std::size_t end = rest.find('\n'); end != rest.npos && !unsound_; end = rest.find('\n')) {
        std::string_view const line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        if (head) {
            has_runs_ = line == checkpoints_head;
            if (!has_runs_ && line != head_without_runs) {
                unsound_ = {errc::corrupt,
                            "the list of the checkpoints is damaged, or of another version of spotter: "};
            }
            head = false;
            continue;
        }
        listed_checkpoint one;
        if (read_line(line, has_runs_, one)) { all.push_back(std::move(one)); }
    }
    there_ = !head;
    if (unsound_) {
        unsound_.what << std::string_view{path_of(name)} << " has to be moved away before another is saved";
        all.clear();
        there_ = false;
    }
    lines_ = all.size();
    if (error const unread = there_ ? match(names, all) : find(names, all); !why) { why = unread; }
    return why ? why : unsound_;
}

SPOTTER_BODY error checkpoint_list::load(std::string& text) {
    unsound_ = {};
    std::string const path = path_of(name);
    auto const kind = files_.kind_of(path);
    if (!kind) { return kind.error(); }
    if (*kind == path_kind::missing) { return {}; }
    if (error const why = read_all(files_, path, text)) { return unsound_ = why; }
    return {};
}

// A step may be listed twice, if it was saved again after a rewind. The file's content decides which entry it is.
SPOTTER_BODY error checkpoint_list::match(std::vector<std::string> const& names, std::vector<listed_checkpoint>& all) {
    struct facts {
        std::uint64_t bytes = 0, hash = 0;
        bool hashed = false;
    };
    std::map<std::string, facts> free;
    std::map<std::string, int> lines;
    for (std::string const& each : names) { free[each].bytes = unknown_size; }
    for (listed_checkpoint const& each : all) {
        ++lines[checkpoint_name(each.file.step, checkpoint_state::good, each.ending)];
    }
    std::vector<listed_checkpoint> there;
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
        bool const ambiguous = lines[checkpoint_name(it->file.step, checkpoint_state::good, it->ending)] > 1;
        for (checkpoint_state const state :
             {checkpoint_state::unproven, checkpoint_state::bad, checkpoint_state::good}) {
            auto const file = free.find(checkpoint_name(it->file.step, state, it->ending));
            if (file == free.end()) { continue; }
            facts& its = file->second;
            std::string const path = path_of(file->first);
            if (its.bytes == unknown_size) {
                auto const size = files_.size_of(path);
                if (!size) { return size.error(); }
                its.bytes = *size;
            }
            if (its.bytes == it->bytes && ambiguous && !its.hashed) {
                auto const hash = hash_of_file(files_, path);
                if (!hash) { return hash.error(); }
                its.hash = *hash, its.hashed = true;
            }
            if (its.bytes != it->bytes || (ambiguous && its.hash != it->hash)) { continue; }
            free.erase(file);
            it->file.state = state;
            it->file.path = path;
            there.push_back(std::move(*it));
            break;
        }
    }
    all.assign(std::make_move_iterator(there.rbegin()), std::make_move_iterator(there.rend()));
    return {};
}

// Checks the header: the tensors must end where the file does.
[[nodiscard]] SPOTTER_BODY bool is_whole_safetensors(file_system& files, std::string const& path, std::uint64_t bytes) {
    constexpr std::uint64_t longest = 100'000'000;  // the format's limit
    std::byte length[8]{};
    auto read = files.read(path, 0, length);
    std::uint64_t const header = load<std::uint64_t>(length);
    if (!read || *read != sizeof length || header < 2 || header > longest || header > bytes - sizeof length) {
        return false;
    }
    std::string text(static_cast<std::size_t>(header), '\0');
    read = files.read(path, sizeof length, std::as_writable_bytes(std::span{text}));
    stored_tensors tensors;
    if (!read || *read != header || !read_safetensors_header(text, tensors)) { return false; }
    std::uint64_t end = 0;
    for (auto const& [tensor, each] : tensors) { end = (std::max)(end, each.end); }
    return end > 0 && end == bytes - sizeof length - header;
}

SPOTTER_BODY error checkpoint_list::find(std::vector<std::string> const& names, std::vector<listed_checkpoint>& all) {
    for (std::string const& each : names) {
        listed_checkpoint one{.ending = std::string{safetensors_end}, .ours = false};
        std::size_t const dash = each.find('-');
        if (dash == each.npos) { continue; }
        for (mode const which : {mode::train, mode::eval, mode::predict}) {
            if (std::string_view{each}.substr(0, dash) == name_of(which)) { one.file.step.mode = which; }
        }
        if (std::from_chars(each.data() + dash + 1, each.data() + each.size(), one.file.step.index).ec != std::errc{}) {
            continue;
        }
        for (checkpoint_state const state :
             {checkpoint_state::unproven, checkpoint_state::bad, checkpoint_state::good}) {
            if (checkpoint_name(one.file.step, state, one.ending) != each) { continue; }
            std::string const path = path_of(each);
            auto const size = files_.size_of(path);
            if (!size || *size < 8 || !is_whole_safetensors(files_, path, *size)) { continue; }
            one.file.state = state, one.file.path = path, one.bytes = *size;
            all.push_back(one);
        }
    }
    std::sort(all.begin(), all.end(), [](listed_checkpoint const& a, listed_checkpoint const& b) {
        return a.file.step.index != b.file.step.index ? a.file.step.index < b.file.step.index
                                                      : a.file.path < b.file.path;
    });
    return {};
}

SPOTTER_BODY std::string checkpoint_list::line_of(listed_checkpoint const& one) {
    char hash[20], run[20];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(one.hash));
    std::snprintf(run, sizeof run, "%016llx", static_cast<unsigned long long>(one.file.run));
    return std::string{one.ours ? "saved " : "found "} + std::string{name_of(one.file.step.mode)} + ' ' +
           std::to_string(one.file.step.index) + ' ' + std::to_string(one.bytes) + ' ' + hash + ' ' + run + ' ' +
           one.ending + '\n';
}

SPOTTER_BODY bool checkpoint_list::read_line(std::string_view line, bool has_run, listed_checkpoint& into) {
    std::string_view words[6] = {{}, {}, {}, {}, {}, "0"};
    for (std::string_view& each : std::span{words}.first(has_run ? 6 : 5)) {
        std::size_t const blank = line.find(' ');
        if (blank == line.npos) { return false; }
        each = line.substr(0, blank);
        line.remove_prefix(blank + 1);
    }
    bool good = words[0] == "saved" || words[0] == "found";
    auto const number = [&](std::string_view word, std::uint64_t& value, int base) {
        auto const [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value, base);
        good = good && fault == std::errc{} && end == word.data() + word.size();
    };
    bool known = false;
    for (mode const which : {mode::train, mode::eval, mode::predict}) {
        if (words[1] == name_of(which)) { into.file.step.mode = which, known = true; }
    }
    number(words[2], into.file.step.index, 10);
    number(words[3], into.bytes, 10);
    number(words[4], into.hash, 16);
    number(words[5], into.file.run, 16);
    into.ours = words[0] == "saved";
    into.ending = line;
    return good && known && line.starts_with('.') && line.find('/') == line.npos;
}

SPOTTER_BODY error checkpoint_list::begin(std::vector<listed_checkpoint> const& all, bool to_disk) {
    if (unsound_) { return unsound_; }
    auto const kind = files_.kind_of(path_of(name));
    if (!kind) { return kind.error(); }
    constexpr std::size_t most_gone = 64;
    if (there_ && has_runs_ && *kind == path_kind::file && lines_ < all.size() + most_gone) { return {}; }
    std::string text{checkpoints_head};
    text += '\n';
    for (listed_checkpoint const& each : all) { text += line_of(each); }
    std::string const part = path_of(part_name);
    error why = append(part, text, to_disk);
    if (!why) { why = files_.rename(part, path_of(name)); }
    if (!why && to_disk) { why = files_.sync_folder(folder_); }
    if (why) { (void)files_.remove(part); }
    if (!why) { there_ = has_runs_ = true, torn_ = false, lines_ = all.size(); }
    return why;
}

SPOTTER_BODY error checkpoint_list::add(listed_checkpoint const& one, bool to_disk) {
    error const why = append(path_of(name), (torn_ ? "\n" : "") + line_of(one), to_disk);
    torn_ = why ? true : false;  // it may be half written
    ++lines_;
    return why;
}

SPOTTER_BODY error checkpoint_list::append(std::string_view path, std::string_view text, bool to_disk) {
    auto const file = files_.open_append(path);
    if (!file) { return file.error(); }
    error why = files_.append(*file, std::as_bytes(std::span{text}));
    if (!why && to_disk) { why = files_.sync(*file); }
    error const closed = files_.close(*file);
    return why ? why : closed;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
