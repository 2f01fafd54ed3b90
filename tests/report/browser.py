"""A client of headless Chromium, over its DevTools port: open a page, measure it, press keys, take pictures of it."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def _ended(process):
    """The browser and the processes that it started are gone."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Browser:
    """One browser process with one page.

    with Browser() as browser:
        browser.open(path, width=390)
        browser.value("document.title")
    """

    def __enter__(self):
        with ExitStack() as opened:  # what was opened before a fault is closed again
            home = Path(opened.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            address = self._started(home, opened)
            self.loop = asyncio.new_event_loop()
            opened.callback(self.loop.close)
            self.socket = self.loop.run_until_complete(self._connect(address))
            opened.callback(lambda: self.loop.run_until_complete(self._close()))
            self.last = 0
            self.said, self.asked = [], []
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.ask(f"{domain}.enable")
            self.opened = opened.pop_all()
        return self

    def __exit__(self, *_):
        self.opened.close()

    @staticmethod
    def _started(home, opened):
        """Start the browser; where its page is spoken to."""
        words = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                 f"--user-data-dir={home}", "--disable-extensions", "--no-first-run", "about:blank"]  # fmt: skip
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        opened.callback(_ended, process)
        port = home / "DevToolsActivePort"
        deadline = time.monotonic() + 300
        while not (port.exists() and port.read_text().strip()):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the browser did not start (exit code {process.poll()})")
            time.sleep(0.05)
        with urllib.request.urlopen(f"http://127.0.0.1:{port.read_text().split()[0]}/json", timeout=300) as answer:
            return next(page["webSocketDebuggerUrl"] for page in json.load(answer) if page["type"] == "page")

    async def _connect(self, address):
        from tornado.websocket import websocket_connect

        return await websocket_connect(address, max_message_size=1 << 28)

    async def _close(self):
        self.socket.close()

    async def _write(self, text):
        await self.socket.write_message(text)

    async def _read(self):
        return await asyncio.wait_for(self.socket.read_message(), 300)

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
