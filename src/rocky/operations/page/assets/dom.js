// Elements, numbers and times as every view writes them. Texts become text nodes and never markup:
// names and descriptions come from a project that somebody else may have written.
"use strict";

const Rocky = {};

(() => {
  const SVG = "http://www.w3.org/2000/svg";

  // An element with attributes and children; a function as an attribute is a listener.
  function h(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") made.addEventListener(name, value);
      else made.setAttribute(name, value === true ? "" : String(value));
    }
    add(made, children);
    return made;
  }

  function add(parent, children) {
    for (const child of children) {
      if (child === null || child === undefined || child === false) continue;
      if (Array.isArray(child)) add(parent, child);
      else parent.append(child instanceof Node ? child : String(child));
    }
    return parent;
  }

  // A text of a message, in which what stands in backticks is code.
  const words = (text) => String(text ?? "").split("`").map((part, at, all) => (at % 2 ? (at < all.length - 1 ? h("code", {}, part) : `\`${part}`) : part));

  function svg(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const ICONS = {
    search: "M11 5a6 6 0 1 0 0 12a6 6 0 0 0 0-12M15.5 15.5L20 20",
    sun: "M12 8a4 4 0 1 0 0 8a4 4 0 0 0 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
    moon: "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z",
    auto: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 3v18M12 7h5.5M12 12h8M12 17h5.5",
    plus: "M12 5v14M5 12h14",
    minus: "M5 12h14",
    fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
    rows: "M4 5h16v14H4zM4 10h16M4 14.5h16M11 10v9",
    save: "M12 4v11M7 10.5l5 5l5-5M4.5 19.5h15",
    arrow: "M5 12h14M13 6l6 6l-6 6",
  };

  function icon(name) {
    const path = svg("path", { d: ICONS[name] });
    return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, path);
  }

  // ---------------------------------------------------------------- numbers and times

  const grouped = new Intl.NumberFormat("en-GB");
  const count = (value) => grouped.format(value);
  const counted = (value, noun, many) => `${count(value)} ${value === 1 ? noun : many || `${noun}s`}`;

  function duration(ms) {
    if (ms === null || ms === undefined) return "";
    if (ms < 1000) return `${ms} ms`;
    const seconds = ms / 1000;
    if (seconds < 60) return `${seconds.toFixed(1)} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function bytes(value) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    while (value >= 1000 && unit < units.length - 1) {
      value /= 1000;
      unit += 1;
    }
    return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
  }

  function money(value) {
    if (value === 0) return "$0";
    return value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`;
  }

  // A moment, exactly and in UTC; how long ago that is changes, and so is only a hint.
  function when(text) {
    const shown = `${text.slice(0, 10)} ${text.slice(11, 16)}`;
    return h("time", { datetime: text, title: `${shown}${text.slice(16, 19)} UTC, ${ago(new Date(text))}` }, `${shown} UTC`);
  }

  function ago(moment) {
    const seconds = (Date.now() - moment.getTime()) / 1000;
    const steps = [[60, "second"], [60, "minute"], [24, "hour"], [Infinity, "day"]];
    let value = Math.max(0, seconds);
    for (const [size, name] of steps) {
      if (value < size) return `${counted(Math.floor(value), name)} ago`;
      value /= size;
    }
    return "";
  }

  // ---------------------------------------------------------------- light and dark

  const THEMES = ["auto", "light", "dark"];

  function savedTheme() {
    try {
      const saved = localStorage.getItem("rocky-theme");
      return THEMES.includes(saved) ? saved : "auto";
    } catch {
      return "auto";
    }
  }

  function setTheme(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("rocky-theme", theme);
    } catch {
      // A browser that keeps nothing shows what was chosen all the same.
    }
    document.dispatchEvent(new Event("rocky-theme"));
  }

  if (savedTheme() !== "auto") document.documentElement.dataset.theme = savedTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new Event("rocky-theme")),
  );

  // Paper is light, whatever the screen is.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    document.dispatchEvent(new Event("rocky-theme"));
  });
  addEventListener("afterprint", () => setTheme(savedTheme()));

  Object.assign(Rocky, {
    h, add, words, svg, icon, count, counted, duration, bytes, money, when, ago, THEMES, savedTheme, setTheme,
  });
})();
