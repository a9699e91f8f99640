// node ask.js BUILD [COUNTED]: questions as lines of JSON on standard input, the answers of the page's program likewise, with the milliseconds
// that each took. `first` stands for the questions that a page has answers to, `usual` for those that the first part of the program answers.
// BUILD/files.json is what the program reads (page.py). COUNTED is a program that counts what it calls, for BUILD/calls.
const fs = require('fs');
const path = require('path');

const [build, counted] = process.argv.slice(2);
const script = (name, result) => new Function(`${fs.readFileSync(path.join(__dirname, name), 'utf8')}; return ${result};`)();
const compiled = (name) => WebAssembly.compile(fs.readFileSync(path.join(build, name)));
const questions = script('questions.js', 'ringsideQuestions');
(async () => {
  const files = JSON.parse(fs.readFileSync(path.join(build, 'files.json'), 'utf8'));
  const parts = await Promise.all((counted ? [counted] : ['first.wasm', 'rest.wasm']).map(compiled));
  const ask = await script('program.js', 'ringsideProgram')(require(path.resolve(build, 'ringside.js')), files, ...parts);
  const lines = fs.readFileSync(0, 'utf8').split('\n').filter((text) => text);
  for (const question of lines.flatMap((line) => (
    line === 'first' ? questions.first : line === 'usual' ? questions.usual(files, ask) : JSON.parse(line)))) {
    const start = performance.now();
    const answer = ask(question);
    console.log(JSON.stringify({ question, answer, took: performance.now() - start }));
  }
  if (!counted) return;
  const { _malloc, asm } = ask.module;
  const size = asm.__write_profile(0, 0);
  const at = _malloc(size);
  asm.__write_profile(at, size);
  fs.writeFileSync(path.join(build, 'calls'), ask.module.HEAPU8.slice(at, at + size));
})();
