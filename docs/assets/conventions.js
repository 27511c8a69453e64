// NDCG of a few typed queries under each convention: the example of the page on conventions.
// A line is a query; a document is its label, or label@score. Without scores, documents rank as they are typed.
(function () {
  const exponential = (label) => 2 ** label - 1;
  const linear = (label) => label;
  const log2 = (rank) => 1 / Math.log2(rank + 1); // ranks count from 1
  const letor = (rank) => (rank < 3 ? 1 : 1 / Math.log2(rank));
  const single = (score) => Math.fround(score);

  const STANDARD = { gain: exponential, discount: log2, empty: 0, short: "as it is", ties: "input", score: (s) => s };
  const CONVENTIONS = {
    standard: {},
    "standard(gain=linear)": { gain: linear },
    "skip-empty": { empty: null },
    letor: { discount: letor, short: "zero" },
    mslr: { discount: letor, short: "zero" },
    lightgbm: { empty: 1 },
    xgboost: { empty: 1, score: single },
    catboost: { gain: linear, empty: 1, ties: "pessimistic" },
    trec: { gain: linear, ties: "docid", score: single },
    sklearn: { gain: linear, ties: "averaged" },
    ranklib: {},
  };

  function parse(text) {
    const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    return lines.map((line) => {
      const words = line.split(/[\s,]+/).filter((word) => word !== "");
      return words.map((word, place) => {
        const [label, score] = word.split("@");
        const found = { label: Number(label), score: score === undefined ? words.length - place : Number(score), place };
        if (label === "" || score === "" || !(found.label >= 0) || !Number.isFinite(found.score) || !Number.isFinite(found.label))
          throw new Error(`“${word}” is no label of 0 or more, nor a label and a score such as 2@0.7`);
        return found;
      });
    });
  }

  // Documents are called d01, d02, … in the order they are typed; trec ranks equal scores by id, descending.
  const BETWEEN_EQUALS = {
    input: (a, b) => a.place - b.place,
    averaged: (a, b) => a.place - b.place,
    docid: (a, b) => b.place - a.place,
    pessimistic: (a, b) => a.label - b.label || a.place - b.place,
  };

  function ndcg(documents, cutoff, rules) {
    const { gain, discount } = rules;
    const weight = (rank) => (rank <= cutoff ? discount(rank) : 0);
    const best = documents.map((one) => gain(one.label)).sort((a, b) => b - a);
    const ideal = best.reduce((sum, worth, i) => sum + worth * weight(i + 1), 0);
    if (ideal === 0) return rules.empty;
    if (rules.short === "zero" && documents.length < cutoff) return 0;
    const scored = documents.map((one) => ({ ...one, score: rules.score(one.score) }));
    scored.sort((a, b) => b.score - a.score || BETWEEN_EQUALS[rules.ties](a, b));
    let gains = scored.map((one) => gain(one.label));
    if (rules.ties === "averaged") {
      const mean = (i) => {
        const equals = scored.map((one, j) => (one.score === scored[i].score ? gains[j] : null)).filter((g) => g !== null);
        return equals.reduce((sum, g) => sum + g, 0) / equals.length;
      };
      gains = gains.map((_, i) => mean(i));
    }
    return gains.reduce((sum, worth, i) => sum + worth * weight(i + 1), 0) / ideal;
  }

  function evaluate(text, cutoff) {
    const queries = parse(text);
    const table = {};
    for (const [name, differing] of Object.entries(CONVENTIONS)) {
      const values = queries.map((documents) => ndcg(documents, cutoff, { ...STANDARD, ...differing }));
      const counted = values.filter((value) => value !== null);
      table[name] = { values, mean: counted.length ? counted.reduce((a, b) => a + b, 0) / counted.length : null };
    }
    return table;
  }

  function show(root) {
    const [typed, cutoff, answer] = ["textarea", "input", "output"].map((kind) => root.querySelector(kind));
    const cell = (row, text, kind = "td") => row.appendChild(Object.assign(document.createElement(kind), { textContent: text }));
    const shown = (value) => (value === null ? "left out" : value.toFixed(4));
    answer.replaceChildren();
    try {
      const k = Number(cutoff.value);
      if (!(k >= 1)) throw new Error("the cutoff must be 1 or more");
      const table = evaluate(typed.value, k);
      const element = answer.appendChild(document.createElement("table"));
      const head = element.createTHead().insertRow();
      cell(head, "convention", "th");
      cell(head, `mean NDCG@${k}`, "th");
      table.standard.values.forEach((_, i) => cell(head, `query ${i + 1}`, "th"));
      const body = element.createTBody();
      for (const [name, { values, mean }] of Object.entries(table)) {
        const row = body.insertRow();
        row.insertCell().appendChild(document.createElement("code")).textContent = name;
        [mean, ...values].forEach((value, i) => {
          const usual = i === 0 ? table.standard.mean : table.standard.values[i - 1];
          if (value === null || usual === null ? value !== usual : Math.abs(value - usual) > 5e-5) cell(row, shown(value)).className = "differs";
          else cell(row, shown(value));
        });
      }
    } catch (mistake) {
      answer.appendChild(Object.assign(document.createElement("p"), { className: "mistake", textContent: mistake.message }));
    }
  }

  if (typeof module !== "undefined") module.exports = { evaluate };
  else
    document.querySelectorAll(".conventions-example").forEach((root) => {
      root.hidden = false;
      root.addEventListener("input", () => show(root));
      show(root);
    });
})();
