// SPDX-License-Identifier: Apache-2.0
// Ext (L6): MPI: ranks that stop, skip and continue together, and that detect a differing rank at once.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/core/text.hpp>
#include <spotter/file/deadline.hpp>
#include <spotter/hook/device.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/rule/builtin/beside.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/rule/machine.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <utility>

#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

namespace spotter::inline SPOTTER_ABI {

struct collective_options {   // must be equal in every rank
    std::uint64_t every = 1;  // the ranks agree at training steps whose index is a multiple of it; 0 acts as 1
    std::chrono::milliseconds patience{30'000};  // how long a rank waits for the others
};

// What all ranks know after a step: the same in each, except in a rank that is `alone`.
struct agreement {
    spotter::decision decision = decision::proceed;  // the strongest that a rank requests
    std::uint32_t asked_by = 0;                      // the lowest rank that requests it; not valid for proceed
    // Whether every rank has a digest of tensors of the latest step that all have judged: this one, but with a device
    // (docs/device.md) an earlier one. If a rank has none, it is unknown whether replicas are equal.
    bool replicas_compared = false;
    step_id compared_step{};            // that step; valid if they were compared
    std::uint32_t uncompared_rank = 0;  // the lowest rank without a digest
    bool replicas_differ = false;       // the digests of replicated tensors differ
    // The lowest rank outside the largest group of equal ones, and the number of such ranks.
    std::uint32_t odd_rank = 0, odd_ranks = 0;
    bool steps_differ = false;     // the ranks are at different steps
    std::uint32_t rank_ahead = 0;  // the lowest of the ranks that are furthest ahead
    step_id step_ahead{};          // the step of that rank
    bool alone = false;  // the others did not answer in time, or MPI failed, now or earlier. `decision` is this rank's
                         // own. See trouble()

    [[nodiscard]] explicit operator bool() const noexcept {
        return decision != decision::proceed || replicas_differ || steps_differ || alone;
    }
};

namespace detail {

// A digest of tensors by name, independent of the order of observation; of the last steps, because with a device ranks
// judge a step at different times.
struct replica_digest {
    struct sum {
        std::uint64_t bits = 0;
        std::uint64_t tensors = 0;  // number of tensors in it; 0: nothing to compare
        std::uint64_t step = 0;     // number of the step, by `close`; 0: none
    };
    static constexpr std::size_t kept_steps = device::steps + 1;  // those in flight, and the one before them

    sum now{};                             // of the tensors observed since the last close
    std::array<sum, kept_steps> closed{};  // a ring
    std::size_t newest = 0;                // in `closed`
    std::uint64_t rewinds = 0, index = 0;  // of the newest

    // Numbers increase from close to close, also where the loop goes back.
    constexpr void close(std::uint64_t step_index) noexcept {
        if (closed[newest].step != 0 && step_index <= index) { ++rewinds; }
        index = step_index;
        newest = (newest + 1) % kept_steps;
        now.step = (rewinds << index_bits | (step_index & index_mask)) + 1;
        closed[newest] = std::exchange(now, {});
    }
    [[nodiscard]] constexpr sum last() const noexcept { return closed[newest]; }
    // Without a step where it is not kept.
    [[nodiscard]] constexpr sum at(std::uint64_t step) const noexcept {
        for (sum const& each : closed) {
            if (each.step == step) { return each; }
        }
        return {};
    }
    [[nodiscard]] static constexpr std::uint64_t index_of(std::uint64_t step) noexcept {
        return (step - 1) & index_mask;
    }

    static constexpr unsigned index_bits = 44;
    static constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;

    constexpr void add(std::string_view name, std::uint64_t digest) noexcept {
        std::uint64_t mixed = (digest ^ hash_bytes(name.data(), name.size())) * 0x9E3779B97F4A7C15ULL;
        mixed = (mixed ^ mixed >> 32U) * 0xD6E8FEB86659FD93ULL;
        now.bits += mixed ^ mixed >> 32U;
        ++now.tensors;
    }
};

}  // namespace detail

// The rule that `collective::digest()` returns for a rank's hook: the bits of its weights and biases as one number. It
// has no findings. It includes only tensors that every rank has with equal bits, before the update. A worker of the
// hook in another thread must not have it.
struct rank_digest {
    using kind = rule_kind;
    static constexpr std::string_view name = "rank_digest";

    detail::replica_digest* into = nullptr;  // owned by the collective, which must outlive the hook
    std::uint64_t every = 1;                 // steps; at least 1
    selector select = &select::all_parameters;

    struct state {};

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return into != nullptr && select(tensor) ? stats_mask::hash : stats_mask::none;
    }
    constexpr void observe(state&, observation const& it) const noexcept {
        if (it.step.mode != mode::train || it.step.index % every != 0 || !has(it.stats.has, stats_mask::hash)) {
            return;
        }
        into->add(it.tensor.name, digest_of(it));
    }
    constexpr truth close(state&, step_id step, findings&) const noexcept {
        if (step.mode != mode::train || into == nullptr || step.index % every != 0) { return truth::undecided; }
        into->close(step.index);
        return into->last().tensors > 0 ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no weight or bias was seen at a training step at which ranks agree: replicas are not compared";
    }
};

// Ranks of an MPI program that decide together. Each rank has a collective, made at the same point of the program after
// MPI_Init, and a hook:
//     collective ranks{MPI_COMM_WORLD};
//     hook watch{"runs/a", keep, packs::supervised, ranks.digest(), ranks.options()};
//     agreement const all = ranks.agree(watch, train(i), watch.step(train(i), net));
//     if (all.decision == decision::stop) { break; }               // in every rank, at the same step
// A call is one MPI_Iallreduce of 64 bytes on a communicator of its own. Where ranks differ one MPI_Iallgather follows,
// to find out which. Where they have not judged the same step (with a device) another MPI_Iallreduce precedes it.
// Results are recorded as a text `collective`. It does not throw. Use it only in the thread that may call MPI.
class collective {
public:
    // A collective call: MPI_Comm_dup.
    explicit collective(MPI_Comm among, collective_options const& choices = {}) noexcept : choices_{choices} {
        choices_.every = choices_.every > 0 ? choices_.every : 1;
        if (!fine(MPI_Comm_dup(among, &mine_), "MPI_Comm_dup")) { return; }
        (void)MPI_Comm_set_errhandler(mine_, MPI_ERRORS_RETURN);
        int rank = 0, size = 1;
        (void)fine(MPI_Comm_rank(mine_, &rank), "MPI_Comm_rank");
        (void)fine(MPI_Comm_size(mine_, &size), "MPI_Comm_size");
        rank_ = static_cast<std::uint32_t>(rank), size_ = static_cast<std::uint32_t>(size);
        words_.reset(new (std::nothrow) std::uint64_t[each_from + 2 * std::size_t{size_}]{});
        if (words_ == nullptr) { trouble_ = {errc::out_of_memory, "no memory for what ranks say"}; }
    }
    collective(collective const&) = delete;
    collective& operator=(collective const&) = delete;
    // A collective call too, before MPI_Finalize; omitted where ranks have lost each other, since it would wait.
    ~collective() {
        if (trouble_) { (void)words_.release(); }  // a rank that comes after all lets MPI write there: never freed
        int over = 0;
        if (mine_ != MPI_COMM_NULL && !trouble_ && MPI_Finalized(&over) == MPI_SUCCESS && over == 0) {
            (void)MPI_Comm_free(&mine_);
        }
    }

    [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }  // of this process
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    // Options for the hook of this rank, whose worker number is the rank.
    [[nodiscard]] spotter::options options(spotter::options choices = {}) const noexcept {
        choices.worker = rank_, choices.workers = size_;
        return choices;
    }
    // A rule for the hook of this rank. The selector chooses the tensors that must be equal in all ranks: by default
    // all parameters; it may add other state, such as an optimizer's or a layer's running means.
    [[nodiscard]] rank_digest digest(selector select = &select::all_parameters) noexcept {
        compared_ = true;  // until a digest turns out to be empty
        return {&digest_, choices_.every, select};
    }
    // Why this rank is alone; no error while it is not. errc::not_yet, or an error of MPI.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

    // Every rank must call it at every training step, after the close and before the update. At a step at which the
    // ranks do not agree (`every`), a requested stop is passed on to the next agreement; a skip_update is not, since it
    // is for its own step.
    template <class Hook>
    [[nodiscard]] agreement agree(Hook& watch, step_id step, step_alarm const& found) noexcept {
        decision const own = found.decision();
        if (own == decision::stop) { stops_ = true; }
        if (trouble_) { return alone(own); }
        if (step.index % choices_.every != 0) { return {}; }
        agreement all;
        {
            auto const part = watch.section("agree");
            all = exchange(step, stops_ ? decision::stop : own);
        }
        bool const known = !all.alone && !waits_;  // else some rank has not judged the step yet
        bool const lost = compared_ && known && !all.replicas_compared;
        if (known) { compared_ = all.replicas_compared; }
        if (all || lost) { tell(watch, step, all, lost); }
        return all;
    }

private:
    static constexpr std::uint64_t low_half = 0xFFFFFFFFU;
    static constexpr std::size_t most_words = 8, each_from = 2 * most_words;
    [[nodiscard]] std::uint64_t* said() const noexcept { return words_.get(); }                // by this rank
    [[nodiscard]] std::uint64_t* heard() const noexcept { return words_.get() + most_words; }  // the maxima of all
    [[nodiscard]] std::uint64_t* each() const noexcept { return words_.get() + each_from; }  // digest and step by rank

    [[nodiscard]] static agreement alone(decision own) noexcept {
        agreement made;
        made.decision = own, made.alone = true;
        return made;
    }
    [[nodiscard]] static std::uint64_t number_of(step_id step) noexcept { return step.index; }

    // Level 2: judged, and no tensors; 1: not judged yet; 0: there is a digest. With the lowest rank of the highest
    // level.
    [[nodiscard]] std::uint64_t lack_of(detail::replica_digest::sum const& it) const noexcept {
        std::uint64_t const level = it.step == 0 ? 1 : it.tensors == 0 ? 2 : 0;
        return level << 32U | (low_half - rank_);
    }
    // The maxima over all ranks of `own`, in `heard()`.
    [[nodiscard]] bool largest(std::span<std::uint64_t const> own, step_id step) noexcept {
        std::copy(own.begin(), own.end(), said());
        MPI_Request request = MPI_REQUEST_NULL;
        return fine(MPI_Iallreduce(said(), heard(), static_cast<int>(own.size()), MPI_UINT64_T, MPI_MAX, mine_,
                                   &request),
                    "MPI_Iallreduce") &&
               arrives(request, step);
    }

    // The maximum of a number and of its complement show whether all are equal; decision and rank in one number give
    // the strongest decision of the lowest rank.
    [[nodiscard]] agreement exchange(step_id step, decision own) noexcept {
        std::uint64_t const place = number_of(step);
        detail::replica_digest::sum compared = digest_.last();
        std::uint64_t const first[most_words] = {lack_of(compared),
                                                 compared.bits,
                                                 ~compared.bits,
                                                 compared.step,
                                                 ~compared.step,
                                                 place,
                                                 ~place,
                                                 static_cast<std::uint64_t>(own) << 32U | (low_half - rank_)};
        if (!largest(first, step)) { return alone(own); }
        if (heard()[3] != ~heard()[4] && heard()[0] >> 32U == 0) {  // the latest step that all have judged
            compared = digest_.at(~heard()[4]);
            std::uint64_t const again[3] = {lack_of(compared), compared.bits, ~compared.bits};
            if (!largest(again, step)) { return alone(own); }
        }
        agreement made;
        made.decision = static_cast<decision>(heard()[7] >> 32U);
        made.asked_by = static_cast<std::uint32_t>(low_half - (heard()[7] & low_half));
        made.replicas_compared = heard()[0] >> 32U == 0;
        waits_ = heard()[0] >> 32U == 1;
        if (made.replicas_compared) {
            made.compared_step = {step.mode, detail::replica_digest::index_of(~heard()[4])};
        } else {
            made.uncompared_rank = static_cast<std::uint32_t>(low_half - (heard()[0] & low_half));
        }
        made.replicas_differ = made.replicas_compared && heard()[1] != ~heard()[2];
        made.steps_differ = heard()[5] != ~heard()[6];
        made.step_ahead = {step.mode, heard()[5]};
        if (!made.replicas_differ && !made.steps_differ) { return made; }
        MPI_Request request = MPI_REQUEST_NULL;
        said()[0] = compared.bits, said()[1] = place;
        if (!fine(MPI_Iallgather(said(), 2, MPI_UINT64_T, each(), 2, MPI_UINT64_T, mine_, &request),
                  "MPI_Iallgather") ||
            !arrives(request, step)) {
            return alone(own);
        }
        if (made.replicas_differ) { name_odd(made); }
        for (std::uint32_t rank = size_; made.steps_differ && rank-- > 0;) {
            if (each()[2 * std::size_t{rank} + 1] == heard()[5]) { made.rank_ahead = rank; }
        }
        return made;
    }
    // Takes the largest group of equal digests for correct; of equally large groups the one with the lowest rank.
    void name_odd(agreement& into) const noexcept {
        std::uint32_t most = 0;
        std::uint64_t right = 0;
        for (std::uint32_t rank = 0; rank < size_; ++rank) {
            std::uint64_t const its = each()[2 * std::size_t{rank}];
            std::uint32_t count = 0;
            for (std::uint32_t other = 0; other < size_; ++other) {
                count += each()[2 * std::size_t{other}] == its ? 1U : 0U;
            }
            if (count > most) { most = count, right = its; }
        }
        into.odd_ranks = size_ - most;
        for (std::uint32_t rank = size_; rank-- > 0;) {
            if (each()[2 * std::size_t{rank}] != right) { into.odd_rank = rank; }
        }
    }

    [[nodiscard]] bool arrives(MPI_Request& request, step_id step) noexcept {
        auto const end = detail::deadline_in(choices_.patience);
        for (std::uint64_t asked = 1;; ++asked) {
            int done = 0;
            if (!fine(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test")) { return false; }
            if (done != 0) { return true; }
            if (asked % 64 != 0) { continue; }
            std::this_thread::yield();
            if (std::chrono::steady_clock::now() < end) { continue; }
            trouble_ = {errc::not_yet, ""};
            trouble_.what << "rank " << rank_ << " waited " << choices_.patience.count() << " ms at "
                          << name_of(step.mode) << '(' << step.index << ") for ranks that did not come";
            return false;
        }
    }
    [[nodiscard]] bool fine(int code, char const* call) noexcept {
        if (code == MPI_SUCCESS) { return true; }
        char said[MPI_MAX_ERROR_STRING] = "";
        int size = 0;
        (void)MPI_Error_string(code, said, &size);
        if (!trouble_) {
            trouble_ = {errc::io_error, call};
            trouble_.what << ": " << std::string_view{said, static_cast<std::size_t>(size > 0 ? size : 0)};
        }
        return false;
    }

    template <class Hook>
    void tell(Hook& watch, step_id step, agreement const& all, bool uncompared) const noexcept {
        text<400> line;
        line << name_of(step.mode) << '(' << step.index << ")";
        if (all.alone) { line << ' ' << trouble_.what.view(); }
        if (!all.alone && all.decision != decision::proceed) {
            line << " rank " << all.asked_by << " asks for " << name_of(all.decision);
        }
        if (uncompared) {
            line << "; replicas are not compared: rank " << all.uncompared_rank << " has shown no weight or bias";
        }
        if (all.replicas_differ) {
            line << "; replicas differ: rank " << all.odd_rank;
            if (all.odd_ranks > 1) { line << " and " << all.odd_ranks - 1 << " more"; }
            if (all.compared_step != step) { line << " at step " << all.compared_step.index; }
        }
        if (all.steps_differ) {
            line << "; rank " << all.rank_ahead << " is at " << name_of(all.step_ahead.mode) << '('
                 << all.step_ahead.index << ')';
        }
        watch.scalar("collective", line.view());
    }

    MPI_Comm mine_ = MPI_COMM_NULL;
    collective_options choices_;
    std::uint32_t rank_ = 0, size_ = 1;
    bool stops_ = false;
    bool compared_ = false;  // replicas were compared at the last agreement
    bool waits_ = false;     // at which some rank had judged no step that it could compare
    error trouble_{};
    detail::replica_digest digest_{};
    // What MPI reads and writes, on the heap: it does so until every rank came, whatever happens to this object.
    std::unique_ptr<std::uint64_t[]> words_{};
};

}  // namespace spotter::inline SPOTTER_ABI
