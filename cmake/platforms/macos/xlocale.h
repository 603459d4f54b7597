// SPDX-License-Identifier: Apache-2.0
// Declares what libc++ needs of macOS's C library beyond POSIX, for the row `macos` of cmake/platform.cmake. That row
// has no SDK: it compiles and links nothing.
#pragma once

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
typedef unsigned __uint32_t;
#define _CTYPE_A 0x00000100
#define _CTYPE_C 0x00000200
#define _CTYPE_D 0x00000400
#define _CTYPE_L 0x00001000
#define _CTYPE_P 0x00002000
#define _CTYPE_S 0x00004000
#define _CTYPE_U 0x00008000
#define _CTYPE_X 0x00010000
#define _CTYPE_B 0x00020000
#define _CTYPE_R 0x00040000
extern "C" {
long long strtoll_l(char const*, char**, int, locale_t);
unsigned long long strtoull_l(char const*, char**, int, locale_t);
int sscanf_l(char const*, locale_t, char const*, ...);
int snprintf_l(char*, size_t, locale_t, char const*, ...);
int asprintf_l(char**, locale_t, char const*, ...);
}
