"""The page as it runs: the command in a process of its own, asked by a browser and without one."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.report.driver import AUDITS
from tests.search.small_collection import Searchable

RANKWRIGHT = str(Path(sys.executable).with_name("rankwright"))
PATIENCE = 60.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class RunningPage:
    """The command, which can be killed and started again on the same port and the same store."""

    def __init__(self, searchable: Searchable, store: Path, *options: str) -> None:
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}/"
        models = ("--model", f"forest={searchable.model}", "--model", f"<b>bm25f</b>={searchable.tuned}")
        asked = ("--queries", str(searchable.queries), "--qrels", str(searchable.qrels))
        self._command = [RANKWRIGHT, "search", str(searchable.index), "--page", "--no-browser", "--port",
                         str(self.port), "--judgments", str(store), "--rater", "ann",
                         *models, *asked, *options]  # fmt: skip
        self.process: subprocess.Popen[str] | None = None
        self.first_url = ""
        self._said = store.with_suffix(".log")
        self.start()

    def start(self) -> None:
        end = time.monotonic() + PATIENCE
        with self._said.open("w") as said:
            self.process = subprocess.Popen(self._command, stderr=said, text=True)
        while not (found := re.search(r"http\S+token=\S+", self._said.read_text())):
            assert self.process.poll() is None, self._said.read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        self.first_url = found[0]
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"{self.base}health", timeout=1).read()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError("the page does not answer")

    def kill(self) -> None:
        """End the server and its worker in the hardest way."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in (self.process.pid, *map(int, children)):
            subprocess.run(["kill", f"-{signal.SIGKILL}", str(pid)], check=False)
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)

    def asked(
        self, path: str, *, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[int, dict[str, str], str]:
        """The status, the headers and the text of an answer; redirections are not followed."""
        request = urllib.request.Request(self.base + path, data=body, headers=headers or {})
        opener = urllib.request.build_opener(_NoRedirects)
        try:
            answer = opener.open(request, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, {key.lower(): value for key, value in answer.headers.items()}, answer.read().decode()

    def cookie(self) -> str:
        _, headers, _ = self.asked(self.first_url.removeprefix(self.base))
        return headers["set-cookie"].partition(";")[0]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class OpenPage:
    """A tab of a browser; everything that goes wrong in it is kept."""

    def __init__(self, context: Any, url: str) -> None:
        from playwright.sync_api import Error

        self._error = Error
        self.tab = context.new_page()
        self.wrong: list[str] = []
        self.tab.on("console", lambda one: self.wrong.append(one.text) if one.type in ("error", "warning") else None)
        self.tab.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.tab.on("dialog", self._dialog)
        self.open(url)

    def _dialog(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, url: str) -> None:
        self.tab.goto(url)
        self.tab.wait_for_selector("html[data-ready]")

    def until(self, condition: str, seconds: float = 20.0) -> None:
        """Wait until an expression is true; the page's policy lets no text be run inside it, so it is asked often."""
        end = time.monotonic() + seconds
        while not self._is_true(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def _is_true(self, condition: str) -> bool:
        try:
            return bool(self.tab.evaluate(condition))
        except self._error as error:
            if "navigation" in str(error) or "null" in str(error):  # another page is on its way, or not whole yet
                return False
            raise

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.tab.locator(selector).all_inner_texts()]

    def titles(self, side: str) -> list[str]:
        return self.texts(f'[data-side="{side}"] h3')

    def audit(self) -> dict[str, list[str]]:
        """What is cut, hard to read or unnamed; wide tables may be scrolled by keys, and some texts are only heard."""
        found: dict[str, list[str]] = self.tab.evaluate(AUDITS)
        heard = (".hidden ", "DIV.scroll")
        found["cut"] = [one for one in found["cut"] if not any(sign in one for sign in heard)]
        found["unnamed"] = [one for one in found["unnamed"] if 'type="hidden"' not in one]
        return {name: own for name, own in (found | {"wrong": self.wrong}).items() if own}
