//! Sentences of any markdown: no panic, in order, not overlapping.
#![no_main]

use libfuzzer_sys::fuzz_target;
use local_agent_text::markdown::sentences;

fuzz_target!(|text: &str| {
    let mut at = 0;
    for sentence in sentences(text) {
        assert!(sentence.span.start() >= at && text.get(sentence.span.start()..sentence.span.end()).is_some());
        at = sentence.span.end();
    }
});
