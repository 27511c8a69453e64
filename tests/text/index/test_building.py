"""An index holds what was given to it, however it was built."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rankwright.errors import InputError, SettingError
from rankwright.text import Analyser, DocumentBatch, build_index, open_index, read_documents, top_documents
from rankwright.text.index.building import LEAST_MEMORY
from rankwright.text.index.segments import NO_TERM

WORDS = ["boat", "sail", "red", "blue", "harbour", "rope", "3.5mm", "été", "東", "anchor"]


def documents(n: int, seed: int = 0) -> list[dict[str, object]]:
    rng = np.random.default_rng(seed)
    return [
        {
            "id": f"d{seed}-{number}",
            "title": " ".join(rng.choice(WORDS, rng.integers(0, 4))),
            "body": " ".join(rng.choice(WORDS, rng.integers(0, 30))),
            "price": float(number) if number % 3 else None,
            "links": [f"d{seed}-{target}" for target in rng.integers(0, n + 5, 2)],
        }
        for number in range(n)
    ]


def files_of(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def given():
    return documents(300)


@pytest.fixture(scope="module")
def index(given, tmp_path_factory):
    return build_index(read_documents(given), tmp_path_factory.mktemp("index") / "index")


def test_counts_are_those_of_the_terms(given, index):
    terms = [{field: index.analyser.terms(str(one[field])) for field in ("title", "body")} for one in given]
    wanted = sorted({term for own in terms for field in own.values() for term in field})
    found = index.statistics([*wanted, "nowhere"])
    for row, term in enumerate(wanted):
        for column, field in enumerate(index.text_fields):
            counts = [Counter(own[field])[term] for own in terms]
            assert found.collection_count[row, column] == sum(counts)
            assert found.document_frequency[row, column] == np.count_nonzero(counts)
        anywhere = [any(term in field for field in own.values()) for own in terms]
        assert found.any_frequency[row] == sum(anywhere)
    assert not found.any_frequency[-1]
    assert index.totals().tokens.tolist() == [sum(len(own[field]) for own in terms) for field in index.text_fields]
    assert index.lengths("body").tolist() == [len(own["body"]) for own in terms]


def test_streams_are_the_terms_in_order(given, index):
    (segment,) = index.segments
    stream = segment.stream("body")
    for number in (0, 7, 299):
        terms = index.analyser.terms(str(given[number]["body"]))
        own = stream.tokens[stream.offsets[number] : stream.offsets[number + 1]]
        assert segment.numbers_of(terms).tolist() == own.tolist()
    assert segment.numbers_of(["nowhere"]).tolist() == [NO_TERM]


def test_what_was_given_is_stored(given, index):
    some = np.array([299, 0, 5, 5, 64, 63])
    assert index.ids(some) == [given[number]["id"] for number in some]
    assert index.ordinals([*index.ids(some), "unknown"]).tolist() == [*some, -1]
    assert index.stored(some) == [{"title": given[n]["title"], "body": given[n]["body"]} for n in some]
    prices = [np.nan if one["price"] is None else one["price"] for one in given]
    np.testing.assert_array_equal(index.numbers("price"), prices)
    starts, targets = index.links()
    ids = {one["id"]: number for number, one in enumerate(given)}
    for number, one in enumerate(given):
        assert targets[starts[number] : starts[number + 1]].tolist() == [ids[to] for to in one["links"] if to in ids]


@pytest.mark.parametrize(("threads", "memory"), [(1, LEAST_MEMORY), (2, LEAST_MEMORY), (7, 1 << 30)])
def test_files_depend_on_the_documents_alone(given, index, tmp_path, monkeypatch, threads, memory):
    monkeypatch.setattr("rankwright.text.index.building.MOST_RUN", 3000 if memory == LEAST_MEMORY else 1 << 24)
    monkeypatch.setattr("rankwright.text.index.building.MOST_RUNS", 2)
    monkeypatch.setattr("rankwright.text.index.merging.SHARE_OF_POSTINGS", LEAST_MEMORY / 1000)
    build_index(read_documents(given), tmp_path / "other", threads=threads, memory=memory)
    assert files_of(tmp_path / "other") == files_of(Path(index.path))


def test_appended_documents_are_found_as_if_they_had_been_there(given, index, tmp_path):
    build_index(read_documents(given[:100]), tmp_path / "grown")
    for start in range(100, 300, 50):
        grown = build_index(read_documents(given[start : start + 50]), tmp_path / "grown", append=True)
    assert len(grown.segments) == 5
    assert grown.ids(np.arange(300)) == index.ids(np.arange(300))
    terms = ["boat", "red", "3.5mm"]
    for name in ("document_frequency", "collection_count", "any_frequency"):
        np.testing.assert_array_equal(getattr(grown.statistics(terms), name), getattr(index.statistics(terms), name))
    np.testing.assert_array_equal(grown.links()[1], index.links()[1])


def test_many_segments_are_merged(given, index, tmp_path):
    build_index(read_documents(given[:64]), tmp_path / "grown")
    for start in range(64, 64 * 4, 24):
        grown = build_index(read_documents(given[start : start + 24]), tmp_path / "grown", append=True)
    assert len(grown.segments) == 1
    assert grown.n_documents == 64 + 8 * 24
    assert grown.stored(np.array([70, 200])) == index.stored(np.array([70, 200]))
    assert {path.name for path in (tmp_path / "grown").iterdir()} == {"index.rw", ".lock", grown.segments[0].path.name}


def test_known_ids_are_left_out_and_counted(given, tmp_path):
    build_index(read_documents(given[:10]), tmp_path / "grown")
    more = read_documents(given[5:15])
    assert build_index(more, tmp_path / "grown", append=True).n_documents == 15
    assert "documents whose id the index has (left out): 5" in more.problems.lines()[0]


def test_batches_of_any_source_are_indexed(tmp_path):
    batches = [DocumentBatch(["a"], {"text": ["red boats"]}, {"n": np.array([1.0])}, None)]
    index = build_index(iter(batches), tmp_path / "index")
    assert index.statistics(["boat"]).any_frequency.tolist() == [1]
    with pytest.raises(InputError, match="two documents have the id 'a'"):
        build_index(batches * 2, tmp_path / "twice")
    assert not (tmp_path / "twice").exists()


def test_other_analysers_and_fields_are_not_appended(given, tmp_path):
    build_index(read_documents(given[:10]), tmp_path / "index")
    with pytest.raises(InputError, match="has another analyser"):
        build_index(read_documents(given[10:]), tmp_path / "index", append=True, analyser=Analyser(stem=False))
    with pytest.raises(InputError, match="a field 'colour'"):
        build_index(read_documents([{"id": "x", "colour": "red"}]), tmp_path / "index", append=True)
    assert open_index(tmp_path / "index").n_documents == 10


def test_folders_with_other_things_are_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SettingError, match="other things"):
        build_index(read_documents(documents(3)), tmp_path)
    with pytest.raises(SettingError, match="no index to append to"):
        build_index(read_documents(documents(3)), tmp_path / "none", append=True)


def own_words(text: str) -> list[str]:
    return text.split("+")


def test_an_own_tokeniser_is_recorded_by_name(tmp_path):
    analyser = Analyser(tokeniser=own_words, stem=False)
    index = build_index(read_documents([{"id": "a", "text": "Red+red boats"}]), tmp_path / "index", analyser=analyser)
    assert index.statistics(["Red", "red boats"]).any_frequency.tolist() == [1, 1]
    with pytest.raises(InputError, match=r"own_words'.*tokeniser="):
        open_index(tmp_path / "index").analyser.terms("a+b")
    more = read_documents([{"id": "b", "text": "Blue boats"}])
    for use in (
        lambda index: top_documents(index, ["boats"]),
        lambda index: build_index(more, index.path, append=True),
    ):
        with pytest.raises(InputError, match=rf"{tmp_path}/index were split.*own_words'.*tokeniser="):
            use(open_index(tmp_path / "index"))
    assert open_index(tmp_path / "index", tokeniser=own_words).analyser.terms("a+b") == ["b"]
    with pytest.raises(ValueError, match="split by"):
        open_index(tmp_path / "index", tokeniser=str.split)
