"""schemathesis makes requests of the OpenAPI page, and holds the answers to it."""

from __future__ import annotations

import subprocess

import pytest
from tests.environments import environment
from tests.serve.test_server_process import serving

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.slow
def test_the_server_answers_as_its_page_says(texts_file, model_file, tmp_path):
    python = environment("schemathesis", "schemathesis>=4")
    with serving(texts_file, f"other={model_file}", "--journal", str(tmp_path / "journal")) as (server, port, client):
        page = f"http://127.0.0.1:{port}/openapi.json"
        command = [str(python.with_name("schemathesis")), "run", page, "--max-examples", "50", "--seed", "1"]
        told = subprocess.run(
            [*command, "--checks", CHECKS], capture_output=True, text=True, timeout=1200, check=False, cwd=tmp_path
        )
        assert told.returncode == 0, told.stdout[-5000:]
        assert client.is_ready()
        assert server.poll() is None
