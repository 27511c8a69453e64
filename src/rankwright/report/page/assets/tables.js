// Tables that the page came with: sorted by a click on a header or by Enter, searched where they are long.

const SEARCHED = 12; // rows from which a table has a search

/** What a cell is sorted by: its first number, or its text. */
function sortKey(cell) {
  const text = cell.textContent.trim().replaceAll("−", "-").replaceAll(",", "");
  const found = /^[<*≈~]?\s*([+-]?\d*\.?\d+(?:e[+-]?\d+)?)/i.exec(text);
  return found ? Number(found[1]) : text.toLowerCase();
}

function byKey(first, second) {
  if (typeof first === "number" && typeof second === "number") return first - second;
  if (typeof first !== typeof second) return typeof first === "number" ? -1 : 1;
  return first < second ? -1 : first > second ? 1 : 0;
}

/** A header that sorts; `onSort` is called with whether the order rises. */
function sortingHeader(header, headers, onSort, first = "ascending") {
  const other = { ascending: "descending", descending: "ascending" };
  const button = make("button", { type: "button", className: "sorter" }, ...header.childNodes);
  header.append(button);
  button.addEventListener("click", () => {
    const next = other[header.getAttribute("aria-sort")] ?? first;
    headers.forEach((one) => one.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", next);
    onSort(next === "ascending");
  });
}

/** Say what the parts are: on a phone they are laid out as cards, and would be parts of no table. */
function nameParts(table) {
  table.setAttribute("role", "table");
  for (const part of [table.tHead, ...table.tBodies]) part.setAttribute("role", "rowgroup");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    for (const cell of row.cells) {
      const scope = cell.getAttribute("scope");
      cell.setAttribute("role", scope === "col" ? "columnheader" : scope === "row" ? "rowheader" : "cell");
    }
  }
}

function enliven(table) {
  nameParts(table);
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  if (body.rows.length < 2) return;
  headers.forEach((header, place) => {
    if (header.textContent.trim() === "") return;
    sortingHeader(header, headers, (rises) => {
      const rows = [...body.rows].map((row) => [sortKey(row.cells[place]), row]);
      rows.sort((one, two) => (rises ? 1 : -1) * byKey(one[0], two[0]));
      body.append(...rows.map(([, row]) => row));
    });
  });
  if (body.rows.length > SEARCHED) addSearch(table, body);
}

function addSearch(table, body) {
  const input = make("input", { type: "search", autocomplete: "off" });
  const count = make("p", { className: "note", role: "status" });
  const all = [...body.rows];
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let found = 0;
    for (const row of all) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      found += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${found} of ${all.length} rows` : "";
  });
  const field = make("label", { className: "field" }, "Search in this table", input);
  table.closest(".scroll").before(make("div", { className: "tools" }, field, count));
}

function enlivenTables() {
  document.querySelectorAll("table.sortable").forEach(enliven);
}
