// Parts of the program, each unpacked and compiled while the browser reads the rest of the page.
ringsideBegin((part) => {
  const text = document.getElementById(`program-${part}`).textContent;
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new DecompressionStream('gzip');
  const writer = unpacked.writable.getWriter();
  writer.write(packed);
  writer.close();
  return WebAssembly.compileStreaming(new Response(unpacked.readable, { headers: { 'Content-Type': 'application/wasm' } }));
}, ringside);
