// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: are copies of the net independent of it?
#pragma once

#include <spotter/preflight/examination.hpp>
#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Watches the net that is copied: tensors of a copy must have memory of their own, and work on a copy must not change
// the net. A change is put back, where the net is not const.
class original_watch {
public:
    explicit original_watch(original_net const* net) noexcept : net_{net} {}

    // Called before anything else. False where a tensor of a copy shares the net's memory.
    [[nodiscard]] bool begin(examiner& all);
    // False where a tensor of the net has changed. Reports that once: later calls return true.
    [[nodiscard]] bool stands(examiner& all, std::string_view after);

private:
    struct kept_tensor {
        std::string name{};
        tensor_ref view{};
        bool writable = false;
        std::vector<unsigned char> bytes{};
    };
    static void take(void* to, shown_tensor const& it);
    void look(std::vector<kept_tensor>& into) const;

    original_net const* net_;
    std::vector<kept_tensor> kept_{};
    bool reported_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void original_watch::take(void* to, shown_tensor const& it) {
    static_cast<std::vector<kept_tensor>*>(to)->push_back({std::string{it.name}, it.view, it.writable, {}});
}

SPOTTER_BODY void original_watch::look(std::vector<kept_tensor>& into) const {
    parameter_visitor visit{&original_watch::take, &into};
    net_->show(net_->net, visit);
    for (kept_tensor& each : into) {
        if (!each.writable || each.view.count == 0) { continue; }
        auto const* const first = static_cast<unsigned char const*>(each.view.values.raw);
        each.bytes.assign(first, first + each.view.bytes());
    }
}

SPOTTER_BODY bool original_watch::begin(examiner& all) {
    if (net_ == nullptr) { return true; }
    std::string_view shared;
    std::vector<kept_tensor> of_copy;
    bool const shown = guarded([&] {
        look(kept_);
        examination const& exam = all.loop.given();
        exam.restore();
        parameter_visitor visit{&original_watch::take, &of_copy};
        exam.parameters(visit);
    });
    if (!shown) { return true; }  // the examination calls it again, and reports the exception there
    for (kept_tensor const& each : of_copy) {
        if (!each.writable || each.view.count == 0) { continue; }
        for (kept_tensor const& own : kept_) {
            bool const same = own.name == each.name && own.writable && own.view.values.raw == each.view.values.raw;
            if (same && shared.empty()) { shared = own.name; }
        }
    }
    if (shared.empty()) { return true; }
    all.tell(preflight_cause::copy_shares_memory, shared);
    reported_ = true;
    return false;
}

SPOTTER_BODY bool original_watch::stands(examiner& all, std::string_view after) {
    if (net_ == nullptr || reported_) { return true; }
    std::vector<kept_tensor> now;
    if (!guarded([&] { look(now); }) || now.size() != kept_.size()) { return true; }
    std::string_view changed;
    for (std::size_t i = 0; i < now.size(); ++i) {
        bool const same_size = now[i].bytes.size() == kept_[i].bytes.size();
        if (same_size && (now[i].bytes.empty() ||
                          std::memcmp(now[i].bytes.data(), kept_[i].bytes.data(), now[i].bytes.size()) == 0)) {
            continue;
        }
        if (changed.empty()) { changed = kept_[i].name; }
        if (net_->may_be_put_back && same_size) {
            std::memcpy(const_cast<void*>(now[i].view.values.raw), kept_[i].bytes.data(), kept_[i].bytes.size());
        }
    }
    if (changed.empty()) { return true; }
    draft& found = all.tell(preflight_cause::works_on_the_net, changed);
    found.detail << "it was changed by " << after;
    if (!net_->may_be_put_back) { found.detail << ", and is not put back, for it is const"; }
    reported_ = true;
    return false;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
