// SPDX-License-Identifier: Apache-2.0
// Rule (L2): what is done when a rule fires: `on(rule, stop, raise_flag{flag}, call{f})`.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/rule/adapt.hpp>

namespace spotter::inline SPOTTER_ABI {

// Of something that a response began and that goes on beside the loop (run_command): how it ended, once it has.
struct pending_response {
    // True once it is known; `why` is then how it failed, if it did. With `last` it is not asked again and lets go of
    // what it holds.
    bool (*known)(pending_response const& it, bool last, error& why) noexcept = nullptr;
    int descriptor = -1;          // what `known` reads
    std::string_view what{};      // what was begun; lives with the response
    std::string_view rule{};      // whose finding it was about
    std::string_view response{};  // its name
};

// Where a finding comes from, for alerts that leave the program.
struct finding_origin {
    std::string_view run{};     // the folder that it is recorded in; empty where there is none
    std::uint32_t attempt = 0;  // of the run, from 0
    double time = 0;            // seconds since 1970; 0: now
};

// What a hook offers to responses.
class response_desk {
public:
    // What to keep of a tensor at a step beyond the plan, for that many steps from the next one on.
    struct wish {
        // Asked of each tensor that is observed at those steps.
        terms (*wanted)(void const* plan, tensor_info const&, step_id) = nullptr;
        void const* plan = nullptr;  // lives with the machine that runs the rule
    };
    // Of a machine whose wish is going on it begins anew; others add up, four at most.
    virtual void capture(wish const& what, std::uint64_t steps) noexcept = 0;
    // The hook asks it at each close, and at the end; what failed is told in its health. Whoever offers no more lets go
    // of it at once.
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
//     static constexpr std::string_view name = "mail";     if it is to be called by it where it fails
//     error operator()(finding const&) const;              or with a further response_desk&
// A hook runs it for every finding that is delivered (adaptors behind `on` thin them, those before it do not; of more
// than sixteen of a pack the strongest are), as soon as all rules were judged, on the thread that closes the step; a
// replay does not. Responses do not know each other: one that fails or throws is told in health(), the others run.
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

// An error says whose response it was.
[[nodiscard]] constexpr error told_of(std::string_view rule, std::string_view response, error const& why) noexcept {
    error told{why.code, "rule \""};
    told.what << rule << "\", response " << response << ": " << why.what.view();
    return told;
}

}  // namespace detail

// The adaptor that `on(rule, response)` puts behind a rule: it changes no answer.
template <response Response>
struct responding {
    using adapts_rules = void;
    using state = response_call;
    Response what;

    // The answer as it came.
    constexpr truth operator()(state&, step_id, truth answer, std::span<finding>) const noexcept { return answer; }
    // Marks what the rule pushed; it runs when all rules were judged.
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
        return why ? detail::told_of(found.rule, name(), why) : error{};
    }
    [[nodiscard]] static constexpr std::string_view name() noexcept {
        if constexpr (requires { std::string_view{Response::name}; }) {
            return Response::name;
        } else {
            return "of yours";
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
    static constexpr std::string_view name = "call";
    Function function;  // copied; takes a finding, gives nothing or an error
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
