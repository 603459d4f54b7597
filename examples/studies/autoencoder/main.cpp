// SPDX-License-Identifier: Apache-2.0
// An autoencoder whose loss converges but whose latent space is poor, and the smaller and better one that spotter's
// findings lead to:
//     study_autoencoder TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS [--quick] [--plain] [--seed=N] [--out=FOLDER]
// docs/studies/autoencoder.md. Exit code: 0 when the claims of that page hold, 1 when not, 2 when the command line or a
// file is wrong.
#include "../common/arguments.hpp"
#include "../common/fashion.hpp"
#include "../common/fingerprint.hpp"
#include "../common/record.hpp"
#include "../common/results.hpp"
#include "net.hpp"
#include "tsne.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

namespace {

namespace sp = spotter;
using namespace autoencoder;

struct extent_of_study {
    std::uint64_t steps = 938, seeds = 3;  // one epoch
    std::int64_t batch = 64;
    std::int64_t drawn = 400, judged = 2000;  // numbers of test pictures: for the planes, and for the neighbours
};
inline std::array<design, 2> const designs{{{.name = "original", .bottleneck = 96, .squashes = true},
                                            {.name = "changed", .bottleneck = 32, .squashes = false}}};

// Keeps losses, planes, the final latent points, and at intervals statistics of gradients and activations.
constexpr sp::plan keep{
    sp::collection{"losses", "{loss,metric/*}", sp::always{}, sp::payload},
    sp::collection{"embeddings", "{embedding/*,label,latent}", sp::during{sp::mode::eval}, sp::payload},
    sp::collection{"gradients", "grad/*", sp::every{10} && sp::during{sp::mode::train},
                   sp::stats(sp::mean_abs, sp::l2)},
    sp::collection{"activations", "act/*", sp::every{50} && sp::during{sp::mode::train},
                   sp::stats(sp::zero_fraction, sp::mean_abs)},
};
constexpr auto rules = (sp::vanishing_gradient{} | sp::once) || (sp::gradient_depth_ratio{} | sp::once) ||
                       (sp::dead_relu{} | sp::once) || (sp::dormant_units{} | sp::once) ||
                       (sp::saturated_activation{} | sp::once) || (sp::loss_not_decreasing{} | sp::once);

// Pixels from 0 to 1.
torch::Tensor as_pixels(torch::Tensor const& bytes) { return bytes.to(torch::kFloat).div_(255); }

// Observes a layer's output, with the kind of its activation.
template <class Hook>
auto observing(Hook& watch, bool squashes) {
    return [&watch, squashes](std::string const& name, torch::Tensor const& made) {
        bool const latent = name == "latent";
        sp::activation_kind const kind = latent
                                             ? (squashes ? sp::activation_kind::relu : sp::activation_kind::other)
                                             : (squashes ? sp::activation_kind::sigmoid : sp::activation_kind::other);
        watch.observe("act/" + name, made, sp::role::activation, sp::activated_by(kind));
        return made;
    };
}
constexpr auto unseen = [](std::string_view, torch::Tensor made) { return made; };

struct outcome {
    std::int64_t parameters = 0, multiplications = 0;
    double loss = 0;        // of the test pictures
    double neighbours = 0;  // share of test pictures with the class of most of their ten nearest neighbours in the
                            // latent space
    double idle = 0;        // share of the bottleneck's units that are never active on them
    std::uint64_t fingerprint = 0;
    std::string says{};
};

// The share of points [n, dimensions] with the class of most of their ten nearest neighbours.
double share_among_its_own(torch::Tensor const& points, torch::Tensor const& labels) {
    torch::Tensor distance = torch::cdist(points, points);
    distance.fill_diagonal_(INFINITY);
    torch::Tensor const nearest = std::get<1>(distance.topk(10, 1, false));
    torch::Tensor const said = std::get<0>(labels.index_select(0, nearest.flatten()).reshape(nearest.sizes()).mode(1));
    return said.eq(labels).to(torch::kDouble).mean().item<double>();
}

template <class Hook>
void evaluate(net& of, studies::pictures const& test, extent_of_study const& how, Hook& watch, std::uint64_t index,
              torch::Tensor& plane) {
    torch::NoGradGuard const no_gradients;
    studies::pictures const shown = test.at(torch::arange(how.drawn));
    torch::Tensor const latent = of->to_latent(as_pixels(shown.pixels), unseen);
    plane = tsne(latent, plane);
    watch.begin(sp::eval(index));
    watch.observe("embedding/tsne", plane);
    watch.observe("latent", latent);
    watch.observe("label", shown.labels);
    watch.observe("loss", torch::mse_loss(of->forward(as_pixels(shown.pixels), unseen), as_pixels(shown.pixels)));
    watch.observe("metric/among its own", share_among_its_own(latent, shown.labels));
    (void)watch.end();
    plane = plane * (1e-2 / plane.std());  // the next plane starts from this one, so that they are comparable
}

template <class Hook>
outcome train(design const& wanted, studies::split const& data, extent_of_study const& how, std::uint64_t seed,
              Hook& watch) {
    torch::manual_seed(seed);
    net of{wanted};
    watch.scalar("class_names", std::string{studies::fashion::names_text});
    watch.scalar("bottleneck", static_cast<double>(wanted.bottleneck));
    watch.scalar("activations", std::string{wanted.squashes ? "sigmoid, bottleneck ReLU" : "ELU, bottleneck linear"});
    torch::optim::Adam optimizer{of->parameters(), 1e-3};
    sp::module_table const tensors{of};
    torch::Tensor plane = torch::randn({how.drawn, 2}) * 1e-2;
    for (std::uint64_t i = 0; i < how.steps; ++i) {
        if (i % (how.steps / 4) == 0) { evaluate(of, data.test, how, watch, i / (how.steps / 4), plane); }
        watch.begin_section("data");
        torch::Tensor const chosen = torch::randint(data.train.size(), {how.batch}, torch::kLong);
        torch::Tensor const pixels = as_pixels(data.train.pixels.index_select(0, chosen));
        watch.end_section("data");
        watch.begin(sp::train(i));
        optimizer.zero_grad();
        watch.begin_section("forward");
        torch::Tensor const loss = torch::mse_loss(of->forward(pixels, observing(watch, wanted.squashes)), pixels);
        watch.end_section("forward");
        watch.begin_section("backward");
        loss.backward();
        watch.end_section("backward");
        watch.observe("loss", loss);
        sp::observe_module(watch, tensors);
        auto const found = watch.end();
        if (found) { fmt::print("{}\n", found); }
        auto const part = watch.section("update");
        optimizer.step();
    }
    evaluate(of, data.test, how, watch, 5, plane);
    torch::NoGradGuard const no_gradients;
    studies::pictures const judged = data.test.at(torch::arange(how.judged));
    torch::Tensor const latent = of->to_latent(as_pixels(judged.pixels), unseen);
    outcome result{.parameters = of->size(), .multiplications = of->multiplications()};
    result.loss =
        torch::mse_loss(of->forward(as_pixels(judged.pixels), unseen), as_pixels(judged.pixels)).item<double>();
    result.neighbours = share_among_its_own(latent, judged.labels);
    result.idle = std::get<0>(latent.abs().max(0)).eq(0).to(torch::kDouble).mean().item<double>();
    result.fingerprint = studies::fingerprint(*of);
    return result;
}

}  // namespace

int main(int count, char** given) {
    auto const chosen = studies::parse(count, given, "autoencoder", studies::fashion::usage, 4);
    if (!chosen) { return 2; }
    studies::split const data = studies::fashion::load(chosen->data);
    if (!data.problem().empty()) {
        fmt::print(stderr, "study_autoencoder: {}\n", data.problem());
        return 2;
    }
    at::set_num_threads(1);
    extent_of_study how;
    if (chosen->quick) { how = {.steps = 120, .seeds = 1, .batch = 32, .drawn = 100, .judged = 500}; }
    if (chosen->plain) { how.steps = 20; }
    std::string text = "| seed | net | parameters | multiplications | test loss | among its own | idle units of the "
                       "bottleneck |\n|---|---|---|---|---|---|---|\n";
    std::string says;
    bool holds = true;
    for (std::uint64_t i = 0; i < how.seeds; ++i) {
        std::uint64_t const seed = chosen->seed + i;
        std::array<outcome, 2> both;
        for (std::size_t k = 0; k < designs.size(); ++k) {
            std::string const folder = fmt::format("{}/{}-{}", chosen->out, designs[k].name, seed);
            fmt::print("{}\n", folder);
            std::fflush(stdout);
            sp::hook watch{folder, keep, rules, sp::options{.existing = sp::existing::replace}};
            outcome& it = both[k];
            it = train(designs[k], data, how, seed, watch);
            std::string const path{watch.path()};
            watch.finish();
            if (chosen->plain) {
                fmt::print("parameters {:016x}\n", it.fingerprint);
                return 0;
            }
            sp::trial const run = studies::record_at(path);
            for (sp::finding const& each : run.findings()) { it.says += fmt::format("{}\n", each); }
            text += fmt::format("| {} | {} | {} | {:.2f} M | {:.4f} | {:.1f} % | {:.0f} % |\n", seed, designs[k].name,
                                it.parameters, 1e-6 * static_cast<double>(it.multiplications), it.loss,
                                100 * it.neighbours, 100 * it.idle);
            if (i == 0) {
                says += fmt::format("\nOf the {} net, seed {}:\n\n```\n{}```\n", designs[k].name, seed,
                                    it.says.empty() ? "nothing\n" : it.says);
            }
        }
        bool const better = both[1].loss < both[0].loss && both[1].neighbours > both[0].neighbours &&
                            both[1].parameters < both[0].parameters;
        bool const heard = !both[0].says.empty();
        if (!better) { fmt::print("seed {}: it does not hold that the changed net is better and smaller\n", seed); }
        if (!heard) { fmt::print("seed {}: it does not hold that spotter speaks of the original net\n", seed); }
        holds = holds && better && heard;
    }
    text += says;
    fmt::print("\n{}\n", text);
    std::string const problem = studies::write_results(chosen->out, text);
    if (!problem.empty()) { fmt::print(stderr, "study_autoencoder: {}\n", problem); }
    return holds && problem.empty() ? 0 : 1;
}
