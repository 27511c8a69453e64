// Before anything is drawn, so that nothing flashes: the theme that the system asks for.
document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
