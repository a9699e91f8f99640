// Charts to hover and zoom, and tables to sort and copy: what report.html and web/'s page have alike. What is drawn
// comes as JSON (plots/html/chart_data.cpp).
const ringsidePage = (() => {
  'use strict';
  const root = document.documentElement;
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const make = (tag, parent, text) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const say = (text) => { document.getElementById('live').textContent = text; };

  // Black is the ink, which is white on a dark page; other colours are those of every chart.
  const shown = (color) => (color === '#000000' ? style('--ink') : color);
  const seconds = (value) => {
    const [unit, name] = value < 1e-3 ? [1e-6, 'µs'] : value < 1 ? [1e-3, 'ms'] : [1, 's'];
    return `${Number((value / unit).toPrecision(3))} ${name}`;
  };

  // Bands of predictions below everything, bars of measurements above their lines.
  const intervals = {
    id: 'intervals',
    beforeDatasetsDraw(chart) { each(chart, 'predicted', band); },
    afterDatasetsDraw(chart) { each(chart, 'measured', bars); },
  };
  function each(chart, side, draw) {
    const { ctx, chartArea: area, scales } = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    chart.data.datasets.forEach((set, index) => {
      if (set.side !== side || !chart.isDatasetVisible(index)) return;
      const at = set.data.map((p) => {
        const low = scales.y.getPixelForValue(p.low);  // A logarithmic axis has no 0.
        const high = scales.y.getPixelForValue(p.high);
        return [scales.x.getPixelForValue(p.x), Number.isFinite(low) ? low : area.bottom, high];
      });
      ctx.strokeStyle = ctx.fillStyle = set.borderColor;
      ctx.setLineDash([]);
      ctx.lineWidth = 1;
      draw(ctx, at, set);
    });
    ctx.restore();
  }
  function band(ctx, at, set) {
    if (at.every(([, low, high]) => low === high)) return;
    if (at.length === 1) at = [[at[0][0] - 12, at[0][1], at[0][2]], [at[0][0] + 12, at[0][1], at[0][2]]];
    ctx.beginPath();
    at.forEach(([x, , high], i) => (i ? ctx.lineTo(x, high) : ctx.moveTo(x, high)));
    if (set.fills) {
      [...at].reverse().forEach(([x, low]) => ctx.lineTo(x, low));
      // On black a colour needs more of itself; white does not.
      ctx.globalAlpha = set.ink === '#000000' ? 0.16 : Number(style('--band'));
      ctx.fill();
    } else {
      at.forEach(([x, low], i) => (i ? ctx.lineTo(x, low) : ctx.moveTo(x, low)));
      ctx.globalAlpha = 0.5;
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }
  function bars(ctx, at) {
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    for (const [x, low, high] of at) {
      if (Math.abs(low - high) < 1) continue;
      ctx.moveTo(x, low);
      ctx.lineTo(x, high);
      for (const end of [low, high]) {
        ctx.moveTo(x - 4, end);
        ctx.lineTo(x + 4, end);
      }
    }
    ctx.stroke();
  }

  const point = ([x, y, low, high, size, text]) => ({ x, y, low, high, size, text });
  // Dashed lines come last and lie above: their gaps show what is below.
  const dataset = (panel, series, place, side) => {
    const line = side === 'predicted';
    const alone = line && series[side].length === 1;
    return {
      label: panel.y ? `${series.name}${line ? '' : ', now'}` : `${series.name}, ${side}`,
      name: series.name, side, fills: panel.fills, ink: series.color,
      data: series[side].map(point), showLine: line, order: (line ? 1000 : 0) - place,
      borderDash: series.dash, borderWidth: line ? 2 : 1.5, pointStyle: alone ? 'line' : series.shape,
      rotation: series.angle, pointRadius: alone ? 14 : line ? 0 : 5, pointHoverRadius: alone ? 16 : 7,
    };
  };
  const datasets = (panel) => panel.series
    .flatMap((series, place) => ['predicted', 'measured'].map((side) => dataset(panel, series, place, side)))
    .filter((set) => set.data.length > 0);

  const axis = (type, title, ticks, more) => ({
    type, title: { display: true, text: title, color: style('--ink') }, grid: { color: style('--line') },
    ticks: { color: style('--ink'), maxRotation: 0, autoSkipPadding: 12, ...ticks }, ...more,
  });
  const points = (panels) => panels.flatMap((panel) => panel.series)
    .flatMap((series) => [...series.predicted, ...series.measured]);
  const range = (numbers) => numbers.reduce(
    ([low, high], number) => [Math.min(low, number), Math.max(high, number)], [Infinity, 0]);
  // What a choice of the x axis shows, with the points on both sides of it: lines enter and leave there.
  function seen(panel, [low, high]) {
    return panel.series.flatMap((series) => [series.predicted, series.measured].flatMap((some) => some.filter(
      ([x], i) => (x >= low || (some[i + 1] || [x])[0] > low) && (x <= high || (some[i - 1] || [x])[0] < high),
    )));
  }
  const edges = (some) => range(some.flatMap((p) => p.slice(1, 4)).filter((value) => value > 0));
  // `times`: the first and last of all panels, which share their axis until one is zoomed into.
  function options(panel, times, linear) {
    const type = linear ? 'linear' : 'logarithmic';
    const sizes = new Map(panel.sizes);
    const values = [...sizes.keys()];
    const [from, to] = panel.zoom || [0, Infinity];
    const some = linear && !panel.zoom ? values.filter((v) => v >= values[values.length - 1] / 20) : values;
    const leading = (v) => v / 10 ** Math.floor(Math.log10(v) + 1e-9);
    const round = (v) => [1, 2, 5].some((digit) => Math.abs(leading(v) - digit) < 1e-6);
    const x = { afterBuildTicks: (scale) => {
      const inside = some.filter((v) => v >= from && v <= to);
      const even = inside.filter(round);  // Points of a curve lie anywhere: their labels would overlap.
      scale.ticks = (panel.x && inside.length > 12 && even.length > 2 ? even : inside).map((value) => ({ value }));
    } };
    // One size has room to both sides: its algorithms stand side by side.
    const [low, high] = range(points([panel]).map((p) => p[0]));
    const room = values.length > 1 ? (high / low) ** 0.03 : 2;
    x.min = linear && values.length > 1 ? 0 : low / room;
    x.max = high * (linear ? 1.03 : room);
    let [least, most] = panel.y ? [0, Math.min(1, edges(points([panel]))[1])] : times;
    if (panel.zoom) {
      [x.min, x.max] = panel.zoom;
      [least, most] = edges(seen(panel, panel.zoom));
    }
    const quantity = panel.quantity || { title: 'time', text: seconds };
    const straight = linear || panel.y !== undefined;
    const y = straight ? { min: panel.zoom ? least / 1.1 : 0, max: panel.y ? Math.min(1, most * 1.1) : most * 1.1 }
      : { min: least / 1.3, max: most * 1.3 };
    if (straight && !panel.zoom && !panel.y) delete y.max;
    const labelled = (v) => straight || most / least < 10 || round(v);
    const value = (v) => (panel.y ? `${Number((100 * v).toPrecision(3))} %` : quantity.text(v));
    return {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: 'nearest', intersect: false },
      scales: {
        x: axis(type, panel.x || 'message size', { callback: (v) => sizes.get(v) }, x),
        y: axis(straight ? 'linear' : type, panel.y || quantity.title,
          { callback: (v) => (labelled(v) ? value(v) : null) }, y),
      },
      plugins: {
        legend: { display: false },
        tooltip: {
          callbacks: {
            title: (items) => (items.length ? items[0].raw.size : ''),
            label: (item) => item.dataset.label,
            afterLabel: (item) => item.raw.text.split(', '),
          },
        },
      },
    };
  }
  function paint(chart) {
    for (const set of chart.data.datasets) {
      set.borderColor = set.pointBorderColor = shown(set.ink);
      set.backgroundColor = shown(set.ink);
    }
  }

  const MARKS = {
    circle: 'M12 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0', rect: 'M12 2h8v8h-8z', triangle: 'M16 1l5 9h-10z',
    rectRot: 'M16 1l5 5l-5 5l-5-5z', star: 'M16 1v10M12 3l8 6M20 3l-8 6', crossRot: 'M12 2l8 8M20 2l-8 8',
  };
  // A sample as the chart draws it, and a switch for the algorithm's line and marks.
  const hidden = new Set();
  function legend(chart, panel, parent) {
    const box = make('div', parent);
    box.className = 'legend';
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', 'Shown algorithms');
    for (const series of panel.series) {
      const button = make('button', box);
      button.type = 'button';
      const show = (on) => {
        button.setAttribute('aria-pressed', String(on));
        chart.data.datasets.forEach((set, i) => {
          if (set.name === series.name) chart.setDatasetVisibility(i, on);
        });
      };
      show(!hidden.has(series.name));
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      const color = series.color === '#000000' ? 'currentColor' : series.color;
      const path = (attributes) => {
        const element = document.createElementNS('http://www.w3.org/2000/svg', 'path');
        attributes.stroke = color;
        Object.entries(attributes).forEach(([name, text]) => element.setAttribute(name, text));
        svg.append(element);
      };
      svg.setAttribute('viewBox', '0 0 32 12');
      svg.setAttribute('aria-hidden', 'true');
      const dashes = series.dash.join(' ') || 'none';
      const turn = `rotate(${series.angle} 16 6)`;
      if (series.predicted.length) path({ d: 'M0 6h32', 'stroke-width': 2.5, 'stroke-dasharray': dashes });
      const mark = { d: MARKS[series.shape], fill: color, 'stroke-width': 1.5, transform: turn };
      if (series.measured.length) path(mark);
      button.append(svg, series.name);
      button.addEventListener('click', () => {
        const on = hidden.delete(series.name);
        if (!on) hidden.add(series.name);
        show(on);
        chart.update();
      });
    }
  }

  // Left and right go from point to point, up and down from series to series; plus and minus zoom.
  function keyboard(chart, canvas, value, zoom) {
    let series = 0;
    let index = -1;
    canvas.addEventListener('keydown', (event) => {
      const closer = { '+': 0.5, '=': 0.5, '-': 2, Escape: Infinity }[event.key];
      if (closer) {
        const at = chart.data.datasets[series];
        event.preventDefault();
        zoom.by(closer, at && at.data[index] && at.data[index].x);
        return;
      }
      const sets = chart.data.datasets;
      const visible = sets.map((_, i) => i).filter((i) => chart.isDatasetVisible(i));
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step || visible.length === 0) return;
      event.preventDefault();
      const place = Math.max(0, visible.indexOf(series));
      series = visible[(place + step[0] + visible.length) % visible.length];
      index = Math.min(Math.max(index + step[1], 0), sets[series].data.length - 1);
      const active = [{ datasetIndex: series, index }];
      const { x, y } = chart.getDatasetMeta(series).data[index];
      chart.setActiveElements(active);
      chart.tooltip.setActiveElements(active, { x, y });
      chart.update();
      const p = sets[series].data[index];
      value.textContent = `${sets[series].label}, ${p.size}: ${p.text}`;
      say(value.textContent);
    });
  }

  // A drag over the chart chooses a part of the x axis; y follows what is seen there.
  function zooming(chart, panel, plot, figure, again) {
    const chosen = make('div', plot);
    chosen.className = 'chosen';
    const reset = make('button', figure, 'Whole chart');
    reset.type = 'button';
    reset.hidden = true;
    const label = (v) => chart.options.scales.x.ticks.callback(v);
    const zoom = {
      to(range) {
        const some = range && panel.sizes.map(([v]) => v).filter((v) => v >= range[0] && v <= range[1]);
        if (range && seen(panel, range).length === 0) return;
        panel.zoom = range;
        if (!range && document.activeElement === reset) chart.canvas.focus();
        reset.hidden = !range;
        again();
        say(!range ? 'The whole chart' : some.length === 0 ? 'Zoomed between two sizes'
          : `Zoomed to ${label(some[0])} to ${label(some[some.length - 1])}`);
      },
      // Around a point, by equal steps of the screen.
      by(factor, at) {
        const { x } = chart.scales;
        if (factor === Infinity || (factor > 1 && !panel.zoom)) {
          zoom.to(null);
          return;
        }
        const middle = at === undefined ? (x.left + x.right) / 2 : x.getPixelForValue(at);
        const half = (x.right - x.left) * factor / 2;
        zoom.to([x.getValueForPixel(middle - half), x.getValueForPixel(middle + half)]);
      },
    };
    let start = null;
    const inside = (event) => {
      const { left, right } = chart.chartArea;
      return Math.min(Math.max(event.clientX - chart.canvas.getBoundingClientRect().left, left), right);
    };
    const show = (from, to) => {
      chosen.style.left = `${Math.min(from, to)}px`;
      chosen.style.width = `${Math.abs(from - to)}px`;
    };
    chart.canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      start = inside(event);
      chart.canvas.setPointerCapture(event.pointerId);
    });
    chart.canvas.addEventListener('pointermove', (event) => { if (start !== null) show(start, inside(event)); });
    chart.canvas.addEventListener('pointerup', (event) => {
      const [from, to] = [start, inside(event)].sort((a, b) => a - b);
      const drawn = start !== null && to - from > 8;
      start = null;
      show(0, 0);
      if (drawn) zoom.to([from, to].map((at) => chart.scales.x.getValueForPixel(at)));
    });
    chart.canvas.addEventListener('pointercancel', () => { start = null; show(0, 0); });
    chart.canvas.addEventListener('dblclick', () => zoom.to(null));
    reset.addEventListener('click', () => zoom.to(null));
    return zoom;
  }

  let charts = [];
  let times = [];
  let linear = false;
  function again() {
    for (const [chart, panel] of charts) {
      chart.setActiveElements([]);
      chart.tooltip.setActiveElements([], { x: 0, y: 0 });
      chart.options = options(panel, times, linear);
      paint(chart);
      chart.update();
    }
  }
  // What lines and marks are, and what would tell more.
  function key(panels) {
    const has = (side) => panels.some((panel) => panel.series.some((series) => series[side].length > 0));
    const offers = panels.some((panel) => panel.y);
    const line = `A line is a prediction${offers ? '' : ', with its 90 % interval where it has one'}.`;
    const mark = `A mark is ${offers ? 'where the offer is now' : 'a measurement, with the 95 % interval of its median'}.`;
    return [has('predicted') ? line : '', has('measured') ? mark : '', offers || (has('predicted') && has('measured')) ? ''
      : `\`ringside compare\` ${has('measured') ? 'predicts these times too, and says what limits them' : 'measures these times too'}.`]
      .filter((sentence) => sentence).join(' ');
  }
  // Into a section, instead of what an earlier call drew anywhere.
  function draw(section, panels) {
    charts.forEach(([chart]) => chart.destroy());
    charts = [];
    section.querySelectorAll('#linear, .hint, .panels').forEach((element) => element.remove());
    section.hidden = panels.length === 0;
    if (section.hidden) return;
    section.querySelector('.key').textContent = key(panels);
    times = edges(points(panels));
    const toggle = make('button', section, 'Linear axes');
    toggle.type = 'button';
    toggle.id = 'linear';
    toggle.setAttribute('aria-pressed', String(linear));
    const hint = make('p', section, 'Drag over a chart to zoom in, double-click for the whole chart. '
      + 'By keyboard: + and −, and Escape.');
    hint.className = 'note hint';
    const grid = make('div', section);
    grid.className = 'panels';
    for (const panel of panels) {
      const figure = make('figure', grid);
      make('h3', figure, panel.title);
      const plot = make('div', figure);
      plot.className = 'plot';
      const canvas = make('canvas', plot);
      canvas.tabIndex = 0;
      canvas.setAttribute('role', 'application');
      canvas.setAttribute('aria-roledescription', 'chart');
      canvas.setAttribute('aria-label', `${panel.y || (panel.quantity ? panel.quantity.title : 'Time')} over ${panel.x || 'message size'}, `
        + `${panel.title}. Arrow keys move from point to point, plus, minus and Escape zoom; `
        + 'the table below has all numbers.');
      const chart = new Chart(canvas, {
        type: 'scatter', data: { datasets: datasets(panel) }, options: options(panel, times, linear),
        plugins: [intervals],
      });
      paint(chart);
      const zoom = zooming(chart, panel, plot, figure, again);
      legend(chart, panel, figure);
      chart.update();
      const value = make('p', figure);
      value.className = 'value note';
      keyboard(chart, canvas, value, zoom);
      charts.push([chart, panel]);
    }
    toggle.addEventListener('click', () => {
      linear = !linear;
      toggle.setAttribute('aria-pressed', String(linear));
      again();
    });
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  const paper = (on) => {
    root.classList.toggle('print', on);
    again();
    charts.forEach(([chart]) => chart.resize());
  };
  addEventListener('beforeprint', () => paper(true));
  addEventListener('afterprint', () => paper(false));

  // `1.5 ms` by what it is worth; words by the alphabet, and what is absent last.
  const UNITS = {
    ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, B: 1, KB: 1e3, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
    KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
  };
  function worth(text) {
    const found = /^([+−-]?[\d.]+(?:e[+-]?\d+)?)(?:–[\d.]+)?[ ×]?(?:([a-zµA-Z]+)(?:\/s)?|%)?/.exec(text);
    return found ? Number(found[1].replace('−', '-')) * (UNITS[found[2]] || 1) : NaN;
  }
  function compare(a, b) {
    const [x, y] = [worth(a), worth(b)];
    if (Number.isNaN(x) && Number.isNaN(y)) return a.localeCompare(b);
    return Number.isNaN(x) ? 1 : Number.isNaN(y) ? -1 : x - y;
  }
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.firstChild.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...table.tBodies[0].rows];
      const text = (row) => row.cells[column].textContent;
      rows.sort((a, b) => (down ? -1 : 1) * compare(text(a), text(b)));
      table.tBodies[0].append(...rows);
      say(`Sorted by ${head.textContent}, ${down ? 'descending' : 'ascending'}`);
    }));
  }
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (table) => [...table.rows]
    .map((row) => `${[...row.cells].map((cell) => quoted(cell.textContent)).join(',')}\n`).join('');
  async function copy(table, button) {
    const text = csv(table);
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make('textarea', document.body, text);  // Pages that are no secure context.
      area.select();
      done = document.execCommand('copy');
      area.remove();
      button.focus();
    }
    button.textContent = done ? 'Copied' : 'The browser does not allow copying';
    say(button.textContent);
    setTimeout(() => { button.textContent = 'Copy as CSV'; }, 2000);
  }

  // The tables of a page, each with the button that copies it.
  function tables(sections) {
    for (const section of sections) {
      const table = section.querySelector('table');
      sortable(table);
      const button = section.querySelector('.copy');
      button.addEventListener('click', () => copy(table, button));
    }
  }
  const zoomed = () => charts.some(([, panel]) => panel.zoom);
  return { draw, make, say, seconds, tables, zoomed };
})();
