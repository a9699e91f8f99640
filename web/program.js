// Gives the compiled program the files that it reads, and returns the function that asks it (answers.hpp): an object in, an object out.
function ringsideProgram(module, files) {
  const folder = (name) => name.slice(0, name.lastIndexOf('/'));
  for (const name of new Set([...Object.keys(files).map(folder), '/configs/scenarios'])) module.FS.mkdirTree(name);
  for (const [name, text] of Object.entries(files)) module.FS.writeFile(name, text);
  module.FS.chdir('/configs/scenarios');  // Where a pasted scenario finds ../machines, and messages name it alone.
  return (question) => {
    const text = JSON.stringify(question);
    const bytes = module.lengthBytesUTF8(text) + 1;
    const at = module._malloc(bytes);
    module.stringToUTF8(text, at, bytes);
    try {
      return JSON.parse(module.UTF8ToString(module._ringside_answer(at)));
    } finally {
      module._free(at);
    }
  };
}
