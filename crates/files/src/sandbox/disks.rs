//! The disks that the folders of a root are on.

use std::collections::BTreeMap;

use cap_std::fs::Dir;
use local_agent_text::types::RelPath;

/// The disks that the files of a root are on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disks {
    /// The device of the root; `None` if it is unknown.
    pub root: Option<u64>,
    /// The folders below the root at which something is mounted, each with its device.
    pub mounted: BTreeMap<RelPath, u64>,
}

/// Where a folder lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mount {
    pub device: u64,
    /// Whether the system says that something is mounted at the folder. It is the only sign if both
    /// sides are on the same device.
    pub is_root: bool,
}

/// Where an open folder lies; `None` if the system does not say it.
#[cfg(target_os = "linux")]
pub(super) fn mount_of(dir: &Dir) -> Option<Mount> {
    use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, makedev, statx};
    let Ok(found) = statx(dir, "", AtFlags::EMPTY_PATH, StatxFlags::empty()) else {
        return device_of(dir);
    };
    Some(Mount {
        device: makedev(found.stx_dev_major, found.stx_dev_minor),
        is_root: found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
    })
}

/// Where an open folder lies; `None` if the system does not say it.
#[cfg(not(target_os = "linux"))]
pub(super) fn mount_of(dir: &Dir) -> Option<Mount> {
    device_of(dir)
}

/// Where a folder lies, as far as its metadata say it.
fn device_of(dir: &Dir) -> Option<Mount> {
    let device = cap_fs_ext::MetadataExt::dev(&dir.dir_metadata().ok()?);
    Some(Mount {
        device,
        is_root: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;

    #[test]
    fn the_device_is_the_one_that_the_standard_library_reports() {
        let place = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(place.path(), ambient_authority()).unwrap();
        let expected = cap_fs_ext::MetadataExt::dev(&dir.dir_metadata().unwrap());
        let found = mount_of(&dir).unwrap();
        assert_eq!((found.device, found.is_root), (expected, false));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_root_of_a_mount_is_known() {
        let dir = Dir::open_ambient_dir("/proc", ambient_authority()).unwrap();
        assert!(mount_of(&dir).unwrap().is_root);
    }
}
