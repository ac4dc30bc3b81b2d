// The graph of tables on a canvas: drag, zoom, hover, and the same by keyboard. What the canvas shows
// is also said in words: a live region names the chosen table, and lists beside it link to each.
"use strict";

(() => {
  const { h, icon } = Rocky;
  const HEIGHT = 44;
  const WIDEST = 240;
  const NARROWEST = 110;
  const OPEN_NARROWEST = 210;
  const NAMES_FROM = 0.38;
  const WORDS_FROM = 0.62;
  const MANY_LINES = 6000;
  // A large graph is drawn on a sheet so many times as wide and high as what is seen, which is moved under the window.
  const SHEET = 1.5;
  const REST = 140;
  const NARROW = 600;
  const FEW = 200;
  const SHAPE = 1.6;
  const COLOURS = [
    "canvas", "surface", "line", "wire", "ink", "muted", "accent", "error",
    "source", "seed", "model", "import", "table", "column", "test", "pipeline",
    "accent-soft", "good", "warning", "good-soft", "warning-soft", "error-soft",
  ];
  // The colours of what an overlay says: a line, and a ground.
  const TONES = { good: ["good", "good-soft"], notice: ["warning", "warning-soft"], bad: ["error", "error-soft"], plain: ["line", "surface"] };

  const measure = document.createElement("canvas").getContext("2d");
  const NAME_FONT = '600 12.5px system-ui, -apple-system, "Segoe UI", sans-serif';
  const WORD_FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';

  // As much of a text as fits: of a path its end, of a name its beginning.
  function fitted(text, width, fromEnd, font = NAME_FONT) {
    measure.font = font;
    if (measure.measureText(text).width <= width) return text;
    const cut = (size) => (fromEnd ? `…${text.slice(text.length - size)}` : `${text.slice(0, size)}…`);
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (measure.measureText(cut(middle)).width <= width) low = middle;
      else high = middle - 1;
    }
    return cut(low);
  }

  // A box is as wide as its words want, and higher by its columns where they are shown.
  function sizeOf(node, more) {
    measure.font = NAME_FONT;
    const name = measure.measureText(node.name).width;
    measure.font = WORD_FONT;
    const words = measure.measureText(node.words).width;
    const wide = Math.max(more ? OPEN_NARROWEST : NARROWEST, Math.min(WIDEST, Math.ceil(Math.max(name, words) + 34)));
    return [wide, HEIGHT + (more || 0)];
  }

  class GraphView {
    static HEIGHT = HEIGHT;

    // `nodes` have a name, a kind, words below it and a link; `edges` are pairs of their numbers.
    // `focus` is the number of one, or -1; `whole` lets the wheel zoom.
    constructor({ nodes, edges, focus = -1, whole = false, label }) {
      this.nodes = nodes;
      this.edges = edges;
      this.focus = focus;
      this.chosen = -1;
      this.lit = null;
      this.whole = whole;
      this.layout = Rocky.layered(nodes.map((node) => sizeOf(node)), edges, whole ? SHAPE : 0);
      this.columns = new Rocky.Columns(this);
      this.next = nodes.map(() => []);
      this.former = nodes.map(() => []);
      for (const [from, to] of this.edges) {
        this.next[from].push(to);
        this.former[to].push(from);
      }
      this.scale = 1;
      this.x = 0;
      this.y = 0;
      this.touches = new Map();
      this.build(label);
    }

    build(label) {
      this.canvas = h("canvas", {
        tabindex: "0", role: "img", "aria-label": `${label}. Arrow keys choose a table, Shift with up or down one of its columns, Enter opens it.`,
        "aria-describedby": "graph-said",
      });
      this.said = h("p", { class: "unseen", id: "graph-said", "aria-live": "polite" });
      const tool = (name, title, act) =>
        h("button", { type: "button", class: "tool", title, "aria-label": title, click: act }, icon(name));
      this.element = h("div", { class: this.whole ? "graph graph-whole" : "graph" },
        this.canvas, this.said,
        h("div", { class: "graph-tools" },
          tool("plus", "Zoom in", () => this.zoom(1.3)),
          tool("minus", "Zoom out", () => this.zoom(1 / 1.3)),
          tool("fit", "Show all", () => this.fit()),
          tool("save", "Save as SVG", () => Rocky.saveGraph(this, label)),
          this.opener = tool("rows", "Columns in the boxes", () => this.columns.toggle())));
      this.opener.setAttribute("aria-pressed", "false");
      this.opener.hidden = true;
      this.context = this.canvas.getContext("2d");
      this.listen();
      this.watch = new ResizeObserver(() => this.resize());
      this.watch.observe(this.element);
      // At once: a page that is printed is not drawn again before it is.
      this.retheme = () => {
        this.colours = null;
        this.sheet = null;
        if (this.wide !== undefined) this.paint();
      };
      document.addEventListener("rocky-theme", this.retheme);
    }

    close() {
      this.watch.disconnect();
      clearTimeout(this.resting);
      document.removeEventListener("rocky-theme", this.retheme);
    }

    // Boxes of other heights; what was in the middle, or is chosen, stays where it is.
    rearrange(heights) {
      const was = this.layout;
      const chosen = this.chosen >= 0 ? this.chosen : this.focus;
      const middle = chosen >= 0 ? chosen : this.nearest();
      const fits = !this.moved;
      this.layout = Rocky.layered(this.nodes.map((node, at) => sizeOf(node, heights?.[at])), this.edges, this.whole && !heights ? SHAPE : 0);
      this.opener.setAttribute("aria-pressed", String(heights !== null));
      this.names = null;
      if (this.wide === undefined) return;
      if (fits || middle < 0) this.fit();
      else {
        this.x += (was.boxes[middle].x - this.layout.boxes[middle].x) * this.scale;
        this.y += (was.boxes[middle].y - this.layout.boxes[middle].y) * this.scale;
      }
      this.redraw();
    }

    // The box that is nearest to the middle of what is seen.
    nearest() {
      const [x, y] = [(this.wide / 2 - this.x) / this.scale, (this.tall / 2 - this.y) / this.scale];
      let best = -1;
      let least = Infinity;
      this.layout.boxes.forEach((box, number) => {
        const far = Math.hypot(box.x + box.w / 2 - x, box.y + box.h / 2 - y);
        if (far < least) [best, least] = [number, far];
      });
      return best;
    }

    // What an overlay says of each box: a tone, a state and words; null takes it off again.
    setSignals(signals) {
      this.signals = signals;
      this.redraw();
    }

    // ---------------------------------------------------------------- where one looks

    resize() {
      const { clientWidth, clientHeight } = this.element;
      if (!clientWidth || (clientWidth === this.wide && clientHeight === this.tall)) return;
      const first = this.wide === undefined;
      this.wide = clientWidth;
      this.tall = clientHeight;
      this.ratio = window.devicePixelRatio || 1;
      this.canvas.width = Math.round(this.wide * this.ratio);
      this.canvas.height = Math.round(this.tall * this.ratio);
      this.sheet = null;
      if (first || !this.moved) this.fit();
      else this.draw();
    }

    fit() {
      const { width, height } = this.layout;
      const room = 28;
      const scale = Math.min((this.wide - 2 * room) / width, (this.tall - 2 * room) / height, 1);
      // A phone begins at the left, where names can be read, and a large graph with all of it.
      const narrow = this.wide < NARROW && this.nodes.length < FEW;
      const least = this.focus >= 0 || narrow ? WORDS_FROM + 0.02 : 0.005;
      this.scale = Math.max(scale, least);
      this.x = (this.wide - width * this.scale) / 2;
      this.y = (this.tall - height * this.scale) / 2;
      if (this.focus < 0 && this.x < 0) this.x = narrow ? 14 : this.x;
      if (this.focus >= 0 && scale < this.scale) {
        const box = this.layout.boxes[this.focus];
        const centred = (whole, size, middle) => (size * this.scale <= whole - 2 * room ? (whole - size * this.scale) / 2
          : Math.min(room, Math.max(whole - size * this.scale - room, whole / 2 - middle * this.scale)));
        this.x = centred(this.wide, width, box.x + box.w / 2);
        this.y = centred(this.tall, height, box.y + box.h / 2);
      }
      this.moved = false;
      this.draw();
    }

    zoom(factor, x = this.wide / 2, y = this.tall / 2) {
      const scale = Math.min(2.5, Math.max(0.01, this.scale * factor));
      this.x = x - ((x - this.x) * scale) / this.scale;
      this.y = y - ((y - this.y) * scale) / this.scale;
      this.scale = scale;
      this.moved = true;
      this.columns.zoomed();
      this.draw();
    }

    reveal(number) {
      const box = this.layout.boxes[number];
      const left = box.x * this.scale + this.x;
      const top = box.y * this.scale + this.y;
      const [w, t] = [box.w * this.scale, box.h * this.scale];
      if (left < 0 || left + w > this.wide) this.x += this.wide / 2 - left - w / 2;
      if (top < 0 || top + t > this.tall) this.y += this.tall / 2 - top - t / 2;
      this.moved = true;
    }

    // ---------------------------------------------------------------- mouse, fingers, keys

    listen() {
      const { canvas } = this;
      canvas.addEventListener("pointerdown", (event) => this.press(event));
      canvas.addEventListener("pointermove", (event) => this.move(event));
      for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.lift(event));
      canvas.addEventListener("pointerleave", () => { if (!this.touches.size) this.choose(-1, false); });
      canvas.addEventListener("keydown", (event) => this.key(event));
      canvas.addEventListener("focus", () => { if (this.chosen < 0) this.choose(this.focus >= 0 ? this.focus : 0, true); });
      canvas.addEventListener("blur", () => this.choose(-1, false));
      canvas.addEventListener("wheel", (event) => {
        if (!this.whole && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
      }, { passive: false });
    }

    press(event) {
      this.touches.set(event.pointerId, [event.offsetX, event.offsetY]);
      this.dragged = 0;
      this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
      const was = this.touches.get(event.pointerId);
      const now = [event.offsetX, event.offsetY];
      if (!was) {
        if (event.pointerType === "mouse") {
          const number = this.under(...now);
          this.choose(number, false);
          this.columns.choose(this.columns.under(number, (now[1] - this.y) / this.scale));
        }
        return;
      }
      const others = [...this.touches.entries()].filter(([id]) => id !== event.pointerId);
      this.touches.set(event.pointerId, now);
      if (others.length) {
        const [ox, oy] = others[0][1];
        const far = (point) => Math.hypot(point[0] - ox, point[1] - oy) || 1;
        this.zoom(far(now) / far(was), (now[0] + ox) / 2, (now[1] + oy) / 2);
      } else {
        this.x += now[0] - was[0];
        this.y += now[1] - was[1];
        this.moved = true;
        this.draw();
      }
      this.dragged += Math.abs(now[0] - was[0]) + Math.abs(now[1] - was[1]);
    }

    lift(event) {
      const known = this.touches.delete(event.pointerId);
      if (!known || event.type !== "pointerup" || this.dragged > 5) return;
      const number = this.under(event.offsetX, event.offsetY);
      if (number < 0) return;
      const column = this.columns.under(number, (event.offsetY - this.y) / this.scale);
      if (column) location.hash = this.columns.link(...column).slice(1);
      else this.open(number);
    }

    under(x, y) {
      const [wx, wy] = [(x - this.x) / this.scale, (y - this.y) / this.scale];
      return this.layout.boxes.findIndex((box) =>
        wx >= box.x && wx <= box.x + box.w && wy >= box.y && wy <= box.y + box.h);
    }

    open(number) {
      location.hash = this.nodes[number].link.slice(1);
    }

    key(event) {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.shiftKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) this.stepColumn(event.key === "ArrowDown" ? 1 : -1);
      else if (ways[event.key]) this.step(...ways[event.key]);
      else if (event.key === "Enter" && this.columns.chosen) location.hash = this.columns.link(...this.columns.chosen).slice(1);
      else if (event.key === "Enter" && this.chosen >= 0) this.open(this.chosen);
      else if (event.key === "c") this.columns.toggle();
      else if (event.key === "+" || event.key === "=") this.zoom(1.3);
      else if (event.key === "-") this.zoom(1 / 1.3);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    }

    async stepColumn(by) {
      if (!this.columns.isOpen) await this.columns.toggle();
      const said = this.columns.step(this.chosen, by);
      if (said) this.said.textContent = said;
    }

    // The nearest table in a direction: along an edge where there is one.
    step(dx, dy) {
      if (this.chosen < 0) return this.choose(Math.max(0, this.focus), true);
      const from = this.layout.boxes[this.chosen];
      const beside = dx > 0 ? this.next[this.chosen] : dx < 0 ? this.former[this.chosen] : [];
      const all = beside.length ? beside : this.layout.boxes.keys();
      let best = -1;
      let nearest = Infinity;
      for (const number of all) {
        const box = this.layout.boxes[number];
        const [x, y] = [box.x - from.x, box.y - from.y];
        const along = x * dx + y * dy;
        const across = Math.abs(x * dy) + Math.abs(y * dx);
        if (along > 1 && along + 2 * across < nearest) [best, nearest] = [number, along + 2 * across];
      }
      if (best >= 0) this.choose(best, true);
    }

    choose(number, byKey) {
      if (number === this.chosen) return;
      this.chosen = number;
      this.columns.choose(null);
      this.canvas.classList.toggle("pointing", number >= 0);
      this.lit = number < 0 ? null : this.reach(number);
      if (byKey && number >= 0) {
        const node = this.nodes[number];
        const signal = this.signals?.[number];
        const state = signal ? `${signal.state}: ${signal.words}, ` : "";
        this.said.textContent = `${node.name}, ${node.words}, ${state}reads ${this.former[number].length}, `
          + `read by ${this.next[number].length}`;
        this.reveal(number);
      }
      this.redraw();
    }

    // All that a table is made from, and all that is made from it.
    reach(number) {
      const lit = new Set([number]);
      for (const beside of [this.former, this.next]) {
        const front = [number];
        const seen = new Set(front);
        while (front.length) {
          for (const to of beside[front.pop()]) {
            if (seen.has(to)) continue;
            seen.add(to);
            lit.add(to);
            front.push(to);
          }
        }
      }
      return lit;
    }

    // ---------------------------------------------------------------- drawing

    // What is drawn has changed, and not only where one looks.
    redraw() {
      this.sheet = null;
      this.draw();
    }

    draw() {
      if (this.waits || this.wide === undefined) return;
      this.waits = true;
      requestAnimationFrame(() => {
        this.waits = false;
        this.paint();
      });
    }

    palette() {
      if (!this.colours) {
        // A canvas knows no variables, and only a property that is used says which of two colours it is.
        const probe = document.body.appendChild(document.createElement("span"));
        const style = getComputedStyle(probe);
        this.colours = new Map(
          COLOURS.map((name) => {
            probe.style.color = `var(--${name})`;
            return [name, style.color];
          }),
        );
        probe.remove();
      }
      return (name) => this.colours.get(name);
    }

    paint() {
      const { context: c, ratio } = this;
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, this.wide, this.tall);
      if (this.layout.lines.length < MANY_LINES || this.scale > NAMES_FROM) this.scene();
      else this.moveSheet();
    }

    // The sheet as it is while one moves; drawn anew where it does not reach, and sharp once one rests.
    moveSheet() {
      clearTimeout(this.resting);
      const stretch = this.sheet ? this.scale / this.sheet.scale : 0;
      const left = this.sheet ? this.x - this.sheet.x * stretch : 0;
      const top = this.sheet ? this.y - this.sheet.y * stretch : 0;
      const reaches = this.sheet && stretch > 0.7 && stretch < 1.6 && left <= 0 && top <= 0
        && left + this.wide * SHEET * stretch >= this.wide && top + this.tall * SHEET * stretch >= this.tall;
      if (!reaches) this.drawSheet();
      else if (stretch !== 1) this.resting = setTimeout(() => this.redraw(), REST);
      const { sheet, context: c } = this;
      const by = reaches ? stretch : 1;
      c.drawImage(sheet.canvas, this.x - sheet.x * by, this.y - sheet.y * by, this.wide * SHEET * by, this.tall * SHEET * by);
    }

    drawSheet() {
      const { wide, tall, x, y, context } = this;
      const canvas = this.spare || (this.spare = document.createElement("canvas"));
      canvas.width = Math.round(wide * SHEET * this.ratio);
      canvas.height = Math.round(tall * SHEET * this.ratio);
      const margin = (SHEET - 1) / 2;
      Object.assign(this, { context: canvas.getContext("2d"), wide: wide * SHEET, tall: tall * SHEET, x: x + wide * margin, y: y + tall * margin });
      this.scene();
      this.sheet = { canvas, x: this.x, y: this.y, scale: this.scale };
      Object.assign(this, { context, wide, tall, x, y });
    }

    scene() {
      const { context: c, ratio, scale } = this;
      const colour = this.palette();
      c.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * this.x, ratio * this.y);
      c.lineWidth = Math.min(1.4, Math.max(1, 0.7 / scale));
      c.strokeStyle = colour("wire");
      c.globalAlpha = this.lit ? 0.4 : 1;
      this.strokeLines();
      c.globalAlpha = 1;
      // The way of a column says more than that of its table.
      if (this.lit && !this.columns.lit) {
        c.strokeStyle = colour("accent");
        c.lineWidth = Math.max(1.8, 1 / scale);
        this.strokeLit();
      }
      this.paintBoxes(colour);
      if (this.columns.isOpen) this.columns.paintWays(c, colour);
    }

    view() {
      return {
        left: -this.x / this.scale, right: (this.wide - this.x) / this.scale,
        top: -this.y / this.scale, bottom: (this.tall - this.y) / this.scale,
      };
    }

    curve(c, { x1, y1, x2, y2 }) {
      const bend = (x2 - x1) / 2;
      c.moveTo(x1, y1);
      if (y1 === y2) c.lineTo(x2, y2);
      else c.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    }

    strokeLines() {
      const { context: c } = this;
      const seen = this.view();
      const straight = this.layout.lines.length > MANY_LINES && this.scale < 0.2;
      c.beginPath();
      for (const line of this.layout.lines) {
        if (line.x2 < seen.left || line.x1 > seen.right) continue;
        if (Math.max(line.y1, line.y2) < seen.top || Math.min(line.y1, line.y2) > seen.bottom) continue;
        if (straight) {
          c.moveTo(line.x1, line.y1);
          c.lineTo(line.x2, line.y2);
        } else this.curve(c, line);
      }
      c.stroke();
    }

    strokeLit() {
      const { context: c, lit } = this;
      const within = this.chosen;
      const up = (edge) => lit.has(edge[0]) && lit.has(edge[1]);
      c.beginPath();
      for (const line of this.layout.lines) if (within >= 0 && line.edges.some(up)) this.curve(c, line);
      c.stroke();
    }

    paintBoxes(colour) {
      const { context: c, scale } = this;
      const seen = this.view();
      const round = scale > 0.15;
      this.layout.boxes.forEach((box, number) => {
        if (box.x > seen.right || box.x + box.w < seen.left || box.y > seen.bottom || box.y + box.h < seen.top) return;
        const node = this.nodes[number];
        const faint = this.lit && !this.lit.has(number);
        c.globalAlpha = faint ? 0.35 : 1;
        if (!round) {
          const tone = this.signals && TONES[this.signals[number]?.tone || "plain"][0];
          c.fillStyle = colour(tone || (node.bad ? "error" : node.kind));
          c.fillRect(box.x, box.y, box.w, box.h);
          return;
        }
        this.paintBox(colour, box, node, number);
      });
      c.globalAlpha = 1;
    }

    paintBox(colour, box, node, number) {
      const { context: c, scale } = this;
      const signal = this.signals?.[number];
      const tones = this.signals && TONES[signal?.tone || "plain"];
      const main = number === this.focus && !tones;
      if (tones && !signal) c.globalAlpha *= 0.45;
      if (node.many) {
        c.beginPath();
        c.roundRect(box.x + 4, box.y + 4, box.w, box.h, 7);
        c.fillStyle = colour("line");
        c.fill();
      }
      c.beginPath();
      c.roundRect(box.x, box.y, box.w, box.h, 7);
      c.fillStyle = colour(main ? node.kind : tones ? tones[1] : "surface");
      c.fill();
      c.lineWidth = number === this.chosen ? 2.2 : tones || number === this.focus ? 1.5 : 1;
      c.strokeStyle = colour(number === this.chosen ? "accent" : main ? node.kind : tones ? tones[0] : "line");
      c.stroke();
      if (!main) {
        c.beginPath();
        c.roundRect(box.x, box.y, 5, box.h, [7, 0, 0, 7]);
        c.fillStyle = colour(tones ? tones[0] : node.kind);
        c.fill();
      }
      if (node.bad && !tones) {
        c.beginPath();
        c.arc(box.x + box.w - 11, box.y + 12, 4, 0, 2 * Math.PI);
        c.fillStyle = colour("error");
        c.fill();
      }
      if (scale < NAMES_FROM) return;
      const words = scale >= WORDS_FROM;
      c.textBaseline = "middle";
      c.fillStyle = colour(main ? "surface" : "ink");
      c.font = NAME_FONT;
      c.fillText(this.name(number, box.w), box.x + 14, box.y + (words ? 15.5 : HEIGHT / 2));
      if (!words) return;
      c.globalAlpha *= main ? 0.85 : 1;
      c.fillStyle = colour(main ? "surface" : "muted");
      c.font = WORD_FONT;
      c.fillText(this.short(tones ? signal?.state || "" : node.words, box.w), box.x + 14, box.y + 31);
      if (!this.columns.isOpen) return;
      if (main) {
        // Only its head is of its colour: its columns must be read.
        c.globalAlpha = this.lit && !this.lit.has(number) ? 0.35 : 1;
        c.beginPath();
        c.roundRect(box.x + 1, box.y + HEIGHT, box.w - 2, Math.max(0, box.h - HEIGHT - 1), [0, 0, 6, 6]);
        c.fillStyle = colour("surface");
        c.fill();
      }
      this.columns.paintRows(c, colour, box, number);
    }

    short(text, width) {
      return this.context.measureText(text).width <= width - 22 ? text : fitted(text, width - 22, false, WORD_FONT);
    }

    name(number, width) {
      this.names ||= new Map();
      if (!this.names.has(number)) {
        const node = this.nodes[number];
        this.names.set(number, fitted(node.name, width - 30, node.many || node.name.split(".").length > 2));
      }
      return this.names.get(number);
    }
  }

  Object.assign(Rocky, { GraphView, fitted });
})();
