"""The page without a browser: who is let in, what changes the store, what addresses restore, hostile texts."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.small_collection import HOSTILE, Searchable
from tests.serve.asking import asked

import rankwright as rw
from rankwright.errors import FileFormatError
from rankwright.judgments import Judgment, JudgmentStore
from rankwright.metrics.runs import evaluate_run
from rankwright.search.judging import JudgedPairsOfStore, JudgingTask, training_commands
from rankwright.search.page.access import PageAccess
from rankwright.search.page.address import PANELS, SHOWN, PageState, options_of
from rankwright.search.page.application import PageSettings, SearchPage
from rankwright.search.page.rendering import signed_text
from rankwright.search.rankers import open_rankers
from rankwright.search.session import SearchSession
from rankwright.search.told import run_of
from rankwright.text import open_index, read_judgments, read_queries

PORT = 8377
HOST = f"localhost:{PORT}"
OWN = f"http://{HOST}"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def page(searchable: Searchable, tmp_path: Path) -> SearchPage:
    return made_page(searchable, tmp_path)


@pytest.fixture(scope="module")
def read_page(searchable: Searchable, tmp_path_factory: pytest.TempPathFactory) -> SearchPage:
    """A page that nobody judges on: tests that only look share it."""
    return made_page(searchable, tmp_path_factory.mktemp("read"))


def made_page(searchable: Searchable, folder: Path) -> SearchPage:
    index = open_index(searchable.index)
    rankers = open_rankers([f"forest={searchable.model}", f"bm25f={searchable.tuned}"], index)
    settings = PageSettings(
        str(folder / "judged.db"),
        "ann",
        read_queries(searchable.queries),
        read_judgments(searchable.qrels),
        index_path=str(searchable.index),
        queries_path=str(searchable.queries),
    )
    return SearchPage(SearchSession(index, rankers, threads=1), settings, PageAccess(PORT))


def headers_of(page: SearchPage, **more: str) -> dict[str, str]:
    cookie = f"{page.access.cookie}={page.access.token}"
    return {"host": HOST, "cookie": cookie} | {name.replace("_", "-"): value for name, value in more.items()}


def get(page: SearchPage, path: str, **more: str):
    return asked(page.application(), "GET", path, headers=headers_of(page, **more))


def post(page: SearchPage, path: str, form: dict[str, str], **more: str):
    sent = {"content_type": FORM, "origin": OWN} | more
    return asked(page.application(), "POST", path, urlencode(form).encode(), headers=headers_of(page, **sent))


GRADE = {"who": "ann", "query": "q1", "document": "d1", "grade": "3", "key": "first", "comment": "  as asked "}


def stored(page: SearchPage) -> list[Judgment]:
    with JudgmentStore(page.settings.store) as store:
        return list(store.rows())


# --- who is let in ---


@pytest.mark.parametrize("path", ["/", "/?q=harbour", "/queries", "/judge", "/queries.tsv", "/?token=wrong"])
def test_nobody_is_let_in_without_the_cookie(read_page, path):
    for cookie in (
        "",
        f"{read_page.access.cookie}=wrong",
        f"rankwright-1={read_page.access.token}",
        "\x00;;=",
        "a=" * 500,
    ):
        found = asked(read_page.application(), "GET", path, headers={"host": HOST, "cookie": cookie})
        assert found.status == 401
        assert b"harbour" not in found.body
        assert read_page.access.token.encode() not in found.body


def test_an_address_that_leads_nowhere_says_so_on_a_page(read_page):
    found = get(read_page, "/nowhere")
    assert found.status == 404
    assert "nothing is at '/nowhere'" in unescape(found.body.decode())
    assert 'href="/"' in found.body.decode()


def test_the_token_becomes_a_cookie_and_leaves_the_address(read_page):
    found = asked(read_page.application(), "GET", f"/?token={read_page.access.token}&q=harbour", headers={"host": HOST})
    assert found.status == 303
    assert found.headers["location"] == "/?q=harbour&a=forest&b=bm25f"
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(found.headers["set-cookie"].split("; "))
    shown = get(read_page, found.headers["location"])
    assert shown.status == 200
    assert read_page.access.token.encode() not in shown.body


def test_pages_run_no_script_but_ours(read_page):
    for path in ("/?q=harbour", "/queries", "/judge", "/?token=x"):
        found = get(read_page, path)
        assert "script-src 'self'; style-src 'self'" in found.headers["content-security-policy"]
        assert "unsafe" not in found.headers["content-security-policy"]
        text = found.body.decode()
        assert not re.search(r"<[^>]*\s(on\w+|style)\s*=", text)
        assert not re.search(r"<script(?! (type=\"module\" )?src=\"/assets/)", text)


def test_other_hosts_are_refused(read_page):
    for host in ("evil.example", f"evil.example:{PORT}", "localhost.evil.example"):
        found = asked(read_page.application(), "GET", "/", headers=headers_of(read_page) | {"host": host})
        assert found.status == 421


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},  # another server of this machine, whose pages get the same cookies
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"cookie": ""},
        {"content_type": "text/plain"},
    ],
)
def test_nobody_else_writes_judgments(page, wrong):
    for path in ("/judge", "/undo"):
        assert post(page, path, GRADE, **wrong).status in (401, 403, 415)
    assert stored(page) == []


# --- judging ---


def test_what_another_process_writes_meanwhile_is_seen(tmp_path, monkeypatch):
    page, other = (JudgedPairsOfStore(str(tmp_path / "s.db")) for _ in range(2))
    add = page.store.add

    def add_after_another(judgments):
        other.add(Judgment("q", "theirs", "zoe", 1.0, time=1.0))
        return add(judgments)

    page.refresh()
    monkeypatch.setattr(page.store, "add", add_after_another)
    page.add(Judgment("q", "mine", "ann", 2.0, time=2.0))
    assert page.labels_of("q").keys() == {"mine"}  # theirs came after the store was last read
    assert {one.document for one in page.all()} == {one.document for one in other.all()} == {"mine", "theirs"}
    page.take_back("ann")
    assert [one.document for one in other.all()] == ["theirs"]


def test_a_judgment_is_in_the_store_when_the_answer_comes(page):
    found = post(page, "/judge", GRADE)
    assert found.status == 303
    (one,) = stored(page)
    assert (one.query, one.document, one.rater, one.grade, one.comment) == ("q1", "d1", "ann", 3.0, "as asked")
    assert one.kind == "person"
    assert one.time is not None
    assert one.context == "the first 10 of forest and bm25f, blind"
    assert post(page, "/judge", GRADE).status == 303  # sent again, as after an answer that was lost
    assert len(stored(page)) == 1


def test_undo_takes_back_what_was_judged_last(page):
    post(page, "/judge", GRADE)
    post(page, "/judge", GRADE | {"document": "d2", "key": "second"})
    post(page, "/judge", GRADE | {"who": "bob", "key": "third"})
    found = post(page, "/undo", {"who": "ann"})
    assert "document=d2" in found.headers["location"]
    assert {(one.rater, one.document) for one in stored(page)} == {("ann", "d1"), ("bob", "d1")}
    for _ in range(2):  # the second finds nothing
        assert post(page, "/undo", {"who": "ann"}).status == 303
    assert [one.rater for one in stored(page)] == ["bob"]


def test_undo_that_is_sent_twice_takes_one_judgment_back(page):
    for number in range(3):
        post(page, "/judge", GRADE | {"document": f"d{number}", "key": f"k{number}"})
    (last,) = re.findall(r'name="last" value="([^"]*)"', get(page, "/judge?who=ann").body.decode())
    for _ in range(2):  # as after an answer that was lost
        assert post(page, "/undo", {"who": "ann", "last": last}).status == 303
    assert {one.document for one in stored(page)} == {"d0", "d1"}
    assert post(page, "/undo", {"who": "bob", "last": "page-k1"}).status == 303  # not bob's
    assert len(stored(page)) == 2


def test_a_store_that_cannot_be_written_to_is_a_fault_that_browsers_wait_out(page, monkeypatch):
    def locked(judgments):  # noqa: ARG001
        raise FileFormatError(page.settings.store, "another process has kept the store")

    monkeypatch.setattr(page.judged.store, "add", locked)
    found = post(page, "/judge", GRADE)
    assert found.status == 503
    assert "kept the store" in found.body.decode()
    monkeypatch.undo()
    assert post(page, "/judge", GRADE).status == 303
    assert len(stored(page)) == 1


def test_a_judgment_counts_as_saved_though_what_comes_next_is_not_known(page):
    found = post(page, "/judge", GRADE | {"order": "next"})  # before all queries are ranked
    assert found.status == 303
    assert len(stored(page)) == 1
    assert "ranked" in get(page, found.headers["location"]).body.decode()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"grade": "5"}, "a grade must be one of"),
        ({"grade": ""}, "a grade must be one of"),
        ({"document": ""}, "document must be a text"),
        ({"who": "a\nb"}, "a judge's name"),
        ({"who": "x" * 200}, "a judge's name"),
        ({"key": ""}, "a key of its own"),
        ({"comment": "x" * 3000}, "a comment may have"),
        ({"depth": "many"}, "depth must be a whole number"),
        ({"order": "none"}, "the order must be"),
    ],
)
def test_forms_that_mean_nothing_are_refused(page, wrong, told):
    found = post(page, "/judge", GRADE | wrong)
    assert found.status == 422
    assert told in unescape(found.body.decode())
    assert stored(page) == []


def test_the_pool_is_what_any_ranker_has_first_and_is_judged_once(page):
    task = JudgingTask("ann", depth=5, query="harbour lantern")
    answer = page.session.search("harbour lantern")
    firsts = {int(place) for one in answer.lists.values() for place in one.order[:5]}
    wanted = set(page.session.index.ids(answer.ordinals[sorted(firsts)]))
    seen = []
    while (one := page._queue.following(task, page.judged, None)) is not None:
        seen.append(one.document)
        post(page, "/judge", {"who": "ann", "depth": "5", "q": "harbour lantern", "query": one.query,
                              "document": one.document, "grade": "1", "key": f"n{len(seen)}"})  # fmt: skip
        page.judged.refresh()
    assert len(seen) == len(wanted)
    assert set(seen) == wanted
    open_task = JudgingTask("bob", depth=5, query="harbour lantern", is_blind=False)
    ranks = [min(one.ranks.values()) for one in page._queue.items(open_task, page.judged)]
    assert ranks == sorted(ranks)


def test_blind_judges_are_not_told_who_showed_a_document(page):
    blind = get(page, "/judge?who=ann&q=harbour+lantern").body.decode()
    assert "rank " not in blind.partition("to-judge")[2].partition("</article>")[0]
    seeing = get(page, "/judge?who=ann&q=harbour+lantern&blind=0").body.decode()
    assert "rank 1" in seeing


def test_what_was_skipped_comes_again_in_the_end(page):
    task = JudgingTask("ann", depth=2, query="harbour lantern")
    items = [(one.query, one.document) for one in page._queue.items(task, page.judged)]
    following = [page._queue.following(task, page.judged, pair) for pair in items]
    assert [(one.query, one.document) for one in following] == [*items[1:], items[0]]


def test_the_order_of_judgments_next_is_that_of_the_command(page):
    from rankwright.judgments.choosing.judging_plan import plan_comparison

    early = get(page, "/judge?who=ann&order=next")
    assert "needs all queries ranked" in early.body.decode()
    page.measured._rank_all()
    first, second = (page.measured.scored_lists(name) for name in page.session.rankers)
    plan = plan_comparison(first, second, "dcg@10")
    items = page._queue.items(JudgingTask("ann", order="next"), page.judged)
    found = [(one.query, one.document) for one, _ in zip(items, range(5), strict=False)]
    assert found == list(zip(plan.query_ids.tolist(), plan.document_ids.tolist(), strict=True))[:5]


def test_judges_see_how_far_they_agree(page):
    for who in ("ann", "bob"):
        for number in range(6):
            form = {"document": f"d{number}", "grade": str(number % 3), "who": who, "key": f"{who}{number}"}
            post(page, "/judge", GRADE | form)
    text = get(page, "/judge?who=ann").body.decode()
    assert "Krippendorff" in text
    assert "1.000" in text
    assert "ann</bdi> and <bdi>bob" in text


def test_the_commands_that_train_again_run(page, searchable, rankwright, tmp_path):
    for number, one in enumerate(page._queue.items(JudgingTask("ann", depth=3), page.judged)):
        post(page, "/judge", GRADE | {"query": one.query, "document": one.document, "key": f"n{number}",
                                      "grade": str(number % 4)})  # fmt: skip
    unlisted = 'lantern  "of, the"\tharbour'
    for number, one in enumerate(page._queue.items(JudgingTask("ann", query=unlisted, depth=3), page.judged)):
        post(page, "/judge", GRADE | {"query": one.query, "document": one.document, "key": f"u{number}", "q": unlisted})
    (shown,) = map(unescape, re.findall(r"(?s)<pre[^>]*>(.*?)</pre>", get(page, "/judge").body.decode()))
    queries = str(tmp_path / "judged.queries.tsv")
    commands = training_commands(str(searchable.index), queries, page.settings.store, [], 20)
    assert f" {queries} " in shown  # what was judged besides is in that file
    again = made_page(searchable, tmp_path)
    again._open()
    assert f" {queries} " in get(again, "/judge").body.decode()
    from shlex import split

    for line in commands[:-1]:
        fewer = ("--set", "n_trees=10") if line.startswith("rankwright train") else ()
        done = rankwright(*split(line)[1:], *fewer)
        assert done.code == 0, (line, done.stderr)
    assert (tmp_path / "judged.rw").exists()
    judged = read_queries(queries)
    assert judged.ids[-1] == judged.texts[-1] == 'lantern "of, the" harbour'
    assert 'lantern "of, the" harbour' in rw.read(tmp_path / "judged.parquet").qid.tolist()
    assert commands[-1].endswith("--page")


def test_another_process_that_judges_is_seen(page):
    get(page, "/judge")
    with JudgmentStore(page.settings.store) as store:
        store.add([Judgment("q1", "d1", "zoe", 2.0, time=1.0)])
    assert "zoe</bdi>: 1 judged" in get(page, "/judge").body.decode()


# --- what is measured ---


def test_values_are_those_of_evaluating_the_run(page, searchable):
    from rankwright.formats.trec import Run, read_qrels

    page.measured._rank_all()
    asked_for = read_queries(searchable.queries)
    parts = list(run_of(page.session, asked_for, "forest", 1000, None, lambda _: None))
    run = Run(*([value for part in parts for value in getattr(part, name).tolist()]
                for name in ("query_ids", "document_ids", "scores")))  # fmt: skip
    found = evaluate_run(run, read_qrels(searchable.qrels), ["ndcg@10"])
    expected = dict(zip(found.query_ids.tolist(), found["ndcg@10"].values.tolist(), strict=True))
    shown = {one.id: one.values["forest"] for one in page.measured.rows() if one.values["forest"] is not None}
    assert shown == pytest.approx(expected)


def test_a_judgment_changes_the_value_of_its_query(page):
    page.measured._rank_all()
    before = page.measured.rows()[3].values["forest"]
    answer = page.session.search(page.measured.queries.texts[3])
    last = page.session.index.ids(answer.ordinals[answer.lists["forest"].order[-1:]])[0]
    post(page, "/judge", GRADE | {"query": page.measured.queries.ids[3], "document": last, "grade": "4"})
    assert page.measured.rows()[3].values["forest"] < before


def test_queries_are_listed_worst_first(page):
    page.measured._rank_all()
    text = get(page, "/queries").body.decode()
    rows = text.partition("<tbody>")[2].split("<tr>")[1:]
    values = [re.findall(r'<td class="n">(\d\.\d{3})</td>', row)[:2] for row in rows]  # a third one is their difference
    assert len(values) == len(page.measured.queries)
    worst = [min(map(float, pair)) for pair in values]
    assert worst == sorted(worst)
    assert get(page, "/queries?order=gain&page=99").status == 200


# --- addresses and texts of strangers ---

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(str.strip)


@given(
    query=WORDS,
    panel=st.sampled_from(PANELS),
    top=st.sampled_from(SHOWN),
    where=st.dictionaries(WORDS.filter(bool), WORDS.filter(bool), max_size=3),
    changes=st.dictionaries(st.integers(1, 99), st.floats(allow_nan=False).map(str), max_size=3),
    documents=st.tuples(WORDS, WORDS, WORDS),
    second=st.sampled_from(["", "b"]),
)
def test_an_address_restores_the_state(query, panel, top, where, changes, documents, second):
    above, below, document = documents
    state = PageState(query, "a", second, top, where, panel, "a", above, below, document, changes, {"k1": "2"})
    address = state.address()
    assert PageState.of(options_of(address.partition("?")[2]), ("a", "b")) == state


def test_what_is_shown_says_the_address_that_shows_it_again(read_page):
    for panel in PANELS:
        for ranker in ("forest", "bm25f"):
            first = get(read_page, f"/?q=harbour+lantern&panel={panel}&r={ranker}", x_parts="1")
            again = get(read_page, first.headers["x-address"], x_parts="1")
            strip = re.compile(r"in \d+ ms")
            assert strip.sub("", first.body.decode()) == strip.sub("", again.body.decode())


@pytest.mark.parametrize("path", ["/?q={}", "/?q={}&panel=why", "/?q=harbour&d1={}&panel=why", "/judge?q={}",
                                  "/judge?who={}", "/?q=harbour&w.title={}", "/?q=harbour&d={}&panel=whatif",
                                  "/judge?query={}&document={}",
                                  "/?q=harbour&panel=whatif&r=bm25f&s.k1={}"])  # fmt: skip
def test_hostile_texts_are_text(read_page, path):
    for text in HOSTILE:
        found = get(read_page, path.replace("{}", quote(text)))
        assert found.status in (200, 422)
        shown = found.body.decode()
        assert "<script>" not in shown
        assert "<b>" not in shown
        assert "<img" not in shown
        assert "49" not in re.findall(r">\s*(\d+)\s*<", shown)


@pytest.mark.parametrize(
    "path",
    [
        "/?q=harbour&panel=whatif&f.1=nan",
        "/?q=harbour&panel=whatif&f.1=1e999",
        "/?q=harbour&panel=whatif&f.9999=1",
        "/?q=harbour&panel=whatif&r=bm25f&s.nothing=1",
        "/?q=harbour&panel=why&d1=absent",
        "/?q=harbour&w.year=x",
        "/?q=harbour&w.nothing=x",
        "/?q=" + "harbour+" * 3000,
        "/?" + "&".join(f"x{number}=1" for number in range(2000)),
        "/?q=%ff%fe",
        "/judge?depth=0",
        "/judge?order=next&document=x&query=y",
        "/?q=zzzz&panel=why",
        "/?q=harbour&b=-&panel=why",
        "/?q=harbour&b=-&panel=whatif",
        "/?q=the",
        '/?q="harbour',
    ],
)
def test_addresses_that_mean_nothing_are_answered_for_people(read_page, path):
    found = get(read_page, path)
    assert found.status in (200, 400, 422)
    assert b"the server failed" not in found.body
    assert found.headers["content-type"].startswith("text/html")


def test_a_filter_that_is_wrong_is_told_on_the_page(read_page):
    assert "must be asked for by a number" in get(read_page, "/?q=harbour&w.year=x").body.decode()


def test_suggestions_begin_with_what_was_typed(read_page):
    text = read_page.measured.queries.texts[1]
    assert read_page.suggested(text[:4])[0].startswith(text[:4])
    assert read_page.suggested("no query has this") == []


@pytest.mark.parametrize(("value", "told"), [(0.25, "+0.250"), (-0.25, "−0.250"), (0.0, "0.000"), (-1e-9, "0.000")])
def test_differences_have_a_sign_unless_there_is_none(value, told):
    assert signed_text(value, 3) == told


def test_the_file_of_queries_has_those_that_were_judged_besides(page):
    post(page, "/judge", GRADE | {"query": "an own\tquery"})
    lines = get(page, "/queries.tsv").body.decode().splitlines()
    assert lines[-1] == "an own query\tan own query"
    assert len(lines) == len(page.measured.queries) + 1


def test_moves_read_from_left_to_right_in_both_lists(read_page):
    text = get(read_page, "/?q=harbour+lantern").body.decode()
    sides = [dict(re.findall(r'data-document="([^"]*)".*?class="move (\w*)"', half, re.DOTALL))
             for half in text.split('data-side="b"')]  # fmt: skip
    both = sides[0].keys() & sides[1].keys()
    assert {sides[0][one] for one in both} >= {"up", "down"}
    assert all(sides[0][one] == sides[1][one] for one in both)
