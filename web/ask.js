// node ask.js BUILD [PROGRAM]: questions as lines of JSON on standard input, the answers of the page's program likewise, with the milliseconds
// that each took. `first` stands for the questions that a page has answers to, `usual` for those that the first part of the program answers, and
// `warm` for those before which a page's program was started. BUILD/files.json is what the program reads (page.py). PROGRAM is another than the
// page's: counted.wasm leaves what it calls in BUILD/calls, and inlined.wasm its memory in BUILD/memory.
const fs = require('fs');
const path = require('path');

const [build, other] = process.argv.slice(2);
const script = (name, result) => new Function(`${fs.readFileSync(path.join(__dirname, name), 'utf8')}; return ${result};`)();
const questions = script('questions.js', 'ringsideQuestions');
(async () => {
  const files = JSON.parse(fs.readFileSync(path.join(build, 'files.json'), 'utf8'));
  const program = await WebAssembly.compile(fs.readFileSync(path.join(build, other || 'program.wasm')));
  const start = require(path.resolve(build, other === 'inlined.wasm' ? 'ringside.js' : 'started.js'));
  const ask = await script('program.js', 'ringsideProgram')(start, files, program);
  const lines = fs.readFileSync(0, 'utf8').split('\n').filter((text) => text);
  for (const question of lines.flatMap((line) => (
    line === 'usual' ? questions.usual(files, ask) : questions[line] || JSON.parse(line)))) {
    const start = performance.now();
    const answer = ask(question);
    console.log(JSON.stringify({ question, answer, took: performance.now() - start }));
  }
  const { _malloc, _free, asm, HEAPU8 } = ask.module;
  if (other === 'counted.wasm') {
    const size = asm.__write_profile(0, 0);
    const at = _malloc(size);
    fs.writeFileSync(path.join(build, 'calls'), ask.module.HEAPU8.slice(at, at + asm.__write_profile(at, size)));
  } else if (other) {
    // What was freed becomes zeros, which take no place in the page: all of it is allocated again, the largest parts first.
    const end = _malloc(1 << 24);
    const blocks = [end];
    for (let size = 1 << 20; size >= 8; size /= 2) {
      for (let at = _malloc(size); at < end; at = _malloc(size)) blocks.push(HEAPU8.fill(0, at, at + size) && at);
    }
    blocks.forEach(_free);
    fs.writeFileSync(path.join(build, 'memory'), HEAPU8);
  }
})();
