// The program unpacked and compiled at once, piece by piece, while the browser reads the rest of the page.
ringsideBegin(() => {
  const text = document.getElementById('program').textContent;
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const response = new Response(stream, { headers: { 'Content-Type': 'application/wasm' } });
  return new Promise((done, failed) => {
    ringside({
      print: () => {},
      printErr: () => {},
      instantiateWasm(imports, received) {
        WebAssembly.instantiateStreaming(response, imports).then(({ instance, module }) => received(instance, module)).catch(failed);
        return {};
      },
    }).then(done, failed);
  });
});
