// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the examination of a net that can be copied: each pass begins with a new copy.
#pragma once

#include <spotter/preflight/examination.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

template <class Net>
concept shows_tensors = requires(Net const& net, parameter_visitor visit) { visit_tensors(net, visit); };

// Shows the tensors of a net.
template <class Net>
void show_net(Net const& net, parameter_visitor& visit) {
    visit_tensors(net, visit);
}

// Owns the current copy. Must not move during the examination.
template <class Net, class Pass, class Step>
class copied_net {
public:
    copied_net(Net const& net, Pass& pass, Step& step, preflight_options<Net> const& choices) noexcept
        : net_{net}, pass_{pass}, step_{step}, choices_{choices} {}
    copied_net(copied_net const&) = delete;
    copied_net& operator=(copied_net const&) = delete;
    ~copied_net() { delete copy_; }

    // The functions of an examination on the current copy. They refer to this object.
    [[nodiscard]] examination functions() {
        examination it;
        it.parameters = [this](parameter_visitor& visit) { show_net(std::as_const(*copy_), visit); };
        it.backward = [this] { return static_cast<double>(pass_(*copy_)); };
        it.update = [this] { static_cast<void>(step_(*copy_)); };
        it.restore = [this] { renew(); };
        if (choices_.loss) {
            it.loss = [this] { return choices_.loss(*copy_); };
        }
        if (choices_.inputs) {
            it.inputs = [this] { return choices_.inputs(*copy_); };
        }
        if (choices_.outputs) {
            it.outputs = [this] { return choices_.outputs(*copy_); };
        }
        if (choices_.labels) {
            it.labels = [this] { return choices_.labels(*copy_); };
        }
        if (choices_.seed) {
            it.seed = [this](std::uint64_t number) { choices_.seed(*copy_, number); };
        }
        if (choices_.training) {
            it.training = [this](bool on) { choices_.training(*copy_, on); };
        }
        it.batch = choices_.batch, it.forwards = choices_.forwards, it.loss_scale = choices_.loss_scale;
        it.overfit = choices_.overfit, it.progress = choices_.progress, it.restore_each = true;
        return it;
    }

private:
    // Replaces the current copy by a new one.
    void renew() {
        delete std::exchange(copy_, nullptr);
        copy_ = new Net(net_);
    }

    Net const& net_;
    Pass& pass_;
    Step& step_;
    preflight_options<Net> const& choices_;
    Net* copy_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
