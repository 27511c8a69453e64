"""The pictures of the pages on mathematics, drawn as small SVG files: `python docs/machinery/pictures.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log, log2
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "images"
COLOURS = ("#00796b", "#e64a19", "#3949ab", "#8d6e63", "#7b1fa2")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 300, 56, 20, 16, 44
TEXT = 'font-family="sans-serif" font-size="13"'

Curve = tuple[str, Callable[[float], float]]


def main() -> None:
    """Draw all of them."""
    for name, picture in PICTURES.items():
        (IMAGES / name).write_text(picture(), encoding="utf-8")


def svg(parts: Sequence[str], title: str, height: int = HEIGHT) -> str:
    """A whole picture on white, with its title for those who cannot see it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">'
    background = f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    return "\n".join([head, f"<title>{title}</title>", background, *parts, "</svg>\n"])


def label(x: float, y: float, words: str, anchor: str = "middle", colour: str = "#333") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" {TEXT}>{words}</text>'


def line(points: Sequence[tuple[float, float]], colour: str, width: float = 2, dash: str = "") -> str:
    """A line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'


class Axes:
    """Where numbers stand in the picture."""

    def __init__(self, xs: tuple[float, float], ys: tuple[float, float]) -> None:
        self.xs, self.ys = xs, ys

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of two numbers."""
        (x0, x1), (y0, y1) = self.xs, self.ys
        across = LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)

    def frame(self, x_title: str, y_title: str, x_ticks: Sequence[float], y_ticks: Sequence[float]) -> list[str]:
        """Axes with their numbers and titles."""
        bottom, left = self.ys[0], self.xs[0]
        parts = [line([self.at(left, self.ys[1]), self.at(left, bottom), self.at(self.xs[1], bottom)], "#999", 1)]
        for x in x_ticks:
            across, down = self.at(x, bottom)
            parts.append(label(across, down + 17, f"{x:g}".replace("-", "−")))
        for y in y_ticks:
            across, down = self.at(left, y)
            parts.append(label(across - 8, down + 4, f"{y:g}".replace("-", "−"), "end"))
        parts.append(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_title))
        parts.append(label(LEFT + 8, TOP + 10, y_title, "start", "#666"))
        return parts

    def curve(self, function: Callable[[float], float], colour: str, dash: str = "") -> str:
        """A function over the whole width, cut off at the top."""
        xs = [self.xs[0] + (self.xs[1] - self.xs[0]) * i / 120 for i in range(121)]
        points = [(x, function(x)) for x in xs]
        return line([self.at(x, y) for x, y in points if self.ys[0] <= y <= self.ys[1]], colour, 2, dash)


def legend(names: Sequence[str], x: float, y: float) -> list[str]:
    """A line and a name for each curve."""
    parts = []
    for number, name in enumerate(names):
        down = y + 19 * number
        parts += [line([(x, down), (x + 22, down)], COLOURS[number], 3), label(x + 29, down + 4, name, "start")]
    return parts


def ranknet_cost() -> str:
    """RankNet's cost of a pair by the difference of the scores, for three targets."""
    axes = Axes((-5, 5), (0, 5))
    costs = [lambda o, p=p: log(1 + exp(o)) - p * o for p in (1.0, 0.5, 0.0)]
    parts = axes.frame("difference of the scores, s₁ − s₂", "cost", range(-5, 6), range(6))
    parts += [axes.curve(cost, colour) for cost, colour in zip(costs, COLOURS, strict=False)]
    parts += legend(["target 1: first is better", "target ½: equally good", "target 0: second is better"], 205, 40)
    return svg(parts, "RankNet's cost of a pair")


def pair_losses() -> str:
    """The losses of a pair that rankers here have."""
    axes = Axes((-3, 3), (0, 3))
    losses: list[Curve] = [
        ("logistic (RankNet)", lambda x: log(1 + exp(-x))),
        ("hinge (RankSVM-struct)", lambda x: max(0.0, 1 - x)),
        ("squared hinge (RankSVM)", lambda x: max(0.0, 1 - x) ** 2),
        ("exponential (RankBoost)", lambda x: exp(-x)),
        ("fidelity (FRank)", lambda x: 1 - (1 / (1 + exp(-x))) ** 0.5),
    ]
    parts = axes.frame("score of the better document less that of the other", "loss", range(-3, 4), range(4))
    parts += [axes.curve(loss, colour) for (_, loss), colour in zip(losses, COLOURS, strict=True)]
    return svg(parts + legend([name for name, _ in losses], 340, 36), "Losses of a pair")


def bag_variance() -> str:
    """What is left of the variance of one model in the mean of many."""
    axes = Axes((1, 40), (0, 1))
    parts = axes.frame(
        "models in the bag", "variance of the mean, as a share of one model's", (1, 10, 20, 30, 40), (0, 0.5, 1)
    )
    shares = (0.0, 0.3, 0.6)
    parts += [axes.curve(lambda b, r=r: r + (1 - r) / b, colour) for r, colour in zip(shares, COLOURS, strict=False)]
    return svg(parts + legend([f"correlation {share:g}" for share in shares], 380, 50), "Variance of the mean of a bag")


def discounts() -> str:
    """What rank p leaves of a gain, by the three discounts."""
    axes = Axes((1, 15), (0, 1.05))
    parts = axes.frame("rank", "discount", (1, 2, 3, 5, 10, 15), (0, 0.5, 1))
    found: list[Curve] = [
        ("log2", lambda p: 1 / log2(p + 1)),
        ("letor", lambda p: 1.0 if p < 2.5 else 1 / log2(p)),
        ("reciprocal", lambda p: 1 / p),
    ]
    for (_, discount), colour in zip(found, COLOURS, strict=False):
        places = [axes.at(p, discount(p)) for p in range(1, 16)]
        parts += [line(places, colour, 1)]
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
    return svg(parts + legend([name for name, _ in found], 420, 40), "Three discounts")


def boosting_step() -> str:
    """Forces on documents by one feature, and the tree that fits them."""
    axes = Axes((0, 10), (-1.2, 1.2))
    parts = axes.frame("a feature", "force, and the leaf that answers it", range(0, 11, 2), (-1, 0, 1))
    forces = [(0.4, -0.9), (1.1, -0.6), (1.8, -1.0), (2.6, -0.5), (3.3, -0.7), (4.1, 0.1), (4.7, 0.3), (5.4, -0.1)]
    forces += [(6.0, 0.2), (6.8, 0.9), (7.4, 0.6), (8.1, 1.0), (8.8, 0.7), (9.4, 0.8)]
    parts.append(line([axes.at(0, 0), axes.at(10, 0)], "#bbb", 1, "4 4"))
    for x, y in forces:
        across, down = axes.at(x, y)
        parts.append(line([axes.at(x, 0), (across, down)], "#b2dfdb", 2))
        parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="4" fill="{COLOURS[0]}"/>')
    for low, high in ((0, 3.7), (3.7, 6.4), (6.4, 10)):
        inside = [y for x, y in forces if low < x < high]
        mean = sum(inside) / len(inside)
        parts.append(line([axes.at(low, mean), axes.at(high, mean)], COLOURS[1], 3))
    parts += [line([axes.at(x, -1.2), axes.at(x, 1.2)], "#999", 1, "2 4") for x in (3.7, 6.4)]
    return svg(parts, "A tree of three leaves fitted to forces")


def prank_line() -> str:
    """PRank's scores on a line, cut by thresholds into levels."""
    parts = [line([(40, 90), (520, 90)], "#333", 2), label(520, 75, "w·x", "end")]
    for place, name in ((170, "b₁"), (300, "b₂"), (430, "b₃")):
        parts += [line([(place, 70), (place, 110)], COLOURS[1], 3), label(place, 60, name, colour=COLOURS[1])]
    parts += [label(place, 132, f"level {n}") for n, place in enumerate((105, 235, 365, 475))]
    wrong = (245, 90)
    parts.append(f'<circle cx="{wrong[0]}" cy="{wrong[1]}" r="6" fill="{COLOURS[2]}"/>')
    parts.append(
        label(wrong[0], 165, "a document of level 3: b₂ and b₃ go down, the weights go towards x", colour=COLOURS[2])
    )
    parts.append(line([(wrong[0], 97), (wrong[0], 150)], COLOURS[2], 1, "3 3"))
    return svg(parts, "PRank's thresholds", 185)


def sortnet_net() -> str:
    """The comparator with its dual neurons."""
    places = {"x": (70, 70), "y": (70, 210), "h": (250, 70), "h′": (250, 210), "N≻": (430, 70), "N≺": (430, 210)}
    same, crossed = COLOURS[0], COLOURS[1]
    edges = [("x", "h", same), ("y", "h′", same), ("x", "h′", crossed), ("y", "h", crossed)]
    edges += [("h", "N≻", same), ("h′", "N≺", same), ("h", "N≺", crossed), ("h′", "N≻", crossed)]
    parts = [line([places[a], places[b]], colour, 2.5) for a, b, colour in edges]
    for name, (x, y) in places.items():
        parts.append(f'<circle cx="{x}" cy="{y}" r="27" fill="#fff" stroke="#333" stroke-width="1.5"/>')
        parts.append(label(x, y + 5, name))
    parts += [label(70, 30, "two documents"), label(250, 30, "a neuron and its dual"), label(430, 30, "above, below")]
    parts.append(label(WIDTH / 2, 275, "lines of one colour between two layers share their weights"))
    return svg(parts, "SortNet's comparator")


PICTURES: dict[str, Callable[[], str]] = {
    "ranknet-cost.svg": ranknet_cost,
    "pair-losses.svg": pair_losses,
    "bag-variance.svg": bag_variance,
    "discounts.svg": discounts,
    "boosting-step.svg": boosting_step,
    "prank-line.svg": prank_line,
    "sortnet-net.svg": sortnet_net,
}

if __name__ == "__main__":
    main()
