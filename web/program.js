// The program, compiled in two parts (page.py): the first has what usual questions need. It gets the files that it reads. What is returned
// asks it (answers.cpp): an object in, an object out, and nothing where a part is missing that the answer takes, now and from then on.
async function ringsideProgram(start, files, first, rest) {
  let lacks = false;
  const missing = () => {
    lacks = true;
    throw new Error('a part of the program is missing');
  };
  const module = await new Promise((done, failed) => {
    const instantiateWasm = (imports, received) => {
      WebAssembly.instantiate(first, { ...imports, rest: new Proxy({}, { get: () => missing }) }).then(async (instance) => {
        if (rest) await WebAssembly.instantiate(rest, { first: instance.exports });
        received(instance);
      }).catch(failed);
      return {};
    };
    start({ print: () => {}, printErr: () => {}, instantiateWasm }).then(done, failed);
  });
  const folder = (name) => name.slice(0, name.lastIndexOf('/'));
  const encoder = new TextEncoder();
  for (const name of new Set([...Object.keys(files).map(folder), '/configs/scenarios'])) module.FS.mkdirTree(name);
  for (const [name, text] of Object.entries(files)) {
    const contents = encoder.encode(text);
    Object.assign(module.FS.create(name), { contents, usedBytes: contents.length });
  }
  module.FS.chdir('/configs/scenarios');  // Where a pasted scenario finds ../machines, and messages name it alone.
  const ask = (question) => {
    const text = JSON.stringify(question);
    const bytes = module.lengthBytesUTF8(text) + 1;
    const at = module._malloc(bytes);
    module.stringToUTF8(text, at, bytes);
    const answer = module.UTF8ToString(module._ringside_answer(at));
    module._free(at);
    return answer;
  };
  return Object.assign((question) => {
    try {
      const answer = lacks ? '' : ask(question);
      return lacks ? undefined : JSON.parse(answer);
    } catch (error) {
      if (lacks) return undefined;
      throw error;
    }
  }, { module });
}
