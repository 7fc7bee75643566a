"""A page as a folder that a phone can install from any web space: page, manifest, icons, worker."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from pathlib import Path

from preplay.files import write_bytes, write_text

WORKER = """// Keeps the page, so that it opens without a network.
const KEPT = 'preplay-{digest}';
const FILES = ['./', 'index.html', 'manifest.webmanifest', 'icon.png', 'icon-large.png'];
self.addEventListener('install', (event) => event.waitUntil(
  caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting())));
self.addEventListener('activate', (event) => event.waitUntil(
  caches.keys()
    .then((names) => names.filter((name) => name.startsWith('preplay-') && name !== KEPT))
    .then((old) => Promise.all(old.map((name) => caches.delete(name))))
    .then(() => self.clients.claim())));
self.addEventListener('fetch', (event) => event.respondWith(
  caches.match(event.request, { ignoreSearch: true }).then((kept) => kept || fetch(event.request))));
"""
BLUE, WHITE = (11, 98, 164), (255, 255, 255)


def write_folder(folder: Path, page: str, name: str) -> Path:
    """Write everything into `folder`; the page is index.html."""
    digest = hashlib.sha256(page.encode()).hexdigest()[:16]
    manifest = {
        "name": name, "short_name": name.partition(" · ")[0][:30], "start_url": "./", "scope": "./",
        "id": "./", "display": "standalone", "background_color": "#f4f3ef", "theme_color": "#0b62a4",
        "icons": [
            {"src": "icon.png", "sizes": "192x192", "type": "image/png"},
            {"src": "icon-large.png", "sizes": "512x512", "type": "image/png", "purpose": "any maskable"},
        ],
    }  # fmt: skip
    write_text(folder / "manifest.webmanifest", json.dumps(manifest, indent=1))
    write_text(folder / "worker.js", WORKER.replace("{digest}", digest))
    write_bytes(folder / "icon.png", icon(192))
    write_bytes(folder / "icon-large.png", icon(512))
    write_text(folder / "index.html", page)
    return folder / "index.html"


def icon(size: int) -> bytes:
    """A pawn on blue as a PNG file, drawn by hand."""
    rows = bytearray()
    for y in range(size):
        rows.append(0)  # no filter
        for x in range(size):
            rows += bytes(WHITE if _pawn(x / size, y / size) else BLUE)
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _pawn(x: float, y: float) -> bool:
    """Whether a point of the unit square lies on the pawn."""
    head = (x - 0.5) ** 2 + (y - 0.31) ** 2 < 0.105**2
    collar = abs(x - 0.5) < 0.135 and abs(y - 0.43) < 0.022
    body = 0.44 < y < 0.7 and abs(x - 0.5) < 0.055 + 0.12 * ((y - 0.44) / 0.26) ** 2
    foot = abs(x - 0.5) < 0.2 and 0.7 <= y < 0.77
    return head or collar or body or foot


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
