// Vega-Lite specifications drawn as SVG, without evaluating any text as code.

const NARROW = 520; // pixels below which names have no room beside a chart

// What the compiler finds remarkable is no news to readers; what it cannot do is an error.
const QUIET = { level: () => QUIET, error: (...told) => console.error(...told), warn: () => QUIET, info: () => QUIET, debug: () => QUIET };

/** Put the names of rows above what they name: beside it there is no room for them. */
function namesAboveRows(spec, width) {
  spec.height.step += 18;
  for (const { encoding } of spec.layer) {
    if (encoding?.y?.type !== "nominal") continue;
    const lifted = { labelAlign: "left", labelPadding: -2, labelOffset: -0.36 * spec.height.step, labelLimit: width, zindex: 1 };
    encoding.y.axis = { ...encoding.y.axis, ...lifted };
  }
  for (const { mark } of spec.layer) if (mark?.height?.band) mark.height.band = 0.36;
}

/** Draw a specification into an element that is as wide as it may be; resolves to the view. */
async function drawChart(element, spec, onOpen = null) {
  const width = Math.max(220, element.clientWidth);
  const own = structuredClone({ ...spec, width: "container" });
  own.config.axis.labelLimit = Math.round(0.45 * width);
  if (width < NARROW) {
    own.config.legend.columns = 1;
    own.config.axisQuantitative.tickCount = 4;
    if (own.height?.step) namesAboveRows(own, width);
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
