// The questions of the page as its controls say them, for the page and for web/page.py, which has those of an address without state answered.
const ringsideQuestions = (() => {
  const DEFAULTS = {
    view: 'predict', machine: 'custom', nodes: '0', ranks: '8', bandwidth: '10', latency: '10', link: '-11', size: '26',
    algorithms: 'naive,tutorial_ring,ring,halving_doubling', quantity: 'time', yaml: '', topology: '', gpu: '',
    first: 'tutorial_ring', second: 'ring', shown: '4', clock: '0', model: 'resnet34-imagenet', gradients: '', batch: '',
    gpus: '4x3090, 8x3090, 4x4090, p4d.24xlarge', sharding: '', search: '', sequence: '', tokens: '', epochs: '', deadline: '', budget: '',
    slot: '', known: '', log: '', tested: '', tested_gpu: '', network: '',
  };
  const digits = (value, count = 3) => String(Number(value.toPrecision(count)));
  const bytes = (power) => `${2 ** (power % 10)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][Math.floor(power / 10)]}`;
  const rate = (value) => `${digits(10 ** (value / 10), 2)} GB/s`;
  const latency = (value) => `${digits(10 ** (value / 10), 2)} us`;
  const custom = (state) => `{intra: {kind: custom, latency: ${latency(state.latency)}, bandwidth: ${rate(state.bandwidth)}}}`;
  const scenario = (state, sizes, machine) => `algorithms: [${state.algorithms.split(',').join(', ')}]\nranks: ${state.ranks}\n`
    + `message_sizes: ${sizes}\nmachine: ${machine}\n`;
  const predict = (text, set = {}) => ({ ask: 'predict', scenario: text, set });
  // The size that is asked for, and all for the chart.
  const SIZES = [(state) => `[${bytes(Number(state.size))}]`,
    (state) => `{from: 1 KiB, to: ${bytes(Math.max(Number(state.size), 30))}, factor: 2}`];
  const PLAN = ['gpus', 'batch', 'sharding', 'search', 'sequence', 'tokens', 'epochs', 'deadline', 'budget', 'known'];
  function plan(state) {
    const asked = { ask: 'plan', bandwidth: state.slot };
    for (const name of PLAN) asked[name] = state[name];
    asked[state.gradients ? 'gradients' : 'model'] = state.gradients || state.model;
    if (state.gradients) delete asked.batch;
    return asked;
  }
  const show = (state) => [state.first, state.second].map((algorithm) => ({ ask: 'show', algorithm, ranks: Number(state.shown) }));
  const predictions = (state, machine) => SIZES.map((sizes) => predict(scenario(state, sizes(state), machine)));
  // Of an address that says no more than a view; the page has their answers.
  const first = [{ ask: 'names' }, ...predictions(DEFAULTS, custom(DEFAULTS)), plan(DEFAULTS), ...show(DEFAULTS)];
  // Such as other addresses ask; what answers them is the first part of the program.
  const ON_GPUS = 'naive,tutorial_ring,ring,native';
  const usual = (files, ask) => {
    const names = Object.keys(files).filter((name) => name.startsWith('/configs/machines/')).map((name) => name.slice(18, -5));
    const machines = names.filter((name) => name !== 'custom').flatMap((name) => [name, `2 x ${name}`]).map((machine) => ({ ask: 'machine', machine }))
      .filter((each) => !ask(each).error);
    const some = ['naive,direct,recursive_doubling,binomial_tree,tutorial_ring,ring,halving_doubling', ON_GPUS, 'naive,ring,native', 'ring,native',
      'naive,ring', 'native', 'naive', 'ring', DEFAULTS.algorithms].map((algorithms) => ({ ...DEFAULTS, algorithms }));
    const named = ({ machine }, i) => ({ ...some[i % some.length], ranks: ask({ ask: 'machine', machine }).ranks, machine });
    return [...first, ...machines, ...machines.map((each, i) => { const state = named(each, i); return predictions(state, state.machine)[0]; }),
      ...some.flatMap((state, i) => [2, 9, 64].flatMap((ranks) => predictions({ ...state, ranks, size: 10 + 3 * i }, custom(DEFAULTS)))),
      ...some.flatMap((state, i) => predictions({ ...state, size: 10 + 3 * i }, 'p4d.24xlarge')),
      ...some.flatMap((state, i) => predictions({ ...state, size: 10 + 3 * i, ranks: 16 }, '2 x p4d.24xlarge'))];
  };
  return { DEFAULTS, ON_GPUS, SIZES, bytes, custom, digits, first, latency, plan, predict, rate, scenario, show, usual };
})();
