// What the tests ask a page in the browser: what is cut, what is hard to read, what has no name.

(() => {
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && style.opacity !== "0";
  };

  const numbers = (colour) => {
    const found = /rgba?\(([^)]+)\)/.exec(colour);
    const parts = found ? found[1].split(/[ ,/]+/).map(Number) : [0, 0, 0, 1];
    return parts.length > 3 ? parts : [...parts, 1];
  };

  const over = (top, below) => [0, 1, 2].map((place) => top[place] * top[3] + below[place] * (1 - top[3]));

  const background = (element) => {
    const layers = [];
    for (let one = element; one !== null; one = one.parentElement) {
      const colour = numbers(getComputedStyle(one).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };

  const light = (colour) => {
    const [red, green, blue] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };

  const contrast = (one, two) => {
    const [high, low] = [light(one), light(two)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };

  const texts = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (walker.currentNode.data.trim() && !["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"].includes(parent.tagName)) found.add(parent);
    }
    return [...found].filter(seen);
  };

  /** Texts whose contrast is below AA: 4.5, or 3 for large ones. */
  const faint = () => {
    const wrong = [];
    for (const element of texts()) {
      const style = getComputedStyle(element);
      const isChart = element.namespaceURI.endsWith("svg");
      const own = numbers(isChart ? style.fill : style.color);
      const below = background(isChart ? element.closest(".drawing") : element);
      const size = Number.parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const found = contrast(over(own, below), below);
      if (found < (isLarge ? 3 : 4.5)) wrong.push(`${element.textContent.trim().slice(0, 40)}: ${found.toFixed(2)}`);
    }
    return wrong;
  };

  /** What reaches beyond its place: the page, boxes that hide what is too wide, texts of charts. */
  const cut = () => {
    const wrong = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
    for (const element of document.querySelectorAll("body *")) {
      if (!seen(element) || element.namespaceURI.endsWith("svg")) continue;
      const hides = ["hidden", "clip", "auto", "scroll"].includes(getComputedStyle(element).overflowX);
      if (hides && element.scrollWidth > element.clientWidth + 1 && element.tagName !== "INPUT") {
        wrong.push(`${element.tagName}.${element.className} ${element.scrollWidth} in ${element.clientWidth}`);
      }
    }
    for (const text of document.querySelectorAll("svg text")) {
      const [own, whole] = [text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect()];
      const outside = own.left < whole.left - 2 || own.right > whole.right + 2 || own.top < whole.top - 2 || own.bottom > whole.bottom + 2;
      if (own.width > 0 && outside) wrong.push(`chart text ${text.textContent}`);
      if (text.textContent.endsWith("…")) wrong.push(`shortened: ${text.textContent}`);
    }
    return wrong;
  };

  /** Controls and pictures that a screen reader has no name for, and headings that skip a level. */
  const unnamed = () => {
    const wrong = [];
    for (const control of document.querySelectorAll("button, input, select, a[href], [role=region]")) {
      const name = control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.[0]?.textContent.trim();
      if (!name) wrong.push(control.outerHTML.slice(0, 80));
    }
    for (const chart of document.querySelectorAll(".drawing svg, .drawing > div")) {
      if (!chart.closest("[aria-label]") && !chart.querySelector("[aria-label]")) wrong.push("a chart without a name");
    }
    let level = 0;
    for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
      if (Number(heading.tagName[1]) > level + 1) wrong.push(`${heading.tagName} after h${level}: ${heading.textContent}`);
      level = Number(heading.tagName[1]);
    }
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    if (new Set(ids).size < ids.length) wrong.push("two elements have one id");
    return wrong;
  };

  return { faint: faint(), cut: cut(), unnamed: unnamed() };
})();
