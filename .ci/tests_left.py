# SPDX-License-Identifier: Apache-2.0
# Which tests of a build folder did not pass elsewhere, as a file for `ctest -I`.
#   tests_left.py <ctest> <build folder> <report of the tests that ran elsewhere> <file to write>
import json
import subprocess
import sys
import xml.etree.ElementTree as tree

ctest, folder, report, file = sys.argv[1:]
passed = {test.get("name") for test in tree.parse(report).iter("testcase") if test.get("status") == "run"}
shown = subprocess.run([ctest, "--test-dir", folder, "--show-only=json-v1"], check=True, stdout=subprocess.PIPE)
names = [test["name"] for test in json.loads(shown.stdout)["tests"]]
left = [str(number) for number, name in enumerate(names, 1) if name not in passed]
print(f"{len(left)} of {len(names)} tests; the others passed where {report} was written")
with open(file, "w", encoding="utf-8") as out:
    out.write(",".join(["0", "0", "0", *left]) + "\n")
