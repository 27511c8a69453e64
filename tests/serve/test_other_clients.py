"""What docs/serving_clients.md shows works: others' clients from PyPI on loopback, the container's commands, KServe.

Each runs in an environment of its own, which is made once; the examples are the page's own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.environments import environment
from tests.serve.test_server_process import free_port, serving
from tests.text.small_index import DOCUMENTS

import rankwright as rw
from rankwright.client import RankClient
from rankwright.rankers.text_scoring import score_texts

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serving_clients.md").read_text()
TEXTS = [str(one["body"]) for one in DOCUMENTS]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def block(first_line: str) -> str:
    return next(one for one in blocks("py") if one.startswith(f"# {first_line}\n"))


def printed(python: Path | str, port: int, code: str, **given: str) -> list[str]:
    """What an example prints, asked at that port."""
    values = "".join(f"{name} = {value}\n" for name, value in given.items())
    command = [str(python), "-c", values + code.replace("127.0.0.1:8000", f"127.0.0.1:{port}")]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert told.returncode == 0, told.stderr[-2000:]
    return told.stdout.splitlines()


@pytest.fixture(scope="module")
def texts_served(texts_file, model_file):
    with serving(model_file, f"texts={texts_file}", "--reload-seconds", "0") as (_, port, _):
        wanted = score_texts(rw.load(texts_file), "red boat", TEXTS)
        order = sorted(range(len(TEXTS)), key=lambda row: -wanted[row])
        yield port, [TEXTS[row] for row in order[:2]]


CHAINS = ("langchain-cohere", "langchain-core", "llama-index-postprocessor-cohere-rerank",
          "llama-index-postprocessor-jinaai-rerank", "cohere")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["LangChain", "LlamaIndex"])
def test_rerankers_of_others_order_texts(texts_served, framework):
    port, best = texts_served
    told = printed(environment("chains", *CHAINS), port, block(framework), TEXTS=repr(TEXTS))
    assert len(told) == {"LangChain": 1, "LlamaIndex": 2}[framework]
    for line in told:
        found = eval(line, {"__builtins__": {}})
        assert [text for text, _ in found] == best
        assert all(0 <= relevance <= 1 for _, relevance in found)


@pytest.mark.slow
def test_rerankers_of_others_tell_what_was_wrong(texts_served):
    port, _ = texts_served
    python = environment("chains", *CHAINS)
    code = """
import cohere
for client in (cohere.ClientV2("any", base_url=URL), cohere.Client("any", base_url=URL)):
    try:
        client.rerank(model="web", query="q", documents=["a"])
    except cohere.core.api_error.ApiError as error:
        print(error.status_code, error.body["message"])
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.jinaai_rerank import JinaRerank
try:
    JinaRerank(model="none", base_url=URL + "/v1", api_key="any").postprocess_nodes(
        [NodeWithScore(node=TextNode(text="a"))], query_str="q")
except RuntimeError as error:
    print(error)
"""
    told = printed(python, port, code, URL=repr(f"http://127.0.0.1:{port}"))
    assert len(told) == 3
    assert all(line.startswith("422 web was not trained on text") for line in told[:2])
    assert told[2].startswith("unknown model 'none'")


@pytest.mark.slow
def test_tritons_client_infers(running_web, query):
    port, model_file = running_web
    python = environment("triton", "tritonclient[http]")
    rows = f"__import__('numpy').array({query.features.tolist()}, 'float32')"
    told = printed(python, port, block("Triton") + "    print(answer.as_numpy('scores').tolist())\n", ROWS=rows)
    assert json.loads(told[-1]) == rw.load(model_file).predict(query).tolist()
    wrong = block("Triton").replace("ROWS.shape", "(1, 2)").replace("ROWS,", "ROWS[:1, :2],")
    code = f"try:\n{_indented(wrong)}\nexcept triton.InferenceServerException as error:\n    print(error)\n"
    assert "must have the shape [documents, 4]" in printed(python, port, code, ROWS=rows)[-1]


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.splitlines())


@pytest.fixture(scope="module")
def running_web(model_file):
    with serving(model_file, "--reload-seconds", "0") as (_, port, _):
        yield port, model_file


@pytest.fixture(scope="module")
def kserve():
    return environment("kserve", "kserve")


@pytest.mark.slow
def test_kserves_client_infers(running_web, query, kserve):
    port, model_file = running_web
    code = """
import asyncio
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig
async def main():
    client = InferenceRESTClient(RESTConfig(protocol="v2"))
    assert await client.is_server_ready(URL) and await client.is_server_live(URL)
    assert await client.is_model_ready(URL, "web")
    for binary in (False, True):
        tensor = InferInput("features", list(ROWS.shape), "FP32")
        tensor.set_data_from_numpy(ROWS, binary_data=binary)
        answer = await client.infer(URL, InferRequest(model_name="web", infer_inputs=[tensor]), model_name="web")
        print(answer.outputs[0].as_numpy().tolist())
asyncio.run(main())
"""
    rows = f"__import__('numpy').array({query.features.tolist()}, 'float32')"
    told = printed(kserve, port, code, URL=repr(f"http://127.0.0.1:{port}"), ROWS=rows)
    scores = rw.load(model_file).predict(query).tolist()
    assert [json.loads(line) for line in told] == [scores, scores]


@pytest.mark.slow
def test_kserves_classes_know_every_word_of_the_manifest(kserve):
    manifest = next(one for one in blocks("yaml") if "InferenceService" in one)
    code = """
import json, yaml, kserve, kubernetes.client

def made(kind, value):
    '''The value as this class, and back: what the class does not know is gone.'''
    if kind.startswith("list["):
        return [made(kind[5:-1], one) for one in value]
    own = getattr(kserve, kind, None) or getattr(kubernetes.client, kind, None)
    if own is None:
        return value
    if hasattr(own, "from_dict"):
        return own.from_dict(value).model_dump(by_alias=True, exclude_none=True)
    known = {word: name for name, word in own.attribute_map.items()}
    parts = {known[word]: made(own.openapi_types[known[word]], one) for word, one in value.items() if word in known}
    own(**parts)  # which checks what must be there
    return {own.attribute_map[name]: part for name, part in parts.items()}

given = yaml.safe_load(MANIFEST)
print(json.dumps([given, made("V1beta1InferenceService", given)]))
"""
    given, understood = json.loads(printed(kserve, 0, code, MANIFEST=repr(manifest))[-1])
    assert understood == given  # a word that they do not know would be gone


def test_the_manifest_starts_a_server_that_our_options_know(model_file):
    manifest = next(one for one in blocks("yaml") if "InferenceService" in one)
    args = json.loads(re.search(r"args: (\[.*\])", manifest)[1])  # type: ignore[index]
    assert args[:2] == ["rankwright", "serve"]
    port = free_port()
    given = [str(model_file) if one.endswith(".rw") else one for one in args[2:]]
    place = given.index("--port") + 1
    assert re.findall(r"port: (\d+)", manifest) == [given[place]] * 2
    given[place] = str(port)
    ready(manifest, port, [str(Path(sys.executable).with_name("rankwright")), "serve", *given])


def ready(manifest: str, port: int, command: list[str], **how) -> None:
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL, **how)
    try:
        with RankClient(f"http://127.0.0.1:{port}") as client:
            end = time.monotonic() + 60
            while not client.is_ready() and time.monotonic() < end and server.poll() is None:
                time.sleep(0.05)
            for path in re.findall(r"path: (\S+)", manifest):
                assert client._sent("GET", path, None, {})[0] == 200
    finally:
        server.terminate()
        assert server.wait(timeout=60) == 0


@pytest.mark.slow
def test_the_commands_of_the_container_run_in_a_clean_environment(tmp_path, model_file, query):
    """What the file says is done: its RUN lines in an environment with nothing in it, its CMD as the container's."""
    file = next(one for one in blocks("dockerfile") if one.startswith("FROM"))
    lines = [line.partition(" ")[::2] for line in file.splitlines() if line]
    assert [name for name, _ in lines] == ["FROM", "RUN", "WORKDIR", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "CMD"]
    said = dict(lines)
    inside, place, wheels = tmp_path / "env", tmp_path / "srv", tmp_path / "wheels"
    built = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(wheels)]
    subprocess.run([*built, str(ROOT)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(inside)], check=True)
    clean = {name: os.environ[name] for name in ("PIP_INDEX_URL", "PIP_CONFIG_FILE") if name in os.environ}
    clean |= {"PATH": f"{inside}/bin:/usr/bin:/bin", "HOME": str(tmp_path), "PIP_FIND_LINKS": str(wheels)}
    subprocess.run(["sh", "-c", said["RUN"]], env=clean, check=True, cwd=tmp_path)
    place.mkdir()
    shutil.copy(model_file, place / "web.rw")
    (place / "tokens.txt").write_text("a-token-that-is-long\n")
    assert {path.name for path in place.iterdir()} == set(said["COPY"].split()[:-1])
    port = free_port()
    command = [one.replace("8000", str(port)) for one in json.loads(said["CMD"])]
    assert said["EXPOSE"] == "8000"
    server = subprocess.Popen([str(inside / "bin" / command[0]), *command[1:]], env=clean, cwd=place,
                              stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        check = json.loads(said["HEALTHCHECK"].removeprefix("CMD "))
        check[-1] = check[-1].replace("8000", str(port))
        end = time.monotonic() + 60
        while subprocess.run(check, env=clean, stderr=subprocess.DEVNULL, check=False).returncode:
            assert time.monotonic() < end
            assert server.poll() is None
        with RankClient(f"http://127.0.0.1:{port}", token="a-token-that-is-long") as client:
            assert client.rank_floats(query.features).scores == rw.load(model_file).predict(query).tolist()
    finally:
        server.terminate()
        assert server.wait(timeout=60) == 0


def test_every_curl_of_the_page_is_answered(running_web, query, tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    port, _ = running_web
    (tmp_path / "features.f32").write_bytes(query.features.tobytes())
    commands = [line for one in blocks("bash") for line in one.splitlines() if line.startswith("curl")]
    assert len(commands) == 5
    for line in commands:
        asked = [*shlex.split(line.replace("localhost:8000", f"127.0.0.1:{port}")), "--fail-with-body"]
        told = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert told.returncode == 0, (line, told.stdout)
        assert told.stdout


class Engine(BaseHTTPRequestHandler):
    """Answers as Elasticsearch and OpenSearch do when features are logged."""

    hits: list[dict[str, Any]]
    asked: list[dict[str, Any]]

    def do_POST(self):
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        body = json.dumps({"hits": {"hits": self.hits[: self.asked[-1]["size"]]}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_hits_of_a_search_engine_are_rescored(running_web, query, capsys):
    port, model_file = running_web
    names = list(query.names)
    hits = []
    for row, values in enumerate(query.features.tolist()):
        log = [{"name": name, "value": value} for name, value in zip(names, values, strict=True) if value != 0.0]
        log += [{"name": name} for name, value in zip(names, values, strict=True) if value == 0.0]
        hits.append({"_id": f"d{row}", "_source": {"title": f"t{row}"}, "fields": {"_ltrlog": [{"features": log}]}})
    Engine.hits, Engine.asked = hits, []
    engine = HTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    try:
        code = block("rescoring").replace("127.0.0.1:8000", f"127.0.0.1:{port}")
        exec(code.replace("127.0.0.1:9200", f"127.0.0.1:{engine.server_port}"), {})
    finally:
        engine.shutdown()
        engine.server_close()
    scores = rw.load(model_file).predict(query)[:100]  # as many as are asked for
    order = sorted(range(len(scores)), key=lambda row: -scores[row])[:10]
    assert capsys.readouterr().out.splitlines() == [f"d{row} t{row}" for row in order]
    assert Engine.asked[0]["ext"]["ltr_log"]["log_specs"]["named_query"] == "features"
