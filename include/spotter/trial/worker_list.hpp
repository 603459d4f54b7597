// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the workers that recorded into a run's folder.
#pragma once

#include <spotter/trial/worker_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// The workers found so far, by number. Their addresses are stable.
class worker_list {
public:
    worker_list(std::string_view path, file_system& files);
    worker_list(worker_list const&) = delete;
    worker_list& operator=(worker_list const&) = delete;
    ~worker_list();

    // The run's folder as given; and its absolute path.
    [[nodiscard]] std::string const& given() const noexcept { return given_; }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    // The file system that reads the run.
    [[nodiscard]] file_system& files() const noexcept { return *files_; }
    // Sorted by number; never empty after a refresh.
    [[nodiscard]] std::vector<std::unique_ptr<worker_reader>> const& all() const noexcept { return *all_; }
    // How often another run replaced the one that was read.
    [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }
    // Null if there is none.
    [[nodiscard]] worker_reader const* find(std::uint32_t number) const noexcept;
    // The planned number of workers; 0: not specified.
    [[nodiscard]] std::uint32_t expected() const noexcept;
    // The number of planned workers that have recorded nothing so far.
    [[nodiscard]] std::uint32_t missing() const noexcept;

    // Reads what all workers wrote since, and finds new workers. The error of a single worker stays with that worker;
    // an error is returned if none can be read. errc::replaced: another run has replaced the one that was read, and the
    // workers are those of the new run. The former ones stay until the next replacement, because tracks may refer to
    // them.
    [[nodiscard]] error refresh();
    // Opens only this worker.
    [[nodiscard]] error open_only(std::uint32_t number);

private:
    [[nodiscard]] error take_in();
    // Adds the workers in a set of sidecars whose records have not changed since.
    void take_set();
    // Finds the workers that have a folder and no reader yet.
    [[nodiscard]] error list_fresh(std::vector<std::uint32_t>& fresh) const;
    [[nodiscard]] bool began_anew(error const& why) const noexcept;

    [[nodiscard]] std::string folder_of(std::uint32_t number) const;
    // A folder without a segment belongs to a worker that is about to begin: not added. A worker with an unreadable
    // segment is added.
    [[nodiscard]] error add(std::uint32_t number, std::string const& folder);

    file_system* files_;
    std::string given_, path_;
    using readers = std::vector<std::unique_ptr<worker_reader>>;
    std::shared_ptr<payload_unpacker> unpacker_;  // before the readers that use it; also of the replaced run
    std::unique_ptr<readers> all_{std::make_unique<readers>()};
    std::unique_ptr<readers> before_{};  // of the run replaced last
    file_mapping set_{}, set_before_{};  // mappings with their sidecars
    std::uint64_t replaced_ = 0;
    bool has_root_ = false;  // the run's own folder holds a record
    bool one_only_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/worker_list.ipp>
#endif
