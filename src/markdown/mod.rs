//! Bytes → frontmatter, blocks, sections, links, chunks. Pure; never fails.
