// What happens when the page is opened: the theme, the tables, the charts, the queries.

function chooseTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const show = (isDark) => {
    root.dataset.theme = isDark ? "dark" : "light";
    button.textContent = isDark ? "Light theme" : "Dark theme";
  };
  show(prefersDark.matches);
  prefersDark.addEventListener("change", (event) => show(event.matches));
  button.addEventListener("click", () => show(root.dataset.theme !== "dark"));
  button.hidden = false;
}

/** Mark the section in sight in the list of contents. */
function followReading() {
  const links = [...document.querySelectorAll(".contents a")];
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries.filter((one) => one.isIntersecting)) {
        for (const link of links) {
          if (link.hash === `#${entry.target.id}`) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
      }
    },
    { rootMargin: "-20% 0px -70% 0px" },
  );
  links.forEach((link) => watcher.observe(document.getElementById(link.hash.slice(1))));
}

async function open() {
  chooseTheme();
  enlivenTables();
  followReading();
  const state = await readState();
  if (state.queries !== null) await showQueries(document.getElementById("queries-here"), state.queries);
  await drawCharts(state.charts);
  document.documentElement.dataset.ready = "true";
}

open();
