// SPDX-License-Identifier: Apache-2.0
// Trial (L4): which workers recorded into a run's folder.
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

    // The run's folder as it was given; and where it is, whichever folder is the working one.
    [[nodiscard]] std::string const& given() const noexcept { return given_; }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    // What it is read through.
    [[nodiscard]] file_system& files() const noexcept { return *files_; }
    // By number, never empty once it was refreshed.
    [[nodiscard]] std::vector<std::unique_ptr<worker_reader>> const& all() const noexcept { return *all_; }
    // How often another run took the place of the one that was read.
    [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }
    // Null where there is none of that number.
    [[nodiscard]] worker_reader const* find(std::uint32_t number) const noexcept;
    // How many workers the run was told to have; 0 where it was not told.
    [[nodiscard]] std::uint32_t expected() const noexcept;
    // Workers that the run was told to have and that recorded nothing so far.
    [[nodiscard]] std::uint32_t missing() const noexcept;

    // Takes in what all workers wrote meanwhile, and workers that began meanwhile. A worker that cannot be read keeps
    // its trouble to itself; an error means that none can. errc::replaced: another run has taken the place of the one
    // that was read, and the workers are its own. Those of the run before stay until the next takes its place, since
    // somebody may hold tracks of them.
    [[nodiscard]] error refresh();
    // Opens this worker and no other.
    [[nodiscard]] error open_only(std::uint32_t number);

private:
    [[nodiscard]] error take_in();
    // Those that a set of sidecars speaks of, as far as their records are still as it says.
    void take_set();
    [[nodiscard]] bool began_anew(error const& why) const noexcept;

    [[nodiscard]] std::string folder_of(std::uint32_t number) const;
    // A folder without a segment is of a worker that is about to begin. One whose segment cannot be read is a worker
    // all the same.
    [[nodiscard]] error add(std::uint32_t number, std::string const& folder);

    file_system* files_;
    std::string given_, path_;
    using readers = std::vector<std::unique_ptr<worker_reader>>;
    std::shared_ptr<payload_unpacker> unpacker_;  // before those that read with it; also of the run that was replaced
    std::unique_ptr<readers> all_{std::make_unique<readers>()};
    std::unique_ptr<readers> before_{};  // of the run that was replaced last
    file_mapping set_{}, set_before_{};  // what their sidecars may be in
    std::uint64_t replaced_ = 0;
    bool has_root_ = false;  // the run's own folder holds a record
    bool one_only_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/worker_list.ipp>
#endif
