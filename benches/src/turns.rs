//! The order in which cases take turns.

/// Returns the indices of `count` cases, in another order in each round.
///
/// Caches and heap are in the state in which the case before has left them, so a fixed order would
/// favour some cases.
pub fn order(round: usize, count: usize) -> impl Iterator<Item = usize> {
    let stride = coprime(1 + round % count.max(2).saturating_sub(1), count);
    (0..count).map(move |turn| (turn * stride + round) % count)
}

/// Returns the first number from `stride` on that reaches all of `count` places.
fn coprime(stride: usize, count: usize) -> usize {
    (stride..).find(|&stride| divisor(stride, count) == 1).unwrap_or(1)
}

/// The greatest common divisor.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_one_turn_in_each_round() {
        for count in 1..=12 {
            for round in 0..30 {
                let mut turns: Vec<_> = order(round, count).collect();
                turns.sort_unstable();
                assert_eq!(turns, (0..count).collect::<Vec<_>>(), "round {round}");
            }
        }
    }
}
