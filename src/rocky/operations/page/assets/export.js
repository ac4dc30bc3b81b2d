// The graph as a picture that can be kept: the same drawing, made on paper that writes SVG in place of pixels.
"use strict";

(() => {
  const { svg } = Rocky;
  const ROOM = 24;

  // What the graph uses of a canvas. A path that is filled and stroked is two elements, in the order they were made.
  class Paper {
    constructor(measure) {
      this.measure = measure;
      this.root = svg("g", {});
      this.globalAlpha = 1;
      this.lineWidth = 1;
      this.path = "";
    }

    setTransform() {}
    measureText(text) {
      this.measure.font = this.font;
      return this.measure.measureText(text);
    }

    beginPath() { this.path = ""; }
    moveTo(x, y) { this.path += `M${short(x)} ${short(y)}`; }
    lineTo(x, y) { this.path += `L${short(x)} ${short(y)}`; }
    bezierCurveTo(...at) { this.path += `C${at.map(short).join(" ")}`; }

    roundRect(x, y, w, h, radii) {
      // A radius for all corners, for two pairs, or for each: from the upper left on, as a clock goes.
      const given = Array.isArray(radii) ? radii : [radii];
      const [a, b, c, d] = given.length === 4 ? given : given.length === 2 ? [...given, ...given] : Array(4).fill(given[0]);
      const turn = (radius, dx, dy) => (radius ? `a${radius} ${radius} 0 0 1 ${dx * radius} ${dy * radius}` : "");
      this.path += `M${short(x + a)} ${short(y)}H${short(x + w - b)}${turn(b, 1, 1)}V${short(y + h - c)}${turn(c, -1, 1)}`
        + `H${short(x + d)}${turn(d, -1, -1)}V${short(y + a)}${turn(a, 1, -1)}Z`;
    }

    // Only whole circles are drawn.
    arc(x, y, radius) {
      this.path += `M${short(x - radius)} ${short(y)}a${radius} ${radius} 0 1 1 ${2 * radius} 0a${radius} ${radius} 0 1 1 ${-2 * radius} 0Z`;
    }

    put(tag, attributes, ...children) {
      if (this.globalAlpha < 1) attributes.opacity = short(this.globalAlpha);
      this.root.append(svg(tag, attributes, ...children));
    }

    fill() { if (this.path) this.put("path", { d: this.path, fill: this.fillStyle }); }
    stroke() { if (this.path) this.put("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": short(this.lineWidth) }); }
    fillRect(x, y, w, h) { this.put("rect", { x: short(x), y: short(y), width: short(w), height: short(h), fill: this.fillStyle }); }
    // An attribute takes no short form of a font; a style does. Half a capital below the middle is where its line is.
    fillText(text, x, y) {
      const [, weight, size, family] = this.font.match(/^(?:(\d+) )?([\d.]+)px (.*)$/);
      this.put("text", { x: short(x), y: short(y + Number(size) * 0.36), fill: this.fillStyle, "font-size": size, "font-weight": weight || 400, "font-family": family }, text);
    }
  }

  const short = (value) => Number(Number(value).toFixed(2));

  // The whole graph as it is coloured now, whatever part of it is seen; nothing in it is lit.
  function graphAsSvg(view, title) {
    const colour = view.palette();
    const { width, height } = view.layout;
    const paper = new Paper(view.context);
    const { context, ratio, scale, x, y, wide, tall, lit, chosen } = view;
    const { lit: litColumns } = view.columns;
    view.columns.lit = null;
    Object.assign(view, { context: paper, ratio: 1, scale: 1, x: 0, y: 0, wide: width, tall: height, lit: null, chosen: -1 });
    try {
      view.scene();
    } finally {
      Object.assign(view, { context, ratio, scale, x, y, wide, tall, lit, chosen });
      view.columns.lit = litColumns;
    }
    paper.root.setAttribute("transform", `translate(${ROOM} ${ROOM})`);
    const [w, h] = [Math.ceil(width + 2 * ROOM), Math.ceil(height + 2 * ROOM)];
    const made = svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img" },
      svg("title", {}, title), svg("rect", { width: w, height: h, fill: colour("canvas") }), paper.root);
    return new XMLSerializer().serializeToString(made);
  }

  // A page hands a file over as a download; an editor has a way of its own, and puts it in this one's place.
  function save(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    Rocky.h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  function saveGraph(view, title) {
    const name = `${title.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80) || "lineage"}.svg`;
    Rocky.save(name, graphAsSvg(view, title));
  }

  Object.assign(Rocky, { graphAsSvg, saveGraph, save });
})();
