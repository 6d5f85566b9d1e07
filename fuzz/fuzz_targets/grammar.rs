//! Citations and what looks like one, in any text: no panic, markers in order and inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use local_agent_text::evidence::scan_markers;
use local_agent_verify::file_citations;

fuzz_target!(|text: &str| {
    let mut at = 0;
    for marker in scan_markers(text) {
        assert!(marker.span.start() >= at && text.get(marker.span.start()..marker.span.end()).is_some());
        at = marker.span.end();
    }
    for citation in file_citations(text).citations {
        assert!(text.get(citation.span).is_some());
    }
});
