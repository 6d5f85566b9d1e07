//! Targets for the data that `ask` stores: the ledger and its records.

use std::fs;

use local_agent_agent::runs::{Ledger, Record};
use tempfile::TempDir;

/// A ledger of any bytes is read up to the first invalid line. A record is valid or gives a typed
/// failure.
pub(super) fn ledger(data: &[u8]) {
    thread_local! {
        static PLACE: TempDir = tempfile::tempdir().unwrap();
    }
    PLACE.with(|place| {
        let runs = place.path().join("runs");
        fs::create_dir_all(&runs).unwrap();
        fs::write(runs.join("ledger.jsonl"), data).unwrap();
        let ledger = Ledger::new(&runs, &place.path().join("durable.sqlite"));
        let look = ledger.look().unwrap();
        if let Some(chain) = look.chain {
            assert!(chain.lines.len() <= data.len());
            for (_, hash) in &chain.lines {
                assert!(chain.holds(hash));
            }
            assert_eq!(chain.broken.is_some(), look.anchor.is_err());
        } else {
            assert!(data.is_empty());
        }
    });
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(record) = Record::from_json(text)
    {
        let json = serde_json::to_string(&record).unwrap();
        assert!(Record::from_json(&json).is_ok(), "{json}");
    }
}
