// node answers.js BUILD SOURCE: questions as lines of JSON on standard input, the answers of the page's program likewise, with the
// milliseconds that each took.
const fs = require('fs');
const path = require('path');

const [build, source] = process.argv.slice(2);
const ringsideProgram = new Function(`${fs.readFileSync(path.join(source, 'web/program.js'), 'utf8')}; return ringsideProgram;`)();
const files = {};
for (const folder of ['machines', 'scenarios', 'workloads', 'workloads/tensors']) {
  for (const name of fs.readdirSync(path.join(source, 'configs', folder))) {
    const file = path.join(source, 'configs', folder, name);
    if (fs.statSync(file).isFile()) files[`/configs/${folder}/${name}`] = fs.readFileSync(file, 'utf8');
  }
}
// As in the page: a start script of 2022 takes the `fetch` of newer nodes for a browser's.
const wasmBinary = fs.readFileSync(path.join(build, 'ringside.wasm'));
require(path.resolve(build, 'ringside.js'))({ wasmBinary }).then((module) => {
  const ask = ringsideProgram(module, files);
  for (const line of fs.readFileSync(0, 'utf8').split('\n').filter((text) => text)) {
    const start = performance.now();
    const answer = ask(JSON.parse(line));
    console.log(JSON.stringify({ answer, took: performance.now() - start }));
  }
});
