// SPDX-License-Identifier: Apache-2.0
// Export (L5): TensorBoard's event files: the few protocol buffer messages that they need, and their framing, without a
// library.
#pragma once

#include <spotter/export/png.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/stat/distribution.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A protocol buffer message, field by field. Zeros are written explicitly.
class message {
public:
    message& integer(std::uint32_t field, std::uint64_t value);      // a varint
    message& number(std::uint32_t field, double const& value);       // eight bytes
    message& small_number(std::uint32_t field, float const& value);  // four bytes
    message& bytes(std::uint32_t field, std::string_view value);     // a text, or an encoded message
    // A message in this one.
    message& nested(std::uint32_t field, message const& value) { return bytes(field, value.view()); }
    message& packed(std::uint32_t field, std::vector<double> const& values);  // doubles without padding

    [[nodiscard]] std::string_view view() const noexcept {
        return bytes_;
    }  // valid until the next field, or the end
       // of the message
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    void clear() noexcept { bytes_.clear(); }

private:
    void tag(std::uint32_t field, std::uint32_t kind) { varint(field << 3U | kind); }
    void varint(std::uint64_t value);
    void fixed(void const* value, std::size_t size) { bytes_.append(static_cast<char const*>(value), size); }

    std::string bytes_{};
};

namespace detail {

[[nodiscard]] message plugin(std::string_view name, std::uint64_t data_class);

}  // namespace detail

// Parts of a summary: add each to one message, at field 1. `tag` is the name of the series, in UTF-8.

// TensorBoard keeps scalars as float32.
[[nodiscard]] message scalar_summary(std::string_view tag, double const& value);
// `it` must have a histogram; `stats` provides the sums if it has them.
[[nodiscard]] message histogram_summary(std::string_view tag, distribution const& it, summary const& stats);
// TensorBoard renders it as Markdown.
[[nodiscard]] message text_summary(std::string_view tag, std::string_view text);
// Several pictures of one size; TensorBoard shows a slider.
[[nodiscard]] message image_summary(std::string_view tag, std::vector<picture> const& all);

// Events: `time` in seconds since 1970.
[[nodiscard]] message version_event(double const& time);
// `values` is the message to which summaries were added, at field 1.
[[nodiscard]] message summary_event(double const& time, std::uint64_t step, message const& values);
// The run restarts at `step`: readers discard this step and later ones.
[[nodiscard]] message restart_event(double const& time, std::uint64_t step);

// Appends a record of a TFRecord file: length, its checksum, the bytes, their checksum.
void append_record(std::string_view bytes, std::string& file);

// One event file, which readers may follow while it grows. Events are buffered until `flush`, or up to 64 KiB. The
// first error is kept.
class event_file {
public:
    // Creates a new file in `folder`, and the folder if necessary. errc::exists where it has event files; with
    // `replace`, event files of spotter are removed first.
    event_file(std::string const& folder, double const& time, bool replace, file_system& files);
    event_file(event_file const&) = delete;
    event_file& operator=(event_file const&) = delete;
    ~event_file();

    void add(message const& event);                                           // adds a record; writes at 64 KiB
    [[nodiscard]] error flush();                                              // returns the first error, if any
    [[nodiscard]] std::string const& path() const noexcept { return path_; }  // of the file, in `folder`
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }     // written so far

private:
    static constexpr std::size_t gather_bytes = 64U << 10;
    static constexpr char suffix[] = ".spotter";

    [[nodiscard]] error clear(std::string const& folder, bool replace);

    file_system& files_;
    std::string path_{};
    opened_file file_{};
    std::string waiting_{};
    std::uint64_t bytes_ = 0;
    error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/event_file.ipp>
#endif
