// SPDX-License-Identifier: Apache-2.0
// The few SPOTTER_ macros. Every header includes this file first. A user's program needs none of them.
#pragma once

#include <spotter/version.hpp>

#include <version>  // which standard library this is, and its mode

#if defined(_M_FP_FAST) && !defined(__clang__)
#error "spotter: /fp:fast changes the bits of sums: compile with /fp:precise (docs/platforms.md)"
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define SPOTTER_EXCEPTIONS 1
#else
#define SPOTTER_EXCEPTIONS 0
#endif

// Header-only unless SPOTTER_SEPARATE is defined; all files of a program must agree on it. With SPOTTER_SEPARATE a
// header x.hpp only declares what is not a template. The bodies are at its end, or in x.ipp beside it. They are
// compiled once: in the one file that includes spotter/implementation.hpp, or in the library of the CMake target
// spotter::compiled.
#if !defined(SPOTTER_SEPARATE)
#define SPOTTER_BODIES 1
#define SPOTTER_BODY inline
// For a large function (with a loop for each dtype, say): as a template it costs a header-only program only in the
// files that call it. One macro is for the declaration, the other for the body.
#define SPOTTER_WHERE_CALLED template <class = only_where_called>
#define SPOTTER_WHERE_CALLED_BODY template <class>
#else
#define SPOTTER_BODIES 0
#define SPOTTER_WHERE_CALLED
#define SPOTTER_WHERE_CALLED_BODY
#endif
// For bodies that run neither in a training step nor per frame of a record (opening, recovering, thinning, describing
// findings). They are optimised for size, which halves their compile time. Do not use it for a function that the
// caller's own function always calls, such as a hook's constructor: g++ then treats the whole caller as cold, the loop
// included.
#define SPOTTER_COLD_BODY SPOTTER_COLD SPOTTER_BODY

// Different versions or modes of the library must not be linked together unnoticed, so both are part of every symbol's
// name. So are libstdc++'s modes that change the layout of containers or strings.
#if defined(SPOTTER_SEPARATE)
#define SPOTTER_ABI_SEPARATE _separate
#else
#define SPOTTER_ABI_SEPARATE
#endif
#if SPOTTER_EXCEPTIONS
#define SPOTTER_ABI_EXCEPTIONS
#else
#define SPOTTER_ABI_EXCEPTIONS _noexcept
#endif
#if defined(_GLIBCXX_DEBUG)
#define SPOTTER_ABI_CONTAINERS _glibcxx_debug
#else
#define SPOTTER_ABI_CONTAINERS
#endif
#if defined(__GLIBCXX__) && !_GLIBCXX_USE_CXX11_ABI
#define SPOTTER_ABI_STRINGS _old_strings
#else
#define SPOTTER_ABI_STRINGS
#endif
#define SPOTTER_JOIN_EACH(major, minor, a, b, c, d) v##major##_##minor##a##b##c##d
#define SPOTTER_JOIN(major, minor, a, b, c, d) SPOTTER_JOIN_EACH(major, minor, a, b, c, d)
#define SPOTTER_ABI                                                                                                    \
    SPOTTER_JOIN(SPOTTER_VERSION_MAJOR, SPOTTER_VERSION_MINOR, SPOTTER_ABI_SEPARATE, SPOTTER_ABI_EXCEPTIONS,           \
                 SPOTTER_ABI_CONTAINERS, SPOTTER_ABI_STRINGS)

// Functions whose result must have the same bits on every compiler and under every flag (docs/internals/stat.md). g++
// takes an attribute; clang takes a pragma inside the body, which SPOTTER_STRICT_BODY opens. (clang's
// -ffp-contract=fast fuses despite the pragma; core/bits.hpp has force_rounding() for that.)
#if defined(__clang__)
#define SPOTTER_STRICT
#if __clang_major__ >= 18
#define SPOTTER_STRICT_BODY _Pragma("clang fp reassociate(off) contract(off) reciprocal(off)")
#else
#define SPOTTER_STRICT_BODY _Pragma("clang fp reassociate(off) contract(off)")
#endif
#elif defined(__GNUC__)
#define SPOTTER_STRICT __attribute__((optimize("no-fast-math", "fp-contract=off")))
#define SPOTTER_STRICT_BODY
#else
#define SPOTTER_STRICT
#define SPOTTER_STRICT_BODY
#endif

// The same for a small function in a hot path: g++'s attribute would prevent inlining, so it is left out where no
// compiler flag changes the bits.
#if defined(__SSE2_MATH__) && !defined(__FP_FAST_FMA) && !defined(__RECIPROCAL_MATH__) && !__FINITE_MATH_ONLY__
#define SPOTTER_STRICT_SMALL
#else
#define SPOTTER_STRICT_SMALL SPOTTER_STRICT
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SPOTTER_INLINE inline __attribute__((always_inline))
#define SPOTTER_NOINLINE __attribute__((noinline))
#define SPOTTER_COLD __attribute__((cold, noinline))
#define SPOTTER_FETCH(address) __builtin_prefetch(address)
#elif defined(_MSC_VER)
#define SPOTTER_INLINE __forceinline
#define SPOTTER_NOINLINE __declspec(noinline)
#define SPOTTER_COLD __declspec(noinline)
#define SPOTTER_FETCH(address) static_cast<void>(address)
#else
#define SPOTTER_INLINE inline
#define SPOTTER_NOINLINE
#define SPOTTER_COLD
#define SPOTTER_FETCH(address) static_cast<void>(address)
#endif

// GNU vector types. Without them, or with SPOTTER_PLAIN_VECTORS defined for all files of a program, the same loops run
// over plain arrays and give the same bits.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(SPOTTER_PLAIN_VECTORS)
#define SPOTTER_GNU_VECTORS 1
#else
#define SPOTTER_GNU_VECTORS 0
#endif

// At -O2 g++ vectorises a plain loop only with this attribute; clang needs none.
#if defined(__GNUC__) && !defined(__clang__)
#define SPOTTER_VECTORS __attribute__((optimize("no-fast-math", "fp-contract=off", "tree-vectorize")))
#else
#define SPOTTER_VECTORS
#endif

// Loops over the few vectors of a lane group must be unrolled so that their accumulators stay in registers. At -O2 g++
// does so only with this pragma; clang needs none.
#if defined(__GNUC__) && !defined(__clang__)
#define SPOTTER_UNROLL _Pragma("GCC unroll 8")
#else
#define SPOTTER_UNROLL
#endif
