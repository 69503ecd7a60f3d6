//! Clients of a server show its errors behind words of their own.

use super::{essence, same_behind_each, triage};

#[test]
fn an_error_that_krita_shows_is_that_of_the_server() {
    let error = "[enforce fail at alloc_cpu.cpp:116] data. DefaultCPUAllocator: not enough memory: you tried to allocate \
                 8589934592 bytes.";
    let shown = format!("Server execution error: {error}\n");
    let plain = same_behind_each(&shown);
    assert!(plain.verdict.starts_with("HostOom"), "{}", plain.verdict);
    assert_eq!(essence(&triage(&format!("{error}\n"))), plain);
}
