// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: values for NumPy, histories for spreadsheets.
#include "arguments.hpp"
#include "folders.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/export/csv.hpp>
#include <spotter/export/npz.hpp>
#include <spotter/trial.hpp>

#include <optional>
#include <set>

namespace spotter_tool {

namespace {

using namespace spotter;

// A file that is there as a whole in the end, or not at all.
class new_file {
public:
    new_file(std::string path, bool force) : path_{std::move(path)}, part_{path_ + ".part"} {
        file_system& files = system_files();
        auto const kind = files.kind_of(path_);
        if (kind && *kind != path_kind::missing && !force) {
            why_ = {errc::exists, {}};
            why_.what << std::string_view{path_}.substr(path_.size() > 150 ? path_.size() - 150 : 0)
                      << " is there already: choose another name, or --force";
            return;
        }
        if (std::size_t const cut = path_.rfind('/'); cut != path_.npos && cut > 0) {
            why_ = files.make_folder(std::string_view{path_}.substr(0, cut));
            if (why_) { return; }
        }
        (void)files.remove(part_);
        auto const file = files.create(part_);
        if (file) {
            file_ = *file;
        } else {
            why_ = file.error();
        }
    }
    new_file(new_file const&) = delete;
    new_file& operator=(new_file const&) = delete;
    ~new_file() {
        if (!file_.open()) { return; }
        system_files().close(file_);
        (void)system_files().remove(part_);
    }

    [[nodiscard]] error put(std::span<std::byte const> bytes) {
        if (why_) { return why_; }
        // Small pieces (a zip's headers, a CSV's lines) are gathered: a system call each would cost more than the work.
        if (waiting_.size() + bytes.size() < gather_bytes) {
            waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
            return {};
        }
        why_ = system_files().append(file_, waiting_);
        waiting_.clear();
        if (!why_) { why_ = system_files().append(file_, bytes); }
        return why_;
    }
    [[nodiscard]] error finish() {
        if (!why_) { why_ = system_files().append(file_, waiting_); }
        if (why_) { return why_; }
        system_files().close(file_);
        file_ = {};
        return system_files().rename(part_, path_);
    }

private:
    static constexpr std::size_t gather_bytes = 64U << 10;

    std::string path_;
    std::string part_;
    spotter::file_handle file_{};
    std::vector<std::byte> waiting_{};
    error why_{};
};

struct item {
    std::string name{};
    step_id step{};
};

struct written {
    std::vector<std::string> files{};
    std::uint64_t tensors = 0;
    std::uint64_t rows = 0;
    std::set<std::string, std::less<>> as_bits{};  // types for which NumPy has none
    std::vector<std::string> damaged{};            // values that could not be read and were left out
};

// Path parts that are safe as a file's name on any system: anything unusual becomes %XX, and so do leading dots.
[[nodiscard]] std::string file_name_of(std::string_view name) {
    std::string safe;
    for (char const letter : name) {
        bool const first = safe.empty() || safe.back() == '/';
        bool const usual = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' ||
                           (letter == '.' && !first) || (letter == '/' && !first);
        if (usual) {
            safe += letter;
        } else {
            safe += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
        }
    }
    if (!safe.empty() && safe.back() == '/') { safe.replace(safe.size() - 1, 1, "%2F"); }
    return safe.empty() ? "%" : safe;
}

class exporter {
public:
    exporter(export_options const& wanted, trial const& run) : wanted_{wanted}, run_{run} {}

    // The names and steps that were asked for.
    [[nodiscard]] error choose() {
        if (!wanted_.step.empty()) {
            auto const step = read_step(wanted_.step);
            if (!step) { return step.error(); }
            step_ = *step;
        }
        if (!wanted_.mode.empty()) {
            auto const mode = read_mode(wanted_.mode);
            if (!mode) { return mode.error(); }
            mode_ = *mode;
        }
        std::set<std::string> chosen;
        for (std::string const& pattern : wanted_.names.empty() ? std::vector<std::string>{"*"} : wanted_.names) {
            std::vector<std::string> const names = run_[pattern] ? std::vector{pattern} : run_.names(pattern);
            chosen.insert(names.begin(), names.end());
            if (names.empty() && !wanted_.names.empty()) {
                error why{errc::no_such_name, "no name in this run matches \""};
                why.what << std::string_view{pattern}.substr(0, 100) << "\": `spotter ls` lists what there is";
                return why;
            }
        }
        names_.assign(chosen.begin(), chosen.end());
        return {};
    }

    [[nodiscard]] error to_csv() {
        std::vector<csv_series> series;
        for (std::string const& stat : wanted_.stats.empty() ? std::vector<std::string>{"mean"} : wanted_.stats) {
            auto const which = read_statistic(stat);
            if (!which) { return which.error(); }
            for (std::string const& name : names_) { series.push_back({name, *which}); }
        }
        std::optional<new_file> file;
        if (wanted_.out != "-") { file.emplace(wanted_.out, wanted_.force); }
        bool head = true;
        error why = write_csv(run_, series, chosen_steps{step_, mode_}, [&](std::string_view line) {
            done_.rows += head ? 0 : 1;
            head = false;
            if (file) { return file->put(std::as_bytes(std::span{line.data(), line.size()})); }
            say(line);
            return error{};
        });
        if (!why && file) { why = file->finish(); }
        if (!why && file) { done_.files.push_back(wanted_.out); }
        return why;
    }

    [[nodiscard]] error to_npz(progress& bar) {
        new_file file{wanted_.out, wanted_.force};
        npz_writer writer{[&](std::span<std::byte const> bytes) { return file.put(bytes); }, how()};
        for (item const& each : items_) {
            recorded_value const value = run_[each.name].at(each.step);
            if (left_out(each, value)) { continue; }
            if (!value) { return value.error(); }
            std::string const key = step_ ? each.name : key_of(each);
            if (error const why = writer.add(key, value.view())) { return why; }
            count(value.view());
            bar.advance(1);
        }
        if (error const why = writer.finish()) { return why; }
        done_.files.push_back(wanted_.out);
        return file.finish();
    }

    [[nodiscard]] error to_npy(progress& bar) {
        bool const single = wanted_.out.ends_with(".npy");
        if (single && items_.size() != 1) {
            error why{errc::bad_config, "a .npy file holds one tensor, and "};
            why.what << items_.size() << " were chosen: give --name and --step, an .npz file, or a folder";
            return why;
        }
        for (item const& each : items_) {
            std::string const path = single ? wanted_.out
                                            : fmt::format("{}/{}/{}-{}.npy", tidy(wanted_.out), file_name_of(each.name),
                                                          name_of(each.step.mode), each.step.index);
            recorded_value const value = run_[each.name].at(each.step);
            if (left_out(each, value)) { continue; }
            if (!value) { return value.error(); }
            npy_parts const parts{value.view(), how()};
            new_file file{path, wanted_.force};
            error why = file.put(parts.header());
            if (!why) { why = file.put(parts.values()); }
            if (!why) { why = file.finish(); }
            if (why) { return why; }
            done_.files.push_back(path);
            count(value.view());
            bar.advance(1);
        }
        return {};
    }

    // Which values there are; errc::no_payload where none.
    [[nodiscard]] error find_values() {
        error why{errc::no_payload, "no values were kept of what was chosen: only statistics (export them as .csv)"};
        for (std::string const& name : names_) {
            track const tensor = run_[name];
            if (step_) {
                recorded_value const value = tensor.at(*step_);
                bool const damaged = value.error().code == errc::corrupt;
                if (value || damaged) { items_.push_back({name, *step_}); }
                if (value.error() && !damaged && !wanted_.names.empty()) { why = value.error(); }
                continue;
            }
            for (step_id const step : tensor.payload_steps()) {
                if (!mode_ || step.mode == *mode_) { items_.push_back({name, step}); }
            }
        }
        return items_.empty() ? why : error{};
    }
    [[nodiscard]] std::size_t count_of_values() const noexcept { return items_.size(); }
    [[nodiscard]] written const& done() const noexcept { return done_; }

private:
    struct chosen_steps {
        using kind = policy_kind;
        std::optional<step_id> step;
        std::optional<spotter::mode> mode;
        [[nodiscard]] bool operator()(step_id each) const noexcept {
            return (!step || each == *step) && (!mode || each.mode == *mode);
        }
    };

    [[nodiscard]] small_floats how() const noexcept {
        return wanted_.widen ? small_floats::widened : small_floats::bits;
    }
    [[nodiscard]] static std::string key_of(item const& it) {
        return fmt::format("{}@{}:{}", it.name, name_of(it.step.mode), it.step.index);
    }
    // Damaged values do not keep the others from being exported.
    [[nodiscard]] bool left_out(item const& it, recorded_value const& value) {
        if (value.error().code != errc::corrupt) { return false; }
        done_.damaged.push_back(key_of(it));
        return true;
    }
    void count(tensor_ref const& view) {
        ++done_.tensors;
        if (npy_type_of(view.type, how()).is_bits) { done_.as_bits.emplace(name_of(view.type)); }
    }

    export_options const& wanted_;
    trial const& run_;
    std::optional<step_id> step_{};
    std::optional<spotter::mode> mode_{};
    std::vector<std::string> names_{};
    std::vector<item> items_{};
    written done_{};
};

[[nodiscard]] std::string format_of(export_options const& wanted) {
    if (!wanted.format.empty()) { return wanted.format; }
    if (wanted.out == "-" || wanted.out.ends_with(".csv")) { return "csv"; }
    return wanted.out.ends_with(".npz") ? "npz" : "npy";
}

}  // namespace

int export_to(export_options const& wanted) {
    std::string const path = tidy(wanted.path);
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "export", path); };
    std::string const format = format_of(wanted);
    if (wanted.out == "-" && (format != "csv" || wanted.json)) {
        return refuse({errc::bad_config, "only CSV goes to standard output, and then without --json: give a file"});
    }
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return refuse(why); }
    auto const run = open_trial(path);
    if (!run) { return refuse(run.error()); }
    exporter work{wanted, *run};
    if (error const why = work.choose()) { return refuse(why); }
    if (format == "csv") {
        if (error const why = work.to_csv()) { return refuse(why); }
    } else {
        if (error const why = work.find_values()) { return refuse(why); }
        progress bar{"export", work.count_of_values()};
        if (error const why = format == "npz" ? work.to_npz(bar) : work.to_npy(bar)) { return refuse(why); }
    }
    written const& done = work.done();
    for (std::string const& type : done.as_bits) {
        say(fmt::format(
                "spotter export: NumPy has no {}: these were written as their bits (--widen makes them float32)\n",
                type),
            stderr);
    }
    for (std::string const& each : done.damaged) {
        say(fmt::format("spotter export: {} is damaged and was left out: `spotter verify` says where\n", each), stderr);
    }
    if (wanted.json) {
        json document = document_of("export", path);
        document["format"] = format;
        document["files"] = done.files;
        document["tensors"] = done.tensors;
        document["rows"] = done.rows;
        document["as_bits"] = done.as_bits;
        document["damaged"] = done.damaged;
        say_document(document);
    } else if (format == "csv" && wanted.out != "-") {
        say(fmt::format("{}: {} rows\n", wanted.out, done.rows));
    } else if (format != "csv") {
        say(fmt::format("{}: {} tensor{} in {} file{}\n", wanted.out, done.tensors, done.tensors == 1 ? "" : "s",
                        done.files.size(), done.files.size() == 1 ? "" : "s"));
    }
    return done.damaged.empty() ? fine : found;
}

}  // namespace spotter_tool
