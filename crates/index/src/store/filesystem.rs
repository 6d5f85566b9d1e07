//! Chooses a database's journal by its file system. A write-ahead log needs memory that all readers
//! share, which a network file system does not provide.

use std::path::Path;

/// How a database keeps transactions atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Journal {
    /// Readers never wait for the writer.
    WriteAhead,
    /// Readers wait while a transaction is written; works wherever file locks do.
    Rollback,
}

impl Journal {
    /// The journal for a database in `folder`.
    pub(super) fn for_folder(folder: &Path) -> Self {
        if on_network(folder) {
            Self::Rollback
        } else {
            Self::WriteAhead
        }
    }

    /// SQLite's name for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::WriteAhead => "wal",
            Self::Rollback => "delete",
        }
    }
}

/// Whether `folder` is on a file system that other machines may write to at the same time. `false`
/// if the system cannot tell (only Linux can).
pub fn on_network(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::statfs(folder).is_ok_and(|found| is_network(found.f_type as u32));
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Whether this is the `statfs` number of a network file system (`linux/magic.h`): NFS, SMB in its
/// three versions, AFS, Coda, Ceph, 9p, or FUSE, which may be a network file system.
#[cfg(target_os = "linux")]
fn is_network(kind: u32) -> bool {
    [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x5346_414f,
        0x7375_7245,
        0x00c3_6400,
        0x0102_1997,
        0x6573_5546,
    ]
    .contains(&kind)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_local_disk_is_told_from_a_network() {
        assert_eq!(
            Journal::for_folder(&std::env::temp_dir()),
            Journal::WriteAhead
        );
        // ext4, btrfs, tmpfs, xfs, overlay.
        for local in [0xef53, 0x9123_683e, 0x0102_1994, 0x5846_5342, 0x794c_7630] {
            assert!(!is_network(local), "{local:x}");
        }
        assert!(is_network(0x6969) && is_network(0xff53_4d42));
        assert!(!on_network(Path::new("/nowhere/at/all")));
    }
}
