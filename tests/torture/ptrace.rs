//! `ptrace(2)` as a safe interface: attach to a process and all its threads, wait for the next
//! stop, and read and change the registers there.
//!
//! `nix` has one too, but it enables features of `libc` that would make cargo compile every crate
//! of the program again for the tests.
#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// The registers of a stopped thread.
pub(crate) type Registers = libc::user_regs_struct;

/// A process or thread.
pub(crate) type Id = libc::pid_t;

/// Why a thread, or the process, stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is at the beginning or the end of a system call.
    Call,
    /// It is about to receive a signal.
    Signal(i32),
    /// It was created, or became another program, or another process stopped it.
    Event,
    /// It has ended; the raw status.
    Over(i32),
}

/// Attaches to a process. Threads and children that it creates are attached from their start, and
/// all of them are killed when this process ends.
pub(crate) fn seize(process: Id) -> Result<()> {
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    // SAFETY: no memory of this process is passed.
    done(unsafe {
        libc::ptrace(
            libc::PTRACE_SEIZE,
            process,
            null_mut::<u8>(),
            options as usize,
        )
    })
}

/// Lets a stopped thread continue to the next beginning or end of a system call; `signal` is
/// delivered to it, 0 means none.
pub(crate) fn go_on(thread: Id, signal: i32) -> Result<()> {
    // SAFETY: no memory of this process is passed.
    done(unsafe {
        libc::ptrace(
            libc::PTRACE_SYSCALL,
            thread,
            null_mut::<u8>(),
            signal as usize,
        )
    })
}

/// The registers of a stopped thread.
pub(crate) fn registers(thread: Id) -> Result<Registers> {
    let mut out = MaybeUninit::<Registers>::zeroed();
    // SAFETY: `out` has the size that the call writes.
    done(unsafe {
        libc::ptrace(
            libc::PTRACE_GETREGS,
            thread,
            null_mut::<u8>(),
            out.as_mut_ptr(),
        )
    })?;
    // SAFETY: every bit pattern is valid for these integers, and all of them were initialised to
    // zero.
    Ok(unsafe { out.assume_init() })
}

/// Changes the registers of a stopped thread.
pub(crate) fn set_registers(thread: Id, registers: &Registers) -> Result<()> {
    let from: *const Registers = registers;
    // SAFETY: `from` points to the data that the call reads, and is not written to.
    done(unsafe { libc::ptrace(libc::PTRACE_SETREGS, thread, null_mut::<u8>(), from) })
}

/// Waits until something happens to `thread`, or with -1 to any process or thread that this thread
/// attached to or started.
pub(crate) fn wait(thread: Id) -> Result<(Id, Stop)> {
    let mut status = 0;
    // SAFETY: `status` is an integer of the type that the call writes.
    let found = unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
    if found < 0 {
        return Err(Error::last_os_error());
    }
    let stop = if !libc::WIFSTOPPED(status) {
        Stop::Over(status)
    } else if status >> 16 != 0 {
        Stop::Event
    } else {
        match libc::WSTOPSIG(status) {
            signal if signal == libc::SIGTRAP | 0x80 => Stop::Call,
            signal => Stop::Signal(signal),
        }
    };
    Ok((found, stop))
}

/// Waits until a child that is not attached has stopped itself.
pub(crate) fn wait_until_stopped(child: Id) -> Result<()> {
    let mut status = 0;
    // SAFETY: `status` is an integer of the type that the call writes.
    done(unsafe { libc::waitpid(child, &raw mut status, libc::WUNTRACED) }.into())
}

/// Sends a signal to a process.
pub(crate) fn send(process: Id, signal: i32) -> Result<()> {
    // SAFETY: no memory of this process is passed.
    done(unsafe { libc::kill(process, signal) }.into())
}

fn done(returned: i64) -> Result<()> {
    if returned < 0 {
        return Err(Error::last_os_error());
    }
    Ok(())
}
