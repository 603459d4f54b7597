// SPDX-License-Identifier: Apache-2.0
// What the libtorch families share: nets that are listed, broken, optimised and shown; data that is drawn, spoilt and
// dealt out.
#pragma once

#include "../family.hpp"

#include <spotter/ext/torch/tensor.hpp>

#include <torch/nn.h>
#include <torch/optim.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diagnosis {

namespace sp = spotter;
namespace nn = torch::nn;
using torch::Tensor;

// A parameter, and how the program shows it. A family may give it another name.
struct shown_parameter {
    std::string name{}, gradient{};
    Tensor values{};
    sp::role what = sp::role::weight;
    sp::flag flags = sp::flag::none;
    std::size_t net = 0;         // by the order in which nets were added
    bool in_last_layer = false;  // of its net
};

enum class torch_method { sgd, momentum, nesterov, adam, adamw, rmsprop, adagrad };

struct optimizer_choice {
    torch_method method = torch_method::sgd;
    double rate = 0.01, weight_decay = 0;
    double first_moment = 0.9;  // of Adam
};

class torch_program {
public:
    torch_program(course& of, std::uint64_t steps, pack_choice pack = pack_choice::supervised,
                  double known = course::no_guess);

    // Takes a net in, with its weights as the fault wants them; its parameters are called as torch names them, behind
    // the prefix.
    void add(nn::Module& net, std::string const& prefix = {});
    // Those of all nets.
    [[nodiscard]] std::vector<shown_parameter>& parameters() noexcept { return parameters_; }
    // An optimizer of its own for each net that was added, with rates and sides as the fault wants them.
    void optimise(optimizer_choice const& how);
    void optimise(std::size_t net, optimizer_choice const& how);
    // Of all optimizers: the share of their rates that holds from now on.
    void scale_rate(double factor);

    // A step of the loop. Without a net, all of them.
    static constexpr std::size_t every_net = ~std::size_t{0};
    void begin(std::uint64_t step);
    void clear(std::size_t net = every_net);
    void backward(Tensor const& loss, std::size_t net = every_net);
    // The faults in gradients, which backward puts there: for a program that computes its own.
    void spoil_gradients(std::size_t net = every_net);
    void update(std::size_t net = every_net);
    double clip(double largest_norm, std::size_t net = every_net);  // the norm before
    void end() { course_.end(); }

    void show_weights(std::size_t net = every_net);
    void show_gradients(std::size_t net = every_net);
    template <class... RoleAndFlags>
    void see(std::string_view name, Tensor const& values, RoleAndFlags... said) {
        Tensor const plain = values.detach().contiguous();
        course_.observe(name, sp::as_tensor(plain), said...);
    }
    void scalar(std::string_view name, Tensor const& value) { course_.scalar(name, value.item<double>()); }

    // After the last step: whether all weights are numbers.
    void finish();

    // At so many steps of the training, evenly spread and at the last one, there is something to evaluate.
    [[nodiscard]] bool evaluates(std::uint64_t step, std::uint64_t times = 20) const noexcept {
        std::uint64_t const interval = steps_ / times > 0 ? steps_ / times : 1;
        return (step + 1) % interval == 0 || step + 1 == steps_;
    }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] bool is(fault broken) const noexcept { return course_.is(broken); }

private:
    [[nodiscard]] static bool is_of(std::size_t one, std::size_t wanted) noexcept {
        return wanted == every_net || one == wanted;
    }
    void break_weights(std::size_t first);
    void plan_nan();

    course& course_;
    std::uint64_t steps_ = 0, step_ = 0;
    std::vector<shown_parameter> parameters_{};
    std::size_t nets_ = 0;
    std::string left_out_{};  // the layer that is frozen, or whose weight no optimizer has
    struct optimised {
        std::size_t net = 0;
        double rate = 0;
        std::unique_ptr<torch::optim::Optimizer> by{};
    };
    std::vector<optimised> optimizers_{};
    std::optional<std::uint64_t> nan_step_{};
    std::size_t nan_in_ = 0;
};

// Samples along the first axis.
struct torch_data {
    Tensor inputs{}, labels{}, eval_inputs{}, eval_labels{};
    std::int64_t classes = 0;  // 0: a regression
};
// The faults that are in the data; what is evaluated keeps its true labels.
void spoil(torch_data& data, course const& of);

// So many classes of pictures of one channel: each a pattern of soft spots, the same for every seed; shifted, faded and
// noisy.
[[nodiscard]] torch_data draw_pictures(std::int64_t side, std::int64_t classes, std::int64_t count, double noise);

// Deals out shuffled indices, epoch after epoch; the same ones always where that is the fault.
class torch_batches {
public:
    torch_batches(std::int64_t samples, std::int64_t batch, bool always_the_same)
        : samples_{samples}, batch_{(std::min)(batch, samples)}, same_{always_the_same} {}
    [[nodiscard]] Tensor next();

private:
    std::int64_t samples_, batch_, at_ = 0;
    bool same_;
    Tensor order_{};
};

// What can be broken in any net with hidden layers, and more.
[[nodiscard]] std::vector<fault> usual_faults(std::vector<fault> const& more = {});

// The share of wrong answers.
[[nodiscard]] double error_rate(Tensor const& logits, Tensor const& labels);

}  // namespace diagnosis
