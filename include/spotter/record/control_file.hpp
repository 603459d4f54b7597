// SPDX-License-Identifier: Apache-2.0
// Record (L4): the file `control` in a run's folder: requests from outside to a running run.
#pragma once

#include <spotter/config.hpp>
#include <spotter/core/casts.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/file/replacing_file.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/checksum.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/hook/control.hpp>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

// Removes the worker's part of the path; worker 0 has none.
[[nodiscard]] constexpr std::string_view run_folder_of(std::string_view folder, std::uint32_t worker) noexcept {
    while (folder.size() > 1 && folder.back() == '/') { folder.remove_suffix(1); }
    return worker == 0 ? folder : folder.substr(0, folder.rfind('/'));
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

namespace detail {

inline constexpr std::string_view control_head = "spotter control 1", control_end = "end";

// Takes the first line off `rest`. False if no newline follows: the last line is incomplete.
[[nodiscard]] SPOTTER_COLD inline bool next_line(std::string_view& rest, std::string_view& line) noexcept {
    std::size_t const end = rest.find('\n');
    if (end == rest.npos) { return false; }
    line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!line.empty() && line.back() == '\r') { line.remove_suffix(1); }
    return true;
}
// The text after the key and a blank; null for any other key.
[[nodiscard]] SPOTTER_COLD inline std::string_view value_of(std::string_view line, std::string_view key) noexcept {
    bool const its = line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ' ';
    return its ? line.substr(key.size() + 1) : std::string_view{};
}
[[nodiscard]] SPOTTER_COLD inline bool read_number(std::string_view text, std::uint64_t& into) noexcept {
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), into);
    return fault == std::errc{} && end == text.data() + text.size();
}
[[nodiscard]] SPOTTER_COLD inline control_verb control_verb_named(std::string_view name) noexcept {
    for (control_verb const each : {control_verb::capture, control_verb::pause, control_verb::resume,
                                    control_verb::flush, control_verb::plan, control_verb::rules}) {
        if (name_of(each) == name) { return each; }
    }
    return control_verb::refused;
}
[[nodiscard]] SPOTTER_COLD inline bool is_id(std::string_view text) noexcept {
    for (char const each : text) {
        bool const fine =
            (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '-';
        if (!fine) { return false; }
    }
    return !text.empty() && text.size() <= 64;
}

// The parsed lines of a request.
struct control_lines {
    std::string_view asked{}, names{}, by{}, document{};
    std::uint64_t steps = 0, bytes = 0;  // bytes: size of the document
    bool whole = false;                  // every line was understood, and the end was reached
};

// Parses a line before the end; false if it is none of a request.
[[nodiscard]] SPOTTER_COLD inline bool read_control_line(std::string_view line, control_lines& into) noexcept {
    if (std::string_view const who = value_of(line, "by"); !who.empty()) { return into.by = who.substr(0, 64), true; }
    if (std::string_view const verb = value_of(line, "ask"); !verb.empty()) { return into.asked = verb, true; }
    if (std::string_view const glob = value_of(line, "names"); !glob.empty()) { return into.names = glob, true; }
    if (std::string_view const steps = value_of(line, "steps"); !steps.empty()) {
        return read_number(steps, into.steps);
    }
    if (std::string_view const count = value_of(line, "bytes"); !count.empty()) {
        return read_number(count, into.bytes);
    }
    return !value_of(line, "id").empty();
}

[[nodiscard]] SPOTTER_COLD inline control_lines read_control(std::string_view rest) noexcept {
    control_lines said{};
    std::string_view line;
    bool understood = next_line(rest, line) && line == control_head;
    bool ended = false;
    while (understood && !ended && next_line(rest, line)) {
        ended = line == control_end;
        understood = ended || read_control_line(line, said);
    }
    said.whole = ended && understood && rest.size() >= said.bytes;
    if (said.whole) { said.document = rest.substr(0, as_size(said.bytes)); }
    return said;
}

struct control_lines;
}  // namespace detail

// The writer looks for the file and reads it; the training thread executes the request at its next close; the writer
// writes the answer to `control.answer` in the worker's folder. All workers of a run obey the same file. A request has
// an id, so that each worker executes it once. The file has these lines:
//     spotter control 1
//     id 4711-18b2        letters, digits and `-`; unique for each request
//     by ada              the user
//     ask capture         or pause, resume, flush, plan, rules
//     names act/*         of capture: a glob
//     steps 100           of capture
//     bytes 1234          of plan and rules: size of the document behind `end`
//     end
// and the answer
//     spotter answer 1
//     id 4711-18b2
//     state done          or taken: waits for the loop's next close; or refused
//     what capture act/* for 100 steps, asked by ada        or the reason of the refusal
//     end
class control_file {
public:
    static constexpr std::size_t longest = 4U << 20;  // bytes of a request, with its document

    // `folder`: the worker's. A file that is already there was meant for an earlier attempt and is ignored.
    SPOTTER_COLD control_file(file_system& files, std::string_view folder, std::uint32_t worker) noexcept
        : files_{files}, path_{detail::run_folder_of(folder, worker), layout::control_name},
          answer_{folder, layout::answer_name} {
        if (load()) { key_ = key_of_file(); }
        text_.clear();
    }

    control_file(control_file const&) = delete;
    control_file& operator=(control_file const&) = delete;
    ~control_file() { drop(); }

    // Before the first look: the readers of what can be replaced.
    void set_readers(detail::control_readers const& readers) noexcept { readers_ = readers; }

    // Called by the writer: looks at the disk at most twenty times a second. `now` in milliseconds of a steady clock.
    // True once a request was executed: the caller then flushes the closed steps and calls `answer`.
    [[nodiscard]] bool look(std::uint64_t now) noexcept {
        state const how = state_.load(std::memory_order_acquire);
        if (how == state::done) { return true; }
        if (how == state::waits || now - last_look_ < milliseconds_between) { return false; }
        last_look_ = now;
        if (!load()) {
            seen_ = 0;
            return false;
        }
        if (key_of_file().view() == key_.view()) { return false; }
        if (text_.size() != seen_) { seen_ = text_.size(), seen_at_ = now; }
        if (!parse(now - seen_at_ < patience_milliseconds)) { return false; }
        seen_ = 0;
        write_answer("taken", request_.asked.view());
        state_.store(state::waits, std::memory_order_release);
        return false;
    }

    // Writes the outcome to `control.answer`; the next request may then come.
    SPOTTER_COLD void answer() noexcept {
        if (outcome_) {
            write_answer("refused", outcome_.what.view());
        } else {
            write_answer("done", request_.asked.view());
        }
        drop();
        state_.store(state::none, std::memory_order_release);
    }

    // The end of the run: a waiting request is refused.
    SPOTTER_COLD void end() noexcept {
        state const how = state_.load(std::memory_order_acquire);
        if (how == state::none) { return; }
        if (how == state::waits) {
            outcome_ = {errc::no_more_data, "the run ended before the loop closed another step"};
        }
        answer();
    }

    // The first error; for the writer.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

    // For the training thread: the waiting request, or null; and `done` with its outcome.
    [[nodiscard]] detail::control_request const* request() const noexcept {
        return state_.load(std::memory_order_acquire) == state::waits ? &request_ : nullptr;
    }
    // With an error, the request was refused.
    void done(error const& why) noexcept {
        outcome_ = why;
        state_.store(state::done, std::memory_order_release);
    }

private:
    static constexpr std::uint64_t milliseconds_between = 50, patience_milliseconds = 1000;
    enum class state : std::uint8_t { none, waits, done };

    static constexpr char no_id = '#';  // starts the key of a file without an id

    SPOTTER_COLD void note(error const& why) noexcept {
        if (!trouble_) { trouble_ = why; }
    }

    [[nodiscard]] std::string_view letters() const noexcept {
        return {reinterpret_cast<char const*>(text_.view().data()), text_.size()};
    }
    // Reads the file; false if it does not exist or cannot be read.
    [[nodiscard]] SPOTTER_COLD bool load() noexcept {
        text_.clear();
        auto const kind = files_.kind_of(path_);
        note(kind.error());
        if (!kind || *kind == path_kind::missing) { return false; }
        if (*kind != path_kind::file) {
            note(
                {errc::unwritable, "`control` in the run's folder is no file, and nobody can ask anything of the run"});
            return false;
        }
        auto const size = files_.size_of(path_);
        if (!size) { return false; }  // the file was removed meanwhile
        std::size_t const room = as_size(*size < longest + 1 ? *size : longest + 1);
        std::byte* const into = text_.prepare(room);
        if (into == nullptr) { return false; }
        auto const read = files_.read(path_, 0, {into, room});
        if (!read) { return false; }
        text_.grow_by(*read);
        return true;
    }

    // Identifies a request: its id, or a hash of the file if it has none.
    [[nodiscard]] SPOTTER_COLD text<64> key_of_file() const noexcept {
        std::string_view rest = letters(), line;
        if (detail::next_line(rest, line) && line == detail::control_head && detail::next_line(rest, line)) {
            if (std::string_view const id = detail::value_of(line, "id"); detail::is_id(id)) { return {id}; }
        }
        text<64> hash;
        hash << no_id << xxh64(text_.view());
        return hash;
    }

    // Parses the request. False if it is incomplete and may still be written (`patient`).
    [[nodiscard]] SPOTTER_COLD bool parse(bool patient) noexcept {
        request_.verb = control_verb::refused;
        request_.why = {};
        request_.asked = {};
        detail::control_lines const said = detail::read_control(letters());
        request_.steps = said.steps;
        if (!said.whole && patient && text_.size() <= longest) { return false; }  // it is still being written
        key_ = key_of_file();
        put_in_words(said);
        examine(said);
        return true;
    }

    // Describes the request in words, and checks whether it can be executed.
    SPOTTER_COLD void put_in_words(detail::control_lines const& said) noexcept {
        request_.asked << (said.asked.empty() ? std::string_view{"something"} : said.asked);
        if (!said.names.empty()) { request_.asked << ' ' << said.names << " for " << said.steps << " steps"; }
        request_.asked << ", asked by " << (said.by.empty() ? std::string_view{"an unknown user"} : said.by);
    }

    SPOTTER_COLD void examine(detail::control_lines const& said) noexcept {
        if (text_.size() > longest) { return refuse(errc::bad_config, "`control` is longer than 4 MiB"); }
        if (!said.whole || key_.view().front() == no_id) {
            return refuse(
                errc::bad_config,
                "`control` in the run's folder is malformed, or not whole: ask by `spotter capture` and its like");
        }
        request_.verb = detail::control_verb_named(said.asked);
        if (request_.verb == control_verb::refused) {
            refuse(errc::bad_config, "the request is not one of capture, pause, resume, flush, plan, rules");
        } else if (request_.verb == control_verb::capture) {
            examine_capture(said.names);
        } else if (request_.verb == control_verb::plan || request_.verb == control_verb::rules) {
            read_content(said.document);
        }
    }

    SPOTTER_COLD void examine_capture(std::string_view names) noexcept {
        if (names.empty() || request_.steps == 0) {
            refuse(errc::bad_config, "a capture says `names`, a glob, and `steps`, from 1 on");
        }
        if (!request_.names.assign(names)) { refuse(errc::out_of_memory, "no memory for the names"); }
    }

    SPOTTER_COLD void read_content(std::string_view document) noexcept {
        bool const is_plan = request_.verb == control_verb::plan;
        reader_ = is_plan ? readers_.plan : readers_.rules;
        if (reader_.read == nullptr) {
            return refuse(
                errc::bad_config,
                is_plan
                    ? "this hook's plan cannot be exchanged: give it `spotter::live(plan)` (spotter/ext/json/live.hpp)"
                    : "this hook's rules cannot be exchanged: give it `spotter::live(rules)` "
                      "(spotter/ext/json/live.hpp)");
        }
        error why;
        void* const made = reader_.read(document, why);
        request_.content = made;
        if (made == nullptr) { refuse(why.code, why.what.view()); }
    }

    SPOTTER_COLD void refuse(errc code, std::string_view why) noexcept {
        request_.verb = control_verb::refused;
        request_.why = {code, why};
    }

    SPOTTER_COLD void drop() noexcept {
        if (request_.content != nullptr) { reader_.drop(const_cast<void*>(request_.content)); }
        request_.content = nullptr;
    }

    SPOTTER_COLD void write_answer(std::string_view how, std::string_view what) noexcept {
        text<600> lines;
        lines << "spotter answer 1\nid " << key_.view() << "\nstate " << how << "\nwhat ";
        for (char const each : what) { lines << (each == '\n' || each == '\r' ? ' ' : each); }
        lines << "\nend\n";
        std::string_view const all = lines.view();
        note(detail::replace_file(files_, answer_, std::as_bytes(std::span{all}), false));
    }

    file_system& files_;
    path_text path_, answer_;
    detail::control_readers readers_{};
    byte_buffer text_{};
    text<64> key_{};  // of the latest request
    error trouble_{};
    std::uint64_t last_look_ = 0, seen_at_ = 0;
    std::uint64_t seen_ = 0;  // size of an incomplete file, and since when
    detail::control_request request_{};
    detail::content_reader reader_{};
    error outcome_{};
    std::atomic<state> state_{state::none};
};

}  // namespace spotter::inline SPOTTER_ABI
