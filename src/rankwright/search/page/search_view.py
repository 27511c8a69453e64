"""What the search page shows of a state: lists side by side, moves between them, and a panel that explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwright.errors import RankwrightError
from rankwright.search.filters import filter_of
from rankwright.search.page.address import FEATURE, SETTING, PageState
from rankwright.search.session import RankedList, SearchAnswer, SearchSession
from rankwright.search.snippets import ShownDocument
from rankwright.search.what_if import Slider, feature_sliders, number_in, reweighted, setting_sliders
from rankwright.text.collections.field_kinds import LINKS

MOST_SLIDERS = 12  # that are open; the others are folded away
MOST_REASONS = 15
BAR = 100  # the width of the longest bar, in units of the picture


@dataclass(frozen=True, slots=True)
class Row:
    """A document in a list."""

    place: int  # among the candidates
    rank: int
    score: float
    document: ShownDocument
    move: str
    direction: str  # up, down, same or new
    grade: float | None
    why: str  # addresses
    what_if: str


@dataclass(frozen=True, slots=True)
class ListView:
    """One ranker's list."""

    side: str
    ranker: str
    rows: Sequence[Row]
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A number as a bar that begins in the middle: where it stands in a picture, and which way it points."""

    start: float
    width: float
    direction: str

    @classmethod
    def of(cls, value: float, largest: float) -> Bar:
        """The bar of a value beside others, of which the largest fills its half."""
        share = value / largest * BAR / 2 if largest else 0.0
        return cls(BAR / 2 + min(share, 0.0), abs(share), "up" if value > 0 else "down")


@dataclass(frozen=True, slots=True)
class PairReason:
    """What a feature does to put one document above another."""

    feature: str
    above: float
    below: float
    contribution: float
    bar: Bar


@dataclass(frozen=True, slots=True)
class WhyView:
    """Why one document is above another, by one ranker."""

    ranker: str
    above: ShownDocument
    below: ShownDocument
    margin: float
    reasons: Sequence[PairReason]
    others: tuple[int, float]  # how many features are not shown, and what they add
    swap: str
    how: str


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """The features of the first documents of a list."""

    ranker: str
    documents: Sequence[tuple[int, ShownDocument]]
    rows: Sequence[tuple[str, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class WhatIfView:
    """Sliders, and what came of them."""

    ranker: str
    document: ShownDocument | None  # None where it is the ranker's own settings that are tried
    sliders: Sequence[Slider]
    more: Sequence[Slider]
    told: str
    reset: str
    is_changed: bool
    weights: str = ""  # of BM25F: what a model of these settings is made with


@dataclass(slots=True)
class SearchView:
    """All that the page shows."""

    state: PageState
    lists: list[ListView] = field(default_factory=list)
    n_candidates: int = 0
    fault: str = ""
    panel_fault: str = ""
    why: list[WhyView] = field(default_factory=list)
    features: FeatureTable | None = None
    what_if: WhatIfView | None = None
    choices: list[tuple[str, str]] = field(default_factory=list)  # documents that a panel may be about
    suggestions: list[str] = field(default_factory=list)


class SearchViews:
    """Makes views of a session."""

    def __init__(
        self,
        session: SearchSession,
        labels_of: Callable[[str], Mapping[str, float]],
        suggest: Callable[[str], list[str]],
    ) -> None:
        self._session, self._labels_of, self._suggest = session, labels_of, suggest
        self.filters = [(one.name, one.kind) for one in session.index.fields if one.kind != LINKS]

    def of(self, state: PageState) -> SearchView:
        """What a state shows; what cannot be shown is told in a line."""
        view = SearchView(state, suggestions=self._suggest(state.query))
        if not state.query:
            return view
        try:
            where = {name: filter_of(name, text, self._session.index) for name, text in state.where.items()}
            answer = self._session.search(state.query, where)
        except RankwrightError as error:
            view.fault = str(error)
            return view
        view.n_candidates = len(answer)
        changed = self._panel(view, answer) if len(answer) else {}
        rankers = [name for name in (state.first, state.second) if name]
        for side, name in zip("ab", rankers, strict=False):
            other = next((one for one in rankers if one != name), None)
            view.lists.append(self._list(view, answer, side, name, other, changed.get(name)))
        return view

    def _list(
        self,
        view: SearchView,
        answer: SearchAnswer,
        side: str,
        name: str,
        other: str | None,
        changed: RankedList | None,
    ) -> ListView:
        state, ranked = view.state, changed or answer.lists[name]
        before = answer.lists[name] if changed is not None else answer.lists[other] if other else None
        ranks = None if before is None else before.ranks
        places = ranked.order[: state.top].tolist()
        labels = self._labels_of(state.query)
        rows = []
        for rank, (place, shown) in enumerate(zip(places, self._session.documents(answer, places), strict=True), 1):
            was = None if ranks is None else int(ranks[place]) + 1
            where = "before" if changed is not None else other or ""
            move, direction = _move(rank, was, where, is_left=side == "a" and changed is None)
            why = state.but(panel="why", ranker=name, above=shown.id, below="")
            tried = state.but(panel="whatif", ranker=name, document=shown.id, changes={}, settings={})
            rows.append(
                Row(place, rank, float(ranked.scores[place]), shown, move, direction, labels.get(shown.id),
                    why.address(), tried.address())
            )  # fmt: skip
        return ListView(side, name, rows, changed is not None)

    def _panel(self, view: SearchView, answer: SearchAnswer) -> dict[str, RankedList]:
        """Fill the panel that is open; the lists that it changes, by ranker."""
        state, changed = view.state, dict[str, RankedList]()
        if not state.panel:
            return changed
        first = answer.lists[state.ranker].order[: state.top].tolist()
        view.choices = [
            (one.id, f"{rank}. {one.title_text}") for rank, one in enumerate(self._session.documents(answer, first), 1)
        ]
        try:
            if state.panel == "why":
                self._why(view, answer)
            elif state.panel == "features":
                view.features = self._feature_table(state.ranker, answer, first[:10])
            else:
                changed = self._what_if(view, answer)
        except RankwrightError as error:
            view.panel_fault = str(error)
        return changed

    def _why(self, view: SearchView, answer: SearchAnswer) -> None:
        """Compare two documents: those that were chosen, or the one that was and its neighbour."""
        state, session = view.state, self._session
        ranked = answer.lists[state.ranker]
        if len(answer) < 2:
            view.panel_fault = "there is only one document: it is above no other"
            return
        above = session.place_of(answer, state.above) if state.above else int(ranked.order[0])
        rank = int(ranked.ranks[above])
        neighbour = int(ranked.order[rank + 1 if rank + 1 < len(answer) else rank - 1])
        below = session.place_of(answer, state.below) if state.below else neighbour
        if below == above:
            below = neighbour
        chosen = session.documents(answer, [above, below])
        view.state = state.but(above=chosen[0].id, below=chosen[1].id)
        known = {name for name, _ in view.choices}
        view.choices += [(one.id, one.title_text) for one in chosen if one.id not in known]
        for name in [one for one in (state.first, state.second) if one]:
            view.why.append(self._pair(answer, name, above, below))

    def _pair(self, answer: SearchAnswer, ranker: str, above: int, below: int) -> WhyView:
        found = self._session.pair(answer, ranker, [above, below])
        shown = {one.id: one for one in self._session.documents(answer, [above, below])}
        order = [one for one in found.ordered().tolist() if found.contributions[one] != 0]
        largest = float(np.abs(found.contributions).max(initial=0.0))
        reasons = [
            PairReason(
                found.features[one],
                float(found.values[0, one]),
                float(found.values[1, one]),
                float(found.contributions[one]),
                Bar.of(float(found.contributions[one]), largest),
            )
            for one in order[:MOST_REASONS]
        ]
        rest = order[MOST_REASONS:]
        swap = found.counterfactual
        told = "No change of one feature swaps the two."
        if swap is not None:
            whose = shown[str(swap.document)].title_text
            values = [_value_text(one) for one in (swap.before, swap.after)]
            told = f"They would swap if {swap.feature} of “{whose}” were {values[1]} in place of {values[0]}."
        others = (len(rest), float(found.contributions[rest].sum()))
        return WhyView(
            ranker, shown[str(found.above)], shown[str(found.below)], found.margin, reasons, others, told, found.how
        )

    def _feature_table(self, ranker: str, answer: SearchAnswer, places: Sequence[int]) -> FeatureTable:
        """The features of the first documents: those first that set them apart most, going by the ranker."""
        data, trained = answer.features[ranker], self._session.ranker(ranker).trained
        values = data.features[list(places)]
        if trained.model.needs_queries:
            worth = np.nan_to_num(np.nanmax(values, axis=0) - np.nanmin(values, axis=0))
        else:
            worth = np.abs(self._session.explanation(answer, ranker, places).centred).mean(axis=0)
        order = np.argsort(-worth, kind="stable").tolist()
        return FeatureTable(
            ranker,
            list(enumerate(self._session.documents(answer, places), 1)),
            [(data.names[one], values[:, one].tolist()) for one in order],
        )

    def _what_if(self, view: SearchView, answer: SearchAnswer) -> dict[str, RankedList]:
        state, session = view.state, self._session
        line = session.ranker(state.ranker).bm25f_line
        if line is not None:
            settings = {name: number_in(text, name) for name, text in state.settings.items()}
            sliders = setting_sliders(line, settings, SETTING)
            ranked = reweighted(session, answer, state.ranker, settings) if settings else None
            view.what_if = WhatIfView(
                state.ranker, None, sliders, (), _settings_told(answer.lists[state.ranker], ranked, state.top),
                state.but(settings={}).address(), bool(settings),
                " ".join(f"{one.name}={one.value:.4g}" for one in sliders),
            )  # fmt: skip
            return {} if ranked is None else {state.ranker: ranked}
        ranks = answer.lists[state.ranker].ranks
        place = session.place_of(answer, state.document) if state.document else int(np.argmin(ranks))
        (shown,) = session.documents(answer, [place])
        view.state = state = state.but(document=shown.id)
        if shown.id not in {name for name, _ in view.choices}:
            view.choices.append((shown.id, f"{int(ranks[place]) + 1}. {shown.title_text}"))
        names = answer.features[state.ranker].names
        known = {number: text for number, text in state.changes.items() if 0 < number <= len(names)}
        changes = {names[number - 1]: number_in(text, names[number - 1]) for number, text in known.items()}
        sliders = feature_sliders(session, answer, state.ranker, place, changes, FEATURE)
        found = session.changed(answer, state.ranker, place, changes)[0] if changes else None
        told = _change_told(answer.lists[state.ranker], found, place)
        reset = state.but(changes={}).address()
        view.what_if = WhatIfView(
            state.ranker, shown, sliders[:MOST_SLIDERS], sliders[MOST_SLIDERS:], told, reset, bool(changes)
        )
        return {} if found is None else {state.ranker: found}


def _move(rank: int, there: int | None, of: str, *, is_left: bool) -> tuple[str, str]:
    """Where a document is in the other list, and which way it moves: from left to right, as the lines do."""
    if there is None:
        return "", "same"
    where = "before" if of == "before" else f"in {of}"
    if there == rank:
        return f"same {where}", "same"
    is_up = (there < rank) == is_left
    return f"{'▲' if is_up else '▼'} rank {there:,} {where}", "up" if is_up else "down"


def _value_text(value: float) -> str:
    return "missing" if np.isnan(value) else f"{value:.4g}"


def _change_told(before: RankedList, after: RankedList | None, place: int) -> str:
    rank, score = int(before.ranks[place]) + 1, float(before.scores[place])
    if after is None:
        return f"Rank {rank:,}, score {score:.4g}. Move a slider."
    return f"Rank {rank:,} → {int(after.ranks[place]) + 1:,}, score {score:.4g} → {float(after.scores[place]):.4g}."


def _settings_told(before: RankedList, after: RankedList | None, top: int) -> str:
    if after is None:
        return "Move a slider: the same candidates are ordered anew."
    moved = int((before.order[:top] != after.order[:top]).sum())
    left = len(set(before.order[:top].tolist()) - set(after.order[:top].tolist()))
    return f"{moved} of the first {min(top, len(before.order))} places changed; {left} documents left them."


def facts_of(view: SearchView) -> dict[str, Any]:
    """What templates need besides the view."""
    return {"view": view, "state": view.state, "bar_width": BAR}
