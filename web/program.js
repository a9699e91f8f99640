// The program (page.py). It gets the files that it reads. What is returned asks it (answers.cpp): an object in, an object out. Of a part of the
// program, it is nothing where the answer takes a function that the part lacks, now and from then on.
async function ringsideProgram(start, files, program, part) {
  const module = await new Promise((done, failed) => {
    const instantiateWasm = (imports, received) => {
      WebAssembly.instantiate(program, imports).then(received).catch(failed);
      return {};
    };
    start({ print: () => {}, printErr: () => {}, instantiateWasm }).then(done, failed);
  });
  const encoder = new TextEncoder();
  const [{ FS }, folders] = [module, {}];
  const folder = (name) => {
    FS.mkdirTree(name);
    return FS.lookupPath(name).node;
  };
  folder('/configs/scenarios');
  for (const [path, text] of Object.entries(files)) {  // A file by its path is sought from the root of all.
    const at = path.lastIndexOf('/');
    const parent = folders[path.slice(0, at)] ||= folder(path.slice(0, at));
    const contents = encoder.encode(text);
    Object.assign(parent.node_ops.mknod(parent, path.slice(at + 1), 0o100666, 0), { contents, usedBytes: contents.length });
  }
  FS.chdir('/configs/scenarios');  // Where a pasted scenario finds ../machines, and messages name it alone.
  const ask = (question) => {
    const text = JSON.stringify(question);
    const bytes = module.lengthBytesUTF8(text) + 1;
    const at = module._malloc(bytes);
    module.stringToUTF8(text, at, bytes);
    const answer = module.UTF8ToString(module._ringside_answer(at));
    module._free(at);
    return answer;
  };
  let lacks = false;
  return Object.assign((question) => {
    try {
      return lacks ? undefined : JSON.parse(ask(question));
    } catch (error) {
      lacks = part && error instanceof WebAssembly.RuntimeError;
      if (lacks) return undefined;
      throw error;
    }
  }, { module });
}
