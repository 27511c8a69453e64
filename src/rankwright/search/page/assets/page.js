// The page follows what is typed and moved: it asks for the parts that change, and puts them in place.
import { drawLines } from "/assets/lines.js";
import { startJudging } from "/assets/judge.js";

const status = document.getElementById("status");
let asked = new AbortController();
let wanted = null; // the address of what was typed or moved while an answer was on its way
let following = false;

/** Put the parts of an answer in the place of those that are shown; what is being moved or typed in stays. */
export const put = (text) => {
  const made = new DOMParser().parseFromString(text, "text/html");
  const active = document.activeElement;
  const id = active?.id;
  const typing = active?.matches?.("input, select, textarea");
  for (const part of made.querySelectorAll("[data-part]")) {
    const old = document.getElementById(part.id);
    if (!old || part.ownerDocument === document) continue; // nowhere to put it, or it came with the part around it
    if (old.contains(active) && typing) continue; // its own parts follow, one by one
    if (part.querySelector("[data-part]") && old.querySelector("[data-part]") && typing) {
      old.className = part.className;
      continue;
    }
    old.replaceWith(document.adoptNode(part));
  }
  if (id && !typing && document.activeElement !== active) document.getElementById(id)?.focus();
  finish();
};

const finish = () => {
  drawLines();
  again();
  document.dispatchEvent(new Event("shown")); // benchmarks wait for it
};

/** Ask for an address and show its parts; `kept` says what happens to the address of the page. */
export const show = async (address, kept = "replace") => {
  wanted = null;
  asked.abort();
  asked = new AbortController();
  let answer, text;
  try {
    answer = await fetch(address, { headers: { "x-parts": "1" }, signal: asked.signal, credentials: "same-origin" });
    text = await answer.text(); // this, too, may be cut off by the next question
  } catch (error) {
    if (error.name !== "AbortError") tell("The server does not answer. Is it still running?");
    return false;
  }
  if (!answer.ok) {
    const fault = new DOMParser().parseFromString(text, "text/html").getElementById("fault");
    tell(fault?.textContent ?? `The server answered ${answer.status}.`);
    return false;
  }
  tell("");
  const canonical = answer.headers.get("x-address") ?? address;
  if (kept === "push") history.pushState(null, "", canonical);
  if (kept === "replace") history.replaceState(null, "", canonical);
  put(text);
  return true;
};

/** Show what is typed or moved: one question at a time, then the last one that came up meanwhile, so that a list follows
 * a slider that keeps moving, and no question waits for answers that nobody wants any more. */
const follow = async (address) => {
  wanted = address;
  if (following) return;
  following = true;
  try {
    while (wanted !== null) await show(wanted);
  } finally {
    following = false;
  }
};

export const tell = (words) => {
  status.textContent = words;
};

/** What the form says, without sliders that stand where they stood. */
const addressOf = (form) => {
  const said = new URLSearchParams();
  for (const control of form.elements) {
    if (!control.name || control.disabled || control.value === "") continue;
    if (control.type === "range" && control.dataset.before !== "" && control.value === control.dataset.before) continue;
    said.append(control.name, control.value);
  }
  return `${form.getAttribute("action")}?${said}`;
};

const form = document.querySelector("form[data-live]");

const changed = (event) => {
  const control = event.target;
  if (!form || control.form !== form) return;
  if (control.dataset.clears) {
    for (const other of form.elements) if (other.name?.startsWith(control.dataset.clears)) other.disabled = true;
  }
  if (control.type === "range") {
    const output = document.querySelector(`output[for="${CSS.escape(control.id)}"]`);
    output.textContent = Number(Number(control.value).toPrecision(4)).toString().replace("-", "−");
    control.closest(".slider").classList.add("moved");
    control.dataset.before = "";
  }
  follow(addressOf(form));
};

/** Rows of a table whose first cell has the words that were typed. */
const filterRows = (input) => {
  const wanted = input.value.toLowerCase();
  for (const row of document.querySelectorAll(`#${CSS.escape(input.dataset.filter)} tbody tr`)) {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  }
};

document.addEventListener("input", (event) => {
  if (event.target.dataset?.filter) filterRows(event.target);
  else if (!event.target.matches("select")) changed(event);
});
document.addEventListener("change", (event) => {
  if (event.target.matches("select")) changed(event);
});
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  show(addressOf(form), "push");
});

const canSwap = (event) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || !canSwap(event)) return;
  event.preventDefault();
  const query = new URL(link.href).searchParams.get("q");
  if (form && query !== null) form.elements.q.value = query;
  const shown = await show(link.href, "push");
  const panel = document.querySelector("#panel .panel");
  if (shown && panel && (link.id.startsWith("why") || link.id.startsWith("whatif") || link.id === "open-features")) {
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
});
addEventListener("popstate", () => location.reload());

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=range]), select, textarea");
  if (event.key === "/" && !typing && form) {
    event.preventDefault();
    form.elements.q.focus();
    form.elements.q.select();
  }
});

let waiting;
/** A part that is not finished yet asks again. */
const again = () => {
  clearTimeout(waiting);
  const part = document.querySelector("[data-again]");
  if (part) waiting = setTimeout(() => show(location.href, "keep"), Number(part.dataset.again));
};

const theme = document.getElementById("theme");
const nameTheme = () => {
  theme.textContent = document.documentElement.dataset.theme === "dark" ? "Light theme" : "Dark theme";
};
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
  nameTheme();
});
nameTheme();
addEventListener("resize", drawLines);
startJudging(show, tell);
finish();
document.documentElement.dataset.ready = "";
