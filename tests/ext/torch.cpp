// SPDX-License-Identifier: Apache-2.0
// libtorch's tensors and modules: observed in place, refused where they must be, read back, and never changed.
#include <spotter/checkpoints.hpp>
#include <spotter/heal.hpp>
#include <spotter/packs.hpp>
#include <spotter/rerun.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <spotter/ext/torch.hpp>  // last: ::at and spotter::at must not meet in it
#include <spotter/ext/torch/optimizer.hpp>

#include <torch/nn.h>
#include <torch/optim.h>

#include <tests/catch.hpp>  // after torch: both have a macro CHECK, and this one is meant
#include <tests/hook/collect.hpp>
#include <tests/hook/count_allocations.hpp>
#include <tests/temporary_folder.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

using namespace spotter;
using spotter_test::allocations_in;
using spotter_test::collecting_sink;

namespace {

constexpr plan keep_all{collection{"all", "*", always{}, payload}};

bool has_shape(tensor_ref const& view, extents const& shape, order layout = order::row_major) {
    return view.refused == refusal::none && view.shape == shape && view.layout == layout &&
           view.count == shape.elements();
}

// What a hook receives of `values`, turned back into a tensor; the values are copied where the offer asks for a copy.
template <class Values>
torch::Tensor taken(Values const& values) {
    offered const given = offer(values);
    REQUIRE(given.view.refused == refusal::none);
    tensor_ref view = given.view;
    std::vector<std::byte> memory(static_cast<std::size_t>(view.bytes()));
    if (given.copy != nullptr) {
        given.copy(given.source, memory.data());
        view.values.raw = memory.data();
    }
    return tensor_from<torch::Tensor>::make(view).value();
}
bool same(torch::Tensor const& a, torch::Tensor const& b) {
    return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.equal(b);
}

struct net_impl : torch::nn::Module {
    torch::nn::Linear fc1{register_module("fc1", torch::nn::Linear{6, 8})};
    torch::nn::BatchNorm1d norm{register_module("norm", torch::nn::BatchNorm1d{8})};
    torch::nn::Dropout drop{register_module("drop", torch::nn::Dropout{0.2})};
    torch::nn::Linear fc2{register_module("fc2", torch::nn::Linear{8, 1})};
    torch::Tensor temperature{register_parameter("temperature", torch::ones({1}), false)};

    torch::Tensor forward(torch::Tensor const& x) { return forward(x, null_hook{}); }
    template <class Hook>
    torch::Tensor forward(torch::Tensor const& x, Hook&& see) {
        torch::Tensor const hidden = see.tap("act/fc1", torch::relu(norm(fc1(x))));
        return see.tap("pred", fc2(drop(hidden)) / temperature);
    }
};
TORCH_MODULE_IMPL(net, net_impl);

struct shy_net : torch::nn::Module {  // shows one tensor only
    torch::Tensor w{register_parameter("w", torch::ones({2}))};
};
template <class Visit>
void visit_tensors(shy_net const& it, Visit visit) {
    visit("mine", it.w);
}

template <class Modules>
std::vector<std::string> names_in(Modules const& modules) {
    using spotter::visit_tensors;
    std::vector<std::string> names;
    visit_tensors(modules, [&](std::string_view name, auto const&, auto...) { names.emplace_back(name); });
    return names;
}

}  // namespace

TEST_CASE("every element type of torch has its dtype, both ways [D03]") {
    struct row {
        torch::ScalarType type;
        dtype as;
    };
    for (row const& each :
         {row{torch::kBool, dtype::boolean}, row{torch::kChar, dtype::i8}, row{torch::kShort, dtype::i16},
          row{torch::kInt, dtype::i32}, row{torch::kLong, dtype::i64}, row{torch::kByte, dtype::u8},
          row{torch::kHalf, dtype::f16}, row{torch::kBFloat16, dtype::bf16}, row{torch::kFloat, dtype::f32},
          row{torch::kDouble, dtype::f64}, row{torch::kComplexFloat, dtype::c64},
          row{torch::kComplexDouble, dtype::c128}}) {
        torch::Tensor const values = torch::arange(6).reshape({2, 3}).to(each.type);
        CHECK(as_tensor(values).type == each.as);
        CHECK(has_shape(as_tensor(values), {2, 3}));
        CHECK(as_tensor(values).values.raw == values.data_ptr());
        CHECK(same(taken(values), values));
        CHECK(same(taken(values.t()), values.t()));
        CHECK(same(taken(packed(values.slice(1, 0, 3, 2))), values.slice(1, 0, 3, 2)));
    }
    // Types that came with torch 2.
    for (dtype type : {dtype::u16, dtype::u32, dtype::u64, dtype::f8_e4m3, dtype::f8_e5m2}) {
        torch::ScalarType const there = spotter::detail::torch_type(type);
        if (there == torch::ScalarType::Undefined) { continue; }
        torch::Tensor const values = torch::arange(6).reshape({2, 3}).to(there);
        CHECK(as_tensor(values).type == type);
        CHECK(taken(values).to(torch::kFloat).equal(values.to(torch::kFloat)));
    }
    for (dtype type : {dtype::none, dtype::text}) {
        CHECK(spotter::detail::torch_type(type) == torch::ScalarType::Undefined);
    }
}

TEST_CASE("dense tensors of either order are taken where they lie, also with 0 axes, no elements, from the middle") {
    torch::Tensor const x = torch::arange(24, torch::kFloat).reshape({2, 3, 4});
    CHECK(has_shape(as_tensor(x), {2, 3, 4}));
    CHECK(has_shape(as_tensor(x.permute({2, 1, 0})), {4, 3, 2}, order::column_major));
    CHECK(as_tensor(x[1]).values.f32[0] == 12);
    CHECK(has_shape(as_tensor(torch::tensor(3.5)), {}));
    CHECK(has_shape(as_tensor(torch::empty({0, 4})), {0, 4}));
    CHECK(has_shape(as_tensor(torch::ones({1, 1, 1, 1, 1, 1, 1, 1})), {1, 1, 1, 1, 1, 1, 1, 1}));
    CHECK(as_tensor(torch::Tensor{}).absent());
    CHECK(as_tensor(static_cast<torch::TensorBase const&>(x)).count == 24);
    auto const passed = [&](named_tensor const& it) { return it.values.view.values.f32[23]; };
    CHECK(passed("x"_t = x + 1) == 24);  // a temporary lives until the call returns
}

TEST_CASE("what cannot be viewed is refused with its reason, never read") {
    torch::Tensor const x = torch::arange(24, torch::kFloat).reshape({1, 2, 3, 4});
    torch::Tensor const complex = torch::complex(x, x);
    auto const why = [](torch::Tensor const& it) { return as_tensor(it).refused; };
    CHECK(why(x.slice(3, 0, 4, 2)) == refusal::not_contiguous);
    CHECK(why(x.expand({5, 2, 3, 4})) == refusal::not_contiguous);
    CHECK(why(x.contiguous(torch::MemoryFormat::ChannelsLast)) == refusal::permuted);
    CHECK(why(x.to_sparse()) == refusal::not_contiguous);
    CHECK(why(complex.conj()) == refusal::not_contiguous);
    CHECK(why(torch::imag(complex.conj()).reshape({24})) == refusal::not_contiguous);
    CHECK(why(torch::ones({1, 1, 1, 1, 1, 1, 1, 1, 1})) == refusal::rank_too_deep);
    CHECK(why(torch::empty({2, 2}, torch::kMeta)) == refusal::other_device);
    CHECK(why(torch::quantize_per_tensor(x, 0.1, 0, torch::kQInt8)) == refusal::unknown_element);
    CHECK(why(torch::empty({2}, torch::kComplexHalf)) == refusal::unknown_element);
    CHECK(why(torch::_nested_tensor_from_tensor_list({torch::ones({2}), torch::ones({3})})) == refusal::ragged);
    CHECK(why(torch::_efficientzerotensor({2})) == refusal::null);

    hook watch{keep_all};
    (void)watch.step(train(0), "far"_t = torch::empty({2}, torch::kMeta), "near"_t = x);
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.what.view().find("another device") != std::string_view::npos);
}

TEST_CASE("a view with its axes in another order is copied where it is due, and recorded as it is seen") {
    torch::Tensor const time_first = torch::arange(24, torch::kFloat).reshape({2, 3, 4});
    torch::Tensor const batch_first = time_first.permute({1, 0, 2});  // as an LSTM's output
    torch::Tensor const image = time_first.unsqueeze(0).contiguous(torch::MemoryFormat::ChannelsLast);
    CHECK(same(taken(batch_first), batch_first));
    CHECK(same(taken(image), image));
    CHECK(offer(time_first).copy == nullptr);
    CHECK(offer(time_first.slice(2, 0, 4, 2)).view.refused == refusal::not_contiguous);

    collecting_sink sink;
    hook watch{sink, plan{collection{"some", "*", every{2}, payload}}};
    for (std::uint64_t i = 0; i < 3; ++i) {
        (void)watch.step(train(i), "out"_t = time_first.permute({1, 0, 2}), "image"_t = image);
    }
    CHECK(watch.health().good());
    CHECK(watch.health().refused == 0);
    CHECK(sink.infos["out"].shape == extents{3, 2, 4});
    CHECK((sink.kept["out"] == std::vector{train(0), train(2)}));
    CHECK(sink.kept["image"].size() == 2);
    (void)watch.step(train(4), "gaps"_t = time_first.slice(2, 0, 4, 2));
    CHECK(watch.health().first_error.what.view().find("packed(") != std::string_view::npos);
}

TEST_CASE("packed(tensor) takes gaps, channels last, sparse, conjugate and negated ones; a dense one is not copied") {
    torch::Tensor const x = torch::arange(24, torch::kFloat).reshape({1, 2, 3, 4});
    torch::Tensor const complex = torch::complex(x, x + 1);
    for (torch::Tensor const& each :
         {x.slice(3, 0, 4, 2), x.expand({5, 2, 3, 4}), x.contiguous(torch::MemoryFormat::ChannelsLast),
          x.permute({0, 2, 1, 3}), torch::tensor(7), x.slice(3, 2, 2)}) {
        CHECK(same(taken(packed(each)), each));
    }
    CHECK(same(taken(packed(complex.conj())), complex.conj().resolve_conj()));
    CHECK(same(taken(packed(torch::imag(complex.conj()))), -(x + 1)));
    CHECK(same(taken(packed(x.to_sparse())), x));
    CHECK(offer(packed(x)).copy == nullptr);
    CHECK(offer(packed(x.permute({3, 2, 1, 0}))).copy == nullptr);
    CHECK(offer(packed(torch::quantize_per_tensor(x, 0.1, 0, torch::kQInt8))).view.refused == refusal::unknown_element);

    hook watch{keep_all};
    // There is no memory to copy from.
    (void)watch.step(train(0), "far"_t = packed(torch::empty({2}, torch::kMeta)));
    CHECK(watch.health().first_error.code == errc::user_code_threw);
}

TEST_CASE("an undefined tensor is left out in silence, and known from when it is defined") {
    collecting_sink sink;
    hook watch{sink, keep_all, non_finite{}};
    torch::Tensor gradient;
    (void)watch.step(train(0), "grad/w"_t = gradient, "p"_t = packed(gradient));
    CHECK(sink.count("declare") + sink.count("observe") == 0);
    gradient = torch::full({2}, NAN, torch::kBFloat16);
    auto const found = watch.step(train(1), "grad/w"_t = gradient);
    CHECK(found.decision() == decision::skip_update);
    CHECK(sink.infos["grad/w"].type == dtype::bf16);
    CHECK(watch.health().good());
}

TEST_CASE("observing leaves autograd alone: no operation, no version, no reference, no random number") {
    torch::manual_seed(5);
    torch::Tensor const w = torch::randn({4, 3}, torch::requires_grad());
    torch::Tensor const y = (w * w).slice(1, 0, 3, 2);
    torch::Tensor const z = torch::complex(w, w).conj();
    torch::Tensor const state = torch::globalContext().defaultGenerator(torch::kCPU).get_state();
    auto const facts = [&](torch::Tensor const& it) {
        return std::make_tuple(it._version(), it.grad_fn().get(), it.use_count(), it.requires_grad(),
                               it.grad_fn() ? it.grad_fn().use_count() : 0, it.storage().use_count());
    };
    auto const before = std::make_tuple(facts(w), facts(y), facts(z));
    {
        hook watch{keep_all, non_finite{}, update_ratio_band{}};
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)watch.step(train(i), "fc.weight"_t = w, "y"_t = packed(y), "z"_t = packed(z));
        }
        CHECK(watch.health().good());
        CHECK(watch.health().observed == 9);
        CHECK(std::make_tuple(facts(w), facts(y), facts(z)) == before);
    }
    CHECK(state.equal(torch::globalContext().defaultGenerator(torch::kCPU).get_state()));
    y.sum().backward();
    CHECK(w.grad().slice(1, 0, 3, 2).equal(2 * w.slice(1, 0, 3, 2)));
}

TEST_CASE("a module hands over parameters, their gradients and buffers, with their roles") {
    net model;
    collecting_sink sink;
    hook watch{sink, keep_all};
    (void)watch.step(train(0), model);
    CHECK(sink.infos.size() == 10);  // no gradient yet
    model->forward(torch::randn({4, 6})).sum().backward();
    (void)watch.step(train(1), model);
    CHECK(watch.health().good());
    CHECK(sink.infos.size() == 16);
    auto const& weight = sink.infos["fc1.weight"];
    auto const& gradient = sink.infos["grad/fc1.weight"];
    CHECK(weight.role == role::weight);
    CHECK(weight.shape == extents{8, 6});
    CHECK(gradient.role == role::gradient);
    CHECK(gradient.partner == weight.id);
    CHECK(sink.infos["norm.weight"].role == role::weight);
    CHECK(sink.infos["norm.bias"].role == role::bias);
    CHECK(sink.infos["norm.running_var"].role == role::other);
    CHECK(sink.infos["norm.num_batches_tracked"].type == dtype::i64);
    CHECK(sink.infos["temperature"].role == role::weight);
    CHECK(has(sink.infos["temperature"].flags, flag::frozen));
    CHECK(sink.infos["fc2.bias"].flags == flag::none);

    torch::nn::GRU gru{torch::nn::GRUOptions{2, 3}};
    (void)watch.step(train(2), gru);
    CHECK(sink.infos["bias_ih_l0"].role == role::bias);
    CHECK(sink.infos["weight_hh_l0"].role == role::weight);
}

TEST_CASE("modules, their holders, pointers and tables are handed over alike; empty ones show nothing") {
    net const model;
    auto const names = names_in(model);
    CHECK(names.size() == 10);
    CHECK(names_in(*model) == names);
    CHECK(names_in(model.ptr()) == names);
    CHECK(names_in(std::shared_ptr<torch::nn::Module>{model.ptr()}) == names);
    CHECK(names_in(module_table{model}) == names);
    CHECK(names_in(packed(model)) == names);
    CHECK(names_in(net{nullptr}).empty());
    CHECK(names_in(std::shared_ptr<net_impl>{}).empty());
    module_table both{model, "actor/"};
    both.add(model.ptr(), "critic/");
    CHECK(both.size() == 20);
    CHECK(names_in(both)[10] == "critic/" + names[0]);
    CHECK(names_in(shy_net{}) == std::vector<std::string>{"mine"});
    CHECK(names_in(std::make_shared<shy_net>()) == std::vector<std::string>{"mine"});
    CHECK(names_in(packed(shy_net{})) == std::vector<std::string>{"mine"});
}

TEST_CASE("a net that is channels-last is taken as it is; one with gaps is refused, and taken with packed") {
    torch::nn::Conv2d conv{torch::nn::Conv2dOptions{3, 4, 3}};
    conv->weight.set_data(conv->weight.contiguous(torch::MemoryFormat::ChannelsLast));
    hook plain{keep_all}, copying{keep_all};
    (void)plain.step(train(0), conv);
    CHECK(plain.health().good());
    CHECK(plain.health().observed == 2);
    conv->weight.set_data(torch::ones({4, 3, 3, 6}).slice(3, 0, 6, 2));
    (void)plain.step(train(1), conv);
    CHECK(plain.health().refused == 1);
    (void)copying.step(train(0), packed(conv));
    CHECK(copying.health().good());
    CHECK(copying.health().observed == 2);
}

namespace {

// What a table shows: names with copies of their values.
std::map<std::string, torch::Tensor> shown(optimizer_table const& table) {
    std::map<std::string, torch::Tensor> found;
    visit_tensors(table, [&](std::string_view name, torch::Tensor const& values) {
        found[std::string{name}] = values.detach().clone();
    });
    return found;
}
std::vector<std::string> moments_of(std::map<std::string, torch::Tensor> const& all, std::string const& parameter) {
    std::vector<std::string> found;
    for (auto const& [name, values] : all) {
        if (name.starts_with("optimizer/" + parameter + "/")) { found.push_back(name.substr(name.rfind('/') + 1)); }
    }
    return found;
}
void update_once(net& model, torch::optim::Optimizer& optimizer) {
    optimizer.step([&] {
        optimizer.zero_grad();
        torch::Tensor const loss = model->forward(torch::ones({4, 6}) * torch::arange(4).reshape({4, 1})).pow(2).sum();
        loss.backward();
        return loss;
    });
}
using words = std::vector<std::string>;

}  // namespace

TEST_CASE("an optimizer's state is shown by the name of its parameter, and only what is there") {
    net model;
    model->norm->weight.requires_grad_(false);
    auto const moments = [&](auto&& optimizer) {
        optimizer_table const table{model, optimizer};
        CHECK(table.size() == model->named_parameters().size());
        update_once(model, optimizer);
        auto const all = shown(table);
        CHECK(moments_of(all, "temperature").empty());  // neither of the two has a gradient
        CHECK(moments_of(all, "norm.weight").empty());
        for (auto const& [name, values] : all) { CHECK(guess_role(name) == role::optimizer); }
        optimizer.state().clear();
        CHECK(shown(table).empty());
        return moments_of(all, "fc1.weight");
    };
    using namespace torch::optim;
    auto const parameters = model->parameters();
    CHECK(moments(Adam{parameters, AdamOptions{}}) == words{"exp_avg", "exp_avg_sq"});
    CHECK(moments(Adam{parameters, AdamOptions{}.amsgrad(true)}) == words{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"});
    CHECK(moments(AdamW{parameters, AdamWOptions{}}) == words{"exp_avg", "exp_avg_sq"});
    CHECK(moments(SGD{parameters, SGDOptions{0.1}}).empty());
    CHECK(moments(SGD{parameters, SGDOptions{0.1}.momentum(0.9)}) == words{"momentum_buffer"});
    CHECK(moments(RMSprop{parameters, RMSpropOptions{}}) == words{"square_avg"});
    CHECK(moments(RMSprop{parameters, RMSpropOptions{}.momentum(0.9).centered(true)}) ==
          words{"grad_avg", "momentum_buffer", "square_avg"});

    Adagrad adagrad{parameters, AdagradOptions{}};
    optimizer_table const from_the_start{model, adagrad};
    CHECK(shown(from_the_start).count("optimizer/fc2.bias/sum") == 1);

    LBFGS lbfgs{parameters, LBFGSOptions{0.01}};
    optimizer_table const of_all{model, lbfgs};
    CHECK(shown(of_all).empty());
    update_once(model, lbfgs);
    auto const flat = shown(of_all);
    CHECK(flat.size() == 2);
    CHECK(flat.begin()->second.numel() == torch::nn::utils::parameters_to_vector(parameters).numel());
}

TEST_CASE("moments are those that the update used: the gradient, weighed as the optimizer weighs it") {
    net model;
    torch::optim::Adam adam{model->parameters(), torch::optim::AdamOptions{0.01}.betas({0.9, 0.99})};
    optimizer_table const table{model, adam};
    update_once(model, adam);
    auto const first = shown(table);
    torch::Tensor const gradient = model->fc1->weight.grad();
    CHECK(torch::allclose(first.at("optimizer/fc1.weight/exp_avg"), gradient * 0.1));
    CHECK(torch::allclose(first.at("optimizer/fc1.weight/exp_avg_sq"), gradient * gradient * 0.01));

    collecting_sink sink;
    hook watch{sink, plan{defaults::optimizer}};
    (void)watch.step(train(0), table);
    CHECK(sink.infos["optimizer/fc1.weight/exp_avg"].role == role::optimizer);
    CHECK(sink.infos["optimizer/fc1.weight/exp_avg"].shape == extents{8, 6});
    CHECK(sink.kept["optimizer/fc1.weight/exp_avg"].size() == 1);

    // Two modules under one optimizer, each with its own names. A module that it does not update has no state.
    net const other, stranger;
    auto both = model->parameters();
    for (torch::Tensor const& each : other->parameters()) { both.push_back(each); }
    torch::optim::SGD sgd{both, torch::optim::SGDOptions{0.1}.momentum(0.5)};
    for (torch::Tensor& each : both) { each.mutable_grad() = torch::ones_like(each); }
    sgd.step();
    optimizer_table all{sgd};
    all.add(model, "actor/").add(*other, "critic/").add(stranger.ptr(), "nobody/");
    auto const found = shown(all);
    CHECK(found.size() == both.size());
    CHECK((found.count("optimizer/actor/fc1.weight/momentum_buffer") == 1 &&
           found.count("optimizer/critic/fc1.weight/momentum_buffer") == 1));
    hook copying{keep_all};
    (void)copying.step(train(0), packed(all));
    CHECK(copying.health().observed == both.size());
    CHECK(copying.health().good());

    // A NaN in a moment spoils every later update; it is found in the moment.
    auto& spoilt = static_cast<torch::optim::SGDParamState&>(*sgd.state().begin()->second);
    spoilt.momentum_buffer().fill_(NAN);
    hook judging{plan{}, non_finite{}};
    auto const alarm = judging.step(train(0), all);
    REQUIRE(alarm);
    CHECK(alarm.decision() == decision::skip_update);
    CHECK(alarm[0].tensor.starts_with("optimizer/"));
}

namespace {

struct last_of_lstm_impl : torch::nn::Module {  // takes a tuple, not a tensor
    torch::Tensor forward(std::tuple<torch::Tensor, std::tuple<torch::Tensor, torch::Tensor>> out) {
        return std::get<0>(out).select(0, -1);
    }
};

}  // namespace

TEST_CASE("the layers of a Sequential are tapped on the way, before the next one writes into them") {
    torch::manual_seed(4);
    torch::nn::Sequential net({{"fc1", torch::nn::Linear{6, 8}},
                               {"relu", torch::nn::ReLU{torch::nn::ReLUOptions{true}}},  // in place
                               {"norm", torch::nn::BatchNorm1d{8}},
                               {"fc2", torch::nn::Linear{8, 3}},
                               {"tanh", torch::nn::Tanh{}},
                               {"gate", torch::nn::Sigmoid{}},
                               {"shares", torch::nn::LogSoftmax{1}}});
    net->eval();
    torch::Tensor const x = torch::randn({5, 6}), expected = net->forward(x);
    std::map<std::string, torch::Tensor> by_hand;
    by_hand["act/fc1"] = net->ptr(0)->as<torch::nn::Linear>()->forward(x);
    by_hand["act/relu"] = torch::relu(by_hand["act/fc1"]);
    {
        hook watch{"torch_layers", keep_all, options{.existing = existing::replace}};
        watch.begin(train(0));
        torch::Tensor const y = tap_layers(watch, "act/", net, x);
        (void)watch.end();
        CHECK(same(y, expected));
        CHECK(watch.health().good());
        CHECK(watch.health().observed == 7);
    }
    trial const run = open_trial("torch_layers").value();
    for (auto const& [name, values] : by_hand) {
        CHECK(same(run[name].at(train(0)).to<torch::Tensor>().value(), values.detach()));
    }
    CHECK(same(run["act/shares"].at(train(0)).to<torch::Tensor>().value(), expected.detach()));

    collecting_sink sink;
    hook watch{sink, keep_all};
    observer const see = watch;
    watch.begin(train(0));
    (void)tap_layers(see, "head/", *net, x);
    (void)watch.end();
    CHECK((sink.infos["head/fc1"].role == role::preactivation && sink.infos["head/fc2"].role == role::preactivation));
    CHECK((sink.infos["head/relu"].role == role::activation && sink.infos["head/norm"].role == role::activation));
    CHECK(sink.infos["head/relu"].activation == activation_kind::relu);
    CHECK(sink.infos["head/norm"].activation == activation_kind::other);
    CHECK(sink.infos["head/tanh"].activation == activation_kind::tanh);
    CHECK(sink.infos["head/gate"].activation == activation_kind::sigmoid);
    CHECK(sink.infos["head/shares"].activation == activation_kind::other);

    CHECK(same(tap_layers(null_hook{}, "act/", net, x), expected));
    torch::nn::Sequential empty;
    CHECK_THROWS(tap_layers(watch, "act/", empty, x));  // torch throws, too
    torch::nn::Sequential recurrent{torch::nn::LSTM{torch::nn::LSTMOptions{6, 4}},
                                    std::make_shared<last_of_lstm_impl>(), torch::nn::Linear{4, 2}};
    watch.begin(train(1));
    torch::Tensor const sequence = torch::randn({7, 2, 6});
    CHECK(same(tap_layers(watch, "lstm/", recurrent, sequence), recurrent->forward(sequence)));
    (void)watch.end();
    CHECK((sink.infos.count("lstm/0") == 0 && sink.infos.count("lstm/1") == 1 && sink.infos.count("lstm/2") == 1));
}

namespace {

// A classifier of three clouds of points whose net returns log-probabilities, or raw outputs if `last` is false. With
// `slow` its outputs are nearly equal for a while: the last layer starts at zero, with a low rate.
struct reported_run {
    std::set<std::string> found{};  // "rule: reason" of all alarms
    double right = 0;
};
reported_run train_classifier(flag reported, bool last, bool slow) {
    torch::manual_seed(3);
    torch::nn::Sequential net{torch::nn::Linear{4, 16}, torch::nn::ReLU{}, torch::nn::Linear{16, 3}};
    if (slow) {
        for (torch::Tensor const& each : net->ptr(2)->parameters()) { each.detach().zero_(); }
    }
    if (last) { net->push_back(torch::nn::LogSoftmax{1}); }
    torch::optim::Adam adam{net->parameters(), 3e-3};
    module_table const tensors{net};
    optimizer_table const moments{net, adam};
    hook watch{plan{}, packs::supervised};
    reported_run all;
    torch::Tensor const centres = torch::randn({3, 4});
    for (std::uint64_t i = 0; i < 500; ++i) {
        static_cast<torch::optim::AdamOptions&>(adam.param_groups()[0].options()).lr(slow && i < 120 ? 1e-6 : 3e-3);
        torch::Tensor const labels = torch::randint(3, {64}, torch::kLong);
        torch::Tensor const x = centres.index_select(0, labels) + 0.3 * torch::randn({64, 4});
        adam.zero_grad();
        watch.begin(train(i));
        torch::Tensor const out = tap_layers(watch, "act/", net, x);
        torch::Tensor const loss = torch::nll_loss(out, labels);
        loss.backward();
        watch.observe("input", x);
        watch.observe("labels", labels);
        watch.observe("pred", out, reported);
        watch.observe("loss", loss);
        observe_module(watch, tensors);
        observe_module(watch, moments);
        if (auto const alarm = watch.end()) {
            for (finding const& each : alarm) {
                all.found.insert(std::string{each.rule} + ": " + std::string{each.reason});
            }
        }
        adam.step();
        all.right = out.argmax(1).eq(labels).to(torch::kDouble).mean().item<double>();
    }
    return all;
}

}  // namespace

TEST_CASE(
    "a net of log-probabilities has no finding, whichever flag is set; one without the softmax that it needs has") {
    for (flag reported : {flag::none, flag::logits, flag::log_probabilities}) {
        reported_run const well = train_classifier(reported, true, false),
                           late = train_classifier(reported, true, true);
        CHECK(well.right > 0.9);
        CHECK(well.found == std::set<std::string>{});
        CHECK(late.right > 0.9);
        CHECK(late.found.count("output_collapse: outputs are constant") == 0);
    }
    reported_run const wrong = train_classifier(flag::log_probabilities, false, false);
    CHECK(wrong.found == std::set<std::string>{"output_mismatch: log-probabilities are above zero"});
}

TEST_CASE("a step belongs to the mode that the module is in") {
    net model;
    CHECK(step_of(model, 3) == train(3));
    model->eval();
    CHECK(step_of(model, 3) == eval(3));
    CHECK(step_of(*model, 4) == eval(4));
}

TEST_CASE("a known model of tensors is observed without an allocation [D22]") {
    net model;
    model->forward(torch::randn({4, 6})).sum().backward();
    module_table const tensors{model};
    torch::Tensor const hidden = torch::randn({4, 8}), half = hidden.to(torch::kHalf),
                        gaps = torch::randn({8, 8}).slice(1, 0, 3);
    hook watch{keep_all, non_finite{}, update_ratio_band{}, dead_relu{}, exploding_gradient{}};
    auto const step = [&](std::uint64_t i) {
        watch.begin(step_of(model, i));
        visit_tensors(tensors, [&](std::string_view name, auto const& values, auto... more) {
            watch.observe(name, values, more...);
        });
        (void)watch.tap("act/fc1", hidden);
        watch.observe("half", half);
        watch.observe("gaps", packed(gaps));
        (void)watch.end();
    };
    auto const whole = [&](std::uint64_t i) { (void)watch.step(train(i), tensors); };
    for (std::uint64_t i = 0; i < 3; ++i) { step(i), whole(i); }
    CHECK(allocations_in([&] {
              for (std::uint64_t i = 3; i < 50; ++i) { step(i), whole(i); }
          }) == 0);
    // torch allocates a list of parameters at each call; spotter adds no allocation.
    auto const listed = allocations_in([&] { visit_tensors(model, [](auto const&...) {}); });
    CHECK(allocations_in([&] { (void)watch.step(train(50), model); }) == listed);
    CHECK(watch.health().good());
}

TEST_CASE("the gradient of an activation is observed when backward comes to it") {
    collecting_sink sink;
    hook watch{sink, keep_all};
    torch::Tensor const w = torch::ones({3}, torch::requires_grad());
    watch.begin(train(0));
    torch::Tensor const hidden = tap_gradient(watch, "grad/act/h", w * 2);
    torch::Tensor const out = tap_gradient(observer{watch}, "grad/out", hidden * 3);
    (void)tap_gradient(watch, "grad/w", w);                 // a leaf
    (void)tap_gradient(watch, "grad/x", torch::ones({3}));  // requires no gradient
    CHECK(sink.count("observe") == 0);
    out.sum().backward();
    (void)watch.end();
    CHECK(sink.events == std::vector<std::string>{"declare grad/out", "observe grad/out train(0)", "declare grad/act/h",
                                                  "observe grad/act/h train(0)", "close train(0)"});
    CHECK(w.grad().equal(torch::full({3}, 6.0F)));
}

TEST_CASE("a record is read back as tensors with the type and shape that were observed [D03]") {
    torch::Tensor const x = torch::arange(6, torch::kFloat).reshape({2, 3});
    std::vector<torch::Tensor> const all{x,
                                         x.t(),
                                         x.to(torch::kBFloat16),
                                         x.to(torch::kHalf),
                                         torch::complex(x, x).to(torch::kComplexDouble),
                                         x > 2,
                                         torch::tensor(std::int64_t{7}),
                                         torch::empty({0, 4}),
                                         x.to(torch::kChar)};
    name_list const names{"x", all.size()};
    {
        hook watch{"torch", keep_all, options{.existing = existing::replace}};
        watch.begin(train(0));
        observe_each(watch, names, all);
        watch.scalar("text", "hello");
        (void)watch.end();
        CHECK(watch.health().good());
    }
    trial const run = open_trial("torch").value();
    for (std::size_t i = 0; i < all.size(); ++i) {
        torch::Tensor const back = run[names[i]].at(train(0)).to<torch::Tensor>().value();
        CHECK(same(back, all[i]));
        CHECK_FALSE(back.requires_grad());
    }
    CHECK(run["text"].at(train(0)).to<torch::Tensor>().error().code == errc::wrong_type);
    CHECK(run["x0"].at(train(1)).to<torch::Tensor>().error().code != errc::none);
}

TEST_CASE("training ends at the same bits with and without, dropout and batch norm included") {
    auto const trained = [](bool watched) {
        torch::manual_seed(11);
        net model;
        torch::optim::Adam adam{model->parameters(), 0.01};
        torch::Tensor const x = torch::randn({32, 6}), y = x.sum(1, true);
        hook watch{keep_all, non_finite{}, dead_relu{}, update_ratio_band{}, loss_not_decreasing{}};
        watched_optimizer optimizer{watch, adam, model};
        for (std::uint64_t i = 0; i < 60; ++i) {
            adam.zero_grad();
            if (watched) {
                watch.begin(train(1000 + i));
                torch::Tensor const loss = torch::mse_loss(model->forward(x, watch), y);
                loss.backward();
                (void)watch.end();
                if (optimizer.step("loss"_t = loss, "y"_t = packed(y.expand({32, 2}))) != decision::proceed) { break; }
            } else {
                torch::mse_loss(model->forward(x), y).backward();
                adam.step();
            }
        }
        CHECK(watch.health().good());
        return torch::nn::utils::parameters_to_vector(model->parameters());
    };
    torch::Tensor const alone = trained(false), watched = trained(true);
    REQUIRE(alone.numel() == watched.numel());
    CHECK(std::memcmp(alone.data_ptr(), watched.data_ptr(), alone.nbytes()) == 0);
}

namespace {

// A training with dropout and batch norm. At one step a bit of an activation may flip.
struct training {
    net model{};
    torch::optim::Adam adam{model->parameters(), 0.01};
    torch::Tensor data{}, target{}, loss{}, hidden{};
    torch::Tensor random{}, norms[3]{};
    bool strikes = false;

    // Saves what computing a step changes: the random generator's state and batch norm's running statistics.
    void save() {
        random = ::at::detail::getDefaultCPUGenerator().get_state();
        for (std::size_t i = 0; i < 3; ++i) { norms[i] = model->norm->buffers()[i].clone(); }
    }
    bool restore() {
        torch::NoGradGuard const no_gradient;
        ::at::Generator generator = ::at::detail::getDefaultCPUGenerator();
        generator.set_state(random);
        for (std::size_t i = 0; i < 3; ++i) { model->norm->buffers()[i].copy_(norms[i]); }
        return true;
    }
    void compute() {
        adam.zero_grad();
        data = torch::randn({32, 6});
        target = data.sum(1, true);
        hidden = torch::relu(model->norm(model->fc1(data)));
        if (std::exchange(strikes, false)) {
            hidden.data_ptr<float>()[37] = 1e30F;  // as if the highest exponent bit flipped
        }
        loss = torch::mse_loss(model->fc2(model->drop(hidden)) / model->temperature, target);
        loss.backward();
    }
    template <class See>
    void show(See& see) const {
        see.observe("input", data);
        see.observe("act/fc1", hidden.detach(), role::activation);
        see.observe("loss", loss.detach());
        for (auto const& each : model->named_parameters()) {
            see.observe(each.key(), each.value().detach());
            if (each.value().grad().defined()) { see.observe("grad/" + each.key(), each.value().grad()); }
        }
    }
    [[nodiscard]] torch::Tensor weights() const {
        return torch::nn::utils::parameters_to_vector(model->parameters()).detach().clone();
    }
};

}  // namespace

TEST_CASE("a net with dropout and batch norm is computed again after a flipped bit, and ends in the same bits as one "
          "without it") {
    auto const trained = [](std::uint64_t strike_at) {
        torch::manual_seed(5);
        training it;
        hook watch{plan{}, non_finite{}, any("act/*", maximum > 1e9) | named{"gradient_spike"}};
        rerun again{[&] { it.save(); }, [&] { return it.restore(); }, [&] { it.compute(); },
                    [&](auto& see) { it.show(see); }};
        for (std::uint64_t i = 0; i < 40; ++i) {
            it.strikes = i == strike_at;
            rerun_result const said = again.step(watch, train(i));
            CHECK((said.verdict == rerun_verdict::transient) == (i == strike_at));
            if (i == strike_at) {
                CHECK((said.apart.tensor == "act/fc1" && said.apart.elements == 1 && said.apart.first == 37));
            }
            it.adam.step();
        }
        CHECK(again.counts().transient == (strike_at < 40 ? 1U : 0U));
        return it.weights();
    };
    CHECK(same(trained(7), trained(1000)));
}

TEST_CASE("a module goes back by itself to its checkpoint, with a rate that what was measured asks for") {
    spotter_test::temporary_folder const folder;
    torch::manual_seed(6);
    training it;
    auto& rate = static_cast<torch::optim::AdamOptions&>(it.adam.param_groups()[0].options());
    rate.lr(10);
    heal cures{skip_batch{}, step_back{}};
    hook watch{folder / "run", plan{}, packs::supervised, cures.gauge()};
    checkpoints kept{folder / "kept"};
    torch::Tensor const start = it.weights();
    std::uint64_t back = 0;
    for (std::uint64_t i = 0; i < 400; ++i) {
        it.compute();
        watch.begin(train(i));
        it.show(watch);
        treatment const what = cures.treat(watch, train(i), watch.end());
        REQUIRE(!what.stop);
        if (what.restore) {
            torch::NoGradGuard const no_gradient;
            torch::nn::utils::vector_to_parameters(start, it.model->parameters());
            it.adam.state().clear();
            ++back;
            i = 0;
            continue;
        }
        if (i % 100 == 99) { CHECK(!kept.save(watch, train(i), *it.model)); }
        rate.lr(10 * what.rate);
        if (!what.skip) { it.adam.step(); }
    }
    kept.review(watch);
    CHECK((back >= 1 && back <= 6));
    CHECK(it.loss.item<float>() < 3);  // it began above 5, and stays above 6 at the initial rate
    CHECK(kept.last_good(watch).step.index >= 199);
}
