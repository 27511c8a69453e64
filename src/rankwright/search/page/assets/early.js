// Before anything is drawn, so that nothing flashes: the theme that was chosen, else the one that the system asks for.
const chosen = localStorage.getItem("theme");
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset.theme = chosen ?? (dark ? "dark" : "light");
