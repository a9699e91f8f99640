// node ask.js BUILD: questions as lines of JSON on standard input, the answers of the page's program likewise, with the milliseconds that each
// took. `first` stands for the questions of an address without state. BUILD/files.json is what the program reads (page.py).
const fs = require('fs');
const path = require('path');

const build = path.resolve(process.argv[2]);
const script = (name, result) => new Function(`${fs.readFileSync(path.join(__dirname, name), 'utf8')}; return ${result};`)();
// As in the page: a start script of 2022 takes the `fetch` of newer nodes for a browser's.
const wasmBinary = fs.readFileSync(path.join(build, 'ringside.wasm'));
require(path.join(build, 'ringside.js'))({ wasmBinary }).then((module) => {
  const ask = script('program.js', 'ringsideProgram')(module, JSON.parse(fs.readFileSync(path.join(build, 'files.json'), 'utf8')));
  const lines = fs.readFileSync(0, 'utf8').split('\n').filter((text) => text);
  for (const question of lines.flatMap((line) => (line === 'first' ? script('questions.js', 'ringsideQuestions').first : JSON.parse(line)))) {
    const start = performance.now();
    const answer = ask(question);
    console.log(JSON.stringify({ question, answer, took: performance.now() - start }));
  }
});
