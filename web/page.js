// The page: what its controls say becomes questions, which the compiled program answers. The state is in the fragment of the address.
(() => {
  'use strict';
  const times = { began: performance.now() };
  const { make, say, seconds } = ringsidePage;
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const form = $('form');
  const { DEFAULTS, ON_GPUS, SIZES, bytes, custom, digits, latency, predict, rate } = ringsideQuestions;
  const files = JSON.parse($('files').textContent);
  // Until the program runs: what this very program answered when the page was built. Then it runs with its first part, and then whole.
  const prepared = new Map(JSON.parse($('prepared').textContent));
  const NOT_YET = Symbol('the program does not run yet');
  let program = null;
  function ask(question) {
    const answer = (program && program(question)) || (times.whole ? null : prepared.get(JSON.stringify(question)));
    if (!answer) throw NOT_YET;
    return answer;
  }
  let waits = null;  // What is done when more of the program runs.
  function attempt(work) {
    try {
      work();
      return true;
    } catch (error) {
      if (error !== NOT_YET) throw error;
      waits = () => attempt(work);
      return false;
    }
  }

  // --- State -------------------------------------------------------------------------------------------------

  let state = { ...DEFAULTS };
  const fragment = () => {
    const said = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
    return said.length ? `#${new URLSearchParams(said)}` : '#';
  };
  function restore() {
    const said = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    state = { ...DEFAULTS };
    for (const [name, value] of Object.entries(said)) if (name in DEFAULTS) state[name] = value;
  }
  // The address has what the controls say; a link asked again gives the same answer.
  const keep = () => history.replaceState(null, '', fragment());

  // --- Choices -----------------------------------------------------------------------------------------------

  const names = ask({ ask: 'names' });
  const stems = (folder) => Object.keys(files).filter((name) => name.startsWith(`/configs/${folder}/`))
    .map((name) => name.slice(name.lastIndexOf('/') + 1, -5));
  function choices(select, groups) {
    for (const [title, options] of groups) {
      const group = title ? make('optgroup', select) : select;
      if (title) group.label = title;
      for (const [value, text] of options) make('option', group, text).value = value;
    }
  }
  const machines = stems('machines').filter((name) => name !== 'custom').map((name) => [name, name]);
  const scenarios = stems('scenarios').filter((name) => !/^machine: this/m.test(files[`/configs/scenarios/${name}.yaml`]));
  choices(form.machine, [
    ['Describe it', [['custom', 'every two ranks alike'], ['topology', 'paste nvidia-smi topo -m'], ['yaml', 'paste a scenario file']]],
    ['Scenarios that ship with ringside', scenarios.map((name) => [`scenario:${name}`, name])],
    ['Machines that ship with ringside', machines],
  ]);
  choices(form.tested, [['', [['', 'as the log says']]], ['Machines that ship with ringside', machines]]);
  choices(form.model, [['', stems('workloads').map((name) => [name, name])]]);
  const algorithms = Object.keys(names.algorithms).map((name) => [name, name]);
  choices(form.first, [['', algorithms]]);
  choices(form.second, [['', algorithms]]);
  for (const [name] of [...algorithms, ['native']]) {
    const label = make('label', $('algorithms'));
    const box = make('input', label);
    box.type = 'checkbox';
    box.value = name;
    label.append(name);
    label.title = name === 'native' ? "the library's own all_reduce" : names.algorithms[name];
  }

  // --- Controls ----------------------------------------------------------------------------------------------

  const TEXTS = {
    nodes: (value) => String(2 ** value), bandwidth: rate, size: (value) => bytes(Number(value)),
    latency, link: (value) => (Number(value) < -10 ? 'as described' : rate(value)),
    clock: (value) => `${value} %`,
  };
  const known = new Map();
  function described(question) {
    const key = JSON.stringify(question);
    if (!known.has(key)) known.set(key, ask({ ask: 'machine', ...question }));
    return known.get(key);
  }
  const isYaml = () => state.machine === 'yaml' || state.machine.startsWith('scenario:');
  const isNamed = () => !isYaml() && !['custom', 'topology'].includes(state.machine);
  const yaml = () => (state.machine === 'yaml' ? state.yaml : files[`/configs/scenarios/${state.machine.slice(9)}.yaml`] || '');
  const nodes = () => 2 ** Number(state.nodes);
  // What the machine is, as far as controls depend on it.
  const machine = () => (isNamed() ? described({ machine: nodes() > 1 ? `${nodes()} x ${state.machine}` : state.machine })
    : state.machine === 'topology' && state.topology ? described({ text: state.topology, gpu: state.gpu }) : { ranks: 0 });

  function shown() {
    const sought = {
      custom: state.machine === 'custom', named: isNamed(), ranks: !isYaml(), topology: state.machine === 'topology', yaml: isYaml(),
      linked: isNamed(),
    };
    for (const element of form.querySelectorAll('[data-if]')) element.hidden = !sought[element.dataset.if];
    for (const element of form.querySelectorAll('fieldset')) {
      element.hidden = element.dataset.for !== state.view || (element.dataset.if !== undefined && !sought[element.dataset.if]);
    }
    form.link.min = -11;
    form.ranks.min = 2;
    form.ranks.max = machine().ranks || 128;
    for (const [name, value] of Object.entries(state)) {
      const control = form.elements[name];
      if (control && control.value !== value) control.value = name === 'yaml' ? yaml() : value;
      // A link may say what there is no choice of: a scenario about the machine that it runs on, a misspelt name. It is shown as it is.
      if (control && control.options && control.value !== value) {
        make('option', control, value).value = value;
        control.value = value;
      }
    }
    if (isYaml()) form.yaml.value = yaml();
    const chosen = state.algorithms.split(',');
    for (const box of $('algorithms').querySelectorAll('input')) box.checked = chosen.includes(box.value);
    for (const label of form.querySelectorAll('[data-range]')) {
      const input = label.querySelector('input');
      const text = (TEXTS[input.name] || String)(input.value);
      label.querySelector('output').textContent = text;
      input.setAttribute('aria-valuetext', text);
    }
    for (const button of $('views').children) button.setAttribute('aria-pressed', String(button.dataset.view === state.view));
    for (const button of $('quantity').children) button.setAttribute('aria-pressed', String(button.dataset.quantity === state.quantity));
  }
  function read(control) {
    if (control.closest('#algorithms')) {
      state.algorithms = [...$('algorithms').querySelectorAll('input:checked')].map((box) => box.value).join(',');
    } else if (control.name === 'yaml') {
      state.machine = 'yaml';
      state.yaml = control.value;
    } else if (control.name in DEFAULTS) {
      if (control.name === 'machine' && control.value === 'yaml' && isYaml()) state.yaml = yaml();
      state[control.name] = control.value;
    }
    if (['machine', 'nodes'].includes(control.name) && machine().ranks) state.ranks = String(machine().ranks);
    if (control.name === 'machine' && [DEFAULTS.algorithms, ON_GPUS].includes(state.algorithms)) {
      state.algorithms = isNamed() || state.machine === 'topology' ? ON_GPUS : DEFAULTS.algorithms;
    }
    refresh();
  }

  // --- Questions ---------------------------------------------------------------------------------------------

  const indented = (text) => text.trimEnd().split('\n').map((line) => `  ${line}`).join('\n');
  function scenario(sizes) {
    if (isYaml()) return yaml();
    const where = state.machine === 'custom' ? custom(state)
      : isNamed() ? (nodes() > 1 ? `${nodes()} x ${state.machine}` : state.machine) : `\n${indented(machine().yaml)}`;
    return ringsideQuestions.scenario(state, sizes(state), where);
  }
  const changed = () => (isNamed() && Number(state.link) >= -10 ? { 'intra.bandwidth': rate(state.link) } : {});
  const prediction = (sizes) => ask(predict(scenario(sizes), changed()));

  function problem(text) {
    const verdict = $('verdict');
    verdict.textContent = '';
    make('p', verdict, text).className = 'verdict problem';
    for (const id of ['charts', 'schedules']) $(id).hidden = true;
  }
  function sentences(list, notes) {
    const verdict = $('verdict');
    verdict.textContent = '';
    list.forEach((sentence, i) => { make('p', verdict, sentence).className = i ? 'text' : 'verdict'; });
    (notes || []).forEach((note) => { make('p', verdict, note).className = 'note'; });
  }
  let tables = 0;
  function table(title, { header, rows }) {
    if (!rows.length) return;
    const section = make('section', $('answers'));
    section.className = 'table';
    const head = make('h2', section, title);
    head.id = `table-${++tables}`;
    const scroll = make('div', section);
    scroll.className = 'scroll';
    scroll.tabIndex = 0;
    scroll.setAttribute('role', 'region');
    scroll.setAttribute('aria-labelledby', head.id);
    const grid = make('table', scroll);
    const right = header.map((name) => /^\??>/.test(name));
    const line = make('tr', make('thead', grid));
    header.forEach((name, i) => {
      const cell = make('th', line);
      cell.scope = 'col';
      if (right[i]) cell.className = 'right';
      make('button', cell, name.replace(/^[?>]+/, '') || 'mark').type = 'button';
    });
    const body = make('tbody', grid);
    for (const row of rows) {
      const cells = make('tr', body);
      row.forEach((text, i) => { if (right[i]) make('td', cells, text).className = 'right'; else make('td', cells, text); });
    }
    const copy = make('button', section, 'Copy as CSV');
    copy.type = 'button';
    copy.className = 'copy';
    ringsidePage.tables([section]);
  }

  // Times as bus bandwidth, which nccl-tests counts so that it says what links carry, whatever the number of ranks.
  function asBandwidth(panel) {
    const sizes = new Map(panel.sizes.map(([count, text]) => [text, count]));
    const factor = 2 * (panel.ranks - 1) / panel.ranks;
    const text = (value) => `${digits(value)} GB/s`;
    const turned = ([x, time, low, high, size]) => {
      const value = (t) => sizes.get(size) * factor / t / 1e9;
      const interval = low < high ? `, interval ${text(value(high))} to ${text(value(low))}` : '';
      return [x, value(time), value(high), value(low), size, text(value(time)) + interval];
    };
    const series = panel.series.map((each) => ({
      ...each, predicted: each.predicted.map(turned), measured: each.measured.map(turned),
    }));
    return { ...panel, series, quantity: { title: 'bus bandwidth', text } };
  }
  let drawn = [];
  function chart(panels) {
    if (!window.Chart) make('script', document.body, $('library').textContent);  // Not before it is needed.
    drawn = panels;
    const turns = panels.every((panel) => panel.title.startsWith('all_reduce') && panel.ranks > 1);
    $('quantity').hidden = !turns;
    ringsidePage.draw($('charts'), turns && state.quantity === 'busbw' ? panels.map(asBandwidth) : panels);
  }

  function explain(text) { $('question').textContent = text; }
  // After the verdict is on the screen, unless another question comes before.
  let later = 0;
  function soon(work) {
    later = setTimeout(() => { if (document.readyState === 'loading') soon(work); else attempt(work); }, 30);
  }
  const VIEWS = {
    predict() {
      if (state.machine === 'topology' && !state.topology) {
        problem('Paste what `nvidia-smi topo -m` prints on the machine, with its `nvidia-smi -L` or the model of its GPUs.');
        return;
      }
      if (machine().error) {
        problem(machine().error);
        return;
      }
      const [one, all] = SIZES;
      const answer = prediction(one);
      explain(`# scenario.yaml\n${scenario(one)}\n`
        + `${Object.entries(changed()).map(([key, value]) => `# and with ${key}: ${value} in its machine file\n`).join('')}`
        + 'ringside predict scenario.yaml');
      if (answer.error) {
        problem(answer.error);
        return;
      }
      sentences(answer.sentences, [...(machine().notes || []), ...answer.notes, ...answer.reasons]);
      table(isYaml() ? 'All times' : `At ${bytes(Number(state.size))}`, answer.table);
      if (isYaml()) {
        soon(() => chart(JSON.parse(answer.chart)));
        return;
      }
      soon(() => {
        const swept = prediction(all);
        if (swept.error) return;
        chart(JSON.parse(swept.chart));
        table('All sizes', swept.table);
      });
    },
    schedule() { stage(); },
    plan() {
      const answer = ask(ringsideQuestions.plan(state));
      if (answer.error) {
        problem(answer.error);
        return;
      }
      sentences([...answer.sentences, ...(answer.about ? [answer.about] : [])], answer.notes);
      table('Offers', answer.table);
      explain(`# plan.yaml\n${answer.yaml}\nringside plan plan.yaml`);
    },
    check() {
      if (!state.log) {
        problem('Paste a log of nccl-tests, such as that of all_reduce_perf -b 8 -e 8G -f 2 -g 1.');
        return;
      }
      const answer = ask({ ask: 'check', log: state.log, machine: state.tested, gpu: state.tested_gpu, network: state.network });
      explain(`ringside check log.txt${state.tested && ` --machine ${state.tested}`}`
        + `${state.tested_gpu && ` --gpu '${state.tested_gpu}'`}${state.network && ` --network '${state.network}'`}`);
      if (answer.error) {
        problem(answer.error);
        return;
      }
      sentences(answer.flatMap((each) => [each.verdict || each.start[0], ...each.start, ...each.end]));
      answer.forEach((each) => table(each.start[0], each.table));
      soon(() => chart(answer.flatMap((each) => JSON.parse(each.chart))));
    },
  };
  function refresh() {
    clearTimeout(later);
    keep();
    $('answers').textContent = '';
    if (state.view !== 'schedule') $('schedules').hidden = true;
    if (!['predict', 'check'].includes(state.view)) $('charts').hidden = true;
    waits = null;
    const answered = attempt(() => {
      shown();
      VIEWS[state.view]();
      form.hidden = false;  // Before an answer it would only be laid out for nobody.
      times.answered ||= performance.now();
    });
    if (!answered) sentences(['The program starts …']);
  }

  // --- Schedules, round by round -----------------------------------------------------------------------------

  // Rounds of a schedule by when they begin, in messages S that the busiest rank has sent before, and what ranks then hold: of each
  // chunk the set of those who contributed, as bits.
  function played({ algorithm: name, ranks }, schedule) {
    if (schedule.error) return schedule;
    let held = Array.from({ length: ranks }, (_, rank) => [Array(schedule.chunks).fill(1 << rank), [], [], []]);
    let start = 0;
    const rounds = schedule.rounds.map((each) => {
      const moves = each.moves.map(([reduce, source, target, first, chunks, from, to]) => ({ reduce, source, target, first, chunks, from, to }));
      const sent = Array(ranks).fill(0);
      const before = held;
      held = held.map((buffers) => buffers.map((cells) => [...cells]));
      for (const move of moves) {
        if (move.source !== move.target) sent[move.source] += move.chunks / schedule.chunks;
        for (let i = move.first; i < move.first + move.chunks; i++) {
          const arrived = before[move.source][move.from][i];
          const cells = held[move.target][move.to];
          cells[i] = move.reduce ? cells[i] | arrived : arrived;
        }
      }
      const length = Math.max(...sent);
      const round = { moves, text: each.text, start, length, before };
      start += length;
      return round;
    });
    return { name, ranks, rounds, held, total: start, chunks: schedule.chunks, summary: schedule.summary };
  }
  const svg = (tag, parent, attributes, text) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  function picture(parent, play, at) {
    const { ranks, chunks } = play;
    const place = play.rounds.findIndex((round) => at < round.start + round.length - 1e-9);
    const round = place < 0 ? null : play.rounds[place];
    const title = make('h3', parent, `${play.name}, ${ranks} ranks`);
    title.title = play.summary;
    const drawing = svg('svg', parent, { viewBox: '0 0 300 300', role: 'img' });
    const now = round ? `round ${place + 1} of ${play.rounds.length}` : `done after ${play.rounds.length} rounds`;
    drawing.setAttribute('aria-label', `${play.name}, ${now}`);
    const position = (rank) => {
      const angle = 2 * Math.PI * rank / ranks - Math.PI / 2;
      const [right, down] = [Math.cos(angle), Math.sin(angle)];
      return [150 + 112 * right, 150 + 112 * down, right, down];
    };
    const held = round ? round.before : play.held;
    for (let rank = 0; rank < ranks; rank++) {
      const [x, y, right, down] = position(rank);
      const side = Math.min(44, 200 / ranks + 8);
      // Outside, where no arrow is.
      const out = side / 2 / Math.max(Math.abs(right), Math.abs(down)) + 7;
      svg('text', drawing, { x: x + out * right, y: y + out * down }, String(rank));
      for (let i = 0; i < chunks; i++) {
        const cell = { x: x - side / 2, y: y - side / 2 + side * i / chunks, height: side / chunks };
        const share = held[rank][0][i].toString(2).replaceAll('0', '').length / ranks;
        svg('rect', drawing, { ...cell, width: side, class: 'cell' });
        svg('rect', drawing, { ...cell, width: side * share, class: share < 1 ? 'part' : 'whole' });
      }
    }
    for (const move of round ? round.moves : []) {
      if (move.source === move.target) continue;
      const [[x1, y1], [x2, y2]] = [position(move.source), position(move.target)];
      const length = Math.hypot(x2 - x1, y2 - y1);
      const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      const gap = Math.min(34, length / 3);
      const [ax, ay, bx, by] = [x1 + ux * gap - uy * 4, y1 + uy * gap + ux * 4, x2 - ux * gap - uy * 4, y2 - uy * gap + ux * 4];
      const kind = move.reduce ? 'reduce' : 'copy';
      const width = 1 + 4 * move.chunks / chunks;
      svg('path', drawing, { d: `M${ax} ${ay}L${bx} ${by}`, class: `${kind} arrow`, 'stroke-width': width });
      const tip = `M${bx + ux * 7} ${by + uy * 7}L${bx - uy * 5} ${by + ux * 5}L${bx + uy * 5} ${by - ux * 5}Z`;
      svg('path', drawing, { d: tip, class: kind });
      const done = Math.min(1, Math.max(0, (at - round.start) / round.length));
      svg('circle', drawing, { cx: ax + (bx - ax) * done, cy: ay + (by - ay) * done, r: 2 + 3 * move.chunks / chunks, class: kind });
    }
    const sent = Math.min(at, play.total);
    make('p', parent, `${now}; in sequence ${digits(sent)} of ${digits(play.total)} messages S were sent`).className = 'note';
    const meter = make('div', parent);
    meter.className = 'meter';
    make('div', meter).style.width = `${100 * sent / play.most}%`;
    make('p', parent, (round ? round.text : ['every rank holds every contribution']).slice(0, 8).join('\n')).className = 'text';
  }
  let plays = [];
  function stage() {
    const key = [state.first, state.second, state.shown].join();
    if (plays.key !== key) {
      plays = ringsideQuestions.show(state).map((question) => played(question, ask(question)));
      plays.key = key;
    }
    const wrong = plays.find((play) => play.error);
    $('schedules').hidden = Boolean(wrong);
    if (wrong) {
      problem(wrong.error);
      return;
    }
    const [a, b] = plays;
    const most = Math.max(a.total, b.total);
    const [more, less] = a.total >= b.total ? [a, b] : [b, a];
    const reason = more.chunks < less.chunks ? `: ${more.name} sends ${more.chunks === 1 ? 'whole messages' : `${more.chunks} chunks`}, `
      + `${less.name} cuts the message into ${less.chunks}` : '';
    sentences([more.total - less.total < 1e-9 ? `${a.name} and ${b.name} send as many bytes in sequence`
      : `${more.name} sends ${digits(more.total / less.total)}× the bytes of ${less.name} in sequence${reason}`],
    ['Both clocks run by the bytes that are sent one after another on the critical path. An orange arrow reduces what arrives, a green '
      + 'dashed one copies it. A cell is a chunk, and blue shows how many contributions it has; green has all.']);
    const box = $('schedules');
    box.textContent = '';
    const stages = make('div', box);
    stages.className = 'stages';
    for (const play of plays) {
      play.most = most;
      picture(make('div', stages), play, most * Number(state.clock) / 100);
    }
    explain(plays.map((play) => `ringside show ${play.name} --ranks ${play.ranks}`).join('\n'));
  }
  let timer = 0;
  function playing(on) {
    clearInterval(timer);
    timer = 0;
    $('play').textContent = on ? 'Pause' : 'Play';
    if (!on) return;
    if (Number(state.clock) >= 100) state.clock = '0';
    timer = setInterval(() => {
      state.clock = String(Math.min(100, Number(state.clock) + 1));
      if (state.clock === '100' || state.view !== 'schedule') playing(false);
      shown();
      stage();
    }, 100);
  }
  // To the next or last time at which a round of either begins or ends.
  function step(direction) {
    playing(false);
    const most = Math.max(...plays.map((play) => play.total));
    const stops = plays.flatMap((play) => play.rounds.flatMap((round) => [round.start, round.start + round.length]))
      .map((start) => Math.ceil(100 * start / most - 1e-9)).sort((x, y) => direction * (x - y));
    const next = stops.find((stop) => direction * (stop - Number(state.clock)) > 0);
    if (next !== undefined) state.clock = String(next);
    refresh();
    say(plays.map((play) => `${play.name}: ${$('schedules').querySelectorAll('.note')[plays.indexOf(play)].textContent}`).join('. '));
  }

  function begin() {
    restore();
    refresh();
  }

  // --- Start -------------------------------------------------------------------------------------------------

  form.addEventListener('input', (event) => attempt(() => read(event.target)));
  form.addEventListener('submit', (event) => event.preventDefault());
  $('views').addEventListener('click', (event) => {
    if (!event.target.dataset.view) return;
    state.view = event.target.dataset.view;
    refresh();
  });
  $('quantity').addEventListener('click', (event) => {
    if (!event.target.dataset.quantity) return;
    state.quantity = event.target.dataset.quantity;
    shown();
    keep();
    chart(drawn);
  });
  $('play').addEventListener('click', () => playing(!timer));
  $('back').addEventListener('click', () => step(-1));
  $('step').addEventListener('click', () => step(1));
  addEventListener('hashchange', begin);
  begin();
  // The rest of the document has the library of charts and the program.
  window.ringsideBegin = async (compiled, start) => {
    const runs = async (name, ...parts) => {
      program = await ringsideProgram(start, files, ...parts);
      times[name] = performance.now();
      const work = waits;
      waits = null;
      if (work) work();
    };
    try {
      if (!waits && !document.hidden) await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
      const first = await compiled('first');
      if (waits) await runs('started', first);
      if (document.readyState === 'loading') await new Promise((read) => addEventListener('DOMContentLoaded', read));
      await runs('whole', first, await compiled('rest'));
    } catch (error) {
      problem(`This browser does not run the program of this page: ${error.message}`);
      return;
    }
    root.dataset.first = JSON.stringify(times);  // Milliseconds after the page was asked for.
    root.dataset.ready = '1';
    window.ringsideAsk = ask;
    window.ringsidePrepared = prepared;
  };
})();
