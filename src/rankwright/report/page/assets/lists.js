// The documents of a query as systems ranked them, side by side.

const NEW = "new";

/** Where a document was in the other list, and which way it moved. */
function movedFrom(rank, other) {
  if (other === undefined) return null;
  if (other === null) return make("span", { className: "up" }, NEW);
  if (other === rank) return make("span", { className: "quiet" }, "same");
  const isUp = other > rank;
  const told = `${isUp ? "up" : "down"} from ${other}`;
  return make("span", { className: isUp ? "up" : "down", role: "img", "aria-label": told }, `${other} ${isUp ? "▲" : "▼"}`);
}

function labelCell(label) {
  const text = label === null ? "–" : String(label);
  return make("span", { className: label > 0 ? "label relevant" : "label", title: "the judge's label" }, text);
}

/** The list of one system; `other` is the system to compare ranks with, or null. */
function rankedList(state, query, system, other, picked, onPick) {
  const own = state.lists[query];
  const order = own.docs.map((_, place) => place).filter((place) => own.ranks[system][place] !== null);
  order.sort((one, two) => own.ranks[system][one] - own.ranks[system][two]);
  const rows = order.slice(0, state.depth).map((doc) => {
    const rank = own.ranks[system][doc];
    const pick = make(
      "button",
      { type: "button", className: "pick", "aria-pressed": String(picked.includes(doc)), "data-doc": doc },
      bdi(own.docs[doc][3] || own.docs[doc][0]),
    );
    const id = own.docs[doc][3] ? make("span", { className: "quiet shown-text" }, bdi(own.docs[doc][0])) : null;
    pick.addEventListener("click", () => onPick(doc));
    return make(
      "tr",
      {},
      make("td", { className: "number" }, String(rank)),
      make("th", { scope: "row" }, pick, id),
      make("td", { className: "number" }, labelCell(own.docs[doc][1])),
      make("td", { className: "number" }, short(own.scores[system][doc])),
      other === null ? null : make("td", { className: "number" }, movedFrom(rank, own.ranks[other][doc]) ?? ""),
    );
  });
  const names = ["rank", "document", "label", "score", ...(other === null ? [] : ["was"])];
  const head = names.map((name) =>
    make("th", { scope: "col", className: name === "document" ? "" : "number" }, name),
  );
  const table = make(
    "table",
    { className: "ranked" },
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...rows),
  );
  const value = fixed(state.values[state.metric]?.[system]?.[query]);
  const title = make("h4", {}, bdi(state.systems[system]), ` · ${state.metrics[state.metric]} ${value}`);
  const scroll = make("div", { className: "scroll", tabIndex: 0, role: "region" }, table);
  scroll.setAttribute("aria-label", `Documents as ranked by ${state.systems[system]}`);
  return make("div", { className: "list" }, title, scroll);
}
