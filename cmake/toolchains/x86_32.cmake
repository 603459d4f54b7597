# SPDX-License-Identifier: Apache-2.0
# 32-bit x86 on Linux, which a 64-bit kernel runs directly. Debian's libzstd-dev:i386 brings the C library; the C++
# library is linked statically. _FILE_OFFSET_BITS allows files larger than 2 GiB. SSE2 rounds as every other machine
# does; x87 registers would round differently.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER i686-linux-gnu-g++)
set(CMAKE_C_FLAGS_INIT "-D_FILE_OFFSET_BITS=64")
set(CMAKE_CXX_FLAGS_INIT "-D_FILE_OFFSET_BITS=64 -march=pentium4 -msse2 -mfpmath=sse")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++")
