// The queries: a scatter of two systems, a table to search and sort, and the query that was opened.

const ROWS_AT_A_TIME = 15;
const MOST_DOTS = 1500; // drawn; the largest changes first, then every so many
const VALUES = ["first", "second", "change", "size"];
const OUTCOME_NAMES = ["all queries", "better", "worse", "the same"];

/** The rows of the table for the chosen systems and metric. */
function queryRows(state) {
  const [first, second] = state.shown;
  const values = state.values[state.metric];
  const sign = state.higher[state.metric] ? 1 : -1;
  const empty = new Set(state.nothing_relevant);
  return state.ids.map((id, query) => {
    const [a, b] = [values[first][query], second === null ? null : values[second][query]];
    const change = a === null || b === null ? null : b - a;
    const better = change === null ? null : sign * change;
    const outcome = better === null ? "" : better > 0 ? "better" : better < 0 ? "worse" : "the same";
    const text = state.texts?.[query] ?? "";
    return { query, id, text, isEmpty: empty.has(query), documents: state.documents[query], first: a, second: b, change, outcome };
  });
}

function thinned(rows) {
  const known = rows.filter((row) => row.first !== null && row.second !== null);
  if (known.length <= MOST_DOTS) return known;
  const byChange = [...known].sort((one, two) => Math.abs(two.change) - Math.abs(one.change));
  const rest = byChange.slice(MOST_DOTS / 2);
  const every = rest.length / (MOST_DOTS / 2);
  return [...byChange.slice(0, MOST_DOTS / 2), ...Array.from({ length: MOST_DOTS / 2 }, (_, n) => rest[Math.floor(n * every)])];
}

async function showScatter(place, state, rows, onOpen) {
  const [first, second] = state.shown.map((one) => state.systems[one]);
  const metric = state.metrics[state.metric];
  const dots = thinned(rows).map(({ query, id, first, second, outcome }) => ({ place: query, query: id, first, second, outcome }));
  const spec = structuredClone(state.scatter);
  const [line, cloud] = spec.layer;
  const ends = dots.flatMap((dot) => [dot.first, dot.second]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  spec.data = { values: dots };
  spec.description = `Each query as a dot: ${metric} of ${first} across, of ${second} upwards. The table has every value.`;
  line.data.values = [low, high].map((end) => ({ first: end, second: end }));
  for (const { encoding } of spec.layer) {
    encoding.x.title = `${metric} of ${first}`;
    encoding.y.title = `${metric} of ${second}`;
  }
  cloud.encoding.color.title = `${second} is`;
  cloud.encoding.tooltip[1].title = first;
  cloud.encoding.tooltip[2].title = second;
  const [drawing, caption] = place.children;
  drawing.replaceChildren();
  const known = rows.filter((row) => row.change !== null).length;
  const note = dots.length < known ? ` ${dots.length.toLocaleString("en")} of ${known.toLocaleString("en")} dots are drawn, those that changed most among them.` : "";
  caption.textContent = `Above the line, ${second} is better. Click on a dot to open its query.${note}`;
  await drawChart(drawing, spec, (datum) => datum.place !== undefined && onOpen(datum.place));
}

/** The table of queries: searched, filtered, sorted, a few rows at a time. */
class QueryTable {
  constructor(state, onOpen) {
    this.state = state;
    this.onOpen = onOpen;
    this.page = 0;
    this.wanted = "";
    this.outcome = 0;
    this.key = state.shown[1] === null ? "first" : "size";
    this.rises = state.shown[1] === null;
    this.body = make("tbody");
    this.status = make("span", { role: "status" });
    this.before = make("button", { type: "button", className: "button" }, "Previous");
    this.after = make("button", { type: "button", className: "button" }, "Next");
    this.before.addEventListener("click", () => this.turn(-1));
    this.after.addEventListener("click", () => this.turn(1));
    this.head = make("tr");
    const table = make("table", { className: "queries" }, make("thead", {}, this.head), this.body);
    const scroll = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Queries" }, table);
    const pager = make("div", { className: "pager" }, this.before, this.after, this.status);
    this.element = make("div", {}, this.tools(), scroll, pager);
  }

  tools() {
    const input = make("input", { type: "search", autocomplete: "off", id: "query-search" });
    input.addEventListener("input", () => {
      this.wanted = input.value.trim().toLowerCase();
      this.choose();
    });
    const search = make("label", { className: "field" }, "Search queries", input);
    if (this.state.shown[1] === null) return make("div", { className: "tools" }, search);
    const [outcomes] = choice("Show", OUTCOME_NAMES, 0, (chosen) => {
      this.outcome = chosen;
      this.choose();
    });
    return make("div", { className: "tools" }, search, outcomes);
  }

  turn(pages) {
    this.page += pages;
    this.show();
  }

  /** Take the rows of other systems or of another metric. */
  take(rows) {
    this.rows = rows.map((row) => ({ ...row, idText: String(row.id).toLowerCase(), found: `${row.id} ${row.text}`.toLowerCase(), size: row.change === null ? -1 : Math.abs(row.change) }));
    this.headers();
    this.choose();
  }

  headers() {
    const [first, second] = this.state.shown;
    const columns = [["id", "query"], ["documents", "documents"], ["first", this.state.systems[first]]];
    if (second !== null) columns.push(["second", this.state.systems[second]], ["change", "difference"]);
    const headers = columns.map(([key, name]) => make("th", { scope: "col", className: key === "id" ? "" : "number" }, bdi(name)));
    headers.forEach((header, place) => {
      const key = columns[place][0];
      const first = key === "id" || key === "documents" ? "ascending" : "descending";
      sortingHeader(header, headers, (rises) => {
        [this.key, this.rises] = [key, rises];
        this.choose();
      }, first);
    });
    this.head.replaceChildren(...headers);
  }

  /** Choose and sort the rows anew, and show the first of them. */
  choose() {
    const outcome = this.outcome === 0 ? null : OUTCOME_NAMES[this.outcome];
    const kept = this.rows.filter((row) => row.found.includes(this.wanted) && (outcome === null || row.outcome === outcome));
    const key = this.key === "id" ? "idText" : this.key;
    // No order of a query in which nothing is relevant is bad: by value, such queries come last.
    const missing = (row) => row[key] === null || (VALUES.includes(key) && row.isEmpty);
    const order = this.rises ? 1 : -1;
    this.found = kept.sort((one, two) => missing(one) - missing(two) || order * byKey(one[key], two[key]) || one.query - two.query);
    this.page = 0;
    this.show();
  }

  show() {
    const { found } = this;
    const start = this.page * ROWS_AT_A_TIME;
    const rows = found.slice(start, start + ROWS_AT_A_TIME);
    this.body.replaceChildren(...rows.map((row) => this.row(row)));
    this.before.disabled = this.page === 0;
    this.after.disabled = start + ROWS_AT_A_TIME >= found.length;
    const end = Math.min(start + ROWS_AT_A_TIME, found.length);
    const told = (number) => number.toLocaleString("en");
    this.status.textContent = found.length ? `${told(start + 1)} to ${told(end)} of ${told(found.length)} queries` : "no query is like that";
  }

  row(row) {
    const open = make("button", { type: "button", className: "open" }, bdi(row.id));
    open.addEventListener("click", () => this.onOpen(row.query));
    const numbers = [String(row.documents), fixed(row.first)];
    const cells = numbers.map((text) => make("td", { className: "number" }, text));
    if (this.state.shown[1] !== null) {
      const direction = row.outcome === "better" ? "up" : row.outcome === "worse" ? "down" : "";
      cells.push(make("td", { className: "number" }, fixed(row.second)));
      cells.push(make("td", { className: "number" }, make("span", { className: direction }, signed(row.change))));
    }
    const empty = row.isEmpty ? make("span", { className: "quiet mark" }, "nothing relevant") : null;
    const text = row.text ? make("span", { className: "quiet shown-text" }, bdi(row.text)) : null;
    const own = make("tr", {}, make("th", { scope: "row" }, open, text, empty), ...cells);
    if (row.query === this.state.open) own.setAttribute("aria-current", "true");
    return own;
  }
}

/** The way to the search page, where the query can be tried out and judged; the address says nothing but the query. */
function searchLink(state, query) {
  const text = state.texts?.[query];
  if (!state.search || !text) return null;
  const href = `${state.search.address}?${new URLSearchParams({ q: text })}`;
  const link = make("a", { href, target: "_blank", rel: "noreferrer", id: "search-link" }, "Search for it on the page");
  return make("p", { className: "note" }, link, ", which this opens: ", make("code", {}, state.search.command));
}

/** Show the lists of a query, and explain two of its documents. */
function showQuery(place, state, query, picked) {
  const systems = state.shown.filter((one) => one !== null);
  const [first, second] = state.shown;
  const title = make("h3", { tabIndex: -1, id: "open-query" }, "Query ", bdi(state.ids[query]), state.texts?.[query] ? ": " : null, state.texts?.[query] ? bdi(state.texts[query]) : null);
  const told = state.nothing_relevant.includes(query) ? "Nothing is relevant in this query: no order of its documents is better than another." : null;
  place.replaceChildren(...[title, searchLink(state, query), told && make("p", { className: "note" }, told)].filter((one) => one !== null));
  place.hidden = false;
  if (!state.lists[query]) {
    const told = state.has_lists
      ? "The lists of this query were left out to keep the page small."
      : "Only values were compared: there are no lists to show.";
    place.append(make("p", { className: "note" }, told));
    if (state.list_command) place.append(make("pre", { tabIndex: 0 }, make("code", {}, state.list_command.replace("{query}", () => shellWord(state.ids[query])))));
    return;
  }
  const onPick = (doc) => {
    const without = picked.filter((one) => one !== doc);
    const next = without.length < picked.length ? without : [...picked.slice(-1), doc];
    showQuery(place, state, query, next);
    place.querySelector(`[data-doc="${doc}"]`)?.focus();
  };
  const lists = systems.map((one) => {
    const other = second === null ? null : one === first ? second : first;
    return rankedList(state, query, one, other, picked, onPick);
  });
  place.append(make("div", { className: "lists" }, ...lists), pairPanel(state, query, systems, picked));
}

/** The pair that is explained when a query is opened: the one that was prepared, or the first two documents. */
function firstPair(state, query) {
  const prepared = state.pairs[query]?.[0];
  if (prepared) return [prepared.above, prepared.below];
  const own = state.lists[query];
  if (!own) return [];
  const ranks = own.ranks[state.shown[0]];
  return own.docs.map((_, doc) => doc).filter((doc) => ranks[doc] !== null).sort((one, two) => ranks[one] - ranks[two]).slice(0, 2);
}

async function showQueries(place, given) {
  const state = { ...given, metric: 0, shown: given.first, open: null };
  const drawing = make("figure", { className: "chart" }, make("div", { className: "drawing", id: "scatter" }), make("figcaption"));
  const opened = make("div", { className: "card", id: "query", hidden: true });
  const onOpen = (query, scrolls = true) => {
    state.open = query;
    showQuery(opened, state, query, firstPair(state, query));
    table.show();
    if (scrolls) document.getElementById("open-query").focus();
  };
  const table = new QueryTable(state, onOpen);
  const again = async () => {
    const rows = queryRows(state);
    table.take(rows);
    if (state.open !== null) onOpen(state.open, false);
    if (state.shown[1] !== null) await showScatter(drawing, state, rows, onOpen);
  };
  const tools = chooser(state, again);
  place.append(...[tools, state.shown[1] === null ? null : drawing].filter((one) => one !== null));
  place.append(make("div", { className: "table-block" }, make("h3", {}, "Queries"), table.element), opened);
  place.hidden = false;
  const rows = queryRows(state);
  table.take(rows);
  const first = given.open ?? table.found[0]?.query;
  if (first !== undefined) onOpen(first, false);
  if (state.shown[1] !== null) await showScatter(drawing, state, rows, onOpen);
}

/** The choice of two systems and of a metric, where there is a choice. */
function chooser(state, again) {
  const fields = [];
  if (state.systems.length > 2) {
    for (const [side, label] of [[0, "First system"], [1, "Second system"]]) {
      const [field, select] = choice(label, state.systems, state.shown[side], (chosen) => {
        const shown = [...state.shown];
        if (shown[1 - side] === chosen) shown[1 - side] = shown[side];
        shown[side] = chosen;
        state.shown = shown;
        selects.forEach((one, place) => (one.value = String(shown[place])));
        again();
      });
      fields.push([field, select]);
    }
  }
  const selects = fields.map(([, select]) => select);
  const shownFields = fields.map(([field]) => field);
  if (state.metrics.length > 1) {
    const [field] = choice("Metric", state.metrics, 0, (chosen) => {
      state.metric = chosen;
      again();
    });
    shownFields.push(field);
  }
  return shownFields.length ? make("div", { className: "tools", id: "choices" }, ...shownFields) : null;
}
