# SPDX-License-Identifier: Apache-2.0
# Does in a new folder what a section of docs/getting.md says: blocks with a file's name become that file, blocks of `sh` are run, in order.
# The program that they end with must have said what the page says it does.
#   getting.py <docs/getting.md> <title of the section> <new folder> <the tree> [--copy FILE...] [OLD=NEW...]
# The tree is there as `spotter`, unless the section unpacks it (--copy: files that lie there instead); OLD is replaced in every block,
# by a word or, after an @, by the first word of a file.
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

arguments = sys.argv[1:]
page, title, folder, tree = Path(arguments[0]).read_text(), arguments[1], Path(arguments[2]), arguments[3]
copied = [item[len("--copy="):] for item in arguments[4:] if item.startswith("--copy=")]
replaced = [item.split("=", 1) for item in arguments[4:] if not item.startswith("--")]

fence = re.compile(r"^```(\S*) ?(\S*)\n(.*?)^```$", re.M | re.S)
before, *sections = re.split(r"^## (.*)\n", page, flags=re.M)
section = dict(zip(sections[::2], sections[1::2])).get(title)
if section is None:
    sys.exit(f"the page has no section {title!r}")
said = next(text for language, name, text in fence.findall(before) if not language)

shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
for path in copied:
    shutil.copy(path, folder)
if not copied:
    (folder / "spotter").symlink_to(tree)

output = ""
environment = {**os.environ, "HOME": str(folder / "home")}
for language, name, text in fence.findall(before) + fence.findall(section):
    for old, new in replaced:
        if new.startswith("@"):
            new = Path(new[1:]).read_text().split()[0]
        text = text.replace(old, new)
    if name:
        (folder / name).write_text(text)
    elif language == "sh":
        run = subprocess.run(["sh", "-eu"], input=text, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output += run.stdout
        if run.returncode != 0:
            sys.exit(f"{output}\nended with {run.returncode}:\n{text}")
for noise in "CMake Warning", "CMake Deprecation Warning", "arch_native_supported":
    if noise in output:
        sys.exit(f"{output}\nmust not say {noise}")
if said not in output:
    sys.exit(f"{output}\ndid not say {said}")
