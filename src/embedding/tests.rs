use super::*;
use crate::types::Heading;
