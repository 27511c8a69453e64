"""What is searched: a ranker whose settings are tried, and the space of these settings."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sklearn.base import clone

from rankwright.catalog.settings import ranker_from_text
from rankwright.errors import require_type
from rankwright.rankers.ranker import Ranker
from rankwright.settings.spaces import Space
from rankwright.settings.text import values_of
from rankwright.tuning.named_spaces import space_from_name, space_from_text

OWN = "own"  # what a text calls the ranker's own space


def searched_space(
    ranker: Ranker | str, space: Space | str | None, *, keeps: Collection[str] = ()
) -> tuple[Ranker, Space]:
    """A copy of the ranker, and the space to search.

    A named space brings further settings. They replace defaults of the ranker, except those named in `keeps`.
    """
    require_type(ranker, (str, Ranker), "ranker", "the name of a ranker, or a ranker such as LambdaMART()")
    own: Ranker = ranker_from_text(ranker) if isinstance(ranker, str) else clone(ranker)
    if space is None:
        return own, own.space
    if not isinstance(space, str):
        return own, space
    found = space_from_name(space)
    mine, defaults = own.get_params(deep=False), type(own)().get_params(deep=False)
    beside = {
        name: value
        for name, value in found.settings.items()
        if name in mine and mine[name] == defaults[name] and name not in keeps
    }
    return own.set_params(**beside), found.space


def search_from_text(
    ranker: str, settings: Sequence[str] = (), *, space: str | None = None, search: Sequence[str] = ()
) -> tuple[Ranker, Space]:
    """The ranker of that name with its `settings`, each as `key=value`, and the space to search.

    `space` is "own", the name of a space, or a file. Entries of `search`, as `key=a,b,c` or `key=low..high`, replace
    those of the space; without `space` they are the whole space. A setting that is given is not searched.
    """
    fixed = values_of(settings)
    chosen, found = searched_space(ranker_from_text(ranker, settings), None if space == OWN else space, keeps=fixed)
    if space is None and search:
        return chosen, space_from_text(search)
    narrowed = {name: dimension for name, dimension in found.items() if name not in fixed}
    return chosen, narrowed | dict(space_from_text(search))
