// SPDX-License-Identifier: Apache-2.0
// Record (L4): the file `control` in a run's folder, by which somebody outside asks something of a run that goes on.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/hook/control.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

namespace detail {
struct control_lines;
}

// The writer looks for the file and reads it, the training thread does what it asks for at its next close, the writer
// answers into `control.answer` in the worker's folder. All workers of a run obey one file, each once: requests have an
// id. The file, in lines:
//     spotter control 1
//     id 4711-18b2        of letters, digits and `-`, another one for each request
//     by ada              who asks
//     ask capture         or pause, resume, flush, plan, rules
//     names act/*         of capture: a glob
//     steps 100           of capture
//     bytes 1234          of plan and rules: of the document behind `end`
//     end
// and the answer
//     spotter answer 1
//     id 4711-18b2
//     state done          or taken: it waits for the loop's next close; or refused
//     what capture act/* for 100 steps, asked by ada        or why it was refused
//     end
class control_file {
public:
    static constexpr std::size_t longest = 4U << 20;  // bytes of a request, its document included

    // `folder`: of the worker. What is there already was meant for an earlier attempt.
    control_file(file_system& files, std::string_view folder, std::uint32_t worker) noexcept;
    control_file(control_file const&) = delete;
    control_file& operator=(control_file const&) = delete;
    ~control_file() { drop(); }

    // Before the first look: what may be exchanged.
    void set_readers(detail::control_readers const& readers) noexcept { readers_ = readers; }

    // By who writes: costs a look at the disk twenty times a second at most. `now` in milliseconds, of a steady clock.
    // True once what was asked for is done: what was closed is then to be flushed, and `answer` called.
    [[nodiscard]] bool look(std::uint64_t now) noexcept;
    void answer() noexcept;  // writes into `control.answer` what came of it; the next request may come
    // The run ends: what still waits is refused.
    void end() noexcept;
    // The first thing that went wrong; for who writes.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

    // By the training thread: what waits, and that it is done, or why not.
    [[nodiscard]] detail::control_request const* request() const noexcept {
        return state_.load(std::memory_order_acquire) == state::waits ? &request_ : nullptr;
    }
    // An error: it was refused.
    void done(error const& why) noexcept {
        outcome_ = why;
        state_.store(state::done, std::memory_order_release);
    }

private:
    static constexpr std::uint64_t milliseconds_between = 50, patience_milliseconds = 1000;
    enum class state : std::uint8_t { none, waits, done };

    static constexpr char no_id = '#';  // before the hash of a file without one

    void note(error const& why) noexcept;
    [[nodiscard]] std::string_view letters() const noexcept {
        return {reinterpret_cast<char const*>(text_.view().data()), text_.size()};
    }
    // What the file holds; false where there is none, or none to read.
    [[nodiscard]] bool load() noexcept;
    // By which it is known again: its id; of what has none a hash of it.
    [[nodiscard]] text<64> key_of_file() const noexcept;
    // Takes the request apart. False where it is not whole yet.
    [[nodiscard]] bool parse(bool patient) noexcept;
    // What is asked for, in words, and whether it can be done.
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
    text<64> key_{};  // of the newest request that was taken
    error trouble_{};
    std::uint64_t last_look_ = 0, seen_at_ = 0;
    std::uint64_t seen_ = 0;  // bytes of a file that is not whole, since then
    detail::control_request request_{};
    detail::content_reader reader_{};  // of its content
    error outcome_{};
    std::atomic<state> state_{state::none};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/control_file.ipp>
#endif
