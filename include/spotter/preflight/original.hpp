// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: is a copy of the net a net of its own?
#pragma once

#include <spotter/preflight/examine.hpp>
#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Looks at the net of which copies are examined: tensors of a copy stand elsewhere, and what is done to it changes none
// of the net's. What was changed all the same is put back, where the net is not const.
class original_watch {
public:
    explicit original_watch(original_net const* net) noexcept : net_{net} {}

    // Before anything. False where the memory of a tensor is shared.
    [[nodiscard]] bool begin(examiner& all);
    // False, once, where a tensor of the net has changed.
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
