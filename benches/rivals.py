#!/usr/bin/env python3
"""Tokens a second of ONNX Runtime on the texts of `benches/embed.rs`, in fp32 and in dynamic int8 (per channel).

    LOCAL_AGENT_BENCH_VECTORS=texts.jsonl LOCAL_AGENT_BENCH_DIR=DIR cargo bench -- embed
    python3 benches/rivals.py VENV texts.jsonl texts.jsonl.full [--ours COMMAND] [--threads N] [--rounds N]

VENV is made when it does not exist, and gets onnxruntime, onnx, tokenizers, safetensors and numpy from PyPI. The network
is the graph of `tests/data/reference_vectors.py` with the weights of `models/`, for padded batches: one text at a time
and sixteen of like length, and the better counts. `--ours` is run between the rounds (through the shell), so that both
see the same minutes. Printed are tokens a processor second and tokens a second, special tokens not counted, the best of
all rounds, and the cosine to the vectors in the file.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["onnxruntime", "onnx", "numpy", "safetensors", "tokenizers"]


def enter(venv):
    """Goes on inside the environment, which is made first when it is missing."""
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    if pathlib.Path(sys.prefix).resolve() != venv.resolve():
        sys.exit(subprocess.run([str(python), *sys.argv]).returncode)


def graph(reference, weights):
    """ids, mask [batch, n] → token vectors [batch, n, 384]."""
    import numpy as np
    from onnx import TensorProto, helper

    g = reference.Graph(weights)
    length = g.op("Shape", "ids", start=1, end=2)
    word = g.op("Gather", g.constant(weights["embeddings.word_embeddings.weight"]), "ids")
    place = g.op("Slice", g.constant(weights["embeddings.position_embeddings.weight"]), g.constant([0]), length)
    kind = g.constant(weights["embeddings.token_type_embeddings.weight"][0])
    x = g.norm(g.op("Add", g.op("Add", word, place), kind), "embeddings.LayerNorm")
    far = g.op("Mul", g.op("Sub", g.constant(np.float32(1)), "mask"), g.constant(np.float32(-1e9)))
    far = g.op("Unsqueeze", far, g.constant([1, 2]))
    for i in range(reference.LAYERS):
        at = f"encoder.layer.{i}."

        def heads(name, order):
            shape = g.constant([0, 0, reference.HEADS, reference.WIDTH])
            split = g.op("Reshape", g.linear(x, at + "attention.self." + name), shape)
            return g.op("Transpose", split, perm=order)

        query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
        scores = g.op("Mul", g.op("MatMul", query, key), g.constant(np.float32(reference.WIDTH**-0.5)))
        shares = g.op("Softmax", g.op("Add", scores, far), axis=-1)
        context = g.op("Transpose", g.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        context = g.op("Reshape", context, g.constant([0, 0, reference.HIDDEN]))
        attended = g.op("Add", g.linear(context, at + "attention.output.dense"), x)
        x = g.norm(attended, at + "attention.output.LayerNorm")
        inner = g.gelu(g.linear(x, at + "intermediate.dense"))
        x = g.norm(g.op("Add", g.linear(inner, at + "output.dense"), x), at + "output.LayerNorm")
    made = helper.make_graph(
        [*g.nodes, helper.make_node("Identity", [x], ["out"])],
        "bert",
        [
            helper.make_tensor_value_info("ids", TensorProto.INT64, [None, None]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, [None, None]),
        ],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [None, None, reference.HIDDEN])],
        g.constants,
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def batches(ids, size):
    """Places of texts of like length, `size` at a time, longest first."""
    order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
    return [order[at : at + size] for at in range(0, len(order), size)]


def embed(session, ids, size):
    import numpy as np

    vectors = [None] * len(ids)
    for places in batches(ids, size):
        longest = len(ids[places[0]])
        tokens = np.zeros((len(places), longest), dtype=np.int64)
        mask = np.zeros((len(places), longest), dtype=np.float32)
        for row, place in enumerate(places):
            tokens[row, : len(ids[place])] = ids[place]
            mask[row, : len(ids[place])] = 1
        out = session.run(None, {"ids": tokens, "mask": mask})[0]
        sums = (out * mask[:, :, None]).sum(axis=1)
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)
        for place, vector in zip(places, sums):
            vectors[place] = vector
    return vectors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("venv", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path, nargs="+")
    parser.add_argument("--ours")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    enter(arguments.venv)

    import numpy as np
    import onnx
    import onnxruntime
    from onnxruntime.quantization import quantize_dynamic
    from tokenizers import Tokenizer

    sys.path.insert(0, str(ROOT / "tests" / "data"))
    import reference_vectors as reference

    folder = ROOT / "models" / "all-MiniLM-L6-v2"
    weights = reference.rounded_weights()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(reference.WINDOW)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    with tempfile.TemporaryDirectory() as scratch:
        full, small = f"{scratch}/full.onnx", f"{scratch}/int8.onnx"
        onnx.save(graph(reference, weights), full)
        quantize_dynamic(full, small, per_channel=True, reduce_range=False)
        sessions = {
            name: onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            for name, path in [("ort fp32", full), ("ort int8", small)]
        }
    print(f"onnxruntime {onnxruntime.__version__}, {arguments.threads} threads")
    for file in arguments.texts:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        lines = [line for line in lines if len(tokenizer.encode(line["text"]).ids) < reference.WINDOW or "full" in file.name]
        ids = [tokenizer.encode(line["text"]).ids for line in lines]
        count = sum(len(one) - 2 for one in ids)
        best, cosines = {}, {}
        for number in range(arguments.rounds):
            if arguments.ours:
                subprocess.run(arguments.ours, shell=True, check=True)
            for name, session in sessions.items():
                for size in (1, 16):
                    wall, cpu = time.perf_counter(), time.process_time()
                    vectors = embed(session, ids, size)
                    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                    before = best.get(name, (0, 0))
                    best[name] = (max(before[0], count / cpu), max(before[1], count / wall))
                    if number == 0:
                        cosines[name] = [float(a @ np.array(line["vector"])) for a, line in zip(vectors, lines)]
        print(f"{file.name}: {len(ids)} texts, {count} tokens")
        for name, (per_cpu, per_second) in best.items():
            near = cosines[name]
            print(f"{name:<9} {per_cpu:>7.0f} tokens/CPU s {per_second:>7.0f} tokens/s  cosine mean {np.mean(near):.6f} least {np.min(near):.6f}")


if __name__ == "__main__":
    main()
