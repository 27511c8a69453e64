"""A cluster of three hosts on one machine: network namespaces with their own addresses, joined by a bridge.

`make test-cluster` runs it, as root. A Ray head and two nodes are started as docs/scale.md tells; rankers are served on
both nodes by Ray Serve. One forest is grown by workers on both nodes, once undisturbed, and once while one node is
killed. Both model files must be those of one process, and the node that is left must still answer.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import rankwright as rw

HEAD, ONE, TWO = "rw-head", "rw-one", "rw-two"
ADDRESS = {HEAD: "10.91.7.1", ONE: "10.91.7.2", TWO: "10.91.7.3"}
BRIDGE, PORT = "rw-bridge", 6379
SHAPING = ["netem", "delay", "1ms", "rate", "1gbit"]  # where the kernel has it
BIN = Path(sys.executable).parent
ENVIRONMENT = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token"}
# Proxies of a busy machine take longer to start than Ray waits for them.
ENVIRONMENT |= {"RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "90", "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "90"}
TREES = ["--set=n_trees=40", "--set=max_leaves=15", "--set=min_docs_in_leaf=5"]
SECONDS_TO_START = 120.0


def ip(*arguments: str, check: bool = True) -> None:
    subprocess.run(["ip", *arguments], check=check, stderr=None if check else subprocess.DEVNULL)


@contextmanager
def hosts() -> Iterator[None]:
    """The three hosts, while the block lasts."""
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("link", "set", BRIDGE, "up")
        for number, (name, address) in enumerate(ADDRESS.items()):
            inner, outer = f"rwi{number}", f"rwo{number}"
            ip("netns", "add", name)
            ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
            ip("link", "set", outer, "master", BRIDGE, "up")
            ip("-n", name, "addr", "add", f"{address}/24", "dev", inner)
            ip("-n", name, "link", "set", inner, "up")
            ip("-n", name, "link", "set", "lo", "up")
            shaped = ["tc", "-n", name, "qdisc", "add", "dev", inner, "root", *SHAPING]
            if subprocess.run(shaped, stderr=subprocess.DEVNULL, check=False).returncode:
                sys.stderr.write(f"{name}: the kernel does not shape its link\n")
        yield
    finally:
        for name in ADDRESS:
            ip("netns", "del", name, check=False)
        ip("link", "del", BRIDGE, check=False)


@contextmanager
def ray_on(name: str, folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Ray node on a host, in a process group of its own, while the block lasts."""
    command = ["ip", "netns", "exec", name, str(BIN / "ray"), "start", "--block", "--node-ip-address", ADDRESS[name]]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options], env=ENVIRONMENT, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            end_all(process)


def end_all(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, which have its session."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if os.getsid(int(entry.name)) == process.pid:
                    os.kill(int(entry.name), signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
    process.wait()


def await_nodes(n_nodes: int) -> None:
    """Wait until so many nodes have joined."""
    script = f"import ray; ray.init('{ADDRESS[HEAD]}:{PORT}', log_to_driver=False); print(len(ray.nodes()))"
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        asked = ["ip", "netns", "exec", HEAD, sys.executable, "-c", script]
        done = subprocess.run(asked, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        if done.stdout.strip() == str(n_nodes):
            return
        time.sleep(1.0)
    raise TimeoutError(f"{n_nodes} nodes did not join within {SECONDS_TO_START:.0f} seconds: {done.stderr[-500:]}")


def train(folder: Path, out: Path) -> subprocess.Popen[bytes]:
    """Begin to train on the head, with workers on the nodes."""
    where = ["--cluster", f"{ADDRESS[HEAD]}:{PORT}", "--workers", "2"]
    command = ["ip", "netns", "exec", HEAD, str(BIN / "rankwright"), "train", str(folder), *TREES, *where]
    return subprocess.Popen([*command, "--checkpoint", f"{out}.run", "--out", str(out)], env=ENVIRONMENT)


def serving(*arguments: str) -> None:
    """Do a part of `tests.cluster.serving` on the head."""
    command = ["ip", "netns", "exec", HEAD, sys.executable, "-m", "tests.cluster.serving", *arguments]
    if subprocess.run(command, env=ENVIRONMENT, check=False).returncode:
        raise SystemExit("serving failed")


def main() -> None:
    with tempfile.TemporaryDirectory() as place, ExitStack() as open_things:
        folder = Path(place) / "shards"
        token = Path(place) / "token"
        token.write_text(secrets.token_hex(32))
        ENVIRONMENT["RAY_AUTH_TOKEN_PATH"] = str(token)
        text = Path(place) / "all.parquet"
        rw.write(rw.synthetic.web_search(n_queries=200, seed=1), text)
        rw.convert(text, folder, shards=5)
        alone = Path(place) / "alone.rw"
        subprocess.run([BIN / "rankwright", "train", folder, *TREES, "--out", alone], check=True)
        open_things.enter_context(hosts())
        scratch = Path(place)
        head = ["--head", "--port", str(PORT), "--include-dashboard=false", "--num-cpus=0", f"--temp-dir={place}/r"]
        join = [
            "--address",
            f"{ADDRESS[HEAD]}:{PORT}",
            "--num-cpus=6",
        ]  # four for the one replica that fits, two for training
        open_things.enter_context(ray_on(HEAD, scratch, *head))
        await_nodes(1)
        open_things.enter_context(ray_on(ONE, scratch, *join))
        await_nodes(2)  # two nodes that start at once on one machine may clash over the names of their sockets
        lost = open_things.enter_context(ray_on(TWO, scratch, *join))
        await_nodes(3)
        served, changed = Path(place) / "served.rw", Path(place) / "changed.rw"
        for file, n_trees in ((served, 10), (changed, 20)):
            rw.LambdaMART(n_trees=n_trees).fit(rw.synthetic.web_search(n_queries=20, seed=2)).save(file)
        serving("up", f"{ADDRESS[HEAD]}:{PORT}", str(served), str(changed), ADDRESS[ONE], ADDRESS[TWO])
        for name, kills in (("undisturbed", False), ("a node killed", True)):
            out = Path(place) / "together.rw"
            running = train(folder, out)
            if kills:
                deadline = time.monotonic() + SECONDS_TO_START
                while not Path(f"{out}.run").exists() and running.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.1)
                end_all(lost)
            if running.wait(timeout=600):
                raise SystemExit(f"{name}: training ended with {running.returncode}")
            if out.read_bytes() != alone.read_bytes():
                raise SystemExit(f"{name}: ANOTHER model file")
            sys.stderr.write(f"{name}: the model file of one process\n")
            for left in Path(f"{out}.run").iterdir():
                left.unlink()
            Path(f"{out}.run").rmdir()
        serving("left", str(changed), ADDRESS[ONE])


if __name__ == "__main__":
    main()
