"use strict";
// The theme is settled before anything is drawn. Without a choice it is the system's.
{
  const root = document.documentElement;
  root.classList.add("scripted");
  const system = matchMedia("(prefers-color-scheme: dark)");
  // Browsers may refuse storage to pages on disk; the choice then holds for the page.
  const stored = (value) => {
    try {
      if (value) localStorage.setItem("miglab-theme", value);
      return localStorage.getItem("miglab-theme");
    } catch {
      return null;
    }
  };
  const chosen = stored();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => button.setAttribute("aria-pressed", String(dark()));
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      stored(root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
    // On a narrow screen the navigation may be wider than it.
    document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
