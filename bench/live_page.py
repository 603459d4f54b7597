# SPDX-License-Identifier: Apache-2.0
"""What `spotter serve` costs: the first screen, how far it is behind a run that is written, and memory.

    python3 bench/live_page.py SPOTTER RUNS [--runs 1000] [--steps 1000] [--long 1000000] [--wide 10000]

SPOTTER is the command line, RUNS the program that makes runs (tests/live_page, target spotter_test_live_page). In a folder of its own
it makes so many runs of so many steps, one run of --long steps and one of --wide tensors; then it asks as the page does.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request


def memory(process, what):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    return 0


def anonymous(process):
    """What is its own: pages of files, which the system takes back as it likes, are not."""
    return memory(process, "RssAnon")


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("tool")
    asked.add_argument("program")
    for name, usual in (("runs", 1000), ("steps", 1000), ("long", 1_000_000), ("wide", 10_000)):
        asked.add_argument(f"--{name}", type=int, default=usual)
    asked = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        def make(*what):
            subprocess.run([asked.program, *map(str, what)], check=True)
        make("sweep", folder, asked.runs, asked.steps)
        make("long", folder, asked.long)
        make("wide", folder, asked.wide)
        served = subprocess.Popen([asked.tool, "serve", folder, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True)
        begin = time.monotonic()
        url = json.loads(served.stdout.readline())["url"]
        most = [0.0, 0.0]
        over = threading.Event()

        def watch_memory():
            while not over.wait(0.05):
                most[0], most[1] = max(most[0], anonymous(served)), max(most[1], memory(served, "VmRSS"))
        watcher = threading.Thread(target=watch_memory)
        watcher.start()

        def ask(what, parse=True):
            with urllib.request.urlopen(url + what) as answer:
                body = answer.read()
            return json.loads(body) if parse else body

        def timed(what):
            at = time.monotonic()
            told = ask(what)
            return told, time.monotonic() - at
        try:
            for name in ("", "state.js", "list.js", "runs.js", "app.js", "chart.js", "style.css"):
                ask(name, False)
            while not ask("api/runs")["scanned"]:
                time.sleep(0.02)
            print(f"all names: {time.monotonic() - begin:.2f} s after the program began")
            while not (told := ask("api/runs"))["scanned"] or len([it for it in told["runs"] if "card" in it]) < min(30, asked.runs):
                time.sleep(0.02)
            print(f"first screen (30 runs read): {time.monotonic() - begin:.2f} s")
            while (told := ask("api/runs"))["unread"]:
                time.sleep(0.1)
            spent = sum(map(int, pathlib.Path(f"/proc/{served.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) / 100
            print(f"all {len(told['runs'])} runs read: {time.monotonic() - begin:.2f} s, {spent:.2f} s of processor time")
            ids = {it["name"]: it["id"] for it in told["runs"]}
            version = told["version"]
            print(f"the whole list: {len(json.dumps(told)) / 1024:.0f} KiB, {timed('api/runs')[1] * 1000:.0f} ms; what changed: {timed(f'api/runs?since={version}')[1] * 1000:.1f} ms")
            for words, what in ((f"curve of {asked.long} steps, the first time", f"api/curves?tag=loss&run={ids['long']}"),
                                ("again", f"api/curves?tag=loss&run={ids['long']}"),
                                ("a tenth of it, closer", f"api/curves?tag=loss&from={asked.long // 2}&to={asked.long * 6 // 10}&run={ids['long']}"),
                                (f"{min(50, asked.runs)} runs compared", "api/curves?tag=loss&" + "&".join(f"run={ids[f'sweep/run-{i}']}" for i in range(min(50, asked.runs)))),
                                (f"page of the run with {asked.wide} tensors", f"api/run?run={ids['wide']}"),
                                ("its list of tensors, a hundred of them", f"api/tensors?run={ids['wide']}"),
                                ("a statistic of one of them", f"api/curves?tag=layer/77/w&stat=l2&run={ids['wide']}")):
                print(f"{words}: {timed(what)[1] * 1000:.0f} ms")
            # A run that is written: each step says when it was made.
            grows = subprocess.Popen([asked.program, "grow", f"{folder}/live", "12"])
            lags, version, seen, live = [], 0, 0, None
            end = time.monotonic() + 11
            while time.monotonic() < end:
                time.sleep(0.4)  # as the page asks
                told = ask(f"api/runs?since={version}")
                version = told["version"]
                for it in told["runs"]:
                    live = it["id"] if it["name"] == "live" else live
                    if it["name"] != "live" or "card" not in it:
                        continue
                    line = next(iter(ask(f"api/curves?tag=loss&run={live}")["lines"]), None)
                    if line and line["step"] != seen:
                        seen = line["step"]
                        made = float(ask(f"api/values?run={live}&tag=made_at&step=train:{seen}")["values"][0])
                        lags.append(time.time() - made)
            grows.wait()
            if lags:
                print(f"behind a run that is written, at the page's next look: newest step {statistics.median(lags) * 1000:.0f} ms old, at most {max(lags) * 1000:.0f} ms; "
                      f"a step that just missed a look waits 400 ms more")
            print(f"memory: {most[0]:.0f} MiB of its own at most, {most[1]:.0f} MiB with pages of files")
        finally:
            over.set()
            watcher.join()
            served.terminate()
            served.wait()


if __name__ == "__main__":
    main()
