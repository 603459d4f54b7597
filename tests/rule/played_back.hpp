// SPDX-License-Identifier: Apache-2.0
// Runs a rule that reads values twice: with the values, and with nothing but the features that it made of them.
#pragma once

#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <vector>

namespace stage {

// What a hook lends while it has the values, and a replay once they are gone.
class desk final : public feature_desk {
public:
    explicit desk(tensor_ref const& values) : values_{values} {}
    explicit desk(std::vector<double> const& made) : made_{made}, known_{true} { all_ = made_; }

    [[nodiscard]] std::span<double const> const* find(std::uint64_t) noexcept override {
        return known_ ? &all_ : nullptr;
    }
    [[nodiscard]] tensor_ref values() noexcept override { return values_; }
    [[nodiscard]] bool live() const noexcept override { return !values_.absent(); }
    void keep(std::uint64_t, std::span<double const> feature) noexcept override {
        made_.assign(feature.begin(), feature.end());
        all_ = made_;
        known_ = true;
    }
    [[nodiscard]] std::vector<double> const& made() const { return made_; }

private:
    tensor_ref values_{};
    std::vector<double> made_;
    bool known_ = false;
    std::span<double const> all_{};
};

// A live run over one tensor, one list of values a step; and whether a replay of its features answers alike at every step.
template <rule Rule>
bool replays_alike(Rule const& rule, std::string_view name, std::vector<std::vector<float>> const& steps) {
    tensor_info info;
    info.id = 0, info.name = name, info.role = guess_role(name), info.type = dtype::f32, info.shape = {1, 4};
    machine<Rule> live{rule}, replay{rule};
    terms const wanted = live.declare(info).terms;
    (void)replay.declare(info);
    bool alike = has(wanted, terms::feature);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        tensor_ref const values = view_of(steps[i].data(), {std::uint64_t{1}, steps[i].size()});
        summary const stats = summarize(values, wanted);
        desk here{values};
        live.observe({info, train(i), stats, {}, {}, nullptr, &here});
        desk there{here.made()};
        replay.observe({info, train(i), stats, {}, {}, nullptr, &there});
        findings found, again;
        alike = alike && live.close(train(i), found) == replay.close(train(i), again) && found.size() == again.size();
        for (std::size_t k = 0; alike && k < found.size(); ++k) { alike = found[k].measured == again[k].measured; }
    }
    return alike;
}

}  // namespace stage
