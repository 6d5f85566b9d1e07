//! Stops a program at every system call that changes a file, as a debugger does. One of these calls
//! can be made to fail, to be cut in half, or never to happen.
//!
//! This is below SQLite, tantivy and all our own file code. The program under attack is the
//! released one, and it contains no code for this test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::{LIMIT, Ran, Running};
use super::ptrace::{self, Id, Registers, Stop};

/// A fault of one system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails, as on a failing disk.
    Failed,
    /// It fails, as on a full disk.
    NoRoom,
    /// Half of the bytes are written, and the next change fails because the disk is full.
    Short,
    /// Half of the bytes are written, and the process is killed.
    Torn,
    /// The process is killed before it.
    Killed,
}

impl Fault {
    pub(crate) const ALL: [Self; 5] = [
        Self::Failed,
        Self::NoRoom,
        Self::Short,
        Self::Torn,
        Self::Killed,
    ];

    /// Whether this fault can happen to a call of this name.
    pub(crate) fn fits(self, call: &str) -> bool {
        match self {
            Self::Short | Self::Torn => ["write", "pwrite64"].contains(&call),
            Self::NoRoom => !call.starts_with("unlink") && !call.contains("sync"),
            Self::Failed | Self::Killed => true,
        }
    }

    /// Whether the process does not survive it.
    pub(crate) fn kills(self) -> bool {
        matches!(self, Self::Torn | Self::Killed)
    }
}

/// The end of a traced run, and the calls that changed files, in order: `pwrite64
/// index.sqlite-wal`.
#[derive(Debug)]
pub(crate) struct Traced {
    pub ran: Ran,
    pub calls: Vec<String>,
}

/// Runs a program to its end. Calls that change a file below one of `folders` are counted from 0;
/// `fault` happens to the call with its number.
pub(crate) fn trace(
    command: &Command,
    folders: &[PathBuf],
    fault: Option<(usize, Fault)>,
) -> Traced {
    let running = Running::start(halted(command)).unwrap();
    let leader = running.child.id().cast_signed();
    ptrace::wait_until_stopped(leader).unwrap();
    ptrace::seize(leader).unwrap();
    ptrace::send(leader, libc::SIGCONT).unwrap();
    let mut tracer = Tracer {
        leader,
        folders,
        fault,
        calls: Vec::new(),
        inside: BTreeMap::new(),
        failing: BTreeSet::new(),
        no_room_next: false,
    };
    let (over, watched) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let late = watched.recv_timeout(LIMIT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        late && ptrace::send(leader, libc::SIGKILL).is_ok()
    });
    let status = tracer.follow();
    drop(over);
    Traced {
        ran: running.ended(status, watch.join().unwrap()),
        calls: tracer.calls,
    }
}

/// The same program, started by a shell that stops itself first, so that a tracer can be attached.
fn halted(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "kill -STOP $$; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .stdin(std::process::Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

struct Tracer<'a> {
    leader: Id,
    folders: &'a [PathBuf],
    fault: Option<(usize, Fault)>,
    calls: Vec<String>,
    /// Whether a thread is between the beginning and the end of a call.
    inside: BTreeMap<Id, bool>,
    /// Threads whose current call must end with an error, each with that error.
    failing: BTreeSet<(Id, i32)>,
    no_room_next: bool,
}

impl Tracer<'_> {
    /// Follows all threads until the program has ended; returns its raw status.
    fn follow(&mut self) -> i32 {
        loop {
            let (thread, stop) = ptrace::wait(-1).unwrap();
            let signal = match stop {
                Stop::Over(status) if thread == self.leader => return status,
                Stop::Over(_) => continue,
                Stop::Call => {
                    self.at_call(thread);
                    0
                }
                Stop::Event | Stop::Signal(libc::SIGTRAP) => 0,
                Stop::Signal(signal) => signal,
            };
            // A thread that was killed meanwhile cannot be continued.
            let _ = ptrace::go_on(thread, signal);
        }
    }

    fn at_call(&mut self, thread: Id) {
        let inside = self.inside.entry(thread).or_default();
        *inside = !*inside;
        // The thread may have been killed between its stop and this check.
        let Ok(mut registers) = ptrace::registers(thread) else {
            return;
        };
        if !*inside {
            let failing = self.failing.iter().find(|(one, _)| *one == thread).copied();
            if let Some(entry) = failing {
                self.failing.remove(&entry);
                registers.rax = i64::from(-entry.1).cast_unsigned();
                let _ = ptrace::set_registers(thread, &registers);
            }
            return;
        }
        let Some((name, file)) = change(thread, &registers) else {
            return;
        };
        if !self.folders.iter().any(|folder| file.starts_with(folder)) {
            return;
        }
        let at = self.calls.len();
        let short = file.file_name().unwrap_or_default().to_string_lossy();
        self.calls.push(format!("{name} {short}"));
        if std::mem::take(&mut self.no_room_next) {
            return self.fail(thread, registers, libc::ENOSPC);
        }
        match self.fault.filter(|(wanted, _)| *wanted == at) {
            None => {}
            Some((_, Fault::Failed)) => self.fail(thread, registers, libc::EIO),
            Some((_, Fault::NoRoom)) => self.fail(thread, registers, libc::ENOSPC),
            Some((_, Fault::Killed)) => self.end(),
            Some((_, fault)) if fault.fits(name) => {
                registers.rdx /= 2;
                let _ = ptrace::set_registers(thread, &registers);
                self.no_room_next = fault == Fault::Short;
                if fault == Fault::Torn {
                    let _ = ptrace::go_on(thread, 0);
                    let _ = ptrace::wait(thread);
                    self.end();
                }
            }
            // In this run, the number belongs to another call.
            Some(_) => self.fail(thread, registers, libc::EIO),
        }
    }

    /// Makes the current call of a thread do nothing and end with an error.
    fn fail(&mut self, thread: Id, mut registers: Registers, error: i32) {
        registers.orig_rax = u64::MAX;
        let _ = ptrace::set_registers(thread, &registers);
        self.failing.insert((thread, error));
    }

    fn end(&self) {
        let _ = ptrace::send(self.leader, libc::SIGKILL);
    }
}

/// The name of a call that changes a file, and the file.
fn change(thread: Id, registers: &Registers) -> Option<(&'static str, PathBuf)> {
    let first = || opened(thread, registers.rdi);
    let number = registers.orig_rax.cast_signed();
    let found = match number {
        libc::SYS_write => ("write", first()),
        libc::SYS_pwrite64 => ("pwrite64", first()),
        libc::SYS_writev => ("writev", first()),
        libc::SYS_pwritev | libc::SYS_pwritev2 => ("pwritev", first()),
        libc::SYS_fsync => ("fsync", first()),
        libc::SYS_fdatasync => ("fdatasync", first()),
        libc::SYS_ftruncate => ("ftruncate", first()),
        libc::SYS_fallocate => ("fallocate", first()),
        libc::SYS_copy_file_range => ("copy_file_range", opened(thread, registers.rdx)),
        libc::SYS_rename => ("rename", named(thread, None, registers.rdi)),
        libc::SYS_renameat | libc::SYS_renameat2 => {
            ("rename", named(thread, Some(registers.rdi), registers.rsi))
        }
        libc::SYS_unlink => ("unlink", named(thread, None, registers.rdi)),
        libc::SYS_unlinkat => ("unlink", named(thread, Some(registers.rdi), registers.rsi)),
        libc::SYS_mkdir => ("mkdir", named(thread, None, registers.rdi)),
        libc::SYS_mkdirat => ("mkdir", named(thread, Some(registers.rdi), registers.rsi)),
        libc::SYS_openat if registers.rdx & libc::O_CREAT as u64 != 0 => {
            ("open", named(thread, Some(registers.rdi), registers.rsi))
        }
        libc::SYS_openat2 if creates(thread, registers.rdx) => {
            ("open", named(thread, Some(registers.rdi), registers.rsi))
        }
        _ => return None,
    };
    Some((found.0, found.1?))
}

/// The file behind a descriptor.
fn opened(thread: Id, descriptor: u64) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{thread}/fd/{descriptor}")).ok()
}

/// The file that a call names, relative to the folder of a descriptor or to the current folder.
fn named(thread: Id, folder: Option<u64>, address: u64) -> Option<PathBuf> {
    let bytes = memory(thread, address, 4096)?;
    let name = bytes.split(|byte| *byte == 0).next()?;
    let name = Path::new(std::str::from_utf8(name).ok()?).to_owned();
    if name.is_absolute() {
        return Some(name);
    }
    let here = || fs::read_link(format!("/proc/{thread}/cwd")).ok();
    // A descriptor is an `int`; the value that means the current folder is negative.
    let folder = match folder.map(|folder| folder as u32 as i32) {
        None | Some(libc::AT_FDCWD) => here()?,
        Some(folder) => opened(thread, u64::from(folder.cast_unsigned()))?,
    };
    Some(folder.join(name))
}

/// Whether the `open_how` at an address requests a new file.
fn creates(thread: Id, address: u64) -> bool {
    let flags = memory(thread, address, 8).and_then(|bytes| bytes.get(..8)?.try_into().ok());
    flags.is_some_and(|flags| u64::from_ne_bytes(flags) & libc::O_CREAT as u64 != 0)
}

/// The memory of a thread at an address, at most `length` bytes and not beyond the page.
fn memory(thread: Id, address: u64, length: usize) -> Option<Vec<u8>> {
    let file = File::open(format!("/proc/{thread}/mem")).ok()?;
    let to_page_end = 4096 - (address % 4096) as usize;
    let mut bytes = vec![0; length.min(to_page_end)];
    let mut read = file.read_at(&mut bytes, address).ok()?;
    if read == to_page_end && read < length && !bytes.contains(&0) {
        let mut rest = vec![0; length - read];
        let more = file.read_at(&mut rest, address + read as u64).unwrap_or(0);
        bytes.extend_from_slice(&rest[..more]);
        read += more;
    }
    bytes.truncate(read);
    Some(bytes)
}
