// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what a sink may have beyond the contract of every sink, and which of it a sink has.
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

// A call, or calls that belong together, that a sink may have. What it has not is not called, and costs nothing.
//   number      in short, in place of `scalar`, and of `observe` where a tensor of rank 0 is kept with its value (and
//               at most with terms of the pass, which follow from it), at an open step:
//                   void number(tensor_info const&, step_id const&, plain_number)       of 8 bytes or less
//               and in place of `observe` where the values are kept and nothing is computed of them:
//                   void values(tensor_info const&, step_id const&, tensor_ref const&, terms keep)
//   stamp       before `close`, when the step was begun and closed:  void stamp(step_moments const&)
//   leave       in place of `close`, where the run failed amid the step; the alarm has what was found in what there is
//               of it:  void leave(step_id, step_alarm const&)
//   tell        at any time, a finding that no close comes with (hook::add):  void tell(finding const&)
//   wants_all   asked before `start`: true where it wants whatever is observed, with its values, whatever the plan
//               keeps of it:  bool wants_all()
//   poll        moves bytes to the files, where the program does that (drain::poll):  void poll()
//   attempt     asked behind `start`: how often the run was resumed before:  std::uint32_t attempt()
//   watcher     asked behind `start`: who wants to know in which section the loop is (hook/sections.hpp); null: nobody:
//                   section_watcher const* watcher()
//   tell_news   at each close: adds what the loop is to hear of who works beside it (options::beside):
//                   void tell_news(step_id, step_alarm&)
//   stop_asked  at each close: a request from outside asks the run to stop, and why:
//                   bool stop_asked()   std::string_view stop_reason()
//   control     what else somebody outside asks of the run (hook/control.hpp):
//                   void set_readers(detail::control_readers const&)         before `start`: what may be exchanged
//                   detail::control_request const* poll_request()            at each close: the one that waits, or null
//                   void acknowledge(error const&)                           it was done, or refused; before the close
//                   void reset_collections(run_info const&)                  other collections from the next step on
enum class sink_call : std::uint8_t {
    number,
    stamp,
    leave,
    tell,
    wants_all,
    poll,
    attempt,
    watcher,
    tell_news,
    stop_asked,
    control
};

// What a sink has of them, in words of its own: `using offers = sink_offers<sink_call::stamp, sink_call::leave>;`. Then
// the compiler holds the sink to it: what is offered has to be there, under its name and with its arguments, and what
// is there has to be offered. A sink that does not say it has what the compiler finds; a name that is misspelt is not
// found.
template <sink_call... Calls>
struct sink_offers {
    // Whether it is one of them.
    [[nodiscard]] static constexpr bool has(sink_call it) noexcept { return ((it == Calls) || ...); }
};

namespace detail {

template <class Member>
inline constexpr bool is_call = std::is_member_function_pointer_v<Member> ||
                                (std::is_pointer_v<Member> && std::is_function_v<std::remove_pointer_t<Member>>);

// Whether a sink has calls of these names, as far as a name tells: one that is overloaded has no address to ask for.
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
    static constexpr bool watcher = requires { requires is_call<decltype(&Sink::watcher)>; };
    static constexpr bool tell_news = requires { requires is_call<decltype(&Sink::tell_news)>; };
    static constexpr bool stop_asked = requires { requires is_call<decltype(&Sink::stop_asked)>; };
    static constexpr bool set_readers = requires { requires is_call<decltype(&Sink::set_readers)>; };
};

// Whether it can be called as a hook calls it.
template <sink_call Call, class Sink>
[[nodiscard]] consteval bool has_call() noexcept {
    if constexpr (Call == sink_call::number) {
        return requires(Sink& sink, tensor_info const& tensor, step_id const& step, tensor_ref const& view) {
            sink.number(tensor, step, plain_number{});
            sink.values(tensor, step, view, terms{});
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

// One that says what it offers has that and nothing else. Of one that says nothing, whatever has a name that a hook
// calls is that call.
template <sink_call Call, class Sink, bool Named>
inline constexpr bool is_right = !Named || has_call<Call, Sink>();
template <sink_call Call, class Sink, bool Named>
    requires requires { typename Sink::offers; }
inline constexpr bool is_right<Call, Sink, Named> = Sink::offers::has(Call) == has_call<Call, Sink>();

// Which call of a sink would never be made, in words of the compiler. Each hook asks it.
template <class Sink>
struct right_calls {
    using named = calls_by_name<Sink>;
    static_assert(is_right < sink_call::number, Sink, named::number || named::values >,
                  "spotter: `number` and `values` of this sink are not both there, as `void number(tensor_info "
                  "const&, step_id const&, plain_number)` and `void values(tensor_info const&, step_id const&, "
                  "tensor_ref const&, terms)`, or it is and the sink's `offers` leaves sink_call::number out.");
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

// One that takes the times of steps.
template <class Sink>
concept times_sink = detail::offers_call<sink_call::stamp, std::remove_reference_t<Sink>>;

// One that takes in short what no rule looks at.
template <class Sink>
concept plain_sink = detail::offers_call<sink_call::number, std::remove_reference_t<Sink>>;

}  // namespace spotter::inline SPOTTER_ABI
