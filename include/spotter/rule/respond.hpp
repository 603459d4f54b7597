// SPDX-License-Identifier: Apache-2.0
// Rule (L2): responses, which run when a rule fires: `on(rule, stop, raise_flag{flag}, call{f})`.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/rule/adapt.hpp>

namespace spotter::inline SPOTTER_ABI {

// Work that a response started and that runs beside the loop (run_command): how it ended, once that is known.
struct pending_response {
    // True once it has ended; `why` then holds the error, if it failed. With `last` this is the final call: it releases
    // its resources.
    bool (*known)(pending_response const& it, bool last, error& why) noexcept = nullptr;
    int descriptor = -1;          // what `known` reads
    std::string_view what{};      // what was started; lives with the response
    std::string_view rule{};      // the rule whose finding started it
    std::string_view response{};  // the name of the response
};

// The origin of a finding, for alerts that leave the program.
struct finding_origin {
    std::string_view run{};     // the folder of its record; empty without one
    std::uint32_t attempt = 0;  // of the run, from 0
    double time = 0;            // seconds since 1970; 0: now
};

// The services that a hook offers to responses.
class response_desk {
public:
    // What to keep of tensors beyond the plan, for a number of steps from the next one on.
    struct wish {
        // Called for each tensor that is observed at those steps.
        stats_mask (*wanted)(void const* plan, tensor_info const&, step_id) = nullptr;
        void const* plan = nullptr;  // lives with the machine that runs the rule
    };
    // A machine's new wish replaces the one that it has; wishes of several machines add up, four at most.
    virtual void capture(wish const& what, std::uint64_t steps) noexcept = 0;
    // The hook polls it at each close and at the end, and reports a failure in its health. This default only releases
    // it.
    virtual void await(pending_response const& it) noexcept {
        error why;
        (void)it.known(it, true, why);
    }
    [[nodiscard]] virtual finding_origin origin() const noexcept { return {}; }  // of the run that the desk belongs to

protected:
    constexpr ~response_desk() = default;
};

// A response is a value with
//     using responds = void;
//     static constexpr std::string_view name = "mail";     optional: its name in reports of a failure
//     error operator()(finding const&) const;              or with a further response_desk&
// A hook runs it for every finding that is reported. Adaptors behind `on` thin those findings, adaptors before it do
// not. A pack keeps the sixteen strongest findings. Responses run when all rules were judged, on the thread that closes
// the step. A replay runs none. If one fails or throws, health() reports it, and the others still run.
template <class Value>
concept response = requires(Value const& it, finding const& found, response_desk& desk) {
    typename Value::responds;
    requires requires {
        { it(found) } -> std::same_as<error>;
    } || requires {
        { it(found, desk) } -> std::same_as<error>;
    };
};

namespace detail {

// The error, with the names of the rule and of its response.
[[nodiscard]] constexpr error response_error(std::string_view rule, std::string_view response,
                                             error const& why) noexcept {
    error failure{why.code, "rule \""};
    failure.what << rule << "\", response " << response << ": " << why.what.view();
    return failure;
}

}  // namespace detail

// The adaptor of `on(rule, response)`. It changes no answer.
template <response Response>
struct responding {
    using adapts_rules = void;
    using state = response_call;
    Response what;

    constexpr truth operator()(state&, step_id, truth answer, std::span<finding>) const noexcept { return answer; }
    // Marks what the rule pushed; the response runs when all rules were judged.
    constexpr void respond(state& it, findings& out, std::size_t first) const noexcept {
        it.run = &run, it.response = &what;
        out.ask_for(it, first);
    }

private:
    static error run(void const* response, finding const& found, [[maybe_unused]] response_desk& desk) noexcept {
        Response const& it = *static_cast<Response const*>(response);
        error const why = guarded_or(
            [&]() -> error {
                if constexpr (requires { it(found, desk); }) {
                    return it(found, desk);
                } else {
                    return it(found);
                }
            },
            [](std::string_view said) {
                error thrown{errc::user_code_threw, "threw an exception; the others ran"};
                if (!said.empty()) { thrown.what << ". It says: " << said; }
                return thrown;
            });
        return why ? detail::response_error(found.rule, name(), why) : error{};
    }
    [[nodiscard]] static constexpr std::string_view name() noexcept {
        if constexpr (requires { std::string_view{Response::name}; }) {
            return Response::name;
        } else {
            return "of yours";
        }
    }
};

// At most four responses for each finding; further ones are left out.
template <rule Inner, response Response>
[[nodiscard]] constexpr adapted<Inner, responding<Response>> on(Inner rule, Response what) noexcept {
    return {rule, {what}};
}
// Several responses, and decisions among them: `on(rule, stop, raise_flag{flag}, append_lines{"alerts.jsonl"})`.
template <rule Inner, class First, class Second, class... More>
[[nodiscard]] constexpr auto on(Inner rule, First first, Second second, More... more) noexcept {
    return on(on(rule, first), second, more...);
}

// Calls a function of yours. It runs in the loop, so it must be fast.
template <class Function>
struct call {
    using responds = void;
    static constexpr std::string_view name = "call";
    Function function;  // copied; takes a finding, returns nothing or an error
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
