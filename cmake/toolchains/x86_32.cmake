# SPDX-License-Identifier: Apache-2.0
# 32-bit x86 under Linux, which a 64-bit kernel runs as it is. Debian's libzstd-dev:i386 brings the C library; that of C++ is linked in.
# Files may be larger than 2 GiB (_FILE_OFFSET_BITS). SSE2 computes as every other machine does; the x87's registers would round otherwise.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER i686-linux-gnu-g++)
set(CMAKE_C_FLAGS_INIT "-D_FILE_OFFSET_BITS=64")
set(CMAKE_CXX_FLAGS_INIT "-D_FILE_OFFSET_BITS=64 -march=pentium4 -msse2 -mfpmath=sse")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++")
