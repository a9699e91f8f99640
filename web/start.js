// The program, unpacked and compiled while the browser does other things: its first part, and the whole of it.
(() => {
  const unpacked = (part) => {
    const text = document.getElementById(`program-${part}`).textContent;
    const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new DecompressionStream('gzip');
    const writer = stream.writable.getWriter();
    writer.write(packed);
    writer.close();
    return stream.readable;
  };
  const compiled = (bytes) => WebAssembly.compileStreaming(new Response(bytes, { headers: { 'Content-Type': 'application/wasm' } }));
  const whole = async () => {
    const [first, rest] = await Promise.all(['first', 'rest'].map((part) => new Response(unpacked(part)).arrayBuffer()));
    const [length, count] = new Uint32Array(rest, 0, 2);
    const program = new Uint8Array(length);
    let [at, read, taken] = [0, 0, 8 + 12 * count];
    const copy = (from, start, bytes) => {
      program.set(new Uint8Array(from, start, bytes), at);
      at += bytes;
    };
    for (let i = 2; i < 2 + 3 * count; i += 3) {  // page.py says what the numbers are.
      const [copied, left, added] = new Uint32Array(rest, 4 * i, 3);
      copy(first, read, copied);
      read += copied + left;
      copy(rest, taken, added);
      taken += added;
    }
    return compiled(program);
  };
  const first = () => compiled(unpacked('first'));
  const asked = location.hash && first();
  if (asked) ringsideOpen();
  ringsideBegin((part) => (part === 'first' ? asked || first() : whole()), ringside);
})();
