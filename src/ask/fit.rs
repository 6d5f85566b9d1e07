//! Does anything fit? The decision to say "nothing found" instead of quoting what is merely nearest.

use super::extractive::Ranked;
use super::score;
use super::select::Part;

/// Development.
pub(super) fn signals(ranked: &Ranked<'_>, _parts: &[Part]) -> [f32; 10] {
    let Some((best, f, s)) = ranked.order.first() else { return [0.0; 10] };
    let q = &ranked.question;
    let total = q.total().max(1e-6);
    let (credits, own) = score::credits(q, &ranked.units, *best);
    // the heaviest missing term's share
    let missing = q.terms.iter().zip(&credits).map(|(t, c)| t.weight * (1.0 - c)).fold(0.0, f32::max) / total;
    let missing_name =
        q.terms.iter().zip(&credits).filter(|(t, _)| t.name).map(|(t, c)| t.weight * (1.0 - c)).sum::<f32>() / total;
    let cos = ranked.order.iter().map(|o| o.1.similar).fold(0.0, f32::max);
    let any = ranked.order.iter().map(|o| o.1.covered).fold(0.0, f32::max);
    let _ = own;
    // terms anywhere in the evidence
    let mut everywhere = vec![0.0f32; q.terms.len()];
    for (i, _, _) in &ranked.order {
        for (e, c) in everywhere.iter_mut().zip(score::credits(q, &ranked.units, *i).0) {
            *e = e.max(c);
        }
    }
    let anywhere = score::share(q, &everywhere);
    [*s, f.covered, f.own, f.similar, cos, f.kind, missing, missing_name, any, anywhere]
}

pub(super) fn why_not(ranked: &Ranked<'_>, parts: &[Part]) -> Option<String> {
    parts.is_empty().then(|| "The evidence holds no sentence that could answer the question.".to_owned()).or_else(
        || {
            let _ = ranked;
            None
        },
    )
}
