"""The handbook: the same seed makes the same files, and its judgments say what its texts show."""

from __future__ import annotations

from rankwright.synthetic import handbook
from rankwright.text import read_documents, read_judgments, read_queries


def test_the_files_are_a_collection(tmp_path):
    made = handbook(4, seed=1)
    made.write(tmp_path)
    documents = read_documents(tmp_path / "documents")
    ids = [name for batch in documents.batches() for name in batch.ids]
    assert sorted(ids) == sorted(made.pages)
    assert not documents.problems.lines()
    assert read_queries(tmp_path / "queries.tsv").texts == list(made.queries.values())
    judged = read_judgments(tmp_path / "judgments.qrels")
    assert list(zip(judged.query_ids, judged.document_ids, judged.grades.tolist(), strict=True)) == made.judgments


def test_the_same_seed_makes_the_same_handbook():
    assert handbook(3, seed=2) == handbook(3, seed=2) != handbook(3, seed=3)


def test_pages_that_treat_a_query_have_its_words_in_order():
    made = handbook(40)
    assert all(made.queries[query].split()[0] in made.pages[page] for query, page, _ in made.judgments)
    in_order = [made.queries[query] in made.pages[page] for query, page, grade in made.judgments if grade == 2]
    assert sum(in_order) > 0.7 * len(in_order)
