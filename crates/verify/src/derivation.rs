//! Numbers that are not in the cited text and follow from it: counts, sums, differences, extremes.

use schemars::JsonSchema;
use serde::Serialize;

/// How a number was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The number of items or rows.
    Count,
    /// The sum of all of them.
    Sum,
    /// The difference of two of them.
    Difference,
    /// The product of two of them.
    Product,
    /// The quotient of two of them.
    Ratio,
    /// The average of all of them.
    Average,
    /// The smallest of them.
    Minimum,
    /// The largest of them.
    Maximum,
    /// The days, months or years between two dates.
    Duration,
}

/// The computation of a number of a claim from numbers of the cited text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Derivation {
    /// The kind of computation.
    pub operation: Operation,
    /// The operands, as written in the cited text.
    pub from: Vec<String>,
    /// The number as the claim writes it.
    pub result: String,
}

impl std::fmt::Display for Derivation {
    /// The arithmetic in one line: `3 + 4.5 = 7.5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = self.from.join(match self.operation {
            Operation::Sum => " + ",
            Operation::Difference => " − ",
            Operation::Product => " × ",
            Operation::Ratio => " ÷ ",
            Operation::Duration => " to ",
            Operation::Count | Operation::Average | Operation::Minimum | Operation::Maximum => ", ",
        });
        let result = &self.result;
        match self.operation {
            Operation::Count => write!(f, "{result}: {list}"),
            Operation::Average => write!(f, "{result} is the average of {list}"),
            Operation::Minimum => write!(f, "{result} is the least of {list}"),
            Operation::Maximum => write!(f, "{result} is the greatest of {list}"),
            Operation::Sum
            | Operation::Difference
            | Operation::Product
            | Operation::Ratio
            | Operation::Duration => write!(f, "{list} = {result}"),
        }
    }
}
