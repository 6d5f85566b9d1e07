//! L4: the addresses of links and pictures in a claim are in the cited text.

use super::literals::{Standing, standing_in};
use super::{Case, Source};

/// The address of a link or a picture.
#[derive(PartialEq, Eq)]
pub(super) struct HiddenAddress<'a> {
    pub address: &'a str,
    is_picture: bool,
}

/// How the cited items have the address.
pub(super) fn standing_of(case: &Case<'_>, hidden: &HiddenAddress<'_>) -> Standing {
    let sources = case.cited.iter();
    let standings = sources.map(|source| standing_in_source(source, hidden));
    standings.max().unwrap_or(Standing::Absent)
}

/// How a cited item has the address. A picture must be a picture there, too: a short address may be
/// part of any word.
fn standing_in_source(source: &Source<'_>, hidden: &HiddenAddress<'_>) -> Standing {
    let text = source.item.text.as_str();
    let is_there = match hidden.is_picture {
        true => hidden_addresses(text).contains(hidden),
        false => source.item.path.as_str() == hidden.address,
    };
    match is_there {
        true => Standing::Whole,
        false if hidden.is_picture => Standing::Absent,
        false => standing_in(text, without_last_slash(hidden.address)),
    }
}

/// "https://a.org/" and "https://a.org" are the same page.
fn without_last_slash(address: &str) -> &str {
    address.strip_suffix('/').unwrap_or(address)
}

/// Addresses of links and pictures, which the normalised text does not show. Nested markup is part
/// of the address. The address of a link without a scheme is a place among the notes themselves and
/// is left out; a picture is part of the claim, wherever it is stored.
pub(super) fn hidden_addresses(raw: &str) -> Vec<HiddenAddress<'_>> {
    const LINKS: [&str; 3] = ["](", "href=\"", "href='"];
    const PICTURES: [&str; 3] = ["src=\"", "src='", "![["];
    let descriptions = ends_of_descriptions(raw);
    let mut out = Vec::new();
    for opening in LINKS.iter().chain(&PICTURES) {
        let mut at = 0;
        while let Some(found) = raw.get(at..).and_then(|rest| rest.find(opening)) {
            let from = at + found + opening.len();
            let address = address_at(raw, from, *opening == "![[");
            let is_picture =
                PICTURES.contains(opening) || descriptions.binary_search(&(at + found)).is_ok();
            at = from + address.len();
            let scheme = address.split(['/', '#', '?']).next().unwrap_or("");
            if is_picture || scheme.contains(':') || address.starts_with("//") {
                out.push(HiddenAddress {
                    address,
                    is_picture,
                });
            }
        }
    }
    out
}

/// The address that begins at `from`; the name of an embedded file may hold spaces.
fn address_at(raw: &str, from: usize, embedded: bool) -> &str {
    let rest = raw.get(from..).unwrap_or("");
    let end = if embedded {
        rest.find(['|', '#', ']', '\n'])
    } else {
        rest.find([')', ' ', '\n', '"', '\'', '>'])
    };
    &rest[..end.unwrap_or(rest.len())]
}

/// The positions of the `]` that end the descriptions of pictures, `![…]`, in order.
fn ends_of_descriptions(raw: &str) -> Vec<usize> {
    let mut open = Vec::new();
    let mut ends = Vec::new();
    let mut before = 0;
    for (at, mark) in raw.bytes().enumerate() {
        match mark {
            b'[' => open.push(before == b'!'),
            b']' if open.pop() == Some(true) => ends.push(at),
            _ => {}
        }
        before = mark;
    }
    ends
}
