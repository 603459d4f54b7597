// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the optional calls of a sink, and how a hook detects them.
#pragma once

#include <spotter/hook/sink.hpp>

#include <cstring>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

struct section_watcher;  // hook/sections.hpp
namespace detail {
struct control_readers;  // hook/control.hpp
struct control_request;
}  // namespace detail

// An optional call of a sink, or calls that belong together. A missing call is never made and costs nothing.
//   number      a fast form of `scalar`, and of `observe` where a tensor of rank 0 is kept with its value (and
//               at most with terms of the pass, which follow from it), at an open step:
//                   void number(tensor_info const&, step_id const&, plain_number)       of 8 bytes or less
//               and of `observe` where only the values are kept and nothing is computed from them:
//                   void values(tensor_info const&, step_id const&, tensor_ref const&, terms keep)
//   stamp       before `close`, the begin and end of the step:  void stamp(step_moments const&)
//   leave       in place of `close`, where the run failed amid the step; the alarm holds the findings so far:
//                   void leave(step_id, step_alarm const&)
//   tell        at any time, a finding that comes with no close (hook::add):  void tell(finding const&)
//   wants_all   asked before `start`: true if it wants every observation with its values, whatever the plan keeps:
//                   bool wants_all()
//   poll        moves bytes to the files, where the program calls for that (drain::poll):  void poll()
//   attempt     called after `start`: how often the run was resumed before:  std::uint32_t attempt()
//   run_id      identifies the run in all its attempts; 0: nothing is recorded:  std::uint64_t run_id() const
//   watcher     called after `start`: publishes the loop's section (hook/sections.hpp); null: not wanted:
//                   section_watcher const* watcher()
//   tell_news   at each close: adds findings of the task that runs beside the writer (options::beside):
//                   void tell_news(step_id, step_alarm&)
//   stop_asked  at each close: whether a stop was requested from outside, and why:
//                   bool stop_asked()   std::string_view stop_reason()
//   control     other requests from outside (hook/control.hpp):
//                   void set_readers(detail::control_readers const&)         before `start`: what can be replaced
//                   detail::control_request const* poll_request()            at each close: a waiting one, or null
//                   void acknowledge(error const&)                           done, or refused; before the close
//                   void reset_collections(run_info const&)                  the collections from the next step on
enum class sink_call : std::uint8_t {
    number,
    stamp,
    leave,
    tell,
    wants_all,
    poll,
    attempt,
    run_id,
    watcher,
    tell_news,
    stop_asked,
    control
};

// The optional calls that a sink declares to have: `using offers = sink_offers<sink_call::stamp, sink_call::leave>;`.
// The compiler then checks the sink: every declared call exists with the right name and arguments, and every existing
// call is declared. For a sink without `offers` the compiler detects the calls; a misspelt one is not detected.
template <sink_call... Calls>
struct sink_offers {
    // Whether the call is declared.
    [[nodiscard]] static constexpr bool has(sink_call it) noexcept { return ((it == Calls) || ...); }
};

namespace detail {

template <class Member>
inline constexpr bool is_call = std::is_member_function_pointer_v<Member> ||
                                (std::is_pointer_v<Member> && std::is_function_v<std::remove_pointer_t<Member>>);

// Whether a sink has members of these names. An overloaded member is not detected: its address is ambiguous.
template <class Sink>
struct calls_by_name {
    static constexpr bool number = requires { requires is_call<decltype(&Sink::number)>; };
    static constexpr bool values = requires { requires is_call<decltype(&Sink::values)>; };
    static constexpr bool stamp = requires { requires is_call<decltype(&Sink::stamp)>; };
    static constexpr bool leave = requires { requires is_call<decltype(&Sink::leave)>; };
    static constexpr bool tell = requires { requires is_call<decltype(&Sink::tell)>; };
    static constexpr bool wants_all = requires { requires is_call<decltype(&Sink::wants_all)>; };
    static constexpr bool poll = requires { requires is_call<decltype(&Sink::poll)>; };
    static constexpr bool attempt = requires { requires is_call<decltype(&Sink::attempt)>; };
    static constexpr bool run_id = requires { requires is_call<decltype(&Sink::run_id)>; };
    static constexpr bool watcher = requires { requires is_call<decltype(&Sink::watcher)>; };
    static constexpr bool tell_news = requires { requires is_call<decltype(&Sink::tell_news)>; };
    static constexpr bool stop_asked = requires { requires is_call<decltype(&Sink::stop_asked)>; };
    static constexpr bool set_readers = requires { requires is_call<decltype(&Sink::set_readers)>; };
};

// Whether a hook can make this call.
template <sink_call Call, class Sink>
[[nodiscard]] consteval bool has_call() noexcept {
    if constexpr (Call == sink_call::number) {
        return requires(Sink& sink, tensor_info const& tensor, step_id const& step, tensor_ref const& view) {
            sink.number(tensor, step, plain_number{});
            sink.values(tensor, step, view, stats_mask{});
        };
    } else if constexpr (Call == sink_call::stamp) {
        return requires(Sink& sink, step_moments const& times) { sink.stamp(times); };
    } else if constexpr (Call == sink_call::leave) {
        return requires(Sink& sink, step_id step, step_alarm const& found) { sink.leave(step, found); };
    } else if constexpr (Call == sink_call::tell) {
        return requires(Sink& sink, finding const& it) { sink.tell(it); };
    } else if constexpr (Call == sink_call::wants_all) {
        return requires(Sink& sink) {
            { sink.wants_all() } -> std::convertible_to<bool>;
        };
    } else if constexpr (Call == sink_call::poll) {
        return requires(Sink& sink) { sink.poll(); };
    } else if constexpr (Call == sink_call::attempt) {
        return requires(Sink& sink) {
            { sink.attempt() } -> std::convertible_to<std::uint32_t>;
        };
    } else if constexpr (Call == sink_call::run_id) {
        return requires(Sink const& sink) {
            { sink.run_id() } -> std::convertible_to<std::uint64_t>;
        };
    } else if constexpr (Call == sink_call::watcher) {
        return requires(Sink& sink) {
            { sink.watcher() } -> std::convertible_to<section_watcher const*>;
        };
    } else if constexpr (Call == sink_call::tell_news) {
        return requires(Sink& sink, step_id step, step_alarm& into) { sink.tell_news(step, into); };
    } else if constexpr (Call == sink_call::stop_asked) {
        return requires(Sink& sink) {
            { sink.stop_asked() } -> std::convertible_to<bool>;
            { sink.stop_reason() } -> std::convertible_to<std::string_view>;
        };
    } else {
        return requires(Sink& sink, control_readers const& readers, run_info const& run, error const& why) {
            sink.set_readers(readers);
            { sink.poll_request() } -> std::same_as<control_request const*>;
            sink.acknowledge(why);
            sink.reset_collections(run);
        };
    }
}

template <sink_call Call, class Sink>
inline constexpr bool offers_call = has_call<Call, Sink>();
template <sink_call Call, class Sink>
    requires requires { typename Sink::offers; }
inline constexpr bool offers_call<Call, Sink> = Sink::offers::has(Call);

// With `offers`, declared and existing calls must agree. Without it, a member with the name of a call must be that
// call.
template <sink_call Call, class Sink, bool Named>
inline constexpr bool is_right = !Named || has_call<Call, Sink>();
template <sink_call Call, class Sink, bool Named>
    requires requires { typename Sink::offers; }
inline constexpr bool is_right<Call, Sink, Named> = Sink::offers::has(Call) == has_call<Call, Sink>();

// The static_asserts name the member that a hook would never call. Every hook instantiates this.
template <class Sink>
struct right_calls {
    using named = calls_by_name<Sink>;
    static_assert(is_right < sink_call::number, Sink, named::number || named::values >,
                  "spotter: `number` and `values` of this sink are not both there, as `void number(tensor_info "
                  "const&, step_id const&, plain_number)` and `void values(tensor_info const&, step_id const&, "
                  "tensor_ref const&, stats_mask)`, or it is and the sink's `offers` leaves sink_call::number out.");
    static_assert(is_right<sink_call::stamp, Sink, named::stamp>,
                  "spotter: `stamp` of this sink is not `void stamp(step_moments const&)`, or it is and the sink's "
                  "`offers` leaves sink_call::stamp out.");
    static_assert(is_right<sink_call::leave, Sink, named::leave>,
                  "spotter: `leave` of this sink is not `void leave(step_id, step_alarm const&)`, or it is and the "
                  "sink's `offers` leaves sink_call::leave out.");
    static_assert(is_right<sink_call::tell, Sink, named::tell>,
                  "spotter: `tell` of this sink is not `void tell(finding const&)`, or it is and the sink's `offers` "
                  "leaves sink_call::tell out.");
    static_assert(is_right<sink_call::wants_all, Sink, named::wants_all>,
                  "spotter: `wants_all` of this sink is not `bool wants_all()`, or it is and the sink's `offers` "
                  "leaves sink_call::wants_all out.");
    static_assert(is_right<sink_call::poll, Sink, named::poll>,
                  "spotter: `poll` of this sink is not `void poll()`, or it is and the sink's `offers` leaves "
                  "sink_call::poll out.");
    static_assert(is_right<sink_call::attempt, Sink, named::attempt>,
                  "spotter: `attempt` of this sink is not `std::uint32_t attempt()`, or it is and the sink's "
                  "`offers` leaves sink_call::attempt out.");
    static_assert(is_right<sink_call::run_id, Sink, named::run_id>,
                  "spotter: `run_id` of this sink is not `std::uint64_t run_id() const`, or it is and the sink's "
                  "`offers` leaves sink_call::run_id out.");
    static_assert(is_right<sink_call::watcher, Sink, named::watcher>,
                  "spotter: `watcher` of this sink is not `section_watcher const* watcher()`, or it is and the "
                  "sink's `offers` leaves sink_call::watcher out.");
    static_assert(is_right<sink_call::tell_news, Sink, named::tell_news>,
                  "spotter: `tell_news` of this sink is not `void tell_news(step_id, step_alarm&)`, or it is and "
                  "the sink's `offers` leaves sink_call::tell_news out.");
    static_assert(is_right<sink_call::stop_asked, Sink, named::stop_asked>,
                  "spotter: `stop_asked` and `stop_reason` of this sink are not both there, as `bool stop_asked()` "
                  "and `std::string_view stop_reason()`, or it is and the sink's `offers` leaves "
                  "sink_call::stop_asked out.");
    static_assert(is_right<sink_call::control, Sink, named::set_readers>,
                  "spotter: `set_readers`, `poll_request`, `acknowledge` and `reset_collections` of this sink are "
                  "not all there as hook/sink_calls.hpp says, or it is and the sink's `offers` leaves "
                  "sink_call::control out.");
    static constexpr bool checked = true;
};

template <class Sink, class Value>
inline constexpr bool takes_number =
    offers_call<sink_call::number, Sink> && element<Value> && sizeof(Value) <= sizeof(std::uint64_t);

template <class Sink, element Value>
SPOTTER_INLINE void hand_number(Sink& sink, tensor_info const& tensor, step_id const& step,
                                Value const& value) noexcept {
    plain_number it{0, dtype_of<Value>, static_cast<std::uint8_t>(sizeof value)};
    std::memcpy(&it.bits, &value, sizeof value);
    sink.number(tensor, step, it);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
