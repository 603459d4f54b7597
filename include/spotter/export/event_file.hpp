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
#include <spotter/export/crc32.hpp>
#include <spotter/export/text.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY message& message::integer(std::uint32_t field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
}

SPOTTER_BODY message& message::number(std::uint32_t field, double const& value) {
    tag(field, 1);
    fixed(&value, sizeof value);
    return *this;
}

SPOTTER_BODY message& message::small_number(std::uint32_t field, float const& value) {
    tag(field, 5);
    fixed(&value, sizeof value);
    return *this;
}

SPOTTER_BODY message& message::bytes(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
}

SPOTTER_BODY message& message::packed(std::uint32_t field, std::vector<double> const& values) {
    return bytes(field, {reinterpret_cast<char const*>(values.data()), values.size() * sizeof(double)});
}

SPOTTER_BODY void message::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) { bytes_ += static_cast<char>((value & 0x7FU) | 0x80U); }
    bytes_ += static_cast<char>(value);
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY message plugin(std::string_view name, std::uint64_t data_class) {
    return message{}.nested(1, message{}.bytes(1, name)).integer(4, data_class);
}

// A tensor of texts: DT_STRING, one axis.
[[nodiscard]] SPOTTER_BODY message text_tensor(std::vector<std::string> const& texts) {
    message tensor;
    tensor.integer(1, 7).nested(2, message{}.nested(2, message{}.integer(1, texts.size())));
    for (std::string const& each : texts) { tensor.bytes(8, each); }
    return tensor;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY message scalar_summary(std::string_view tag, double const& value) {
    return message{}.bytes(1, tag).small_number(2, static_cast<float>(value));
}

SPOTTER_BODY message histogram_summary(std::string_view tag, distribution const& it, summary const& stats) {
    std::vector<double> limits, counts;
    double all = 0;
    bool const flat = !(it.low < it.high);
    for (std::size_t bin = 0; bin < (flat ? 1 : it.bins.size()); ++bin) {
        double const share = static_cast<double>(bin + 1) / static_cast<double>(it.bins.size());
        bool const last = flat || bin + 1 == it.bins.size();
        limits.push_back(last ? it.high : it.low * (1 - share) + it.high * share);
        counts.push_back(static_cast<double>(it.bins[bin]));
        all += counts.back();
    }
    message made;
    made.number(1, it.low).number(2, it.high).number(3, all);
    if (has(stats.has, stats_mask::sum)) { made.number(4, stats.sum); }
    if (has(stats.has, stats_mask::sum_squares)) { made.number(5, stats.sum_squares); }
    made.packed(6, limits).packed(7, counts);
    return message{}.bytes(1, tag).nested(5, made);
}

SPOTTER_BODY message text_summary(std::string_view tag, std::string_view text) {
    return message{}
        .bytes(1, tag)
        .nested(9, detail::plugin("text", 2))
        .nested(8, detail::text_tensor({utf8_text(text)}));
}

SPOTTER_BODY message image_summary(std::string_view tag, std::vector<picture> const& all) {
    std::vector<std::string> texts{std::to_string(all.empty() ? 0 : all.front().width),
                                   std::to_string(all.empty() ? 0 : all.front().height)};
    for (picture const& each : all) { texts.push_back(png_of(each)); }
    return message{}.bytes(1, tag).nested(9, detail::plugin("images", 3)).nested(8, detail::text_tensor(texts));
}

SPOTTER_BODY message version_event(double const& time) { return message{}.number(1, time).bytes(3, "brain.Event:2"); }

SPOTTER_BODY message summary_event(double const& time, std::uint64_t step, message const& values) {
    return message{}.number(1, time).integer(2, step).nested(5, values);
}

SPOTTER_BODY message restart_event(double const& time, std::uint64_t step) {
    return message{}.number(1, time).integer(2, step).nested(7, message{}.integer(1, 1));
}

SPOTTER_BODY void append_record(std::string_view bytes, std::string& file) {
    auto const fixed = [&](auto value) { file.append(reinterpret_cast<char const*>(&value), sizeof value); };
    auto const masked = [](void const* from, std::size_t size) {
        std::uint32_t const crc = crc32c({static_cast<std::byte const*>(from), size});
        return (crc >> 15U | crc << 17U) + 0xA282EAD8U;  // TFRecord's mask, which protects checksums stored among the
                                                         // bytes
    };
    auto const size = std::uint64_t{bytes.size()};
    fixed(size);
    fixed(masked(&size, sizeof size));
    file += bytes;
    fixed(masked(bytes.data(), bytes.size()));
}

SPOTTER_BODY event_file::event_file(std::string const& folder, double const& time, bool replace, file_system& files)
    : files_{files} {
    why_ = files_.make_folder(folder);
    if (!why_) { why_ = clear(folder, replace); }
    if (why_) { return; }
    std::string seconds = std::to_string(static_cast<std::uint64_t>(time > 0 ? time : 0));
    seconds.insert(0, seconds.size() < 10 ? 10 - seconds.size() : 0, '0');
    path_ = folder + "/events.out.tfevents." + seconds + suffix;
    auto const file = files_.create(path_);
    if (!file) {
        why_ = file.error();
        return;
    }
    file_ = *file;
    add(version_event(time));
}

SPOTTER_BODY event_file::~event_file() {
    (void)flush();
    if (file_.open()) { (void)files_.close(file_); }
}

SPOTTER_BODY void event_file::add(message const& event) {
    if (why_) { return; }
    append_record(event.view(), waiting_);
    if (waiting_.size() >= gather_bytes) { (void)flush(); }
}

SPOTTER_BODY error event_file::flush() {
    if (why_ || waiting_.empty()) { return why_; }
    why_ = files_.append(file_, std::as_bytes(std::span{waiting_.data(), waiting_.size()}));
    bytes_ += waiting_.size();
    waiting_.clear();
    return why_;
}

SPOTTER_BODY error event_file::clear(std::string const& folder, bool replace) {
    std::vector<std::string> found;
    auto const take = [](void* into, std::string_view name) {
        if (name.find("tfevents") != name.npos) { static_cast<std::vector<std::string>*>(into)->emplace_back(name); }
        return true;
    };
    if (error const why = files_.list(folder, take, &found)) { return why; }
    for (std::string const& each : found) {
        if (replace && each.ends_with(suffix)) {
            if (error const why = files_.remove(folder + '/' + each)) { return why; }
            continue;
        }
        error why{errc::exists, {}};
        why.what << std::string_view{folder}.substr(folder.size() > 120 ? folder.size() - 120 : 0)
                 << " holds event files already: choose another folder"
                 << (replace ? ", or remove those that are not spotter's" : ", or replace them (--force)");
        return why;
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
