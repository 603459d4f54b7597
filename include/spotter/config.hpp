// SPDX-License-Identifier: Apache-2.0
// The few SPOTTER_ macros; every header begins here. Nothing in a user's program needs them.
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

// Header-only unless SPOTTER_SEPARATE is defined, for every file of a program or for none. A header x.hpp then only
// declares what is no template; the bodies, in x.ipp beside it, stand once in the program: in the one file that
// includes spotter/implementation.hpp, or in the library of the CMake target spotter::compiled.
#if !defined(SPOTTER_SEPARATE)
#define SPOTTER_BODIES 1
#define SPOTTER_BODY inline
// A function with much in it (a loop for each dtype, say) that header-only costs only the files that call it: its
// declaration and its body.
#define SPOTTER_WHERE_CALLED template <class = only_where_called>
#define SPOTTER_WHERE_CALLED_BODY template <class>
#else
#define SPOTTER_BODIES 0
#define SPOTTER_WHERE_CALLED
#define SPOTTER_WHERE_CALLED_BODY
#endif
// A body that no step of a training and no frame of a record comes by (opening, recovering, thinning, words about what
// was found): made small and not fast, which takes a compiler half the time. None that a program's own function calls
// on every way through, as it does a hook's constructor: g++ takes all of such a function, the loop included, for cold.
#define SPOTTER_COLD_BODY SPOTTER_COLD SPOTTER_BODY

// Versions and modes of one library must not be linked together unseen, so both are part of every symbol's name;
// libstdc++'s modes are, too, in which a container or a string is another.
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

// Functions whose result must have the same bits on every compiler and under every flag (docs/internals/stat.md).
// g++ takes an attribute; clang takes a pragma inside the body, which SPOTTER_STRICT_BODY opens.
// (clang's -ffp-contract=fast fuses in spite of the pragma; core/bits.hpp has settle() for that.)
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

// The same for a small function that is called where it matters: g++'s attribute would keep it from being inlined, and
// is left out where no flag changes bits.
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

// Vectors of GNU's kind. Without them, or with SPOTTER_PLAIN_VECTORS defined (for all files of a program), the same
// loops run over plain arrays, to the same bits.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(SPOTTER_PLAIN_VECTORS)
#define SPOTTER_GNU_VECTORS 1
#else
#define SPOTTER_GNU_VECTORS 0
#endif

// g++ makes vectors of a plain loop at -O2 only where it is told to, clang by itself.
#if defined(__GNUC__) && !defined(__clang__)
#define SPOTTER_VECTORS __attribute__((optimize("no-fast-math", "fp-contract=off", "tree-vectorize")))
#else
#define SPOTTER_VECTORS
#endif

// Loops over the few vectors of a lane group must be unrolled for their accumulators to live in registers; g++ does so
// at -O2 only when told, clang by itself.
#if defined(__GNUC__) && !defined(__clang__)
#define SPOTTER_UNROLL _Pragma("GCC unroll 8")
#else
#define SPOTTER_UNROLL
#endif
