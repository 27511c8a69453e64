// Small helpers. Texts always become text nodes: whatever an id says, it is shown, never run.

/** An element with properties, attributes (`aria-…`, `data-…`, `role`, `scope`) and children. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "scope") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A text of unknown direction, apart from the direction of what is around it. */
function bdi(text) {
  return make("bdi", {}, String(text));
}

/** A number with so many digits after the point; a dash where there is none. */
function fixed(number, digits = 4) {
  return number === null || number === undefined ? "–" : number.toFixed(digits).replace("-", "−");
}

/** A difference with its sign. */
function signed(number, digits = 4) {
  if (number === null || number === undefined) return "–";
  return (number > 0 ? "+" : number < 0 ? "−" : "±") + Math.abs(number).toFixed(digits);
}

/** A number in a few digits that count. */
function short(number, digits = 4) {
  if (number === null || number === undefined) return "missing";
  const text = Number(number.toPrecision(digits));
  return Math.abs(text) >= 1e9 || (text !== 0 && Math.abs(text) < 1e-4) ? text.toExponential() : String(text);
}

/** A labelled choice. */
function choice(label, names, chosen, onChange) {
  const select = make("select", {});
  names.forEach((name, place) => select.append(make("option", { value: String(place) }, String(name))));
  select.value = String(chosen);
  select.addEventListener("change", () => onChange(Number(select.value)));
  return [make("label", { className: "field" }, label, select), select];
}

/** What a shell takes as one word. */
function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
