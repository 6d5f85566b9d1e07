#!/usr/bin/env python3
"""Makes the tiny models in this folder, and `expected.json`: what independent programs say they compute.

Each model has random weights of a fixed seed, and a tokenizer of some hundred pieces. The files are laid
out as on the hub. The vectors are computed by `transformers` with `torch` on the processor (the
table: by `model2vec`). Nothing of this project takes part. Needed, in these versions for the same bytes:

    pip install torch==2.6.0 transformers==5.24.0 tokenizers safetensors model2vec numpy
    python3 tests/data/encoders/make.py
"""

import json
import pathlib
import shutil

import numpy as np
import torch
import transformers
from model2vec import StaticModel
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).parent
WIDTH, HEADS, LAYERS, INNER, POSITIONS = 16, 4, 2, 24, 96

TEXTS = [
    "a",
    "the dough rests",
    "How long does the dough rest?",
    "flour, water and salt; 27 degrees!",
    "the proof box holds the dough at 27 degrees and the dough rests in the box until four",
    "straße 日本 x",
]
LONG = "the dough rests in the proof box until four, and the box holds water and salt. " * 12
PAIRS = [
    ("dough", "the dough rests"),
    ("How long does the dough rest?", "the dough rests in the box until four"),
    ("How long does the dough rest?", "flour, water and salt; 27 degrees!"),
    ("salt", ""),
    ("straße 日本 x", "the proof box holds the dough at 27 degrees"),
    ("How long does the dough rest?", LONG),
]
WORDS = "the dough rest rests and flour water salt box degrees until four how long does in at proof holds".split()
LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789.,;!?")


def word_piece(special, frame, ends=("[CLS]", "[SEP]")):
    """Pieces as BERT has them; `special` come first, and `ends` stand before and behind a text."""
    names = special + LETTERS + WORDS + ["##" + letter for letter in LETTERS]
    vocabulary = {name: place for place, name in enumerate(names)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if frame:
        first, last = ends
        made.post_processor = processors.TemplateProcessing(
            single=f"{first} $A {last}",
            pair=frame,
            special_tokens=[(first, vocabulary[first]), (last, vocabulary[last])],
        )
    made.add_special_tokens(special)
    return made


def unigram(pair):
    """Pieces with probabilities, as XLM-RoBERTa has them."""
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0)]
    pieces += [(letter, -6.0 - place / 100) for place, letter in enumerate(LETTERS)]
    pieces += [("▁" + word, -4.0 - place / 100) for place, word in enumerate(WORDS)]
    made = Tokenizer(models.Unigram(pieces, unk_id=3))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair=pair, special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return made


def byte_pairs(special, single):
    """Pairs of bytes, as GPT-2 and Qwen have them; pieces begin with the white space before a word."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {name: place for place, name in enumerate(alphabet)}
    merges = []
    for word in WORDS:
        for text in (word, "Ġ" + word):
            left = text[0]
            for letter in text[1:]:
                if (left, letter) not in merges:
                    merges.append((left, letter))
                    vocabulary.setdefault(left + letter, len(vocabulary))
                left += letter
    for name in special:
        vocabulary[name] = len(vocabulary)
    made = Tokenizer(models.BPE(vocabulary, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    frame = [(name, vocabulary[name]) for name in special]
    made.post_processor = processors.TemplateProcessing(single=single, special_tokens=frame)
    made.add_special_tokens(special)
    return made


def sentence_pieces():
    """Pairs of letters, with white space as a letter, as Gemma has them."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>"]
    names = special + ["▁"] + LETTERS + [letter.upper() for letter in "ht"]
    vocabulary = {name: place for place, name in enumerate(names)}
    merges = []
    for word in WORDS:
        for text in (word, "▁" + word):
            left = text[0]
            for letter in text[1:]:
                if (left, letter) not in merges:
                    merges.append((left, letter))
                    vocabulary.setdefault(left + letter, len(vocabulary))
                left += letter
    made = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Replace(" ", "▁")
    made.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 2), ("<eos>", 1)]
    )
    made.add_special_tokens(special)
    return made


BERT_FRAME = (["[PAD]", "[UNK]", "[CLS]", "[SEP]"], "[CLS] $A [SEP] $B:1 [SEP]:1")
ROBERTA_PAIR = "<s> $A </s> </s> $B </s>"
COMMON = dict(
    hidden_size=WIDTH,
    num_attention_heads=HEADS,
    num_hidden_layers=LAYERS,
    intermediate_size=INNER,
    max_position_embeddings=POSITIONS,
)
BERT = dict(
    COMMON,
    model_type="bert",
    hidden_act="gelu",
    layer_norm_eps=1e-12,
    type_vocab_size=2,
    pad_token_id=0,
)
ROBERTA = dict(
    COMMON,
    model_type="xlm-roberta",
    hidden_act="gelu",
    layer_norm_eps=1e-5,
    type_vocab_size=1,
    pad_token_id=1,
)


def randomised(model):
    """Weights that make different texts differ: norms around 1, everything else around 0."""
    state = torch.random.manual_seed(7)
    for name, tensor in sorted(model.state_dict().items()):
        if not tensor.is_floating_point():
            continue
        is_norm = "norm" in name.lower() or "_ln." in name
        # Gemma's norms add 1 to their weights.
        around = 1.0 if is_norm and name.endswith("weight") and "gemma" not in type(model).__name__.lower() else 0.0
        tensor.copy_(around + 0.5 * torch.randn(tensor.shape, generator=state))
    return model.eval()


def write(name, config, tokenizer, state, pooling=None, prompts=None, dense=()):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "1_Pooling").mkdir(parents=True)
    put = lambda path, value: (folder / path).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
    put("config.json", config)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    save_file({key: value.contiguous().float() for key, value in state.items()}, folder / "model.safetensors")
    if pooling:
        put("1_Pooling/config.json", {"word_embedding_dimension": WIDTH, f"pooling_mode_{pooling}": True})
    else:
        (folder / "1_Pooling").rmdir()
    if prompts:
        put("config_sentence_transformers.json", {"prompts": prompts})
    chain = ["Transformer", "Pooling"]
    for place, (layer, bias) in enumerate(dense):
        path = f"{place + 2}_Dense"
        (folder / path).mkdir()
        inputs, outputs = layer.in_features, layer.out_features
        function = "torch.nn.modules.activation.Tanh" if bias else "torch.nn.modules.linear.Identity"
        put(
            f"{path}/config.json",
            {"in_features": inputs, "out_features": outputs, "bias": bias, "activation_function": function},
        )
        save_file({f"linear.{key}": value for key, value in layer.state_dict().items()}, folder / path / "model.safetensors")
        chain.append("Dense")
    chain.append("Normalize")
    places = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": f"{len(chain) - 1}_Normalize"}
    put(
        "modules.json",
        [
            {"idx": i, "name": str(i), "path": places.get(kind, f"{i}_Dense"), "type": f"sentence_transformers.models.{kind}"}
            for i, kind in enumerate(chain)
        ],
    )
    return folder


def pooled(states, pooling, dense):
    if pooling == "mean_tokens":
        vector = states.mean(0)
    elif pooling == "cls_token":
        vector = states[0]
    else:
        vector = states[-1]
    for layer, tanh in dense:
        vector = layer(vector)
        vector = torch.tanh(vector) if tanh else vector
    return vector / vector.norm()


def expected_vectors(model, tokenizer, pooling, prompts=None, dense=()):
    """For each text as a passage and as a question: token ids, and the vector."""
    out = []
    prompts = prompts or {}
    for kind, prefix in [("passage", prompts.get("document", "")), ("query", prompts.get("query", ""))]:
        for text in TEXTS:
            ids = tokenizer.encode(prefix + text).ids
            assert len(ids) < POSITIONS - 2, len(ids)
            with torch.no_grad():
                states = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
                vector = pooled(states, pooling, dense)
            out.append({"kind": kind, "text": text, "ids": ids, "vector": [round(x, 7) for x in vector.tolist()]})
    return out


def config_of(kind, fields):
    return kind(**{k: v for k, v in fields.items() if k != "model_type"}, attn_implementation="eager")


def encoder(name, model, config, tokenizer, pooling, state=None, prompts=None, dense=()):
    write(name, config, tokenizer, state or model.state_dict(), pooling, prompts, dense)
    return expected_vectors(model, tokenizer, pooling, prompts, dense)


def without_pooler(model):
    return {k: v for k, v in model.state_dict().items() if "pooler" not in k and "position_ids" not in k}


def make_reranker(name, model, config, tokenizer, window):
    """One number for each pair; only the passage is cut."""
    config = dict(config, architectures=[type(model).__name__], id2label={"0": "LABEL_0"})
    model = randomised(model)
    state = {key: value for key, value in model.state_dict().items() if "position_ids" not in key}
    folder = write(name, config, tokenizer, state)
    (folder / "modules.json").unlink()
    tokenizer.enable_truncation(max_length=window, strategy="only_second")
    out = []
    for question, passage in PAIRS:
        pair = tokenizer.encode(question, passage)
        assert len(pair.ids) == window or passage != LONG, len(pair.ids)
        types = {"token_type_ids": torch.tensor([pair.type_ids])} if config["type_vocab_size"] > 1 else {}
        with torch.no_grad():
            score = model(input_ids=torch.tensor([pair.ids]), **types).logits[0]
        assert score.shape == (1,), score.shape
        out.append({"question": question, "passage": passage, "ids": pair.ids, "types": pair.type_ids, "score": round(score.item(), 7)})
    return out


def make_bert_reranker():
    tokenizer = word_piece(*BERT_FRAME)
    config = dict(BERT, vocab_size=tokenizer.get_vocab_size())
    own = config_of(transformers.BertConfig, dict(config, num_labels=1))
    return make_reranker("bert_reranker", transformers.BertForSequenceClassification(own), config, tokenizer, POSITIONS)


def make_xlm_roberta_reranker():
    tokenizer = unigram(ROBERTA_PAIR)
    config = dict(ROBERTA, vocab_size=tokenizer.get_vocab_size())
    own = config_of(transformers.XLMRobertaConfig, dict(config, num_labels=1))
    model = transformers.XLMRobertaForSequenceClassification(own)
    # The first two rows of the position table belong to padding.
    return make_reranker("xlm_roberta_reranker", model, config, tokenizer, POSITIONS - 2)


def make_bert():
    tokenizer = word_piece(*BERT_FRAME)
    config = dict(BERT, vocab_size=tokenizer.get_vocab_size())
    model = randomised(transformers.BertModel(config_of(transformers.BertConfig, config)))
    return encoder("bert", model, config, tokenizer, "cls_token", without_pooler(model), {"query": "how: "})


def make_xlm_roberta():
    tokenizer = unigram(ROBERTA_PAIR)
    config = dict(ROBERTA, vocab_size=tokenizer.get_vocab_size())
    model = randomised(transformers.XLMRobertaModel(config_of(transformers.XLMRobertaConfig, config)))
    layer = torch.nn.Linear(WIDTH, 12)
    randomised(layer)
    prompts = {"query": "rest: ", "document": "dough: "}
    return encoder("xlm_roberta", model, config, tokenizer, "mean_tokens", without_pooler(model), prompts, [(layer, True)])


def make_mpnet():
    # The network takes token 1 for padding, whatever its configuration says.
    tokenizer = word_piece(["<s>", "<pad>", "</s>", "[UNK]"], ROBERTA_PAIR, ("<s>", "</s>"))
    config = dict(
        COMMON,
        model_type="mpnet",
        hidden_act="gelu",
        layer_norm_eps=1e-5,
        relative_attention_num_buckets=32,
        pad_token_id=1,
        vocab_size=tokenizer.get_vocab_size(),
    )
    model = randomised(transformers.MPNetModel(config_of(transformers.MPNetConfig, config)))
    return encoder("mpnet", model, config, tokenizer, "mean_tokens", without_pooler(model))


def make_modernbert():
    tokenizer = byte_pairs(["[CLS]", "[SEP]", "[PAD]"], "[CLS] $A [SEP]")
    config = dict(
        COMMON,
        model_type="modernbert",
        hidden_activation="gelu",
        norm_eps=1e-5,
        layer_norm_eps=1e-5,
        norm_bias=False,
        global_attn_every_n_layers=3,
        global_rope_theta=16000.0,
        local_rope_theta=1000.0,
        local_attention=8,
        attention_bias=False,
        mlp_bias=False,
        pad_token_id=tokenizer.token_to_id("[PAD]"),
        cls_token_id=tokenizer.token_to_id("[CLS]"),
        sep_token_id=tokenizer.token_to_id("[SEP]"),
        vocab_size=tokenizer.get_vocab_size(),
    )
    model = randomised(transformers.ModernBertModel(config_of(transformers.ModernBertConfig, config)))
    prompts = {"query": "search_query: ", "document": "search_document: "}
    return encoder("modernbert", model, config, tokenizer, "mean_tokens", prompts=prompts)


def merged(state, renames, joins):
    """The state under the hub's names: parts are joined row by row, then names are replaced."""
    out = {}
    for key, value in state.items():
        for parts, whole in joins:
            if parts[0] in key:
                value = torch.cat([state[key.replace(parts[0], part)] for part in parts])
                key = key.replace(parts[0], whole)
                break
            if any(part in key for part in parts[1:]):
                key = None
                break
        if key is None:
            continue
        for old, new in renames:
            key = key.replace(old, new)
        out[key] = value
    return out


def make_nomic_bert():
    tokenizer = word_piece(*BERT_FRAME)
    config = dict(
        model_type="nomic_bert",
        activation_function="swiglu",
        n_embd=WIDTH,
        n_head=HEADS,
        n_layer=LAYERS,
        n_inner=INNER,
        n_positions=POSITIONS,
        max_trained_positions=POSITIONS,
        rotary_emb_base=900,
        rotary_emb_fraction=1.0,
        rotary_emb_interleaved=False,
        rotary_scaling_factor=None,
        layer_norm_epsilon=1e-12,
        qkv_proj_bias=False,
        mlp_fc1_bias=False,
        mlp_fc2_bias=False,
        prenorm=False,
        use_rms_norm=False,
        type_vocab_size=2,
        vocab_size=tokenizer.get_vocab_size(),
    )
    own = transformers.NomicBertConfig(
        **dict(COMMON, vocab_size=config["vocab_size"], type_vocab_size=2, layer_norm_eps=1e-12),
        rope_parameters={"rope_type": "default", "rope_theta": 900.0},
        attn_implementation="eager",
    )
    model = randomised(transformers.NomicBertModel(own, add_pooling_layer=False))
    renames = [
        ("layers.", "encoder.layers."),
        ("embeddings.LayerNorm", "emb_ln"),
        ("self_attn.o_proj", "attn.out_proj"),
        ("up_proj", "fc11"),
        ("gate_proj", "fc12"),
        ("down_proj", "fc2"),
        ("post_attention_layernorm", "norm1"),
        ("post_mlp_layernorm", "norm2"),
    ]
    joins = [(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "attn.Wqkv")]
    state = merged(model.state_dict(), renames, joins)
    return encoder("nomic_bert", model, config, tokenizer, "mean_tokens", state)


def make_gte(name, scaling):
    tokenizer = unigram(ROBERTA_PAIR)
    theta = 2000.0
    config = dict(
        COMMON,
        model_type="new",
        hidden_act="gelu",
        layer_norm_eps=1e-12,
        layer_norm_type="layer_norm",
        position_embedding_type="rope",
        rope_theta=theta,
        rope_scaling={"type": "ntk", "factor": scaling} if scaling else None,
        logn_attention_scale=False,
        type_vocab_size=1,
        pad_token_id=1,
        vocab_size=tokenizer.get_vocab_size(),
    )
    own = transformers.GteConfig(
        **dict(COMMON, vocab_size=config["vocab_size"], type_vocab_size=1, layer_norm_eps=1e-12, pad_token_id=1),
        hidden_act="gelu",
        rope_parameters={"rope_type": "default", "rope_theta": theta},
        attn_implementation="eager",
    )
    model = randomised(transformers.GteModel(own, add_pooling_layer=False))
    if scaling:
        # transformers has no such scaling; this is the formula of the network's own code on the hub.
        head = WIDTH // HEADS
        steps = 1.0 / ((theta * scaling) ** (torch.arange(0, head, 2).float() / head)) / scaling ** (2 / head)
        model.rotary_emb.inv_freq = steps
    renames = [
        ("layers.", "encoder.layer."),
        ("self_attn.o_proj", "attention.o_proj"),
        ("post_attention_layernorm", "attn_ln"),
        ("post_mlp_layernorm", "mlp_ln"),
    ]
    joins = [
        (["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "attention.qkv_proj"),
        (["mlp.up_proj", "mlp.gate_proj"], "mlp.up_gate_proj"),
    ]
    state = {"new." + key: value for key, value in merged(model.state_dict(), renames, joins).items()}
    return encoder(name, model, config, tokenizer, "cls_token", state)


def make_qwen3():
    tokenizer = byte_pairs(["<|endoftext|>"], "$A <|endoftext|>")
    config = dict(
        COMMON,
        model_type="qwen3",
        hidden_act="silu",
        head_dim=6,
        num_key_value_heads=2,
        rms_norm_eps=1e-6,
        rope_theta=5000.0,
        rope_scaling=None,
        attention_bias=False,
        sliding_window=None,
        use_sliding_window=False,
        max_window_layers=LAYERS,
        tie_word_embeddings=True,
        vocab_size=tokenizer.get_vocab_size(),
    )
    model = randomised(transformers.Qwen3Model(config_of(transformers.Qwen3Config, config)))
    prompts = {"query": "Instruct: find\nQuery:", "document": ""}
    return encoder("qwen3", model, config, tokenizer, "lasttoken", prompts=prompts)


def make_gemma3():
    tokenizer = sentence_pieces()
    config = dict(
        COMMON,
        model_type="gemma3_text",
        hidden_activation="gelu_pytorch_tanh",
        head_dim=6,
        num_key_value_heads=1,
        rms_norm_eps=1e-6,
        rope_theta=9000.0,
        rope_local_base_freq=500.0,
        query_pre_attn_scalar=5,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention"],
        use_bidirectional_attention=True,
        attention_bias=False,
        attn_logit_softcapping=None,
        vocab_size=tokenizer.get_vocab_size(),
    )
    model = randomised(transformers.Gemma3TextModel(config_of(transformers.Gemma3TextConfig, config)))
    layers = [torch.nn.Linear(WIDTH, 20, bias=False), torch.nn.Linear(20, WIDTH, bias=False)]
    dense = [(randomised(layer), False) for layer in layers]
    prompts = {"query": "task: search result | query: ", "document": "title: none | text: "}
    return encoder("gemma3", model, config, tokenizer, "mean_tokens", None, prompts, dense)


def make_table():
    """Weights of tokens, and several tokens that share a row."""
    tokenizer = word_piece(*BERT_FRAME)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    size = tokenizer.get_vocab_size()
    random = np.random.default_rng(7)
    vectors = random.normal(size=(size - 9, WIDTH)).astype(np.float32)
    weights = random.uniform(0.1, 2.0, size).astype(np.float32)
    mapping = np.array([place % (size - 9) for place in range(size)], dtype=np.int64)
    folder = HERE / "table"
    shutil.rmtree(folder, ignore_errors=True)
    model = StaticModel(vectors, tokenizer, {"normalize": True}, normalize=True, weights=weights, token_mapping=mapping)
    model.save_pretrained(folder)
    for file in folder.iterdir():
        if file.name not in ("config.json", "tokenizer.json", "model.safetensors"):
            file.unlink()
    out = []
    for text in TEXTS:
        ids = [token for token in tokenizer.encode(text, add_special_tokens=False).ids]
        vector = model.encode(text)
        out.append({"kind": "passage", "text": text, "ids": ids, "vector": [round(float(x), 7) for x in vector]})
    config = json.loads((folder / "config.json").read_text())
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": WIDTH, "normalize": True}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    return out


def main():
    encoders = {
        "bert": make_bert(),
        "xlm_roberta": make_xlm_roberta(),
        "mpnet": make_mpnet(),
        "modernbert": make_modernbert(),
        "nomic_bert": make_nomic_bert(),
        "gte": make_gte("gte", None),
        "gte_stretched": make_gte("gte_stretched", 8.0),
        "qwen3": make_qwen3(),
        "gemma3": make_gemma3(),
        "table": make_table(),
    }
    rerankers = {"bert_reranker": make_bert_reranker(), "xlm_roberta_reranker": make_xlm_roberta_reranker()}
    text = json.dumps({"encoders": encoders, "rerankers": rerankers}, ensure_ascii=False)
    for first in ('{"kind"', '{"question"'):
        text = text.replace(first, "\n" + first)
    (HERE / "expected.json").write_text(text + "\n")


main()
