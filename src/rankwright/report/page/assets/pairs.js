// Why one document is above another: what each feature adds to the difference of their scores.

const SHOWN_FEATURES = 10;
const OTHERS = "all others";

/** Contributions of a pair, the largest first. */
function pairParts(state, query, system, above, below) {
  const kept = state.pairs[query]?.find((one) => one.system === system && one.above === above && one.below === below);
  if (kept?.parts) return kept.parts.map(([feature, value]) => part(state, query, feature, value, above, below));
  const own = state.explained[query];
  const told = own?.pairs[system]?.[pairNumber(above, below, own.values.length)];
  if (!told) return null;
  const sign = above < below ? 1 : -1; // of a pair, the document that is shown first comes first
  const [rest, ...numbers] = told;
  const parts = [];
  for (let at = 0; at < numbers.length; at += 2) {
    parts.push(part(state, query, own.features[numbers[at]], sign * numbers[at + 1], above, below));
  }
  return [...parts, part(state, query, null, sign * rest, above, below)];
}

/** The number of a pair of n documents, which are counted (0, 1), (0, 2), … (1, 2), …, whichever is above. */
function pairNumber(above, below, n) {
  const [first, second] = above < below ? [above, below] : [below, above];
  return (first * (2 * n - first - 1)) / 2 + second - first - 1;
}

function part(state, query, feature, value, above, below) {
  const own = state.explained[query];
  const place = own.features.indexOf(feature);
  const valueOf = (doc) => (place < 0 ? undefined : own.values[doc][place]);
  const name = feature === null ? OTHERS : state.features[feature];
  return { name, value, above: valueOf(above), below: valueOf(below) };
}

function barCell(value, largest) {
  const bar = make("span", { className: value >= 0 ? "plus" : "minus" });
  bar.style.width = `${largest > 0 ? (100 * Math.abs(value)) / largest : 0}%`;
  return make("div", { className: "bar-cell", "aria-hidden": "true" }, bar);
}

function partsTable(parts, above, below, names) {
  const used = parts.filter((one) => one.value !== 0 && one.name !== OTHERS);
  const shown = used.slice(0, SHOWN_FEATURES);
  const rest = parts.filter((one) => !shown.includes(one)).reduce((sum, one) => sum + one.value, 0);
  if (rest !== 0) shown.push({ name: OTHERS, value: rest });
  const largest = Math.max(...shown.map((one) => Math.abs(one.value)), 0);
  const rows = shown.map((one) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, bdi(one.name)),
      make("td", { className: "number" }, one.above === undefined ? "" : short(one.above, 3)),
      make("td", { className: "number" }, one.below === undefined ? "" : short(one.below, 3)),
      make("td", { className: "number" }, signed(Number(one.value.toPrecision(3)), 3)),
      make("td", {}, barCell(one.value, largest)),
    ),
  );
  const heads = ["feature", names[0], names[1], "adds", ""].map((name, place) =>
    make("th", { scope: "col", className: place === 0 || place === 4 ? "" : "number" }, bdi(name)),
  );
  const table = make(
    "table",
    { className: "bars" },
    make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...rows),
  );
  const scroll = make("div", { className: "scroll", tabIndex: 0, role: "region" }, table);
  scroll.setAttribute("aria-label", `What each feature adds, ${names[0]} against ${names[1]}`);
  return scroll;
}

/** The line that explains a pair where the page has no explanation of it. */
function commandFor(state, query, system, documents) {
  const command = state.commands[system];
  if (!command) return null;
  const [id, one, two] = [state.ids[query], documents[0], documents[1]];
  const words = command.shell
    ? { query: shellWord(id), documents: shellWord(`${one},${two}`) }
    : { query: JSON.stringify(id), documents: `(${JSON.stringify(one)}, ${JSON.stringify(two)})` };
  return command.text.replace("{query}", () => words.query).replace("{documents}", () => words.documents);
}

function explainedBy(state, query, system, picked) {
  const own = state.lists[query];
  const ranks = own.ranks[system];
  const known = picked.filter((doc) => ranks[doc] !== null);
  const [above, below] = known.length < 2 ? picked : [...picked].sort((one, two) => ranks[one] - ranks[two]);
  const names = [own.docs[above][0], own.docs[below][0]];
  const parts = pairParts(state, query, system, above, below);
  const title = make("h4", {}, bdi(state.systems[system]));
  const box = make("div", { className: "list" }, title);
  const order = make("p", { className: "why" }, bdi(names[0]), " is above ", bdi(names[1]));
  if (known.length < 2) {
    box.append(make("p", { className: "note" }, "Not both documents are in this system's list."));
    return box;
  }
  box.append(order);
  if (parts !== null) {
    box.append(partsTable(parts, above, below, names));
    const swap = state.pairs[query]?.find((one) => one.system === system && one.above === above && one.below === below);
    if (swap?.swap) box.append(make("p", { className: "note" }, bdi(swap.swap)));
    return box;
  }
  const command = commandFor(state, query, system, [own.docs[above][2], own.docs[below][2]]);
  const told = command ? "This pair is not explained in the page. To explain it:" : "This system explains nothing: only its scores are known.";
  box.append(make("p", { className: "note" }, told));
  if (command) box.append(make("pre", { tabIndex: 0 }, make("code", {}, command)));
  return box;
}

/** The panel that explains the two documents that were picked. */
function pairPanel(state, query, systems, picked) {
  const title = make("h3", {}, "Why is one above the other?");
  const hint = "Choose two documents in the lists above. What each feature adds to the difference of their scores is shown, the largest first.";
  const panel = make("div", { className: "pair", id: "pair" }, title, make("p", { className: "note" }, hint));
  if (picked.length === 2) {
    panel.append(make("div", { className: "lists" }, ...systems.map((one) => explainedBy(state, query, one, picked))));
  }
  return panel;
}
