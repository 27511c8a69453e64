"""How long an index of documents takes, and how much memory and disk: documents of 200 words drawn by Zipf's law.

The documents are written to a file of JSON lines first, which is not timed, and indexed in a process of its own by
`rankwright index`, with as many threads as asked for. `--documents 5000000` is the large case.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.helpers.records import leave
from benchmarks.helpers.zipf_texts import ZipfTexts

BAR_SECONDS, BAR_BYTES = 60.0, 1 << 30  # for 100,000 documents


def write_documents(path: Path, n_documents: int) -> None:
    with path.open("w") as file:
        for batch in ZipfTexts(n_documents).batches():
            for name, text in zip(batch.ids, batch.texts["body"], strict=True):
                file.write(json.dumps({"id": name, "body": text}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--folder", type=Path, help="where documents and index are written, else a temporary folder")
    given = parser.parse_args()
    with TemporaryDirectory(dir=given.folder) as folder:
        documents, index = Path(folder, "documents.jsonl"), Path(folder, "index")
        write_documents(documents, given.documents)
        code = "from rankwright.cli.app import main; main()"
        how = ["--threads", str(given.threads), "--memory", given.memory, "--quiet"]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, "index", str(documents), "--out", str(index), *how], check=True)
        seconds = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
    processor, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    found = {"seconds": seconds, "processor_seconds": processor, "memory": memory, "index_bytes": size}
    print(f"{given.documents:,} documents of 200 words, {given.threads} threads, --memory {given.memory}")
    print(
        f"  {seconds:.1f} s, {processor:.1f} processor seconds, {memory / 1e6:,.0f} MB of memory, {size / 1e6:,.0f} MB"
    )
    if given.documents == 100_000:
        print(f"  bar: {BAR_SECONDS:.0f} s, {BAR_BYTES / 1e6:,.0f} MB; {BAR_SECONDS / seconds:.1f} times as fast")
    leave(f"index of {given.documents} documents", "How long does an index of documents take?", **found)


if __name__ == "__main__":
    main()
