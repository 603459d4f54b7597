// SPDX-License-Identifier: Apache-2.0
// Export (L5): the event files that TensorBoard reads: the few protocol buffer messages it needs, and their framing, by
// hand.
#pragma once

#include <spotter/export/png.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/stat/distribution.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A protocol buffer message, field by field. Zeros are written, too: a reader takes a missing field for one.
class message {
public:
    message& integer(std::uint32_t field, std::uint64_t value);      // a varint
    message& number(std::uint32_t field, double const& value);       // eight bytes
    message& small_number(std::uint32_t field, float const& value);  // four bytes
    message& bytes(std::uint32_t field, std::string_view value);     // a text, or what is encoded already
    // A message in this one.
    message& nested(std::uint32_t field, message const& value) { return bytes(field, value.view()); }
    message& packed(std::uint32_t field, std::vector<double> const& values);  // doubles, one behind the other

    [[nodiscard]] std::string_view view() const noexcept { return bytes_; }  // until a further field, or its end
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

// What a summary consists of: add each to one message at field 1. `tag` is the series' name, in UTF-8.

// TensorBoard keeps scalars as float32.
[[nodiscard]] message scalar_summary(std::string_view tag, double const& value);
// `it` must have a histogram; `stats` gives sums, where it holds them.
[[nodiscard]] message histogram_summary(std::string_view tag, distribution const& it, summary const& stats);
// Markdown is rendered.
[[nodiscard]] message text_summary(std::string_view tag, std::string_view text);
// Several pictures of one size: a slider chooses.
[[nodiscard]] message image_summary(std::string_view tag, std::vector<picture> const& all);

// Events: `time` in seconds since 1970.
[[nodiscard]] message version_event(double const& time);
// `values` is what summaries were added to, at field 1.
[[nodiscard]] message summary_event(double const& time, std::uint64_t step, message const& values);
// From here on the run goes on at `step`: what readers have of this step and later ones is void.
[[nodiscard]] message restart_event(double const& time, std::uint64_t step);

// A record of a TFRecord file: length, its checksum, the bytes, theirs.
void append_record(std::string_view bytes, std::string& file);

// One event file, which readers may follow while it grows. Events are gathered until `flush`, or 64 KiB of them. The
// first error stays.
class event_file {
public:
    // A new file in `folder`, which is made; errc::exists where event files are there. With `replace` those of ours are
    // removed first.
    event_file(std::string const& folder, double const& time, bool replace, file_system& files);
    event_file(event_file const&) = delete;
    event_file& operator=(event_file const&) = delete;
    ~event_file();

    void add(message const& event);                                           // one record; written at 64 KiB
    [[nodiscard]] error flush();                                              // the first error there was
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
