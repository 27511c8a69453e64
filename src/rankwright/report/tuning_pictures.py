"""What searches reached with how much work, and which settings mattered, as pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from rankwright.report.figure import figure
from rankwright.tables.colours import COLOURS, INK
from rankwright.tables.text import short
from rankwright.tuning.importance import Importance
from rankwright.tuning.studies.summary import SearchCurve

MOST_PAIRS = 6


def draw_searches(curves: Mapping[str, SearchCurve], path: str | os.PathLike[str], *, metric: str) -> None:
    """Draw the best value so far against the steps taken, one line per search: .svg, .png or .pdf."""
    with figure(path, size=(9.0, 4.5)) as (axes,):
        for number, (name, curve) in enumerate(curves.items()):
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(curve.steps, curve.best, color=colour, drawstyle="steps-post", label=name)
            axes.plot(curve.steps[-1], curve.best[-1], "o", color=colour, markersize=6)
        axes.set_xscale("log")
        axes.set(
            xlabel="steps taken (trees, epochs or bags)", ylabel=f"best {metric} so far", title="What the work bought"
        )
        axes.margins(y=0.1)
        axes.legend(loc="lower right")


def draw_importance(importance: Importance, path: str | os.PathLike[str]) -> None:
    """Draw the share of the variance that each setting accounts for, and the largest interactions."""
    pairs = dict(list(importance.pairs.items())[:MOST_PAIRS])
    with figure(path, size=(10.0, 3.8), columns=(1.0, 1.0)) as (alone, together):
        for axes, shares, title in (
            (alone, importance.settings, "Settings"),
            (together, {f"{one} × {other}": share for (one, other), share in pairs.items()}, "Interactions"),
        ):
            names = list(shares)[::-1]
            axes.barh(names, [100 * shares[name] for name in names], color=COLOURS[0], height=0.6)
            for place, name in enumerate(names):
                axes.annotate(
                    f"{shares[name]:.0%}", (100 * shares[name], place), (4, 0), textcoords="offset points", va="center"
                )
            axes.set(xlabel="% of the variance between configurations", title=title)
            axes.grid(axis="y", visible=False)
            axes.set_xlim(0, 115 * max(importance.settings.values()))


def draw_effects(importance: Importance, path: str | os.PathLike[str], *, metric: str) -> None:
    """Draw what each value of each setting reaches on average over all others, the most important setting first."""
    names = list(importance.settings)
    with figure(path, size=(2.6 * len(names) + 1.0, 3.4), columns=[1.0] * len(names)) as panels:
        low = min(float(effect.means.min()) for effect in importance.effects.values())
        high = max(float(effect.means.max()) for effect in importance.effects.values())
        room = 0.08 * (high - low) or 1e-3
        for number, (axes, name) in enumerate(zip(panels, names, strict=True)):
            effect = importance.effects[name]
            places = np.arange(len(effect.values))
            axes.plot(places, effect.means, color=COLOURS[0], marker="o", markersize=5)
            axes.set_xticks(places, [short(value, 3) for value in effect.values], rotation=45 if len(places) > 4 else 0)
            axes.set_ylim(low - room, high + room)
            axes.set_title(name, fontsize=10)
            axes.tick_params(axis="y", labelleft=number == 0)
        panels[0].set_ylabel(f"mean {metric}", color=INK)
