"""A browser for tests: Chromium without a window, spoken to through a pair of pipes, so that no library is needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
ENDS = b"\0"  # of a message
# The browser reads from descriptor 3 and writes to 4.
WIRED = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def browser_program() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One tab. `complaints` and `requests` are what the console said and what was asked for since the last `visit`."""

    def __init__(self, write: int, read: FileIO) -> None:
        self._write, self._read, self._rest, self._number = write, read, b"", 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def visit(self, url: str, width: int, scheme: str) -> None:
        """Load the page in a window of that width, `light` or `dark`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Storage.clearDataForOrigin", origin="file://", storageTypes="local_storage")
        self.complaints, self.requests, self._loaded = [], [], False
        self.call("Page.navigate", url=url)
        while not self._loaded:
            self._take(self._message())

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, which may be a promise."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def call(self, method: str, **params: Any) -> Any:
        return self._call(method, session=self._session, **params)

    def _call(self, method: str, session: str | None = None, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self._write, json.dumps(message).encode() + ENDS)
        while (answer := self._message()).get("id") != self._number:
            self._take(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _message(self) -> dict[str, Any]:
        while ENDS not in self._rest:
            block = self._read.read(1 << 16)
            assert block, "the browser ended"
            self._rest += block
        line, _, self._rest = self._rest.partition(ENDS)
        found: dict[str, Any] = json.loads(line)
        return found

    def _take(self, event: dict[str, Any]) -> None:
        name, params = event.get("method"), event.get("params", {})
        if name == "Page.loadEventFired":
            self._loaded = True
        elif name == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"].get("exception", params["exceptionDetails"])))
        elif name == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif name == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.complaints.append(str(params["args"]))
        elif name == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])


@contextmanager
def open_browser(program: str, profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile, ended with the block."""
    to_browser, from_browser = os.pipe(), os.pipe()
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    options += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}"]
    ends = (str(to_browser[0]), str(from_browser[1]))
    process = subprocess.Popen(
        [sys.executable, "-c", WIRED, *ends, program, *options, "--remote-debugging-pipe"],
        pass_fds=(to_browser[0], from_browser[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    with os.fdopen(from_browser[0], "rb", buffering=0) as read:
        try:
            yield Browser(to_browser[1], read)
        finally:
            process.kill()
            process.wait()
            os.close(to_browser[1])
