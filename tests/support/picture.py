# SPDX-License-Identifier: Apache-2.0
"""What a test sees of a picture: the pixels of a PNG, the frame in it, the cells of a grid inside that are not white."""
import struct
import zlib


def decode(path):
    """Width, height and rows of (r, g, b) of an 8-bit PNG without interlacing."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), "checksum"
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    width, height, depth, colour, _, _, interlace = head
    assert depth == 8 and colour in (2, 6) and not interlace
    bytes_each = 3 if colour == 2 else 4
    raw, stride, rows = zlib.decompress(packed), width * bytes_each, []
    last = bytearray(stride)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if kind == 1:
            for x in range(bytes_each, stride):
                line[x] = line[x] + line[x - bytes_each] & 255
        elif kind == 2:
            line = bytearray(a + b & 255 for a, b in zip(line, last))
        elif kind == 3:
            for x in range(stride):
                line[x] = line[x] + ((line[x - bytes_each] if x >= bytes_each else 0) + last[x]) // 2 & 255
        elif kind == 4:
            for x in range(stride):
                a, b, c = (line[x - bytes_each], last[x], last[x - bytes_each]) if x >= bytes_each else (0, last[x], 0)
                p = a + b - c
                line[x] = line[x] + min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2] & 255
        rows.append([tuple(line[x:x + 3]) for x in range(0, stride, bytes_each)])
        last = line
    return width, height, rows


def size(path):
    with open(path, "rb") as file:
        return struct.unpack(">II", file.read(24)[16:])


def frame(rows):
    """The largest box of dark lines: left, top, right, bottom inside it."""
    def dark(pixel):
        return max(pixel) < 200
    width, height = len(rows[0]), len(rows)
    longest = []
    for x in range(width):
        length = start = 0
        for y in range(height + 1):
            if y < height and dark(rows[y][x]):
                length += 1
            else:
                if length > 150:
                    longest.append((length, x, y - length, y - 1))
                length = 0
    height = max(longest)[0]
    lines = [line for line in longest if line[0] > 0.98 * height]
    _, left, top, bottom = min(lines, key=lambda line: line[1])
    right = max(line[1] for line in lines if line[2:] == (top, bottom))
    return left + 1, top + 1, right - 1, bottom - 1


def cells(path, m, n):
    """Which cells of an m x n grid inside the frame are not white, by their centres."""
    _, _, rows = decode(path)
    left, top, right, bottom = frame(rows)
    return {(i, j) for i in range(m) for j in range(n)
            if rows[top + int((i + 0.5) * (bottom - top + 1) / m)][left + int((j + 0.5) * (right - left + 1) / n)] !=
            (255, 255, 255)}
