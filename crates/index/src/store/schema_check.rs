//! Checks that a database contains exactly the objects of its schema. A folder can contain a
//! database made by somebody else, with a view that never ends, a trigger, or a table with computed
//! columns. Such a file is never queried.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::error::Result;
use super::{Database, FoundDatabase};
use local_agent_text::error::{ErrorCode, Failure};

/// Kind, name and definition of everything in a database; definitions without comments and extra
/// blanks.
type Parts = BTreeSet<(String, String, String)>;

/// Switches off features that none of our databases uses, before the file is queried.
pub(super) fn trust_nothing(conn: &Connection) -> Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(())
}

/// Refuses a database that contains anything but our own tables and indexes, or lacks one of them.
/// An older version may lack later additions. `DB_CORRUPT`.
pub(super) fn refuse(
    conn: &Connection,
    path: &Path,
    database: Database,
    found: &FoundDatabase,
) -> Result<()> {
    let here = parts(conn)?;
    let ours = ours(database)?;
    let strange = here.difference(ours).next();
    let lacking = ours
        .difference(&here)
        .next()
        .filter(|_| *found == FoundDatabase::Ours && !here.is_empty());
    let why = match (strange, lacking) {
        (None, None) => return Ok(()),
        (Some((kind, name, _)), _) => format!(
            "holds the {kind} `{}`, which is not ours",
            name.escape_debug()
        ),
        (None, Some((kind, name, _))) => format!("lacks the {kind} `{name}`"),
    };
    Err(
        Failure::new(ErrorCode::DbCorrupt, format!("{} {why}", path.display()))
            .with_command(database.remedy(path))
            .into(),
    )
}

/// The objects that the schema of this version creates.
fn ours(database: Database) -> Result<&'static Parts> {
    static OURS: [OnceLock<Parts>; 3] = [const { OnceLock::new() }; 3];
    let known = match database {
        Database::Index => &OURS[0],
        Database::Embeddings => &OURS[1],
        Database::Durable => &OURS[2],
    };
    if let Some(parts) = known.get() {
        return Ok(parts);
    }
    let conn = Connection::open_in_memory()?;
    conn.execute_batch(&database.schema())?;
    let parts = parts(&conn)?;
    Ok(known.get_or_init(|| parts))
}

fn parts(conn: &Connection) -> Result<Parts> {
    let mut statement = conn.prepare("SELECT type, name, ifnull(sql, '') FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, plain(&row.get::<_, String>(2)?)))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A definition without comments, with each run of blanks reduced to one space.
fn plain(sql: &str) -> String {
    let code = sql
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default());
    code.flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::{open_read, open_write};
    use super::*;

    #[test]
    fn a_database_that_holds_anything_of_somebody_else_is_asked_nothing() {
        let endless =
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n";
        let strange = [
            format!("CREATE VIEW more AS {endless}"),
            format!("DROP TABLE tags; CREATE VIEW tags AS {endless}"),
            "CREATE TRIGGER t AFTER INSERT ON tags BEGIN DELETE FROM chunks; END".to_owned(),
            "CREATE TABLE more (x)".to_owned(),
            "DROP TABLE tags; CREATE TABLE tags (document_id, tag AS (hex(zeroblob(100000000))))"
                .to_owned(),
            "CREATE INDEX more ON tags (tag || 'x')".to_owned(),
            "DROP INDEX tags_tag".to_owned(),
        ];
        for sql in strange {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("index.sqlite");
            drop(open_write(&path, Database::Index).unwrap());
            Connection::open(&path)
                .unwrap()
                .execute_batch(&sql)
                .unwrap();
            for refused in [
                open_read(&path, Database::Index).map(drop),
                open_write(&path, Database::Index).map(drop),
            ] {
                let failure = Failure::from(refused.expect_err(&sql));
                assert_eq!(failure.code, ErrorCode::DbCorrupt, "{sql}");
                assert_eq!(
                    failure.hint.as_deref(),
                    Some("local-agent index --rebuild"),
                    "{sql}"
                );
            }
        }
    }

    #[test]
    fn comments_and_blanks_in_a_definition_say_nothing() {
        assert_eq!(
            plain("CREATE TABLE a (\n  -- what it is\n  b  INTEGER -- and this\n)"),
            "CREATE TABLE a ( b INTEGER )"
        );
    }
}
