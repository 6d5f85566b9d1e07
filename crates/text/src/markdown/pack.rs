//! Packs sections into chunks of a good size.
//!
//! Sections are packed from the bottom up. The text of a section is cut into as few parts as the
//! budget allows, of about equal size. Then its subsections follow. A subsection with a single part
//! is packed together with the part before it, if the sum fits and the sections are not both
//! substantial chapters (level 1 or 2). A packed chunk has the path of the common parent. A part of
//! a few words is joined to its neighbour, a bare heading to the part after it.

use std::ops::Range;

use super::fit::FittedBlock;
use super::types::BlockKinds;
use crate::types::HeadingPath;

/// Parts smaller than this many tokens are joined to a neighbour.
const TINY: usize = 20;

/// A section of level 1 or 2 is substantial if it takes at least one n-th of the budget, with this
/// n.
const SUBSTANTIAL_SHARE: usize = 3;

/// A heading and the text up to the next heading.
#[derive(Debug)]
pub(super) struct PackableSection {
    /// 0 for the text before the first heading.
    pub level: u8,
    pub path: HeadingPath,
    pub units: Vec<FittedBlock>,
}

/// A chunk being built.
#[derive(Debug, Clone)]
pub(super) struct PackedChunk {
    pub range: Range<usize>,
    pub tokens: usize,
    pub kinds: BlockKinds,
    /// The section that gives the chunk its path.
    pub section: usize,
    /// Whether it contains only headings.
    bare: bool,
    sealed: bool,
}

/// The pieces of all sections, in order. The first section must be of level 0.
pub(super) fn pack(sections: &[PackableSection], budget: usize) -> Vec<PackedChunk> {
    let mut at = 0;
    let mut out = Vec::new();
    while at < sections.len() {
        out.extend(pack_section(sections, &mut at, budget));
    }
    out
}

/// Packs the section at `at` with all below it. Recursion ends at level 6.
fn pack_section(sections: &[PackableSection], at: &mut usize, budget: usize) -> Vec<PackedChunk> {
    let this = *at;
    let level = sections[this].level;
    *at += 1;
    let mut pieces = fill(&sections[this].units, this, budget);
    // Whether more may be added: the last piece is the section's own text or whole subsections.
    let mut open = true;
    while let Some(child) = sections.get(*at).filter(|s| s.level > level) {
        let chapter = child.level <= 2;
        let below = pack_section(sections, at, budget);
        let single = below.len() == 1;
        let mut below = below.into_iter();
        let Some(first) = below.next() else { continue };
        match pieces
            .last_mut()
            .filter(|last| !last.sealed && last.tokens + first.tokens <= budget)
        {
            Some(last) if last.bare => *last = join(last, &first, shared(last, &first, this)),
            Some(last) if single && open && may_join(last, &first, chapter, budget) => {
                *last = join(last, &first, this);
            }
            _ => pieces.push(first),
        }
        pieces.extend(below);
        open = single;
    }
    join_tiny(pieces, this, budget)
}

fn may_join(left: &PackedChunk, right: &PackedChunk, chapter: bool, budget: usize) -> bool {
    !chapter || left.tokens.min(right.tokens) * SUBSTANTIAL_SHARE < budget
}

/// The section that gives two neighbours below `parent` their common path. A bare heading of the
/// parent itself takes the path of the text under it.
fn shared(left: &PackedChunk, right: &PackedChunk, parent: usize) -> usize {
    let own = left.section == right.section || left.bare && left.section == parent;
    if own { right.section } else { parent }
}

fn join(left: &PackedChunk, right: &PackedChunk, section: usize) -> PackedChunk {
    PackedChunk {
        range: left.range.start..right.range.end,
        tokens: left.tokens + right.tokens,
        kinds: left.kinds | right.kinds,
        section,
        bare: left.bare && right.bare,
        sealed: right.sealed,
    }
}

/// A section's own units in as few pieces as possible, of about equal size. A unit that introduces
/// the next one stays with it, unless a bare heading would remain.
fn fill(units: &[FittedBlock], section: usize, budget: usize) -> Vec<PackedChunk> {
    let total: usize = units.iter().map(|u| u.tokens).sum();
    let target = total.div_ceil(total.div_ceil(budget).max(1));
    let mut out: Vec<PackedChunk> = Vec::new();
    // The last piece before a unit that introduces the next one was joined to it, and that unit.
    let mut introduced: Option<(PackedChunk, PackedChunk)> = None;
    for unit in units {
        let piece = PackedChunk {
            range: unit.range.clone(),
            tokens: unit.tokens,
            kinds: unit.kinds,
            section,
            bare: unit.kinds == BlockKinds::HEADING,
            sealed: unit.sealed,
        };
        let lead = introduced.take().filter(|(without, lead)| {
            !without.bare && !without.sealed && lead.tokens + piece.tokens <= budget
        });
        match (out.last_mut(), lead) {
            (Some(last), _) if may_join_unit(unit, budget, target, last) => {
                let without = last.clone();
                *last = join(last, &piece, section);
                introduced = unit.leads.then_some((without, piece));
            }
            (Some(last), Some((without, lead))) => {
                *last = without;
                out.push(join(&lead, &piece, section));
            }
            _ => out.push(piece),
        }
    }
    out
}

/// Whether a block may be added to the chunk before it.
fn may_join_unit(unit: &FittedBlock, budget: usize, target: usize, last: &PackedChunk) -> bool {
    let sum = last.tokens + unit.tokens;
    !last.sealed && sum <= budget && (last.bare || last.tokens + unit.tokens / 2 <= target)
}

/// Joins pieces of a few words to a neighbour within the same section.
fn join_tiny(pieces: Vec<PackedChunk>, parent: usize, budget: usize) -> Vec<PackedChunk> {
    let mut out: Vec<PackedChunk> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match out.last_mut() {
            Some(last)
                if !last.sealed
                    && last.tokens.min(piece.tokens) < TINY
                    && last.tokens + piece.tokens <= budget =>
            {
                *last = join(last, &piece, shared(last, &piece, parent));
            }
            _ => out.push(piece),
        }
    }
    out
}
