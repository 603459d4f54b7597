// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: are copies of the net independent of it?
#pragma once

#include <spotter/preflight/examine.hpp>
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
    bool told_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/original.ipp>
#endif
