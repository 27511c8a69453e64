"""Charts as Vega-Lite specifications: one serves the page, the SVG and the PNG."""
