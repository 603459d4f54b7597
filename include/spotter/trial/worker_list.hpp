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

// By worker, the lowest first. Findings and coverages have a worker number; damage has a file.
struct joint_notes {
    std::vector<recorded_collection> collections{};  // of equal names, the lowest worker's
    std::vector<finding> findings{};                 // in each worker's order
    std::vector<recorded_coverage> coverages{};      // equal ones are merged
    run_totals totals{};                             // sums
    std::string why_ended{};                         // from the lowest of the workers that ended worst

    // Joins all workers; `worst` is the run's status.
    void gather(worker_list const& workers, run_status worst);
    // Checks every frame of every worker: the most expensive call.
    [[nodiscard]] static std::vector<damaged_place> damage(worker_list const& workers);

private:
    void add(recorded_collection const& each);
    // Workers with the same rule at the same place share a row. Those that could not judge have a separate row, so that
    // the reason is kept.
    void add(recorded_coverage const& each, std::size_t place);
    void add(run_totals const& each) noexcept;

    std::vector<std::size_t> places_{};  // of each coverage in its worker's list
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/names.hpp>
#include <spotter/format/zstd_codec.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY worker_list::worker_list(std::string_view path, file_system& files)
    : files_{&files}, given_{path}, path_{files.absolute(path).view()},
      unpacker_{std::make_shared<payload_unpacker>()} {}

SPOTTER_BODY worker_list::~worker_list() {
    files_->unmap(set_);
    files_->unmap(set_before_);
}

SPOTTER_BODY worker_reader const* worker_list::find(std::uint32_t number) const noexcept {
    auto const it = std::lower_bound(all_->begin(), all_->end(), number,
                                     [](auto const& each, std::uint32_t wanted) { return each->number() < wanted; });
    return it != all_->end() && (*it)->number() == number ? it->get() : nullptr;
}

SPOTTER_BODY std::uint32_t worker_list::expected() const noexcept {
    std::uint32_t most = 0;
    for (auto const& each : *all_) {
        // A single worker's folder does not show the other workers.
        if (!one_only_ && !(each->number() > 0 && each->path() == path_)) {
            most = (std::max)(most, each->expected_workers());
        }
    }
    return most;
}

SPOTTER_BODY std::uint32_t worker_list::missing() const noexcept {
    std::uint32_t const wanted = expected();
    std::uint32_t there = 0;
    for (auto const& each : *all_) { there += each->number() < wanted ? 1U : 0U; }
    return wanted - there;
}

SPOTTER_BODY error worker_list::refresh() {
    error const why = take_in();
    if (!began_anew(why)) { return why; }
    worker_list fresh{path_, *files_};
    fresh.one_only_ = one_only_;
    fresh.unpacker_ = unpacker_;
    error const unreadable = one_only_ ? fresh.open_only(all_->front()->number()) : fresh.take_in();
    if (fresh.all_->empty()) { return unreadable; }  // the new run is just being created: keep the old one
    before_ = std::exchange(all_, std::move(fresh.all_));
    std::swap(set_before_, fresh.set_);  // destroyed with `fresh`
    std::swap(set_before_, set_);
    has_root_ = fresh.has_root_;
    ++replaced_;
    return {errc::replaced,
            "another run has taken the place of the one that was read: it is read from its beginning, ask anew"};
}

SPOTTER_BODY error worker_list::open_only(std::uint32_t number) {
    one_only_ = true;
    std::string const folder = number == 0 ? path_ : folder_of(number);
    error const why = add(number, folder);
    result<path_kind> const kind = files_->kind_of(path_);
    if (why.code != errc::not_a_run || !kind || *kind != path_kind::folder) { return why; }
    error no_record{errc::no_such_worker, "\""};
    no_record.what << path_ << "\" holds no record of worker " << number << ": trial::workers() lists whose it holds";
    return no_record;
}

SPOTTER_BODY error worker_list::take_in() {
    error first{}, lack{};
    bool sound = false;
    auto const note = [&](error const& why) {
        sound = sound || !why;
        if (!first) { first = why; }
        if (why.code == errc::out_of_memory) { lack = why; }  // independent of the record
    };
    for (auto const& each : *all_) { note(each->refresh()); }
    if (one_only_) { return first; }
    if (all_->empty()) {
        take_set();
        sound = !all_->empty();
    }
    if (!has_root_) {
        note(add(0, path_));
        has_root_ = !all_->empty() && all_->back()->path() == path_;
    }
    if (result<path_kind> const kind = files_->kind_of(path_); !kind || *kind != path_kind::folder) {
        return first || kind ? first : kind.error();
    }
    std::vector<std::uint32_t> fresh;
    if (error const why = list_fresh(fresh)) { return why; }
    for (std::uint32_t const number : fresh) { note(add(number, folder_of(number))); }
    std::sort(all_->begin(), all_->end(), [](auto const& a, auto const& b) { return a->number() < b->number(); });
    return lack ? lack : sound ? error{} : first;
}

SPOTTER_BODY error worker_list::list_fresh(std::vector<std::uint32_t>& fresh) const {
    auto const number_of = [](std::string_view name) noexcept {
        std::int64_t const number = worker_of_folder(name);
        return number == 0 ? -1 : number;
    };
    error const why = detail::list_numbers(*files_, path_, number_of, fresh);
    std::vector<std::uint32_t> known;
    for (auto const& each : *all_) { known.push_back(each->number()); }
    std::sort(known.begin(), known.end());
    std::erase_if(fresh, [&](std::uint32_t each) { return std::binary_search(known.begin(), known.end(), each); });
    return why;
}

SPOTTER_BODY void worker_list::take_set() {
    result<file_mapping> const file = files_->map(path_text{path_, layout::set_name});
    if (!file) { return; }
    set_ = *file;
    worker_set_reader set{set_.bytes};
    for (worker_in_set in_set; set.next(in_set.who); in_set = {}) {
        bool whole = true;
        for (std::uint32_t i = 0; i < in_set.who.segments && whole; ++i) {
            whole = set.next(in_set.last);
            in_set.sides.push_back({in_set.last.number, set.side_of(in_set.last)});
        }
        bool const ordered = all_->empty() || all_->back()->number() < in_set.who.number;
        if (!whole || !ordered) { return; }
        bool const is_root = in_set.who.number == 0;
        auto fresh = std::make_unique<worker_reader>(std::move(in_set), is_root ? path_ : folder_of(in_set.who.number),
                                                     *files_, *unpacker_);
        if (!fresh->matches_set()) { continue; }
        has_root_ = has_root_ || is_root;
        all_->push_back(std::move(fresh));
    }
}

SPOTTER_BODY bool worker_list::began_anew(error const& why) const noexcept {
    return why.code == errc::replaced || std::any_of(all_->begin(), all_->end(), [](auto const& each) {
               return each->trouble().code == errc::replaced;
           });
}

SPOTTER_BODY std::string worker_list::folder_of(std::uint32_t number) const {
    return path_ + "/worker-" + std::to_string(number);
}

SPOTTER_BODY error worker_list::add(std::uint32_t number, std::string const& folder) {
    auto fresh = std::make_unique<worker_reader>(number, folder, *files_, *unpacker_);
    error const why = fresh->refresh();
    if (why.code == errc::not_a_run && (one_only_ || !fresh->index().has_begun())) { return why; }
    all_->push_back(std::move(fresh));
    return why;
}

SPOTTER_BODY void joint_notes::gather(worker_list const& workers, run_status worst) {
    for (auto const& each : workers.all()) {
        worker_index const& its = each->index();
        for (recorded_collection const& collection : its.collections()) { add(collection); }
        findings.insert(findings.end(), its.findings().begin(), its.findings().end());
        for (std::size_t i = 0; i < its.coverages().size(); ++i) { add(its.coverages()[i], i); }
        add(its.totals());
        if (why_ended.empty() && each->status() == worst && !its.ended_why().empty()) {
            why_ended = "worker " + std::to_string(each->number()) + ": " + its.ended_why();
        }
    }
    if (why_ended.empty() && worst == run_status::died && workers.missing() > 0) {
        why_ended =
            std::to_string(workers.missing()) + " of " + std::to_string(workers.expected()) + " workers never began";
    }
}

SPOTTER_BODY std::vector<damaged_place> joint_notes::damage(worker_list const& workers) {
    std::vector<damaged_place> found;
    for (auto const& each : workers.all()) {
        auto const& its = each->index().damage();
        found.insert(found.end(), its.begin(), its.end());
        if (each->trouble()) { found.push_back({each->path(), 0, 0}); }
    }
    return found;
}

SPOTTER_BODY void joint_notes::add(recorded_collection const& each) {
    bool const known = std::any_of(collections.begin(), collections.end(),
                                   [&](recorded_collection const& other) { return other.name == each.name; });
    if (!known) { collections.push_back(each); }
}

SPOTTER_BODY void joint_notes::add(recorded_coverage const& each, std::size_t place) {
    for (std::size_t i = 0; i < coverages.size(); ++i) {
        recorded_coverage& into = coverages[i];
        if (places_[i] != place || into.rule != each.rule || into.reason != each.reason) { continue; }
        into.matched = (std::max)(into.matched, each.matched);
        into.judged += each.judged, into.undecided += each.undecided, into.fired += each.fired;
        into.workers += 1;
        return;
    }
    coverages.push_back(each);
    places_.push_back(place);
}

SPOTTER_BODY void joint_notes::add(run_totals const& each) noexcept {
    totals.stored += each.stored, totals.dropped += each.dropped, totals.thinned += each.thinned;
    totals.closes_lost += each.closes_lost, totals.refused += each.refused, totals.bytes += each.bytes;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
