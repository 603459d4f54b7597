// SPDX-License-Identifier: Apache-2.0
// With a recorder, too, a step of a known model allocates nothing on the training thread.
#include <tests/hook/count_allocations.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/rules.hpp>

#include <cstring>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("once every name has been met, recording allocates nothing on the training thread [D22]") {
    temporary_folder const folder;
    options const choices{.segment_bytes = 1 << 20};
    hook watch{folder / "run",
               plan{collection{"all", "*", every{2}, payload | stats(l2, stddev)}},
               choices,
               update_ratio_band{},
               dead_relu{.samples = 8},
               any("loss", minimum > 0.0)};
    std::vector<float> w(2000, 1.0F);
    auto const step = [&](step_id id) {
        w[3] *= 1.01F;
        return watch
            .step(id, "loss"_t = 1.0F, "fc/w"_t = view_of(w.data(), {20, 100}),
                  "act/fc"_t = view_of(w.data(), {100, 20}))
            .size();
    };
    auto const ten_steps = [&](std::uint64_t from) {
        for (std::uint64_t i = from; i < from + 10; ++i) {
            (void)step(train(i));
            (void)step(eval(i));
            watch.scalar("lr", 0.5);
        }
    };
    ten_steps(0);
    for (std::uint64_t i = 10; i < 400; i += 10) {
        REQUIRE(allocations_in([&] { ten_steps(i); }) == 0);
    }
    CHECK(watch.health().good());
    watch.finish();
    CHECK(open(watch.path())["fc/w"].steps().size() == 800);
}

namespace {

struct small_net {
    std::vector<float> w = std::vector<float>(120, 0.5F);
    std::vector<double> b = std::vector<double>(10, 0.25);
};
template <class Visit>
void visit_tensors(small_net const& net, Visit visit) {
    visit("net/w", view_of(net.w.data(), {10, 12}), role::weight);
    visit("net/b", net.b);
}

// One step through every way to hand over tensors, with scalars of every kind.
template <class Hook>
class every_way_in {
public:
    explicit every_way_in(Hook& watch) : watch_{watch}, bought_{watch.tensor("bought")} {
        table_.add("table/w", &where_, {4, 6});
    }
    void operator()(std::uint64_t i) {
        net_.w[i % 120] += 0.5F;
        {
            auto const scope = watch_.during(i % 5 == 0 ? mode::eval : mode::train);
            watch_.begin(i);
            watch_.observe("by name", values_);
            watch_.observe("with a role", values_, role::optimizer, flag::frozen);
            watch_.observe(bought_, values_);
            (void)watch_.tap("tapped", 1.0F);
            watch_.observe("packed", packed(values_.data(), {4, 3}, std::span<std::int64_t const>{strides_}));
            watch_.observe("made", values_from({7}, [](std::size_t k) { return static_cast<double>(k); }));
            watch_.observe("far", copied<float>({4}, [&](void* into, std::size_t bytes) {
                               std::memcpy(into, values_.data(), bytes);
                           }));
            observer{watch_}.observe("seen", values_);
            observe_each(watch_, numbers_, list_);
            observe_layers(watch_, layers_, view_of(values_.data(), {2, 3, 4}));
            watch_.scalar("lr", 0.1);
            watch_.scalar("at a time", 1, 12.5);
            watch_.scalar("note", "a text that is longer than any small string");
            found_ += watch_.end().size();
        }
        found_ += watch_.step(predict(i), "loss"_t = 1.0F, net_, table_).size();
        watch_.scalar("between", 1.0F);
        watch_.scalar("between, a text", "another text that is longer than any small string");
    }
    [[nodiscard]] std::size_t found() const { return found_; }

private:
    Hook& watch_;
    tensor_handle bought_;
    small_net net_;
    std::vector<float> values_ = std::vector<float>(24, 1.0F);
    std::vector<std::vector<float>> list_{{1, 2}, {3}};
    std::int64_t strides_[2] = {24, 8};
    name_list numbers_{"p", 2};
    name_list layers_{"block/{}/w", 2};
    float const* where_ = values_.data();
    tensor_table table_;
    std::size_t found_ = 0;
};

}  // namespace

TEST_CASE("no way in allocates on the training thread, for payload, for every statistic, or for both [D22]") {
    constexpr stats_mask every_statistic = stats(minimum, mean, stddev, product, l1, l2, zeros, of_abs(maximum));
    for (stats_mask what : {payload, every_statistic, payload | every_statistic}) {
        for (drain how : {drain::thread, drain::poll}) {
            INFO(static_cast<std::uint32_t>(what) << " " << static_cast<int>(how));
            temporary_folder const folder;
            options const choices{.drain = how, .ring_bytes = 1 << 20};
            hook watch{folder / "run",
                       plan{collection{"all", "*", always{}, what}},
                       choices,
                       non_finite{},
                       update_ratio_band{},
                       dead_relu{.select = "net/w", .samples = 20},
                       any("loss", minimum > 0.0)};
            every_way_in step{watch};
            for (std::uint64_t i = 0; i < 6; ++i) { step(i); }
            watch.poll();
            std::size_t allocated = 0;
            for (std::uint64_t i = 6; i < 106; ++i) {
                allocated += allocations_in([&] { step(i); });
                if (i % 10 == 0) { watch.poll(); }
            }
            CHECK(allocated == 0);
            CHECK(step.found() >= 106);
            watch.finish();
            CHECK(watch.health().good());
            CHECK(open(watch.path())["net/w"].steps().size() == 106);
        }
    }
}
