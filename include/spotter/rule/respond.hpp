// SPDX-License-Identifier: Apache-2.0
// Rule (L2): what is done when a rule fires: `on(rule, stop, raise_flag{flag}, call{f})`.
#pragma once

#include <spotter/rule/adapt.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a hook offers to responses.
class response_desk {
public:
    // What to keep of a tensor at a step beyond the plan, for that many steps from the next one on.
    struct wish {
        terms (*wanted)(void const* plan, tensor_info const&, step_id) = nullptr;
        void const* plan = nullptr;  // lives with the machine that runs the rule
    };
    virtual void capture(wish const& what, std::uint64_t steps) noexcept = 0;

protected:
    constexpr ~response_desk() = default;
};

// A response is a value with
//     using responds = void;
//     error operator()(finding const&) const;              or with a further response_desk&
// A hook runs it for every finding that is delivered (adaptors behind `on` thin them, those before it do not; of more than sixteen of a
// pack the strongest are), as soon as all rules were judged, on the thread that closes the step; a replay does not. Responses do not know
// each other: one that fails or throws is told in health(), the others run.
template <class Value>
concept response = requires(Value const& it, finding const& found, response_desk& desk) {
    typename Value::responds;
    requires requires {
        { it(found) } -> std::same_as<error>;
    } || requires {
        { it(found, desk) } -> std::same_as<error>;
    };
};

template <response Response>
struct responding {
    using adapts_rules = void;
    using state = detail::no_state;
    Response what;

    constexpr truth operator()(state&, step_id, truth answer, std::span<finding> found) const noexcept {
        for (finding& each : found) {
            for (response_call& call : each.responses) {
                if (call.run != nullptr) { continue; }
                call = {&run, &what};
                break;
            }
        }
        return answer;
    }

private:
    static error run(void const* response, finding const& found, [[maybe_unused]] response_desk& desk) {
        Response const& it = *static_cast<Response const*>(response);
        if constexpr (requires { it(found, desk); }) {
            return it(found, desk);
        } else {
            return it(found);
        }
    }
};

// At most four responses a finding; further ones are left out.
template <rule Inner, response Response>
[[nodiscard]] constexpr adapted<Inner, responding<Response>> on(Inner rule, Response what) noexcept {
    return {rule, {what}};
}
// Several, decisions among them: `on(rule, stop, raise_flag{flag}, append_lines{"alerts.jsonl"})`.
template <rule Inner, class First, class Second, class... More>
[[nodiscard]] constexpr auto on(Inner rule, First first, Second second, More... more) noexcept {
    return on(on(rule, first), second, more...);
}

// A function of yours. It runs in the loop: what takes long belongs elsewhere.
template <class Function>
struct call {
    using responds = void;
    Function function;
    constexpr explicit call(Function it) noexcept : function{it} {}
    error operator()(finding const& found) const {
        if constexpr (requires {
                          { function(found) } -> std::same_as<error>;
                      }) {
            return function(found);
        } else {
            function(found);
            return {};
        }
    }
};

}  // namespace spotter::inline SPOTTER_ABI
