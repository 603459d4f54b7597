// SPDX-License-Identifier: Apache-2.0
// The cart-pole: a cart on a track balances a hinged pole. Barto, Sutton and Anderson, "Neuronlike adaptive elements
// that can solve difficult learning control problems", IEEE Trans. Systems, Man, and Cybernetics 13(5), 1983.
#pragma once

#include "../common/prng.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>

namespace cartpole {

inline constexpr std::size_t observation_size = 4;
inline constexpr std::size_t action_count = 2;  // push left, push right
inline constexpr int episode_steps = 500;

// Constants of the plant, in SI units.
inline constexpr float gravity = 9.8F;
inline constexpr float cart_mass = 1.0F;
inline constexpr float pole_mass = 0.1F;
inline constexpr float pole_half_length = 0.5F;
inline constexpr float push_force = 10.0F;
inline constexpr float time_step = 0.02F;

// An episode fails beyond these limits.
inline constexpr float position_limit = 2.4F;                       // metres from the centre
inline constexpr float angle_limit = 12.0F * 3.14159265F / 180.0F;  // radians from upright

enum class outcome { running, fallen, timed_out };

// One cart with its pole. A step is 20 ms, with explicit Euler as in the literature.
class cart_pole {
public:
    // Starts an episode near the upright position at rest.
    void reset(example::prng& random) noexcept {
        for (float* const coordinate : {&position_, &velocity_, &angle_, &angular_velocity_}) {
            *coordinate = random.uniform(-0.05F, 0.05F);
        }
        step_ = 0;
    }

    // Pushes the cart left (0) or right (1) for one time step.
    outcome step(std::size_t action) noexcept {
        float const force = action == 1 ? push_force : -push_force;
        float const sine = std::sin(angle_);
        float const cosine = std::cos(angle_);
        constexpr float total_mass = cart_mass + pole_mass;
        constexpr float pole_moment = pole_mass * pole_half_length;

        float const thrust = (force + pole_moment * angular_velocity_ * angular_velocity_ * sine) / total_mass;
        float const angular_acceleration =
            (gravity * sine - cosine * thrust) /
            (pole_half_length * (4.0F / 3.0F - pole_mass * cosine * cosine / total_mass));
        float const acceleration = thrust - pole_moment * angular_acceleration * cosine / total_mass;

        position_ += time_step * velocity_;
        velocity_ += time_step * acceleration;
        angle_ += time_step * angular_velocity_;
        angular_velocity_ += time_step * angular_acceleration;
        ++step_;

        if (std::abs(position_) > position_limit || std::abs(angle_) > angle_limit) { return outcome::fallen; }
        return step_ == episode_steps ? outcome::timed_out : outcome::running;
    }

    // Survived steps of this episode.
    [[nodiscard]] int steps() const noexcept { return step_; }

    // What the agent observes: each coordinate divided by its usual range, so that inputs are near one.
    [[nodiscard]] std::array<float, observation_size> observation() const noexcept {
        return {position_ / position_limit, velocity_ / 1.5F, angle_ / angle_limit, angular_velocity_ / 1.5F};
    }

private:
    float position_ = 0.0F;
    float velocity_ = 0.0F;
    float angle_ = 0.0F;
    float angular_velocity_ = 0.0F;
    int step_ = 0;
};

}  // namespace cartpole
