// SPDX-License-Identifier: Apache-2.0
// Record (L4): the file `control` in a run's folder: requests from outside to a running run.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/hook/control.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

namespace detail {
struct control_lines;
}

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
    control_file(file_system& files, std::string_view folder, std::uint32_t worker) noexcept;
    control_file(control_file const&) = delete;
    control_file& operator=(control_file const&) = delete;
    ~control_file() { drop(); }

    // Before the first look: the readers of what can be replaced.
    void set_readers(detail::control_readers const& readers) noexcept { readers_ = readers; }

    // Called by the writer: looks at the disk at most twenty times a second. `now` in milliseconds of a steady clock.
    // True once a request was executed: the caller then flushes the closed steps and calls `answer`.
    [[nodiscard]] bool look(std::uint64_t now) noexcept;
    void answer() noexcept;  // writes the outcome to `control.answer`; the next request may then come
    // The end of the run: a waiting request is refused.
    void end() noexcept;
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

    void note(error const& why) noexcept;
    [[nodiscard]] std::string_view letters() const noexcept {
        return {reinterpret_cast<char const*>(text_.view().data()), text_.size()};
    }
    // Reads the file; false if it does not exist or cannot be read.
    [[nodiscard]] bool load() noexcept;
    // Identifies a request: its id, or a hash of the file if it has none.
    [[nodiscard]] text<64> key_of_file() const noexcept;
    // Parses the request. False if it is incomplete and may still be written (`patient`).
    [[nodiscard]] bool parse(bool patient) noexcept;
    // Describes the request in words, and checks whether it can be executed.
    void put_in_words(detail::control_lines const& said) noexcept;
    void examine(detail::control_lines const& said) noexcept;
    void examine_capture(std::string_view names) noexcept;
    void read_content(std::string_view document) noexcept;
    void refuse(errc code, std::string_view why) noexcept;
    void drop() noexcept;
    void write_answer(std::string_view how, std::string_view what) noexcept;

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

#if SPOTTER_BODIES
#include <spotter/record/control_file.ipp>
#endif
