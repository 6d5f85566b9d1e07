use std::collections::HashMap;

use super::*;
use crate::models::Precision;
use crate::models::{ModelFiles, TOKENIZER, WEIGHTS};
use local_agent_text::error::ErrorCode;
use local_agent_text::types::Heading;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(feature = "embedded-model")]
fn encoder() -> &'static Encoder {
    static ENCODER: OnceLock<Encoder> = OnceLock::new();
    ENCODER.get_or_init(|| Encoder::load(&ModelFiles::embedded().unwrap()).unwrap())
}

/// The encoder that all other precisions are measured against.
#[cfg(feature = "embedded-model")]
fn exact() -> &'static Encoder {
    static ENCODER: OnceLock<Encoder> = OnceLock::new();
    let files = || {
        ModelFiles::embedded()
            .unwrap()
            .with_precision(Precision::F32)
    };
    ENCODER.get_or_init(|| Encoder::load(&files()).unwrap())
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| {
        a.iter()
            .zip(b)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum::<f64>()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// One text of `tests/data/reference_vectors.json`, which `reference_vectors.py` in the same folder
/// makes with onnxruntime.
#[derive(serde::Deserialize)]
struct Reference {
    text: String,
    tokens: u32,
    windows: u32,
    /// The vector with the original weights.
    vector: Vec<i32>,
    /// The vector with the weights that are compiled in.
    rounded: Vec<i32>,
}

#[cfg(feature = "embedded-model")]
#[test]
fn vectors_are_those_of_an_independent_implementation() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/reference_vectors.json"
    );
    let references: Vec<Reference> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let files = ModelFiles::embedded()
        .unwrap()
        .with_precision(Precision::Bf16);
    let halves = Encoder::load(&files).unwrap();
    // Mean and smallest cosine to the vectors with the same weights, in each precision.
    let bars = [(0.999_99, 0.999_95), (0.9999, 0.9995), (0.9993, 0.997)];
    for (encoder, bars) in [exact(), &halves, encoder()].into_iter().zip(bars) {
        assert_near(encoder, &references, |r| &r.rounded, bars);
    }
    // What rounding the weights costs.
    assert_near(exact(), &references, |r| &r.vector, (0.9998, 0.9993));
}

/// The mean and the smallest cosine of an encoder's vectors to those of the references are at least
/// `bars`.
#[cfg(feature = "embedded-model")]
fn assert_near(
    encoder: &Encoder,
    references: &[Reference],
    vector: fn(&Reference) -> &[i32],
    bars: (f64, f64),
) {
    let texts: Vec<&str> = references.iter().map(|r| r.text.as_str()).collect();
    let found = encoder.embed_passages(&texts, 2, 1024, &|_| ()).unwrap();
    let mut cosines = Vec::new();
    for (own, reference) in found.iter().zip(references) {
        assert_eq!(
            (own.tokens, own.windows),
            (reference.tokens, reference.windows),
            "{:?}",
            reference.text
        );
        let other: Vec<f32> = vector(reference).iter().map(|n| *n as f32).collect();
        cosines.push(cosine(&own.vector, &other));
    }
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    let least = cosines.iter().copied().fold(1.0, f64::min);
    println!("mean {mean:.7}, least {least:.7}");
    assert!(
        cosines.len() >= 60 && mean >= bars.0 && least >= bars.1,
        "mean {mean}, least {least}, bars {bars:?}"
    );
}

/// Texts of 1, 2, 255, 256 and 512 tokens, an empty one, and some ordinary ones.
#[cfg(feature = "embedded-model")]
fn texts_of_many_lengths() -> Vec<String> {
    let mut texts: Vec<String> = [1, 2, 252, 253, 254, 255, 256, 512]
        .map(|words| "salt ".repeat(words))
        .into();
    texts.extend(
        [
            "",
            "How long does the dough rest?",
            "let total = prices.iter().sum();",
            "湯種はどのくらい",
            "🎉",
        ]
        .map(str::to_owned),
    );
    texts
}

#[cfg(feature = "embedded-model")]
#[test]
fn every_precision_on_every_instruction_set_makes_nearly_the_vectors_of_f32() {
    use local_agent_kernels::Set;
    let texts = texts_of_many_lengths();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let wanted = exact().embed_passages(&texts, 2, 1024, &|_| ()).unwrap();
    let files = ModelFiles::embedded().unwrap();
    // The text without words is farthest away; passages are measured in docs/performance.md.
    let precisions = [
        (Precision::F32, 0.999_999),
        (Precision::Bf16, 0.999),
        (Precision::Mixed, 0.995),
        (Precision::Int8, 0.995),
    ];
    for (precision, least) in precisions {
        // One fingerprint covers several instruction sets.
        let mut first: HashMap<String, Vec<Embedded>> = HashMap::new();
        for isa in Isa::all() {
            let encoder = Encoder::load_for(&files, Purpose::Passages(precision), isa).unwrap();
            // The plain loops are slow; the kernels' own tests cover them on long texts.
            let texts = if isa.set() == Set::Portable {
                &texts[..2]
            } else {
                &texts[..]
            };
            let found = encoder.embed_passages(texts, 2, 1024, &|_| ()).unwrap();
            let named = files
                .clone()
                .with_precision(precision)
                .with_instructions(Some(isa.set().as_str()));
            let first = first
                .entry(fingerprint(&named).to_string())
                .or_insert_with(|| found.clone());
            for ((text, found), (first, wanted)) in
                texts.iter().zip(&found).zip(first.iter().zip(&wanted))
            {
                let near = cosine(&found.vector, &wanted.vector);
                assert!(near >= least, "{precision:?} {isa:?} {text:.20}: {near}");
                // The numbers between products, bf16 on some instruction sets, decide which way
                // bytes are rounded, and in a text of one or two words the differences do not
                // average out.
                let even = text.len() > 10 || matches!(precision, Precision::F32 | Precision::Bf16);
                let near = cosine(&found.vector, &first.vector);
                assert!(
                    near >= if even { 0.999 } else { 0.99 },
                    "{precision:?} {isa:?} {text:.20}: {near}"
                );
                if isa.set() != Set::Portable && precision == Precision::F32 {
                    assert_eq!(found.vector, first.vector, "{isa:?} {text:.20}");
                }
            }
        }
    }
}

#[cfg(feature = "embedded-model")]
#[test]
fn another_precision_is_another_fingerprint() {
    let files = ModelFiles::embedded().unwrap();
    let of = |precision| fingerprint(&files.clone().with_precision(precision));
    assert_eq!(of(Precision::default()), fingerprint(&files));
    let all = [
        Precision::F32,
        Precision::Bf16,
        Precision::Mixed,
        Precision::Int8,
    ]
    .map(of);
    let different: std::collections::HashSet<_> = all.iter().map(|f| format!("{f:?}")).collect();
    assert_eq!(different.len(), all.len());
}

#[cfg(feature = "embedded-model")]
#[test]
fn instructions_can_be_chosen_and_those_that_are_missing_are_an_error() {
    use local_agent_kernels::Set;
    let files = ModelFiles::embedded().unwrap();
    assert_eq!(instructions(&files).unwrap(), Isa::best().set().as_str());
    for set in Set::ALL {
        let files = files.clone().with_instructions(Some(set.as_str()));
        assert_eq!(fingerprint(&files), encoder().fingerprint());
        match Isa::new(set) {
            Some(_) => assert_eq!(instructions(&files).unwrap(), set.as_str()),
            None => {
                for refused in [
                    Encoder::load(&files).err(),
                    Encoder::for_questions(&files).err(),
                ] {
                    assert_eq!(refused.unwrap().code, ErrorCode::ConfigError);
                }
            }
        }
    }
    let portable = Encoder::for_questions(&files.with_instructions(Some("portable"))).unwrap();
    assert_eq!(portable.network.isa().map(Isa::set), Some(Set::Portable));
}

#[cfg(feature = "embedded-model")]
#[test]
fn an_encoder_for_questions_makes_the_vectors_of_any_other() {
    let long = "a text that fills the window ".repeat(120);
    for any in [exact(), encoder()] {
        let files = ModelFiles::embedded().unwrap();
        let files = if any.fingerprint() == fingerprint(&files) {
            files
        } else {
            files.with_precision(Precision::F32)
        };
        let quick = Encoder::for_questions(&files).unwrap();
        assert_eq!(quick.fingerprint(), any.fingerprint());
        for text in [
            "",
            "oven",
            "When was the new oven delivered?",
            "湯種はどのくらい休ませますか。",
            &long,
        ] {
            let (one, other) = (
                quick.embed_query(text).unwrap().vector,
                any.embed_query(text).unwrap().vector,
            );
            assert!(
                cosine(&one, &other) > 0.999_999,
                "{text}: {}",
                cosine(&one, &other)
            );
        }
    }
}

#[cfg(feature = "embedded-model")]
#[test]
fn packed_weights_are_made_once_mapped_then_and_remade_when_they_are_bad() {
    use crate::models::PreparedFolder;
    use std::sync::{Arc, Mutex};
    let dir = tempfile::tempdir().unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&told);
    let folder = PreparedFolder::new(dir.path().join("models"), move |text| {
        ear.lock().unwrap().push(text.to_owned());
    });
    let kept = || -> Vec<_> {
        let Ok(entries) = std::fs::read_dir(dir.path().join("models")) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let files = ModelFiles::embedded().unwrap();
    let text = "How long does the dough rest?";
    // Weights that are all f32 are not stored.
    Encoder::load(
        &files
            .clone()
            .with_precision(Precision::F32)
            .with_prepared(folder.clone()),
    )
    .unwrap();
    assert!(kept().is_empty());
    for (number, precision) in [Precision::Bf16, Precision::Int8, Precision::Mixed]
        .into_iter()
        .enumerate()
    {
        let files = files.clone().with_precision(precision);
        let wanted = Encoder::load(&files)
            .unwrap()
            .embed_query(text)
            .unwrap()
            .vector;
        let files = files.with_prepared(folder.clone());
        let embed = || {
            Encoder::for_questions(&files)
                .unwrap()
                .embed_query(text)
                .unwrap()
                .vector
        };
        let before = kept();
        assert_eq!(embed(), wanted, "{precision:?}: made");
        if Isa::best().set() == local_agent_kernels::Set::Portable {
            continue;
        }
        let own: Vec<_> = kept()
            .into_iter()
            .filter(|path| !before.contains(path))
            .collect();
        let good = std::fs::read(&own[0]).unwrap();
        assert_eq!(
            (own.len(), embed()),
            (1, wanted.clone()),
            "{precision:?}: mapped"
        );
        // The file is really used: other weights in it give other numbers.
        let mut other = good.clone();
        let middle = other.len() / 2;
        other[middle..middle + 100_000].fill(3);
        std::fs::write(&own[0], &other).unwrap();
        assert_ne!(
            embed(),
            wanted,
            "{precision:?}: what only `models verify` sees"
        );
        assert_eq!(told.lock().unwrap().len(), number);
        std::fs::write(&own[0], &good[..good.len() - 1]).unwrap();
        assert_eq!(embed(), wanted, "{precision:?}: remade");
        assert_eq!(std::fs::read(&own[0]).unwrap(), good);
        assert_eq!(told.lock().unwrap().len(), number + 1);
    }
    // Another model under the same name gets its own file, and the old file is removed.
    let before = kept();
    let copied = copy(&files);
    let weights = copied.path().join(WEIGHTS);
    let mut bytes = std::fs::read(&weights).unwrap();
    let end = bytes.len();
    bytes[end - 64..].fill(0);
    std::fs::write(&weights, bytes).unwrap();
    let other = ModelFiles::from_folder(files.id(), copied.path())
        .unwrap()
        .with_precision(Precision::Int8);
    Encoder::load(&other.with_prepared(folder)).unwrap();
    assert_eq!(kept().len(), before.len());
    assert!(before.is_empty() || kept() != before);
}

#[cfg(feature = "embedded-model")]
#[test]
fn a_vector_does_not_depend_on_its_companions_order_or_threads() {
    let long = "one two three four five ".repeat(120);
    let texts = [
        "short",
        "a text of some more words than that",
        long.as_str(),
        "",
        "short",
    ];
    let alone: Vec<_> = texts
        .iter()
        .map(|t| {
            encoder()
                .embed_passages(&[t], 1, 1, &|_| ())
                .unwrap()
                .remove(0)
        })
        .collect();
    for (threads, budget) in [(1, 100_000), (2, 300), (3, 1)] {
        let done = AtomicUsize::new(0);
        let count = |n| {
            done.fetch_add(n, Ordering::SeqCst);
        };
        let together = encoder()
            .embed_passages(&texts, threads, budget, &count)
            .unwrap();
        assert_eq!(done.into_inner(), texts.len());
        for (a, b) in alone.iter().zip(&together) {
            assert_eq!((a.tokens, a.windows), (b.tokens, b.windows));
            assert_eq!(a.vector, b.vector);
        }
    }
    assert!(alone[2].windows > 1);
    assert!(
        encoder()
            .embed_passages(&[], 0, 0, &|_| ())
            .unwrap()
            .is_empty()
    );
}

#[cfg(feature = "embedded-model")]
#[test]
fn every_vector_has_length_one() {
    let long = "word ".repeat(600);
    for text in ["", " ", "a", "\u{0}", "\u{1F600}", long.as_str()] {
        let vector = encoder().embed_query(text).unwrap().vector;
        assert_eq!(vector.len(), encoder().dim());
        let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        assert!((length - 1.0).abs() < 1e-6, "{text:?}: {length}");
    }
}

#[cfg(feature = "embedded-model")]
#[test]
fn meaning_is_nearer_than_words() {
    let of = |text| encoder().embed_query(text).unwrap().vector;
    let question = of("How long are backups kept?");
    let answer = cosine(
        &question,
        &of("Copies of the database are deleted after fifteen days."),
    );
    let other = cosine(
        &question,
        &of("The long river is kept clean by volunteers."),
    );
    assert!(answer > other);
}

#[cfg(feature = "embedded-model")]
#[test]
fn the_counter_counts_what_the_encoder_sees() {
    let counter = TokenCounter::load(&ModelFiles::embedded().unwrap()).unwrap();
    for text in ["", "Hello, world.", "naïve 東京 🎉", &"word ".repeat(1000)] {
        let embedded = encoder().embed_passages(&[text], 1, 256, &|_| ()).unwrap();
        assert_eq!(counter.count(text), embedded[0].tokens as usize, "{text:?}");
    }
}

#[cfg(feature = "embedded-model")]
#[test]
fn w35_the_fingerprint_is_about_vectors_only() {
    let files = ModelFiles::embedded().unwrap();
    assert_eq!(fingerprint(&files), encoder().fingerprint());
    assert_ne!(
        fingerprint(&files),
        fingerprint(&files.clone().with_window(Some(128)))
    );
    // The same bytes in a folder of another name give the same vectors.
    let dir = copy(&files);
    let copied = ModelFiles::from_folder("elsewhere", dir.path()).unwrap();
    assert_eq!(fingerprint(&files), fingerprint(&copied));
}

#[cfg(feature = "embedded-model")]
#[test]
fn broken_weights_are_refused_and_never_give_vectors() {
    let files = ModelFiles::embedded().unwrap();
    let dir = copy(&files);
    let load = || {
        ModelFiles::from_folder("m", dir.path())
            .and_then(|files| Encoder::load(&files))
            .map(|_| ())
    };
    let good = files.weights().as_slice().to_vec();
    load().unwrap();
    for bad in [
        Vec::new(),
        b"not weights".to_vec(),
        good[..good.len() - 2].to_vec(),
        good[..1000].to_vec(),
    ] {
        std::fs::write(dir.path().join(WEIGHTS), &bad).unwrap();
        assert_eq!(
            load().unwrap_err().code,
            ErrorCode::ModelInvalid,
            "{} bytes",
            bad.len()
        );
    }
    std::fs::write(dir.path().join(WEIGHTS), &good).unwrap();
    std::fs::write(dir.path().join(TOKENIZER), "{}").unwrap();
    assert_eq!(load().unwrap_err().code, ErrorCode::ModelInvalid);
}

#[cfg(feature = "embedded-model")]
#[test]
fn s39_weights_that_are_not_numbers_are_an_error() {
    let files = ModelFiles::embedded().unwrap();
    let dir = copy(&files);
    let mut bytes = files.weights().as_slice().to_vec();
    // The last tensor belongs to the last layer: it affects every result.
    let end = bytes.len();
    bytes[end - 2000..]
        .chunks_exact_mut(2)
        .for_each(|b| b.copy_from_slice(&[0xff, 0x7f]));
    std::fs::write(dir.path().join(WEIGHTS), bytes).unwrap();
    for precision in [
        Precision::F32,
        Precision::Bf16,
        Precision::Mixed,
        Precision::Int8,
    ] {
        let files = ModelFiles::from_folder("m", dir.path())
            .unwrap()
            .with_precision(precision);
        let encoder = Encoder::load(&files).unwrap();
        assert_eq!(
            encoder.embed_query("text").unwrap_err().code,
            ErrorCode::ModelInvalid
        );
        assert!(encoder.embed_passages(&["text"], 1, 256, &|_| ()).is_err());
    }
}

/// The compiled-in model as a folder.
#[cfg(feature = "embedded-model")]
fn copy(files: &ModelFiles) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../models")
        .join(files.id());
    std::fs::create_dir(dir.path().join("1_Pooling")).unwrap();
    for path in [
        "config.json",
        TOKENIZER,
        WEIGHTS,
        "1_Pooling/config.json",
        "sentence_bert_config.json",
    ] {
        std::fs::copy(from.join(path), dir.path().join(path)).unwrap();
    }
    dir
}

#[test]
fn a_passage_starts_with_its_two_innermost_headings() {
    let heading = |level, title: &str| Heading {
        level,
        title: title.into(),
    };
    let path = |headings: &[Heading]| HeadingPath::new(headings.to_vec()).unwrap();
    let all = [heading(1, "Top"), heading(2, "Middle"), heading(3, "Inner")];
    assert_eq!(passage_input(&path(&all), "text"), "Middle > Inner\ntext");
    assert_eq!(passage_input(&path(&all[..1]), "text"), "Top\ntext");
    assert_eq!(passage_input(&path(&[]), "text"), "text");
}

#[test]
fn windows_cover_every_token_once_and_none_is_nearly_empty() {
    for (len, room) in [(0, 10), (1, 10), (10, 10), (11, 10), (25, 10), (101, 10)] {
        let frame = batch::Frame {
            before: vec![1],
            after: vec![2],
            prefix_text: "p".to_owned(),
            prefix: vec![3],
            filler: 0,
            room,
        };
        let ids: Vec<u32> = (100..100 + len).collect();
        let windows = frame.windows(&batch::Framed {
            prefix: &frame.prefix,
            own: ids.clone(),
        });
        let inner: Vec<u32> = windows
            .iter()
            .flat_map(|w| w[2..w.len() - 1].to_vec())
            .collect();
        assert_eq!(inner, ids);
        assert!(
            windows
                .iter()
                .all(|w| w.starts_with(&[1, 3]) && w.ends_with(&[2]) && w.len() <= room + 3)
        );
        assert_eq!(windows.len(), (len as usize).div_ceil(room).max(1));
    }
}
