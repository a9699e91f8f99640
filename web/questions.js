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
  const first = [{ ask: 'names' }, ...SIZES.map((sizes) => predict(scenario(DEFAULTS, sizes(DEFAULTS), custom(DEFAULTS))))];
  return { DEFAULTS, SIZES, bytes, custom, digits, first, latency, predict, rate, scenario };
})();
