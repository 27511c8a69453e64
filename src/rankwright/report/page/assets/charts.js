// Vega-Lite specifications drawn as SVG, without evaluating any text as code.

const NARROW = 520; // pixels below which long names on an axis are cut shorter

// What the compiler finds remarkable is no news to readers; what it cannot do is an error.
const QUIET = { level: () => QUIET, error: (...told) => console.error(...told), warn: () => QUIET, info: () => QUIET, debug: () => QUIET };

/** Draw a specification into an element that is as wide as it may be; resolves to the view. */
async function drawChart(element, spec, onOpen = null) {
  const width = Math.max(220, element.clientWidth);
  const own = { ...spec, width: "container" };
  if (width < NARROW) {
    const axis = { ...spec.config.axis, labelLimit: 96 };
    own.config = { ...spec.config, axis, legend: { ...spec.config.legend, columns: 1 } };
  }
  const compiled = vegaLite.compile(own, { logger: QUIET }).spec;
  const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
    renderer: "svg",
    container: element,
    hover: true,
    expr: globalThis.vegaExpressions,
  });
  view.description(spec.description || "Chart");
  if (onOpen !== null) view.addEventListener("click", (_, item) => item?.datum && onOpen(item.datum));
  await view.runAsync();
  return view;
}

async function drawCharts(specs) {
  for (const element of document.querySelectorAll("[data-chart]")) {
    await drawChart(element, specs[Number(element.dataset.chart)]);
  }
}
