//! The disks of a source, as the index keeps them between two runs.

use std::collections::BTreeMap;

use local_agent_files::sandbox::Disks;
use local_agent_text::types::RelPath;
use rusqlite::{Connection, OptionalExtension as _};

use super::error::Result;

/// The metadata key for the device of a source's root.
pub(super) fn device_key(source: &str) -> String {
    format!("device:{source}")
}

/// The metadata key for the folders of a source at which something is mounted. It is as long as
/// that of the device.
pub(super) fn mounted_key(source: &str) -> String {
    format!("mounts:{source}")
}

/// The mounted folders as JSON: path and device.
pub(super) fn mounted_value(disks: &Disks) -> String {
    let mounted: BTreeMap<&str, u64> = disks
        .mounted
        .iter()
        .map(|(path, device)| (path.as_str(), *device))
        .collect();
    serde_json::json!(mounted).to_string()
}

/// The disks of a source when it was last scanned completely.
pub(super) fn read(conn: &Connection, source: &str) -> Result<Disks> {
    let device = meta(conn, &device_key(source))?;
    let mounted = meta(conn, &mounted_key(source))?.unwrap_or_default();
    let mounted: BTreeMap<String, u64> = serde_json::from_str(&mounted).unwrap_or_default();
    Ok(Disks {
        root: device.and_then(|device| device.parse().ok()),
        mounted: mounted
            .into_iter()
            .filter_map(|(path, device)| Some((RelPath::new(path).ok()?, device)))
            .collect(),
    })
}

fn meta(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn
        .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| {
            row.get(0)
        })
        .optional()?)
}
