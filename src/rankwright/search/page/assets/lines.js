// Lines between the same documents in two lists that stand side by side.
const PICTURE = "http://www.w3.org/2000/svg";

export const drawLines = () => {
  const picture = document.getElementById("lines");
  const frame = document.getElementById("lists");
  if (!picture || !frame) return;
  picture.replaceChildren();
  const [left, right] = ["a", "b"].map((side) => frame.querySelector(`[data-side="${side}"]`));
  if (!left || !right) return;
  const whole = frame.getBoundingClientRect();
  const [from, to] = [left.getBoundingClientRect().right, right.getBoundingClientRect().left];
  if (to <= from) return; // the lists stand below each other
  picture.setAttribute("viewBox", `0 0 ${to - from} ${whole.height}`);
  picture.setAttribute("width", to - from);
  picture.setAttribute("height", whole.height);
  picture.style.left = `${from - whole.left}px`;
  const height = (row) => {
    const box = row.querySelector(".rank").getBoundingClientRect();
    return box.top + box.height / 2 - whole.top;
  };
  const place = new Map([...right.querySelectorAll("[data-document]")].map((row) => [row.dataset.document, row]));
  for (const row of left.querySelectorAll("[data-document]")) {
    const other = place.get(row.dataset.document);
    if (!other) continue;
    const [one, two] = [height(row), height(other)];
    const line = document.createElementNS(PICTURE, "path");
    const middle = (to - from) / 2;
    line.setAttribute("d", `M0 ${one} C${middle} ${one} ${middle} ${two} ${to - from} ${two}`);
    const [a, b] = [row, other].map((item) => Number(item.querySelector(".rank").textContent));
    line.setAttribute("class", a === b ? "same" : b < a ? "up" : "down");
    picture.append(line);
  }
};
