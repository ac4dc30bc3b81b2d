// A layered layout, left to right: layers by the longest path, long edges through dummies that the
// edges of one node share, fewer crossings by barycentres, and rows as near to their neighbours as
// the order allows. Values in, values out: it knows no canvas and no document.
"use strict";

(() => {
  const GAP_X = 72;
  const GAP_Y = 14;
  const DUMMY = 8;
  const LARGE = 20000;

  const KEPT = 12;
  const kept = new Map();
  // From so many boxes on it is worth the while to keep where they stand beyond this page.
  const MANY = 2000;
  // Heights of an earlier time by the graph they are of, in halves of a pixel, and who keeps new ones.
  let known = new Map();
  let tell = null;

  function keepLayouts(found, keep) {
    known = new Map(Object.entries(found));
    tell = keep;
  }

  // A layout is computed once for a graph: whoever draws the same one again gets what was made.
  function layered(sizes, edges, shape) {
    const key = fingerprint(sizes, edges, shape || 0);
    let found = kept.get(key);
    if (found) kept.delete(key);
    else found = laidOut(sizes, edges, shape, key);
    kept.set(key, found);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    return found;
  }

  // All that a layout depends on, as two hashes and its size.
  function fingerprint(sizes, edges, shape) {
    let [a, b] = [0x811c9dc5, 0x9e3779b9];
    const take = (value) => {
      a = Math.imul(a ^ value, 0x01000193);
      b = Math.imul(b ^ value, 0x85ebca6b) ^ (b >>> 13);
    };
    for (const [wide, tall] of sizes) {
      take(wide);
      take(tall);
    }
    for (const [from, to] of edges) {
      take(from);
      take(to);
    }
    return `${sizes.length} ${edges.length} ${shape} ${a} ${b}`;
  }

  // `sizes` are [width, height] of nodes, `edges` pairs of places. Comes back with a box for each
  // node, `lines` that are drawn once however many edges share them, and the size of it all. With a
  // `shape`, layers stand so far apart that it is about that many times as wide as high.
  function laidOut(sizes, edges, shape, key) {
    const graph = acyclic(sizes.length, edges);
    const linked = sizes.map((_, at) => graph.out[at].length + graph.into[at].length > 0);
    const layers = layersOf(graph, linked);
    const net = withDummies(sizes, graph, layers, linked);
    const heights = known.get(key);
    // To order them and to place them is most of the work; what fits another graph is not used.
    if (heights?.length === net.layer.length) net.y = Float64Array.from(heights, (each) => each / 2);
    else {
      order(net);
      place(net);
      if (sizes.length >= MANY && tell) tell(key, Array.from(net.y, (each) => each * 2));
    }
    return drawn(net, sizes, linked, shape);
  }

  // Edges without repeats and loops, those that lead back turned round.
  function acyclic(size, edges) {
    const out = Array.from({ length: size }, () => []);
    const into = Array.from({ length: size }, () => []);
    const seen = new Set();
    const given = [];
    for (const [from, to] of edges) {
      if (from === to || seen.has(from * size + to)) continue;
      seen.add(from * size + to);
      given.push([from, to]);
      out[from].push(to);
    }
    const back = backEdges(size, out);
    for (const each of out) each.length = 0;
    const kept = new Set();
    for (const [from, to] of given) {
      const [a, b] = back.has(from * size + to) ? [to, from] : [from, to];
      if (kept.has(a * size + b)) continue;
      kept.add(a * size + b);
      out[a].push(b);
      into[b].push(a);
    }
    return { out, into };
  }

  function backEdges(size, out) {
    const state = new Uint8Array(size);
    const back = new Set();
    for (let root = 0; root < size; root += 1) {
      if (state[root]) continue;
      const path = [[root, 0]];
      state[root] = 1;
      while (path.length) {
        const top = path[path.length - 1];
        const next = out[top[0]][top[1]];
        if (next === undefined) {
          state[top[0]] = 2;
          path.pop();
        } else {
          top[1] += 1;
          if (state[next] === 1) back.add(top[0] * size + next);
          else if (state[next] === 0) {
            state[next] = 1;
            path.push([next, 0]);
          }
        }
      }
    }
    return back;
  }

  function layersOf({ out, into }, linked) {
    const layer = new Int32Array(out.length);
    const left = into.map((each) => each.length);
    const ready = [];
    left.forEach((number, at) => { if (number === 0) ready.push(at); });
    for (let at = 0; at < ready.length; at += 1) {
      for (const to of out[ready[at]]) {
        layer[to] = Math.max(layer[to], layer[ready[at]] + 1);
        left[to] -= 1;
        if (left[to] === 0) ready.push(to);
      }
    }
    // What reads nothing stands right before its first reader.
    into.forEach((each, at) => {
      if (each.length === 0 && linked[at]) layer[at] = Math.min(...out[at].map((to) => layer[to])) - 1;
    });
    return layer;
  }

  function withDummies(sizes, { out }, layer, linked) {
    const depth = Math.max(0, ...layer) + 1;
    const net = {
      layer: Array.from(layer), height: sizes.map((size) => size[1]),
      after: sizes.map(() => []), before: sizes.map(() => []), real: sizes.length,
      rows: Array.from({ length: depth }, () => []), width: new Array(depth).fill(0), carries: [],
    };
    sizes.forEach((size, at) => {
      if (linked[at]) net.width[layer[at]] = Math.max(net.width[layer[at]], size[0]);
    });
    const carry = (from, to) => {
      const made = { from, to, edges: [] };
      net.carries.push(made);
      net.after[from].push(to);
      net.before[to].push(from);
      return made;
    };
    out.forEach((targets, from) => {
      const chain = [from];
      const shared = [];
      for (const to of targets) {
        const edge = [from, to];
        const last = layer[to] - layer[from] - 1;
        for (let step = 0; step < last; step += 1) {
          if (chain.length <= step + 1) {
            chain.push(net.layer.length);
            net.layer.push(layer[from] + step + 1);
            net.height.push(DUMMY);
            net.after.push([]);
            net.before.push([]);
            shared.push(carry(chain[step], chain[step + 1]));
          }
          shared[step].edges.push(edge);
        }
        carry(chain[last], to).edges.push(edge);
      }
    });
    firstOrder(net, linked);
    return net;
  }

  // Depth first from the left, so that what hangs together begins together.
  function firstOrder(net, linked) {
    const seen = new Uint8Array(net.layer.length);
    const roots = [];
    for (let at = 0; at < net.real; at += 1) if (linked[at] && !net.before[at].length) roots.push(at);
    for (const root of roots) {
      const path = [root];
      while (path.length) {
        const at = path.pop();
        if (seen[at]) continue;
        seen[at] = 1;
        net.rows[net.layer[at]].push(at);
        for (const beside of [net.before[at], net.after[at]]) {
          for (let last = beside.length - 1; last >= 0; last -= 1) if (!seen[beside[last]]) path.push(beside[last]);
        }
      }
    }
  }

  function order(net) {
    const position = new Float64Array(net.layer.length);
    const note = (row) => row.forEach((at, place) => { position[at] = place; });
    net.rows.forEach(note);
    const large = net.layer.length > LARGE;
    const wish = new Float64Array(net.layer.length);
    const sweeps = large ? 4 : net.layer.length > 4000 ? 6 : 16;
    let best = net.rows.map((row) => row.slice());
    let fewest = large ? Infinity : crossings(net, position);
    for (let sweep = 0; sweep < sweeps && fewest > 0; sweep += 1) {
      const right = sweep % 2 === 0;
      const beside = right ? net.before : net.after;
      const rows = right ? net.rows : net.rows.slice().reverse();
      for (const row of rows) {
        for (const at of row) wish[at] = mean(beside[at], position, position[at]);
        row.sort((a, b) => wish[a] - wish[b] || position[a] - position[b]);
        note(row);
      }
      // Of a large one the last order is taken as it is: counting costs as much as sorting.
      const found = large ? 1 : crossings(net, position);
      if (large || found < fewest) {
        fewest = found;
        best = net.rows.map((row) => row.slice());
      }
    }
    net.rows = best;
  }

  function mean(places, position, otherwise) {
    if (!places.length) return otherwise;
    let sum = 0;
    for (const at of places) sum += position[at];
    return sum / places.length;
  }

  // How often lines cross between neighbouring layers, counted with a Fenwick tree.
  function crossings(net, position) {
    let total = 0;
    net.rows.forEach((row, number) => {
      const next = net.rows[number + 1];
      if (!next) return;
      const tree = new Int32Array(next.length + 1);
      let entered = 0;
      for (const at of row) {
        const ends = net.after[at].map((to) => position[to]).sort((a, b) => a - b);
        for (const end of ends) {
          let below = 0;
          for (let i = end + 1; i > 0; i -= i & -i) below += tree[i];
          total += entered - below;
        }
        for (const end of ends) {
          for (let i = end + 1; i <= next.length; i += i & -i) tree[i] += 1;
          entered += 1;
        }
      }
    });
    return total;
  }

  function place(net) {
    const y = new Float64Array(net.layer.length);
    for (const row of net.rows) {
      let at = 0;
      for (const node of row) {
        y[node] = at + net.height[node] / 2;
        at += net.height[node] + GAP_Y;
      }
    }
    net.y = y;
    const both = net.after.map((each, at) => [...each, ...net.before[at]]);
    const sweeps = [net.before, net.after, net.before, net.after, both, both];
    sweeps.forEach((beside, sweep) => {
      const rows = sweep % 2 === 0 ? net.rows : net.rows.slice().reverse();
      for (const row of rows) settle(net, row, beside);
    });
    // Halves of a pixel, as they are kept: what is drawn again is just where it was.
    net.y = y.map((each) => Math.round(each * 2) / 2);
  }

  // Rows of one layer as near to their wishes as their order and gaps allow: an isotonic regression
  // by pooling neighbours that violate it.
  function settle(net, row, beside) {
    const blocks = [];
    let offset = 0;
    row.forEach((at, place) => {
      if (place) offset += (net.height[row[place - 1]] + net.height[at]) / 2 + GAP_Y;
      const weight = (beside[at].length ? 1 : 0.05) * (at >= net.real ? 3 : 1);
      const wish = mean(beside[at], net.y, net.y[at]) - offset;
      blocks.push({ sum: wish * weight, weight, members: [[at, offset]] });
      while (blocks.length > 1) {
        const [above, below] = blocks.slice(-2);
        if (above.sum / above.weight <= below.sum / below.weight) break;
        above.sum += below.sum;
        above.weight += below.weight;
        for (const member of below.members) above.members.push(member);
        blocks.pop();
      }
    });
    for (const block of blocks) {
      for (const [at, from] of block.members) net.y[at] = block.sum / block.weight + from;
    }
  }

  function drawn(net, sizes, linked, shape) {
    let top = Infinity;
    let bottom = 0;
    for (const row of net.rows) {
      for (const at of row) {
        top = Math.min(top, net.y[at] - net.height[at] / 2);
        bottom = Math.max(bottom, net.y[at] + net.height[at] / 2);
      }
    }
    if (top === Infinity) top = 0;
    const boxed = net.width.reduce((sum, width) => sum + width, 0);
    const spare = (shape * (bottom - top) - boxed) / Math.max(1, net.width.length - 1);
    const gap = Math.max(GAP_X, Math.min(spare || 0, 16 * GAP_X));
    const lefts = [];
    let x = 0;
    for (const width of net.width) {
      lefts.push(x);
      x += width + gap;
    }
    const boxes = sizes.map(([, height], at) => linked[at] && {
      x: lefts[net.layer[at]], y: net.y[at] - height / 2 - top, w: net.width[net.layer[at]], h: height,
    });
    const lines = [];
    const through = new Map();
    for (const { from, to, edges } of net.carries) {
      const start = lefts[net.layer[from]] + net.width[net.layer[from]];
      lines.push({ x1: start, y1: net.y[from] - top, x2: lefts[net.layer[to]], y2: net.y[to] - top, edges });
      if (to >= net.real) through.set(to, edges);
    }
    for (const [at, edges] of through) {
      const left = lefts[net.layer[at]];
      lines.push({ x1: left, y1: net.y[at] - top, x2: left + net.width[net.layer[at]], y2: net.y[at] - top, edges });
    }
    const width = Math.max(0, x - gap);
    const size = standApart(boxes, sizes, linked, width, bottom - top);
    return { boxes, lines, ...size };
  }

  // What no edge touches stands below, in rows.
  function standApart(boxes, sizes, linked, width, height) {
    const alone = sizes.flatMap((_, at) => (linked[at] ? [] : [at]));
    if (!alone.length) return { width, height };
    const step = Math.max(...alone.map((at) => sizes[at][0])) + GAP_Y;
    const tall = Math.max(...alone.map((at) => sizes[at][1])) + GAP_Y;
    const square = Math.ceil(Math.sqrt((alone.length * tall) / step) * 1.6);
    const across = Math.max(1, Math.floor(width / step), square);
    const top = height ? height + 3 * GAP_Y : 0;
    alone.forEach((at, number) => {
      boxes[at] = {
        x: (number % across) * step, y: top + Math.floor(number / across) * tall,
        w: step - GAP_Y, h: sizes[at][1],
      };
    });
    const rows = Math.ceil(alone.length / across);
    return { width: Math.max(width, Math.min(across, alone.length) * step - GAP_Y), height: top + rows * tall - GAP_Y };
  }

  Object.assign(Rocky, { layered, keepLayouts });
})();
