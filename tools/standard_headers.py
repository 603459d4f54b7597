# SPDX-License-Identifier: Apache-2.0
"""A standard or system name of the list below is declared by a header that our own files include.

    python3 tools/standard_headers.py [project]

One standard library's <string> includes <cstdio>, another's does not. So a file that calls ::rename must include <cstdio> itself,
or through files of this project. Prints one line a breach, in the form file:line, and ends with 1 if there is one.
"""
import pathlib
import re
import sys

FOLDERS = ("include", "cmake/compiled", "tools", "examples", "bench", "tests")
SEARCHED = ("include", ".", "tools", "tools/workbench", "tests", "bench")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
TEXT = re.compile(r"""(?<!\w)'(?:[^'\\]|\\.)'|"(?:[^"\\]|\\.)*"|//.*""")


def calls(names):
    """Functions of C, as ::name( or std::name(."""
    return r"(?<![\w:>.])(?:std)?::(?:" + names.replace(" ", "|") + r")\("


def names(words):
    return r"\bstd::(?:" + words.replace(" ", "|") + r")\b"


# The headers any of which declares them, and the names.
DECLARED = [(set(headers.split()), re.compile(pattern)) for headers, pattern in (
    ("cstdio", calls("rename remove v?snprintf fopen fclose fread fwrite fflush fputs fputc f?printf fseek fgets") + r"|\bstd::FILE\b"),
    ("cstring string.h", calls("memcpy memset memcmp memmove memchr strlen strcmp strncmp strerror strchr strstr")),
    ("cstdlib", calls("getenv setenv abort malloc free calloc realloc exit strto[a-z]+ mkstemp aligned_alloc atexit system")),
    ("cerrno", r"\berrno\b|\bE(?:INTR|NOENT|NOSPC|EXIST|AGAIN|INVAL|ACCES|PERM|MFILE|LOOP|XDEV|FBIG|NOMEM)\b"),
    ("cmath", calls("sqrt exp log log2 log10 log1p expm1 fabs pow floor ceil round ll?round isfinite isnan isinf signbit hypot tanh? "
                    "sin cos frexp ldexp nextafter fma fmax fmin trunc erfc? lgamma ilogb scalbn copysign")),
    ("cctype", calls("isdigit isalpha isspace toupper tolower isalnum")),
    ("ctime time.h", calls("time gmtime gmtime_r localtime_r strftime clock_gettime") + "|" + names("time_t tm")),
    ("cstdint", r"\bstd::u?int(?:8|16|32|64|ptr)_t\b"),
    ("cstddef cstdio cstdlib cstring", names("size_t ptrdiff_t")),
    ("cstddef", names("byte max_align_t")),
    ("csignal", calls("kill raise signal sigaction pthread_sigmask sigpending sigismember") +
     r"|\bSIG(?:INT|TERM|KILL|BUS|SEGV|ABRT|PIPE)\b"),
    ("algorithm", names("min max clamp sort find find_if copy copy_n fill fill_n any_of all_of none_of count count_if equal lower_bound "
                        "upper_bound nth_element partial_sort min_element max_element minmax_element remove_if unique reverse transform "
                        "rotate swap_ranges mismatch search is_sorted for_each lexicographical_compare "
                        "ranges::(?:sort|find|copy|equal|any_of|all_of|none_of|count|reverse|fill|min|max|transform)\\w*")),
    ("array", names("array to_array")),
    ("atomic", names("atomic atomic_ref atomic_flag memory_order_\\w+ atomic_thread_fence")),
    ("bit", names("bit_cast popcount count[rl]_zero bit_width bit_ceil has_single_bit endian rot[lr]")),
    ("charconv", names("from_chars to_chars")),
    ("chrono", names("chrono")),
    ("complex", names("complex")),
    ("concepts", names("same_as integral floating_point unsigned_integral signed_integral convertible_to invocable derived_from "
                       "constructible_from")),
    ("condition_variable", names("condition_variable")),
    ("filesystem", names("filesystem")),
    ("fstream", names("[io]?fstream")),
    ("functional", names("function")),
    ("iostream", names("cout cerr cin")),
    ("limits", names("numeric_limits")),
    ("map", names("map")),
    ("memory", names("unique_ptr make_unique shared_ptr make_shared weak_ptr addressof")),
    ("mutex", names("mutex lock_guard unique_lock scoped_lock call_once")),
    ("new", names("nothrow bad_alloc launder align_val_t")),
    ("numeric", names("accumulate iota reduce gcd lcm inner_product partial_sum")),
    ("optional", names("optional nullopt")),
    ("random", names("mt19937\\w* random_device normal_distribution uniform_\\w+_distribution")),
    ("ranges", names("views ranges::\\w+_(?:range|t)")),
    ("set", names("set")),
    ("source_location", names("source_location")),
    ("span", names("span")),
    ("sstream", names("[io]?stringstream")),
    ("stdexcept", names("runtime_error logic_error invalid_argument out_of_range")),
    ("string", names("string to_string")),
    ("string_view string", names("string_view")),
    ("thread", names("jthread thread this_thread")),
    ("tuple", names("tuple tie apply make_tuple")),
    ("type_traits", names("is_same_v remove_cvref_t conditional_t is_trivially_\\w+ is_base_of_v decay_t underlying_type_t is_enum_v "
                          "true_type false_type invoke_result_t is_nothrow_\\w+")),
    ("unordered_map", names("unordered_map")),
    ("utility memory optional string variant vector", names("move forward exchange swap pair")),
    ("variant", names("variant monostate get_if")),
    ("vector", names("vector")),
    ("dirent.h", calls("opendir readdir closedir fdopendir")),
    ("dlfcn.h", calls("dlopen dlsym dlclose")),
    ("fcntl.h", calls("open openat fcntl posix_fallocate") + r"|\bO_(?:RDONLY|WRONLY|RDWR|CREAT|EXCL)\b"),
    ("spawn.h", calls("posix_spawn\\w*")),
    ("sys/mman.h", calls("mmap munmap madvise msync")),
    ("sys/stat.h", calls("stat fstat lstat mkdir chmod")),
    ("sys/wait.h", calls("waitpid")),
    ("unistd.h", calls("close read write pread pwrite getpid unlink ftruncate fsync fdatasync getcwd readlink readlinkat link linkat "
                       "pipe pipe2 sysconf dup dup2 isatty rmdir chdir _exit access")),
)]

MAY_MATCH = re.compile(r"std::|(?<![\w:>.])::\w+\(|\berrno\b|\b(?:E|SIG|O_)[A-Z]+\b")  # one search; most lines hold none of the names


class project:
    """The files of a project by path, and what each includes, in order."""

    def __init__(self, root):
        self.root = root
        paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.[chi]pp"))]
        paths += sorted((root / "include").rglob("*.h"))
        self.lines = {path: path.read_text(errors="replace").splitlines() for path in paths}
        self.includes = {path: list(self.includes_of(path)) for path in paths}

    def includes_of(self, path):
        """Pairs of a line number and one of our files, or the name itself of a header that is not ours."""
        for number, line in enumerate(self.lines[path], 1):
            match = INCLUDE.match(line)
            if match:
                near = ((folder / match.group(1)).resolve() for folder in (path.parent, *(self.root / each for each in SEARCHED)))
                yield number, next((each for each in near if each in self.lines), match.group(1))

    def compile(self, path, checked, seen, foreign):
        """What the preprocessor meets from here on: breaches in the checked files. A body's file is met where its header includes it."""
        seen.add(path)
        begin = 0
        for number, name in [*self.includes[path], (len(self.lines[path]) + 1, None)]:
            if path in checked:
                yield from self.breaches(path, begin, number, foreign)
            begin = number
            if isinstance(name, str):
                foreign.add(name)
            elif name and name not in seen:
                yield from self.compile(name, checked, seen, foreign)

    def breaches(self, path, begin, end, foreign):
        """Names between two includes whose header was not met before them."""
        for number in range(begin + 1, end):
            line = self.lines[path][number - 1]
            if not MAY_MATCH.search(line):
                continue
            line = TEXT.sub("", line)
            for headers, pattern in DECLARED:
                match = pattern.search(line)
                if match and not headers & foreign:
                    yield f"{path.relative_to(self.root)}:{number}: {match.group(0)} needs <{'> or <'.join(sorted(headers))}>"


def main():
    files = project(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    found = []
    for path in files.lines:
        if path.suffix != ".ipp":
            checked = {path, *(name for _, name in files.includes[path] if isinstance(name, pathlib.Path) and name.suffix == ".ipp")}
            found += files.compile(path, checked, set(), set())
    found = list(dict.fromkeys(found))  # a body's file may have two headers
    print("\n".join(found + [f"{len(found)} names without their header"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
