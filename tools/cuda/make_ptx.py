#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the kernels' text (include/spotter/ext/cuda/ptx/*.hpp, examples/cuda/ptx.hpp) of their source, or holds one against the other.

    python3 tools/cuda/make_ptx.py            write the headers
    python3 tools/cuda/make_ptx.py --check    compare; exit code 1 where a header is not what clang makes now
    python3 tools/cuda/make_ptx.py --assemble [ptxas]   the headers' text through ptxas, for several cards

It takes clang++ 19 with its NVPTX back end, which every build of clang 19 has; no toolkit of NVIDIA's. Without it, `--check` says
SPOTTER_SKIP. So does `--assemble` without a ptxas (of a toolkit, or of PyPI's wheel nvidia-cuda-nvcc-cu12).
"""
import argparse
import glob
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "include" / "spotter" / "ext" / "cuda" / "ptx"
LIBRARY = ROOT / "tools" / "cuda" / "kernels.cpp"
# A header's text: its source, what is defined for it, and its header with namespace and name.
KERNELS = {name: (LIBRARY, f"-DSPOTTER_KERNEL_{name.upper()}", HEADERS / f"{name}.hpp", "spotter::inline SPOTTER_ABI::detail::cuda_pass", f"{name}_ptx")
           for name in ("blocks", "fold", "chains")}
KERNELS["example"] = (ROOT / "examples" / "cuda" / "kernels.cpp", "-DEXAMPLE", ROOT / "examples" / "cuda" / "ptx.hpp", "example_cuda", "ptx")
COMPILER = "clang++-19"
# PTX 6.0 and sm_70: what the first cards with independent threads take, and every later card and driver as well.
FLAGS = ("-std=c++20", "-O2", "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib",
         "--cuda-path=/nonexistent", "--cuda-feature=+ptx60", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")
ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
LONGEST = 116


def skip(why):
    print(f"SPOTTER_SKIP: {why}")
    sys.exit(0)


def compiled(kernel):
    """PTX of one kernel, as clang writes it."""
    source, define, *_ = KERNELS[kernel]
    command = [COMPILER, *FLAGS, define, f"-I{ROOT / 'include'}", f"-I{ROOT}", "-S", "-o", "-", str(source)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}failed: {done.returncode}")
    return done.stdout


def shortened(ptx):
    """The same without comments and indentation, and with short names for what only this text calls."""
    statements = []
    for line in ptx.splitlines():
        line = re.sub(r"//.*", "", line).strip()
        line = re.sub(r"[ \t]+", " ", line)
        if line:
            statements.append(line)
    text = "\n".join(statements)
    for i, name in enumerate(sorted(set(re.findall(r"\b_Z\w+?(?=_param_|\b)", text)), key=len, reverse=True)):
        text = text.replace(name, f"f{i}")
    text = re.sub(r"\b(\w+)_param_(\d+)", lambda found: f"p{found[2]}" if found[1].startswith(("spotter_", "train_")) else found[0], text)
    return re.sub(r", ", ",", text)


def folded(text):
    """In lines as long as a header's may be: PTX takes any white space for a line's end."""
    lines = [""]
    for each in text.split("\n"):
        if lines[-1] and len(lines[-1]) + 1 + len(each) > LONGEST:
            lines.append(each)
        else:
            lines[-1] += (" " if lines[-1] else "") + each
    return "\n".join(lines)


def header(kernel):
    text = folded(shortened(compiled(kernel)))
    assert ".local" not in text, "something is kept in memory of each thread's own: the tasks, most likely"
    assert "fma" not in text, "a product was fused with a sum: other bits than the processor's"
    assert max(map(len, text.split("\n"))) <= LONGEST + 4 and len(text) < 65536, "too long for a header"
    source, _, _, space, name = KERNELS[kernel]
    layer = "Ext (L6): " if source == LIBRARY else ""
    include = "#include <spotter/config.hpp>\n\n" if source == LIBRARY else ""
    return f"""// SPDX-License-Identifier: Apache-2.0
// {layer}Kernels as the driver compiles them; made by tools/cuda/make_ptx.py of {source.relative_to(ROOT)}.
#pragma once

{include}namespace {space} {{

// clang-format off
inline constexpr char {name}[] = R"ptx(
{text}
)ptx";
// clang-format on

}}  // namespace {space}
"""


def text_of(kernel):
    return re.search(r'R"ptx\((.*)\)ptx"', KERNELS[kernel][2].read_text(), re.DOTALL)[1]


def assemble(ptxas):
    said = subprocess.run([ptxas, "--help"], stdout=subprocess.PIPE, text=True).stdout
    known = [each for each in ARCHITECTURES if f"'{each}'" in said]
    with tempfile.TemporaryDirectory() as name:
        source = pathlib.Path(name) / "kernel.ptx"
        for kernel in KERNELS:
            source.write_text(text_of(kernel))
            for each in known:
                done = subprocess.run([ptxas, "-v", f"-arch={each}", source, "-o", source.with_suffix(".cubin")],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if done.returncode != 0:
                    sys.exit(f"{kernel} for {each}: {done.stdout}")
                used = re.search(r"Used (\d+) registers", done.stdout)
                spilled = re.findall(r"(\d+) bytes spill stores", done.stdout)
                print(f"{kernel} {each}: {used[1] if used else '?'} registers, {sum(map(int, spilled))} bytes spilled")
    if not known:
        sys.exit(f"{ptxas} knows none of {ARCHITECTURES}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--check", action="store_true", help="compare")
    options.add_argument("--assemble", nargs="?", const="ptxas", metavar="PTXAS", help="through ptxas")
    options = options.parse_args()
    if options.assemble:
        ptxas = shutil.which(options.assemble) or shutil.which("/usr/local/cuda/bin/ptxas")
        ptxas = ptxas or next(iter(glob.glob(str(ROOT / "build/python/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))), None)
        if not ptxas:
            skip("ptxas was not found: no kernel was assembled")
        return assemble(ptxas)
    if not shutil.which(COMPILER):
        skip(f"{COMPILER} was not found: the kernels' text was not made anew")
    wrong = []
    HEADERS.mkdir(exist_ok=True)
    for kernel in KERNELS:
        path = KERNELS[kernel][2]
        now = header(kernel)
        if not options.check:
            path.write_text(now)
        elif not path.is_file() or path.read_text() != now:
            wrong.append(str(path))
    if wrong:
        sys.exit(f"{', '.join(wrong)}: not what their source makes; run python3 tools/cuda/make_ptx.py")


if __name__ == "__main__":
    main()
