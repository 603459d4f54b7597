# SPDX-License-Identifier: Apache-2.0
"""Opens pages of `spotter report` in Chromium without a screen and says what is wrong with them.

    python3 tests/tools/browser.py page.html... [--pictures FOLDER]

For each page: no message on the console and no failed or further request; the sections that its navigation names; no horizontal
overflow at the width of a phone by day and of a desk by night; figures that have a size; a PDF with something on it. With
--pictures a PNG of each width is kept. Ends with 1 if something is wrong, with 77 where there is no Chromium.
"""
import argparse
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

# Width, whether it is a phone's, whether it is night.
VIEWS = ((390, True, False), (1200, False, True))
# What is asked of the page itself: how far it reaches over the edge, which figures have no size, which links lead nowhere.
QUESTION = """(() => {
  const seen = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll('body *')].filter(it => !it.closest('.wide') && !it.closest('svg')
      && it.getBoundingClientRect().right > seen + 1).map(it => it.tagName + '.' + it.className);
  return JSON.stringify({
    overflow: document.documentElement.scrollWidth - seen, wide: wide.slice(0, 5),
    flat: [...document.querySelectorAll('svg, img')].filter(it => it.checkVisibility() && !(it.getBoundingClientRect().height > 1)).length,
    broken: [...document.images].filter(it => !(it.naturalWidth > 0)).length,
    lost: [...document.querySelectorAll('nav a')].filter(it => !document.querySelector(it.getAttribute('href'))).length,
    sections: document.querySelectorAll('main section').length, figures: document.querySelectorAll('figure').length,
    tiny: [...document.querySelectorAll('svg text')].filter(it => it.checkVisibility()
        && parseFloat(getComputedStyle(it).fontSize) * it.getScreenCTM().a < 11.95).length,
    cut: [...document.querySelectorAll('svg text')].filter(it => it.checkVisibility()).filter(it => {
        const own = it.getBoundingClientRect(), all = it.closest('svg').getBoundingClientRect();
        return own.left < all.left - 1 || own.right > all.right + 1; }).map(it => it.textContent).slice(0, 5),
    thin: [...document.querySelectorAll('td.bars')].filter(it => it.checkVisibility() && it.getBoundingClientRect().width < 60).length,
    height: document.documentElement.scrollHeight, title: document.title});
})()"""


def chromium():
    """Where the browser is, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """The DevTools protocol over two pipes: messages of JSON, each ended by a zero byte."""

    def __init__(self, program, profile):
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()

        def place_pipes():  # the browser reads from 3 and writes to 4
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest = b""
        self.number = 0
        self.events = []

    def message(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.read_end, 1 << 16) if ready else b""
            if not piece:
                raise TimeoutError("the browser does not answer")
            self.rest += piece
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, session=None, **values):
        self.number += 1
        wanted = {"id": self.number, "method": method, "params": values}
        if session:
            wanted["sessionId"] = session
        os.write(self.write_end, json.dumps(wanted).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            it = self.message(deadline)
            if it.get("id") != self.number:
                self.events.append(it)
            elif "error" in it:
                raise RuntimeError(f"{method}: {it['error']}")
            else:
                return it["result"]

    def wait(self, method):
        deadline = time.monotonic() + 60
        while not any(each.get("method") == method for each in self.events):
            self.events.append(self.message(deadline))

    def close(self):
        self.process.kill()
        self.process.wait()


def look(browser, session, page, width, phone, dark, pictures):
    """What is wrong with a page at a width."""
    def call(method, **values):
        return browser.call(method, session, **values)

    browser.events.clear()
    call("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=phone)
    call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    call("Page.navigate", url=page.as_uri())
    browser.wait("Page.loadEventFired")
    found = json.loads(call("Runtime.evaluate", expression=QUESTION, returnByValue=True)["result"]["value"])
    wrong = []
    if found["overflow"] > 0 or found["wide"]:
        wrong.append(f"reaches {found['overflow']} px over the edge: {found['wide']}")
    for what in ("flat", "broken", "lost"):
        if found[what]:
            wrong.append(f"{found[what]} {what}")
    if found["sections"] == 0 or found["figures"] == 0 or "spotter" not in found["title"]:
        wrong.append(f"is no report: {found}")
    if found["cut"]:
        wrong.append(f"labels are cut: {found['cut']}")
    if found["thin"]:
        wrong.append(f"{found['thin']} bars have no room")
    if phone and found["tiny"]:
        wrong.append(f"{found['tiny']} digits below 12 px")
    for each in browser.events:
        if each["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Network.loadingFailed"):
            wrong.append(f"{each['method']}: {json.dumps(each['params'])[:300]}")
        if each["method"] == "Network.requestWillBeSent":
            url = each["params"]["request"]["url"]
            if url != page.as_uri() and not url.startswith("data:"):
                wrong.append(f"asks for {url}")
    if pictures:
        call("Emulation.setDeviceMetricsOverride", width=width, height=min(found["height"], 16000), deviceScaleFactor=1, mobile=phone)
        picture = call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        name = f"{page.stem}-{width}{'-dark' if dark else ''}.png"
        (pathlib.Path(pictures) / name).write_bytes(base64.b64decode(picture["data"]))
    return wrong


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("pages", nargs="+", type=pathlib.Path)
    asked.add_argument("--pictures")
    asked = asked.parse_args()
    program = chromium()
    if not program:
        print("no Chromium was found")
        sys.exit(77)
    wrong = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                browser.call(f"{domain}.enable", session)
            for page in (each.resolve() for each in asked.pages):
                for width, phone, dark in VIEWS:
                    reported = look(browser, session, page, width, phone, dark, asked.pictures)
                    wrong += [f"{page.name} at {width} px: {each}" for each in reported]
                paper = base64.b64decode(browser.call("Page.printToPDF", session, printBackground=True)["data"])
                if not paper.startswith(b"%PDF-") or len(paper) < 5000:
                    wrong.append(f"{page.name}: printing gives {len(paper)} bytes, beginning {paper[:8]}")
                if asked.pictures:
                    (pathlib.Path(asked.pictures) / f"{page.stem}.pdf").write_bytes(paper)
        finally:
            browser.close()
    print("\n".join(wrong) if wrong else "nothing wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
