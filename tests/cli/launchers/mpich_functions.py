"""Where the algorithms of a stripped libmpich begin: each names itself in its error messages."""

import bisect
import re
import struct

NAMES = re.compile(rb"\0(MPIR_(?:Allreduce|Allgather|Bcast|Reduce|Gather|Alltoall|Reduce_scatter)_intra_\w+)\0")


class Program:
    """The parts of an ELF file of 64 bits that are looked at."""

    def __init__(self, data):
        self.data = data
        offset, = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", data, offset + i * size) for i in range(count)]
        self.loads = [(begin, address, length) for kind, _, begin, address, _, length, _, _ in headers if kind == 1]
        text = next(h for h in headers if h[0] == 1 and h[1] & 1)
        self.text, self.text_at = data[text[2]:text[2] + text[5]], text[3]
        frames = next(h for h in headers if h[0] == 0x6474E550)  # PT_GNU_EH_FRAME
        begin, address = frames[2], frames[3]
        assert data[begin + 2] == 0x03 and data[begin + 3] == 0x3B, "the table of frames is written in another way"
        entries, = struct.unpack_from("<I", data, begin + 8)
        self.starts = sorted(address + struct.unpack_from("<i", data, begin + 12 + 8 * i)[0] for i in range(entries))

    def address(self, offset):
        return next(address + offset - begin for begin, address, length in self.loads if begin <= offset < begin + length)

    def function(self, address):
        return self.starts[bisect.bisect_right(self.starts, address) - 1]

    def targets(self, pattern, length):
        """(where, what) of instructions that end in an offset of 32 bits from their end."""
        for match in re.finditer(pattern, self.text, re.DOTALL):
            end = match.start() + length
            if end <= len(self.text):
                yield self.text_at + match.start(), self.text_at + end + struct.unpack_from("<i", self.text, end - 4)[0]


def functions(file):
    """By name, the address of each algorithm."""
    program = Program(file.read_bytes())
    strings = {}
    position = 0
    while match := NAMES.search(program.data, position):
        strings[program.address(match.start(1))] = match[1].decode()
        position = match.end() - 1
    speakers = {}
    for where, what in program.targets(rb"[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d]", 7):  # lea
        if what in strings:
            speakers.setdefault(program.function(where), set()).add(strings[what])
    called = {what for _, what in program.targets(rb"\xe8", 5)}
    # Messages stand apart from the function, which jumps there.
    hot = {}
    apart = {start for start in speakers if start not in called}
    for pattern, length in ((rb"\x0f[\x80-\x8f]", 6), (rb"\xe9", 5)):
        for where, what in program.targets(pattern, length):
            start = program.function(what)
            if start in apart and program.function(where) in called:
                hot.setdefault(start, set()).add(program.function(where))
    found = {}
    for start, names in speakers.items():
        if len(names) == 1:  # Others choose among them.
            found.setdefault(*names, set()).update(hot.get(start, ()) if start in apart else (start,))
    return {name: min(starts) for name, starts in found.items() if len(starts) == 1}
