// SPDX-License-Identifier: Apache-2.0
// Random streams with every role that the catalogue watches, like training on a bad day. Faults come and go, numbers
// are hostile, batch sizes change. Tensors are empty, missing or repeated, and one name is both a tensor and a scalar.
#pragma once

#include <tests/property/stream.hpp>

namespace spotter_test {

enum class mood : std::uint8_t { fresh, same, growing, zero, constant, typical, count };

struct part {
    char const* name;
    spotter::extents shape;  // a size of 0 stands for the batch size
    spotter::dtype type = spotter::dtype::f32;
    spotter::flag flags = spotter::flag::none;
    char const* like = nullptr;  // the tensor that it derives from in its typical fault
    double usual = 1;            // its value in the other moods
};

inline std::vector<part> const& parts() {
    using namespace spotter;
    static std::vector<part> const all{
        {"loss", {}},
        {"aux_loss", {1}, dtype::f64},
        {"input", {0, 5}},
        {"input/tokens", {0, 6}, dtype::i64, flag::none, nullptr, 0},
        {"input/image", {0, 3, 2, 2}},
        {"obs", {0, 4}},
        {"labels", {0}, dtype::i64},
        {"pre/1", {0, 5}, dtype::f32, activated_by(activation_kind::tanh)},
        {"act/1", {0, 5}, dtype::f32, activated_by(activation_kind::tanh), "pre/1"},
        {"pre/2", {0, 4, 3}},
        {"relu/2", {0, 4, 3}, dtype::f32, activated_by(activation_kind::relu)},
        {"act/3", {0, 3}, dtype::bf16},
        {"pred", {0, 3}, dtype::f32, flag::logits},
        {"fc1/w", {4, 6}, dtype::f32, flag::none, "grad/fc1/w"},
        {"fc2/w", {6, 3}, dtype::bf16, flag::none, "grad/fc2/w"},
        {"fc3/w", {3, 2}, dtype::f16, flag::none, "grad/fc3/w"},
        {"fc1/b", {6}},
        {"target/fc1/w", {4, 6}, dtype::f32, flag::none, "fc1/w"},
        {"grad/fc1/w", {4, 6}},
        {"grad/fc2/w", {6, 3}},
        {"grad/fc3/w", {3, 2}, dtype::f64},
        {"grad/fc1/b", {6}},
        {"metric/approx_kl", {}, dtype::f32, flag::none, nullptr, 0.2},
        {"metric/entropy", {}, dtype::f32, flag::none, nullptr, 0.01},
        {"metric/clip_fraction", {}, dtype::f32, flag::none, nullptr, 0.8},
        {"metric/explained_variance", {}, dtype::f32, flag::none, nullptr, -0.5},
        {"metric/episode_return", {}, dtype::f32, flag::none, nullptr, 3},
        {"metric/loss_scale", {}, dtype::f32, flag::none, nullptr, 0.5},
        {"metric/step_skipped", {}, dtype::f32, flag::none, nullptr, 1},
        {"metric/grad_sq_small", {}, dtype::f32, flag::none, nullptr, 50},
        {"metric/grad_sq_big", {}, dtype::f32, flag::none, nullptr, 14},
        {"time/step", {}, dtype::f64, flag::none, nullptr, 0.1},
        {"time/wait", {}, dtype::f64, flag::none, nullptr, 0.05},
        {"feature_importance/gain", {7}},
        {"trees/0/id", {5}, dtype::i64, flag::none, nullptr, 40},
        {"sys/cpu", {4}},
        {"sys/gpu_util/0", {}, dtype::f32, flag::none, nullptr, 0.5},
        {"sys/gpu_util/1", {}, dtype::f32, flag::none, nullptr, 0.5},
        {"sys/gpu_mem/0", {}, dtype::f32, flag::none, nullptr, 0.5},
        {"sys/io_wait", {}, dtype::f32, flag::none, nullptr, 0.5},
        {"sys/memory", {}, dtype::f64, flag::none, nullptr, 0.5},
        {"sys/other_cpu", {}, dtype::f32, flag::none, nullptr, 0.3},
        {"sys/step", {}, dtype::f64, flag::none, nullptr, 0.1},
        {"sys/loader_workers", {}, dtype::f32, flag::none, nullptr, 3},
        {"sys/pressure/io", {}, dtype::f32, flag::none, nullptr, 0.4},
        {"sys/initialization", {}, dtype::f64, flag::none, nullptr, 1},
        {"attention/1", {2, 3, 4}},
    };
    return all;
}

namespace making {

inline std::uint16_t half_bits(double value) {
    auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    std::uint32_t const exponent = bits >> 23 & 0xFF, sign = bits >> 16 & 0x8000;
    if (exponent < 113) { return static_cast<std::uint16_t>(sign); }
    if (exponent > 142) { return static_cast<std::uint16_t>(sign | 0x7BFF); }
    return static_cast<std::uint16_t>(sign | (exponent - 112) << 10 | (bits >> 13 & 0x3FF));
}
template <class Bits>
void put(std::vector<unsigned char>& bytes, Bits value) {
    std::size_t const at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(&bytes[at], &value, sizeof value);
}
// Appends one element of any type; one in `hostility` is a special value.
inline void put_number(std::vector<unsigned char>& bytes, double value, spotter::dtype type, random_source& random,
                       std::uint64_t hostility) {
    using spotter::dtype;
    bool const hostile = random.one_in(hostility);
    std::uint64_t const which = random.below(6), noise = random.next();
    auto const special = [&](auto one, auto infinity, int sign) {
        using Bits = decltype(one);
        Bits const all[] = {Bits{0},
                            static_cast<Bits>(Bits{1} << sign),
                            infinity,
                            static_cast<Bits>(infinity | static_cast<Bits>(Bits{1} << sign)),
                            static_cast<Bits>(noise & 0x7F),
                            static_cast<Bits>(infinity | 1U | (static_cast<Bits>(noise) & (infinity >> 4)))};
        put(bytes, hostile ? all[which] : one);
    };
    switch (type) {
        case dtype::f32:
            return special(std::bit_cast<std::uint32_t>(static_cast<float>(value)), std::uint32_t{0x7F800000U}, 31);
        case dtype::f64:
            return special(std::bit_cast<std::uint64_t>(value), std::uint64_t{0x7FF0000000000000U}, 63);
        case dtype::bf16:
            return special(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16),
                           std::uint16_t{0x7F80U}, 15);
        case dtype::f16:
            return special(half_bits(value), std::uint16_t{0x7C00U}, 15);
        default:
            return put(bytes, static_cast<std::int64_t>(value));
    }
}

}  // namespace making

// The state of one tensor: a fault lasts for some steps.
struct part_state {
    std::vector<double> values;
    mood now = mood::fresh;
    double scale = 1;
};

class hostile_maker {
public:
    explicit hostile_maker(std::uint64_t seed) : random_{seed}, states_(parts().size()) {
        hostility_ = random_.one_in(2) ? 2000 : 15;
    }
    [[nodiscard]] stream make(std::size_t steps) {
        stream made;
        std::uint64_t index[spotter::mode_count]{};
        for (std::size_t s = 0; s < steps; ++s) {
            stream_step step;
            auto const which = static_cast<spotter::mode>(random_.one_in(4) ? 1 + random_.below(2) : 0);
            std::uint64_t& at = index[index_of(which)];
            if (random_.one_in(30)) { at -= random_.below(at + 1); }
            step.id = {which, at};
            at += random_.one_in(12) ? 3 : 1;
            batch_ = random_.one_in(10) ? random_.below(12) : 9;
            for (std::size_t i = 0; i < parts().size(); ++i) {
                // The first step shows all: a loop that shows `time/step` only later has the hook's durations before.
                if (s > 0 && random_.one_in(25)) { continue; }
                for (std::uint64_t times = random_.one_in(40) ? 2 : 1; times > 0; --times) {
                    step.events.push_back(one(i, which == spotter::mode::train));
                }
            }
            if (random_.one_in(10)) { std::swap(step.events.front(), step.events.back()); }
            made.push_back(std::move(step));
        }
        return made;
    }

private:
    [[nodiscard]] std::vector<double> const* values_of(char const* name) const {
        for (std::size_t i = 0; name != nullptr && i < parts().size(); ++i) {
            if (parts()[i].name == std::string_view{name}) { return &states_[i].values; }
        }
        return nullptr;
    }
    [[nodiscard]] static bool is_attention(part const& it) {
        return std::string_view{it.name}.starts_with("attention");
    }
    [[nodiscard]] double normal() { return (random_.unit() + random_.unit() + random_.unit() - 1.5) * 2; }

    // A healthy tensor has its role's usual values; `typical` is the typical fault of the role.
    void change(std::size_t which, std::size_t count, bool training) {
        part const& it = parts()[which];
        part_state& mine = states_[which];
        if (random_.one_in(9)) {
            mine.now = static_cast<mood>(random_.below(static_cast<std::uint64_t>(mood::count)));
            constexpr double scales[] = {1, 1, 1e-9, 50, 3e-6};
            mine.scale = scales[random_.below(5)];
        }
        std::vector<double> const before = mine.values;
        std::vector<double> const* const other = values_of(it.like);
        bool const whole = it.type == spotter::dtype::i64;
        mine.values.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            double const last = i < before.size() ? before[i] : it.usual;
            double& value = mine.values[i];
            switch (mine.now) {
                case mood::same:
                    value = last;
                    break;
                case mood::growing:
                    value = last > 1e30 || last < -1e30 ? 1 : last * (training ? 1.3 : 1.6);
                    break;
                case mood::zero:
                    value = 0;
                    break;
                case mood::constant:
                    value = it.usual;
                    break;
                case mood::typical: {
                    bool const added = it.like != nullptr && std::string_view{it.like}.starts_with("grad/");
                    double const theirs = other != nullptr && i < other->size() ? (*other)[i] : it.usual;
                    value = added ? last + theirs / 10 : theirs;
                    if (it.flags == spotter::flag::logits) { value = i % 3 == 0 ? 1 : 0; }
                    if (which < 2) { value = last * (training ? 0.9 : 1.05); }
                    break;
                }
                default:
                    value = whole ? static_cast<double>(random_.below(3)) : normal() * mine.scale;
            }
            if (is_attention(it)) { value = value < 0 ? -value : value; }  // weights, after a softmax
            if (whole && (value < 0 || value > 1e9)) { value = 1; }
        }
    }
    [[nodiscard]] event one(std::size_t which, bool training) {
        part const& it = parts()[which];
        event made;
        made.name = which;
        made.like.type = it.type;
        made.like.shape = it.shape;
        for (int i = 0; i < it.shape.rank; ++i) {
            std::uint64_t& size = made.like.shape.size[static_cast<std::size_t>(i)];
            if (it.shape.size[static_cast<std::size_t>(i)] == 0) { size = batch_; }
        }
        if (it.shape.rank > 0 && random_.one_in(60)) { made.like.shape.size[0] = random_.below(3); }  // another shape
        made.like.count = made.like.shape.elements();
        made.like.layout =
            it.shape.rank == 2 && which % 3 == 1 ? spotter::order::column_major : spotter::order::row_major;
        made.scalar = it.shape.rank == 0 && random_.one_in(2);
        auto const count = static_cast<std::size_t>(made.like.count);
        change(which, count, training);
        for (double const each : states_[which].values) {
            making::put_number(made.bytes, each, it.type, random_, hostility_);
        }
        return made;
    }

    random_source random_;
    std::vector<part_state> states_;
    std::uint64_t hostility_ = 15, batch_ = 8;
};

template <class Hook>
void feed_part(Hook& watch, event const& it) {
    using namespace spotter;
    part const& what = parts()[it.name];
    tensor_ref const view = it.view();
    if (it.scalar && view.type == dtype::f32) {
        watch.scalar(what.name, *view.values.f32);
    } else if (it.scalar && view.type == dtype::f64) {
        watch.scalar(what.name, *view.values.f64);
    } else if (what.flags != flag::none) {
        watch.observe(what.name, view, what.flags);
    } else {
        watch.observe(what.name, view);
    }
}

}  // namespace spotter_test
