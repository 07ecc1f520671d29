//! A cheap random generator for offsets, mixes and gaps: wyrand, one multiplication per draw.
//!
//! Statistical quality is that of the 64-bit wyrand (passes BigCrush and PractRand by its author's account); nothing
//! here is for secrets. Seeded, so that a run can be repeated address by address.

/// Generator state.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator whose draws depend on `seed` alone.
    pub fn new(seed: u64) -> Self {
        let mut rng = Self { state: seed };
        // Neighbouring seeds give neighbouring states; one draw parts them.
        rng.state ^= rng.next_u64();
        rng
    }

    /// A generator for part `part` of the work seeded `seed`: parts do not overlap in practice.
    pub fn part(seed: u64, part: u64) -> Self {
        Self::new(seed ^ part.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xA076_1D64_78BD_642F);
        let wide = u128::from(self.state) * u128::from(self.state ^ 0xE703_7ED1_A0B4_28DB);
        (wide >> 64) as u64 ^ wide as u64
    }

    /// Uniform in `0..bound` by multiply-shift: the bias is at most `bound / 2^64`, far below what a run could show.
    /// Zero for a zero bound.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in (0, 1]: never zero, so that its logarithm is finite.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Exponential with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// Fills `bytes` with random, thus incompressible, content.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let mut chunks = bytes.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.next_u64().to_ne_bytes());
        }
        let rest = chunks.into_remainder();
        let last = self.next_u64().to_ne_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// A seed that differs from run to run, from the process's hash keys (which the standard library seeds randomly).
pub fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_below_a_bound_are_uniform() {
        let mut rng = Rng::new(7);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        // Chi-square with 9 degrees of freedom: 27.9 is its 99.9 % point.
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 27.9, "chi2 {chi2}");
    }

    #[test]
    fn exponential_draws_have_mean_and_variance_one() {
        let mut rng = Rng::new(11);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| rng.exponential()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
    }

    #[test]
    fn a_seed_repeats_and_parts_differ() {
        let draw = |mut r: Rng| (r.next_u64(), r.next_u64());
        assert_eq!(draw(Rng::part(5, 1)), draw(Rng::part(5, 1)));
        assert_ne!(draw(Rng::part(5, 1)), draw(Rng::part(5, 2)));
        assert_ne!(draw(Rng::new(5)), draw(Rng::new(6)));
    }

    #[test]
    fn filled_bytes_do_not_repeat() {
        let mut bytes = vec![0u8; 4099];
        Rng::new(3).fill(&mut bytes);
        let mut words: Vec<[u8; 8]> = bytes.chunks_exact(8).map(|c| c.try_into().unwrap()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 512);
        assert!(bytes[4096..].iter().any(|&b| b != 0));
    }
}
