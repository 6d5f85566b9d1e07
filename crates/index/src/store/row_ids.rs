//! Row ids in SQL.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};

use crate::ids::{ChunkId, DocumentId, RowId, SourceId};

/// Makes ids values of SQLite.
macro_rules! in_sql {
    ($($name:ident)+) => {
        $(
            impl ToSql for $name {
                fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                    Ok(ToSqlOutput::from(self.row()))
                }
            }

            impl FromSql for $name {
                fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                    i64::column_result(value).map(Self::from_row)
                }
            }
        )+
    };
}

in_sql! { ChunkId DocumentId SourceId }

/// The ids as a JSON list, for `json_each`.
pub(super) fn json_list<T: RowId>(ids: &[T]) -> String {
    let rows: Vec<i64> = ids.iter().map(|id| id.row()).collect();
    serde_json::Value::from(rows).to_string()
}
