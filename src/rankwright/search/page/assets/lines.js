// Lines between the same documents in two lists that stand side by side.
const PICTURE = "http://www.w3.org/2000/svg";

export const drawLines = () => {
  const picture = document.getElementById("lines");
  const frame = document.getElementById("lists");
  if (!picture || !frame) return;
  const [left, right] = ["a", "b"].map((side) => frame.querySelector(`[data-side="${side}"]`));
  if (!left || !right) return picture.replaceChildren();
  const whole = frame.getBoundingClientRect();
  const [from, to] = [left.getBoundingClientRect().right, right.getBoundingClientRect().left];
  if (to <= from) return picture.replaceChildren(); // the lists stand below each other
  const height = (row) => {
    const box = row.querySelector(".rank").getBoundingClientRect();
    return box.top + box.height / 2 - whole.top;
  };
  const rank = (row) => Number(row.querySelector(".rank").textContent);
  const place = new Map([...right.querySelectorAll("[data-document]")].map((row) => [row.dataset.document, row]));
  // All places are read before anything is drawn: to read one after a change would lay out the page anew each time.
  const both = [...left.querySelectorAll("[data-document]")].map((row) => [row, place.get(row.dataset.document)]);
  const ends = both.filter(([, other]) => other).map((pair) => pair.map((row) => [height(row), rank(row)]));
  const middle = (to - from) / 2;
  const lines = ends.map(([[one, a], [two, b]]) => {
    const line = document.createElementNS(PICTURE, "path");
    line.setAttribute("d", `M0 ${one} C${middle} ${one} ${middle} ${two} ${to - from} ${two}`);
    line.setAttribute("class", a === b ? "same" : b < a ? "up" : "down");
    return line;
  });
  picture.setAttribute("viewBox", `0 0 ${to - from} ${whole.height}`);
  picture.setAttribute("width", to - from);
  picture.setAttribute("height", whole.height);
  picture.style.left = `${from - whole.left}px`;
  picture.replaceChildren(...lines);
};
