// SPDX-License-Identifier: Apache-2.0
// Checks, as far as possible without a Mac, that spotter includes and calls only what macOS has beyond the standard
// libraries. There is no SDK: this machine's headers stand for Apple's, and names that macOS lacks are made unusable.
#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#undef __linux__
#undef __linux
#undef linux
#undef O_TMPFILE
#undef MADV_WIPEONFORK
#undef MAP_POPULATE
#undef F_OFD_SETLK
#undef O_PATH
#undef SOCK_CLOEXEC
#undef MADV_HUGEPAGE
#undef MADV_POPULATE_WRITE
#undef MADV_DONTFORK
#undef SIGRTMIN
#undef SIGRTMAX
#undef SIGSTKFLT
#undef SIGPOLL
#undef CLOCK_BOOTTIME
#undef CLOCK_MONOTONIC_COARSE
#if !defined(__APPLE__)
#define __APPLE__ 1
#endif
#pragma GCC poison posix_fallocate posix_fadvise pipe2 sigtimedwait sigwaitinfo mkostemp accept4 dup3 memfd_create
#pragma GCC poison pthread_condattr_setclock pthread_mutex_timedlock pthread_spin_init
#pragma GCC poison sem_timedwait clock_nanosleep timer_create
#pragma GCC poison sched_getaffinity sched_setaffinity gettid getrandom sysinfo
#pragma GCC poison inotify_init epoll_create1 eventfd signalfd prctl
#pragma GCC poison fdatasync fallocate splice copy_file_range preadv2
#pragma GCC poison secure_getenv program_invocation_name mremap st_mtim st_atim

#include <spotter/checkpoints.hpp>
#include <spotter/control.hpp>
#include <spotter/export/safetensors.hpp>
#include <spotter/export/tensorboard.hpp>
#include <spotter/ext/system.hpp>
#include <spotter/heal.hpp>
#include <spotter/packs.hpp>
#include <spotter/preflight.hpp>
#include <spotter/print.hpp>
#include <spotter/replay.hpp>
#include <spotter/rerun.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/supervisor.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/export.hpp>
#include <spotter/workbench/npy.hpp>

static_assert(sizeof(spotter::machine_file_system) > 0);
