// Columns in the boxes of a graph: a box grows by a row for each, and the chosen column lights where its
// values come from and go to, as far as the graph has tables.
"use strict";

(() => {
  const ROW = 17;
  const MOST_ROWS = 14;
  const MOST_TABLES = 60;
  const OPEN_FROM = 1.25;
  const CLOSE_BELOW = 0.8;
  const TYPE_FONT = '10.5px ui-monospace, "SF Mono", Menlo, Consolas, monospace';
  const COLUMN_FONT = '11.5px system-ui, -apple-system, "Segoe UI", sans-serif';

  const heightOf = (columns) => (columns.length ? 6 + ROW * Math.min(columns.length, MOST_ROWS + 1) : 0);
  const key = (place, name) => `${place} ${name.toLowerCase()}`;

  class Columns {
    constructor(view) {
      this.view = view;
      this.byNode = null;
      this.chosen = null;
      this.lit = null;
      this.loading = false;
      this.byHand = false;
    }

    get isOpen() { return this.byNode !== null; }

    // Whether the graph is of tables, and few enough that their columns can be read.
    get isPossible() {
      const { places } = this.view;
      return Boolean(places) && places.length <= MOST_TABLES && places.every((each) => each.length <= 1) && this.view.nodes.every((node) => !node.many);
    }

    // Boxes open by themselves where one is near enough, unless somebody has said otherwise.
    zoomed() {
      if (this.byHand || !this.isPossible) return;
      if (!this.isOpen && this.view.scale >= OPEN_FROM) this.open();
      else if (this.isOpen && this.view.scale < CLOSE_BELOW) this.close();
    }

    async toggle() {
      this.byHand = true;
      if (this.isOpen) this.close();
      else await this.open();
    }

    async open() {
      if (this.loading || !this.isPossible) return;
      this.loading = true;
      try {
        const found = await Promise.all(this.view.places.map(([place]) => (place === undefined ? { columns: [] } : Rocky.store.details(place))));
        this.byNode = found.map((each) => each.columns);
      } catch {
        // The details have changed meanwhile: the page is about to be made again.
        return;
      } finally {
        this.loading = false;
      }
      this.index();
      this.view.rearrange(this.byNode.map(heightOf));
    }

    close() {
      this.byNode = null;
      this.chosen = null;
      this.lit = null;
      this.view.rearrange(null);
    }

    index() {
      this.rows = new Map();
      this.byNode.forEach((columns, number) => columns.forEach((column, row) => {
        this.rows.set(key(this.view.places[number][0], column.name), [number, row]);
      }));
    }

    // ---------------------------------------------------------------- choosing

    // The column at a place of the drawing: the number of its box and its row.
    under(number, y) {
      if (!this.isOpen || number < 0) return null;
      const box = this.view.layout.boxes[number];
      const row = Math.floor((y - box.y - this.view.constructor.HEIGHT - 3) / ROW);
      const { length } = this.byNode[number];
      if (row < 0 || row >= Math.min(length, MOST_ROWS)) return null;
      return [number, row];
    }

    choose(found) {
      if (String(found) === String(this.chosen)) return;
      this.chosen = found;
      this.lit = found ? this.reach(...found) : null;
      this.view.redraw();
    }

    // The next column of the box that is chosen, by keys.
    step(number, by) {
      if (!this.isOpen || number < 0) return null;
      const length = Math.min(this.byNode[number].length, MOST_ROWS);
      if (!length) return null;
      const from = this.chosen && this.chosen[0] === number ? this.chosen[1] : by > 0 ? -1 : length;
      this.choose([number, Math.max(0, Math.min(length - 1, from + by))]);
      return this.said();
    }

    said() {
      const [number, row] = this.chosen;
      const column = this.byNode[number][row];
      const ends = (way) => (column[way] || []).length;
      return `${column.name}, ${column.type}${column.nullable ? "" : ", never null"}, comes from ${Rocky.counted(ends("sources"), "column")}, goes to ${ends("readers")}`;
    }

    link(number, row) {
      return Rocky.store.columnLink(Rocky.store.index.tables[this.view.places[number][0]], this.byNode[number][row].name);
    }

    // All columns that the values of one come from or go to, and the ways between them.
    reach(number, row) {
      const rows = new Set([`${number} ${row}`]);
      const ways = [];
      for (const [way, turned] of [["sources", true], ["readers", false]]) {
        const seen = new Set([`${number} ${row}`]);
        const front = [[number, row]];
        while (front.length) {
          const [at, on] = front.pop();
          for (const [place, name] of this.byNode[at][on][way] || []) {
            const next = this.rows.get(key(place, name));
            if (!next) continue;
            ways.push(turned ? [next, [at, on]] : [[at, on], next]);
            if (seen.has(next.join(" "))) continue;
            seen.add(next.join(" "));
            rows.add(next.join(" "));
            front.push(next);
          }
        }
      }
      return { rows, ways };
    }

    // ---------------------------------------------------------------- drawing

    middleOf([number, row]) {
      const box = this.view.layout.boxes[number];
      return box.y + this.view.constructor.HEIGHT + 3 + ROW * (Math.min(row, MOST_ROWS) + 0.5);
    }

    paintRows(c, colour, box, number) {
      const columns = this.byNode[number];
      if (!columns.length) return;
      const top = box.y + this.view.constructor.HEIGHT;
      c.strokeStyle = colour("line");
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(box.x + 5, top);
      c.lineTo(box.x + box.w, top);
      c.stroke();
      columns.slice(0, MOST_ROWS).forEach((column, row) => {
        const y = this.middleOf([number, row]);
        if (this.lit?.rows.has(`${number} ${row}`)) {
          c.fillStyle = colour("accent-soft");
          c.fillRect(box.x + 5.5, y - ROW / 2, box.w - 6, ROW);
        }
        c.font = TYPE_FONT;
        const type = Rocky.fitted(column.type, box.w * 0.45, false, TYPE_FONT);
        const wide = c.measureText(type).width;
        c.fillStyle = colour("muted");
        c.fillText(type, box.x + box.w - 9 - wide, y);
        c.font = COLUMN_FONT;
        c.fillStyle = colour(column.classification ? "warning" : "ink");
        c.fillText(Rocky.fitted(column.name, box.w - wide - 30, false, COLUMN_FONT), box.x + 14, y);
      });
      if (columns.length > MOST_ROWS) {
        c.font = COLUMN_FONT;
        c.fillStyle = colour("muted");
        c.fillText(`and ${Rocky.count(columns.length - MOST_ROWS)} more`, box.x + 14, this.middleOf([number, MOST_ROWS]));
      }
    }

    paintWays(c, colour) {
      if (!this.lit) return;
      const { boxes } = this.view.layout;
      c.strokeStyle = colour("accent");
      c.lineWidth = Math.max(1.6, 1 / this.view.scale);
      c.beginPath();
      for (const [from, to] of this.lit.ways) {
        const start = boxes[from[0]];
        this.view.curve(c, { x1: start.x + start.w, y1: this.middleOf(from), x2: boxes[to[0]].x, y2: this.middleOf(to) });
      }
      c.stroke();
    }
  }

  Rocky.Columns = Columns;
})();
