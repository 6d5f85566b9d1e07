#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| local_agent_fuzz::verify(data));
