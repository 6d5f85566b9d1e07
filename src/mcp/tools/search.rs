//! `search`: passages by word search and semantic search.

use std::fmt::Write as _;

use super::words::{behind, covered, framed, lines, say_limits, say_next};
use super::{Call, Reply, Spec, input, output, parse};
use crate::mcp::page::{about, budget, cursor, cut, place};
use crate::mcp::shapes::{SearchArgs, SearchHit, SearchPage};
use local_agent_agent::operations::recency::Recency;
use local_agent_agent::operations::search::{Search, not_blank, search};
use local_agent_index::retrieval::{Hit, Mode};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::percent_encode;

pub(super) const SPEC: Spec = Spec {
    name: "search",
    description: "Finds passages of the person's notes by words and by meaning, best first, word for word, each \
        with what to cite it by.",
    input: input::<SearchArgs>,
    output: output::<SearchPage>,
    subject: "query",
    run: |call, args| find(call, &parse(args)?),
};

/// Default byte limit for text.
const SEARCH_BYTES: usize = 16 << 10;

/// Number of hits on one page.
const USUAL_HITS: u32 = 8;

const MOST_HITS: u32 = 50;

fn find(call: &Call, args: &SearchArgs) -> Result<Reply> {
    let limit = args.limit.unwrap_or(USUAL_HITS);
    if !(1..=MOST_HITS).contains(&limit) {
        return Err(Failure::new(
            ErrorCode::InvalidArgs,
            format!("`limit` is from 1 to {MOST_HITS}"),
        )
        .with_hint("leave `limit` out"));
    }
    let mut left = budget(args.max_bytes, SEARCH_BYTES)?;
    let limits = args.limits();
    not_blank(&args.query)?;
    let of = about(&[
        "search",
        &args.query,
        &format!("{limits:?} {:?}", args.recent),
        &call.service.library.state()?,
    ]);
    let from = place(args.cursor.as_deref(), &of)?;
    let until = from.saturating_add(limit as usize);
    let wanted = Search {
        text: &args.query,
        has_syntax: false,
        mode: if call.service.library.model().is_some() {
            Mode::Hybrid
        } else {
            Mode::Lexical
        },
        fusion: None,
        limits,
        limit: until.saturating_add(1),
        min_score: None,
        recency: Recency::asked(args.recent, call.service.today)?,
    };
    let searched = search(
        &call.service.loaded.config,
        &call.sandbox,
        &call.service.library,
        &wanted,
    )?;
    let found = &searched.found;
    let shows_score = call.service.loaded.config.client.is_none();
    let mut hits = Vec::new();
    for (at, hit) in found.hits.iter().enumerate().take(until).skip(from) {
        if hit.chunk.text.len() > left && !hits.is_empty() {
            break;
        }
        let one = SearchHit {
            context: searched.contexts[at].clone(),
            score: shows_score.then_some(hit.chance),
            gone: searched.gone[at],
            ..search_hit(at, hit, searched.fresh[at], left)
        };
        left = left.saturating_sub(one.text.len());
        hits.push(one);
    }
    let end = from + hits.len();
    let page = SearchPage {
        outcome: if found.hits.is_empty() {
            "nothing_found"
        } else {
            "found"
        },
        unknown_words: searched.unknown_words(),
        next_cursor: (end < found.hits.len()).then(|| cursor(end, &of)),
        coverage: covered(found.coverage),
        stale: behind(&found.stale, &searched.index_stale(from..end)),
        hits,
    };
    Reply::new(page_text(&page, from == 0), &page)
}

/// The page as text for a reader; `is_first` says that it is the first page.
fn page_text(page: &SearchPage, is_first: bool) -> String {
    let mut text = String::new();
    if page.hits.is_empty() {
        text.push_str(if is_first {
            "Nothing in the notes fits this.\n"
        } else {
            "There are no more hits.\n"
        });
    }
    for hit in &page.hits {
        let heading = if hit.heading_path.is_empty() {
            ""
        } else {
            " · "
        };
        let context = hit.context.as_deref().map_or_else(String::new, |context| {
            format!("about this folder: {context}\n")
        });
        let score = hit
            .score
            .map_or_else(String::new, |score| format!(" · score {score:.2}"));
        let _ = writeln!(
            text,
            "{}. cite as {} · #{}{heading}{}{score}\n{context}{}{}\n",
            hit.rank,
            hit.cite,
            hit.chunk_key,
            hit.heading_path,
            framed(hit.text.trim_end()),
            match (hit.truncated, hit.gone) {
                (_, true) => "(its file is gone)\n",
                (true, _) => "(cut: get it by its key)\n",
                (false, false) => "",
            },
        );
    }
    for line in &page.unknown_words {
        let _ = writeln!(text, "{line}");
    }
    say_limits(&mut text, &page.coverage, &page.stale);
    say_next(&mut text, page.next_cursor.as_deref());
    text
}

fn search_hit(at: usize, hit: &Hit, fresh: bool, left: usize) -> SearchHit {
    let chunk = &hit.chunk;
    let text = cut(&chunk.text, left);
    SearchHit {
        rank: at + 1,
        // Parsing a citation decodes these escapes.
        cite: format!(
            "[{}:{}:{}]",
            chunk.source,
            percent_encode(chunk.path.as_str(), "[]()"),
            chunk.lines
        ),
        source: chunk.source.to_string(),
        rel_path: chunk.path.to_string(),
        title: chunk.title.clone(),
        heading_path: chunk.heading.to_string(),
        lines: lines(chunk.lines),
        chunk_key: chunk.key.to_string(),
        score: None,
        fresh,
        gone: false,
        context: None,
        truncated: text.len() < chunk.text.len(),
        text: text.to_owned(),
    }
}
