"""A client of headless Chromium, over its DevTools port: open a page, measure it, press keys, take pictures of it."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One browser process with one page.

    with Browser() as browser:
        browser.open(path, width=390)
        browser.value("document.title")
    """

    def __enter__(self):
        self.home = tempfile.mkdtemp()
        words = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                 f"--user-data-dir={self.home}", "--disable-extensions", "--no-first-run", "about:blank"]  # fmt: skip
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = Path(self.home) / "DevToolsActivePort"
        deadline = time.monotonic() + 60
        while not (port.exists() and port.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.05)
        number = port.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{number}/json") as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page"]
        self.loop = asyncio.new_event_loop()
        self.socket = self.loop.run_until_complete(self._connect(pages[0]["webSocketDebuggerUrl"]))
        self.last = 0
        self.said, self.asked = [], []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        return self

    async def _connect(self, address):
        from tornado.websocket import websocket_connect

        return await websocket_connect(address, max_message_size=1 << 28)

    async def _write(self, text):
        await self.socket.write_message(text)

    async def _read(self):
        return await asyncio.wait_for(self.socket.read_message(), 60)

    async def _close(self):
        self.socket.close()

    def __exit__(self, *_):
        self.loop.run_until_complete(self._close())  # inside the loop: other tests may have left none as the current one
        self.loop.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def ask(self, method, **parameters):
        """One command, and its result; what the page says on the way is kept in `said`."""
        self.last += 1
        self.loop.run_until_complete(self._write(json.dumps({"id": self.last, "method": method, "params": parameters})))
        return self._until(lambda found: found.get("id") == self.last)["result"]

    def _until(self, wanted):
        while True:
            message = self.loop.run_until_complete(self._read())
            found = json.loads(message)
            if found.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                self.said.append(found["params"])
            if found.get("method") == "Network.requestWillBeSent":
                self.asked.append(found["params"]["request"]["url"])
            if wanted(found):
                return found

    def open(self, path, *, width=1280, height=900, dark=False):
        """Load a file in a window of some width."""
        self.said, self.asked = [], []
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        self._until(lambda found: found.get("method") == "Page.loadEventFired")

    def value(self, expression):
        """The value of an expression in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key, code):
        """One key, down and up."""
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, path, *, whole=True):
        """The page as a PNG."""
        found = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def printed(self):
        """The page as a PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])
