//! Random requests, compared with a search of all orders in which the bodies could finish.

use super::*;

/// A body as its reader sees it.
struct Reader {
    id: u64,
    claim: u64,
    shares: Vec<u64>,
    is_settled: bool,
    waits_for: Option<(u64, bool)>,
}

struct Crowd {
    bank: Bank,
    capacity: u64,
    readers: Vec<Reader>,
    /// The shares of finished bodies.
    contents: Vec<(u64, u64)>,
    seed: u64,
}

impl Crowd {
    fn below(&mut self, bound: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % bound
    }

    fn pick(&mut self) -> usize {
        self.below(self.readers.len() as u64) as usize
    }

    fn open(&mut self) {
        let claim = 1 + self.below(self.capacity);
        let id = self.bank.open(claim);
        let (shares, is_settled, waits_for) = (Vec::new(), false, None);
        self.readers.push(Reader { id, claim, shares, is_settled, waits_for });
    }

    /// Requests or repeats a request, and returns whether the reader can go on.
    fn request(&mut self, at: usize, bytes: u64, is_last: bool, waits: bool) -> bool {
        let reader = &mut self.readers[at];
        let (bytes, is_last) = reader.waits_for.unwrap_or((bytes, is_last));
        let held: u64 = reader.shares.iter().sum();
        match ask(&mut self.bank, reader.id, bytes, is_last, waits) {
            Poll::Pending => reader.waits_for = Some((bytes, is_last)),
            Poll::Ready(answer) => {
                reader.waits_for = None;
                if answer.is_ok() {
                    reader.shares.push(bytes);
                    reader.is_settled |= is_last || held + bytes >= reader.claim;
                }
            }
        }
        self.bank.serve();
        reader.waits_for.is_none()
    }

    fn finish(&mut self, at: usize) {
        let reader = self.readers.swap_remove(at);
        self.bank.close(reader.id);
        self.contents.extend(reader.shares.iter().map(|&bytes| (reader.id, bytes)));
        self.bank.serve();
    }

    fn drop_content(&mut self, at: usize) {
        let (id, bytes) = self.contents.swap_remove(at);
        self.bank.give_back(id, bytes);
        self.bank.serve();
    }

    fn step(&mut self) {
        if self.readers.is_empty() || self.readers.len() < 5 && self.below(3) == 0 {
            return self.open();
        }
        let at = self.pick();
        match self.below(8) {
            0 => self.finish(at),
            1 | 2 if !self.contents.is_empty() => {
                let content = self.below(self.contents.len() as u64) as usize;
                self.drop_content(content);
            }
            3 if self.readers[at].shares.len() > 1 && self.readers[at].waits_for.is_none() => {
                // The old buffer of a reallocation.
                let bytes = self.readers[at].shares.remove(0);
                self.bank.give_back(self.readers[at].id, bytes);
                self.bank.serve();
            }
            _ => {
                let (bytes, is_last) = (1 + self.below(4), self.below(5) == 0);
                let waits = self.below(4) > 0 || self.readers[at].waits_for.is_some();
                self.request(at, bytes, is_last, waits);
            }
        }
        self.check();
    }

    fn check(&self) {
        let held = |reader: &Reader| reader.shares.iter().sum::<u64>();
        let contents: u64 = self.contents.iter().map(|(_, bytes)| bytes).sum();
        let used = self.readers.iter().map(held).sum::<u64>() + contents;
        // A grant that was not polled is in use too.
        assert!(used <= self.capacity - self.bank.free(), "{used}");
        let granted = |reader: &&Reader| self.bank.bodies[&reader.id].granted > 0;
        let more: u64 =
            self.readers.iter().filter(granted).map(|reader| reader.waits_for.unwrap().0).sum();
        assert_eq!(used + more, self.capacity - self.bank.free());
        let needs: Vec<_> = self
            .readers
            .iter()
            .map(|reader| (reader, self.bank.bodies[&reader.id].held))
            .filter(|&(reader, held)| {
                held > 0 && held < reader.claim && !self.bank.bodies[&reader.id].is_settled
            })
            .map(|(reader, held)| (reader.claim - held, held))
            .collect();
        let held: u64 = needs.iter().map(|(_, held)| held).sum();
        assert!(can_finish(self.capacity - held, &needs), "{} {needs:?}", self.capacity);
    }

    /// Lets every body take its whole claim, and drops what is finished.
    fn end(mut self) {
        while !self.readers.is_empty() {
            while !self.contents.is_empty() {
                self.drop_content(0);
            }
            let mut any_goes_on = false;
            for at in (0..self.readers.len()).rev() {
                let reader = &self.readers[at];
                let rest = reader.claim.saturating_sub(reader.shares.iter().sum());
                if reader.is_settled || rest == 0 {
                    self.finish(at);
                    any_goes_on = true;
                } else {
                    let bytes = 1 + self.below(rest);
                    any_goes_on |= self.request(at, bytes, false, true);
                }
                self.check();
            }
            assert!(any_goes_on, "all bodies wait");
        }
        while !self.contents.is_empty() {
            self.drop_content(0);
        }
        assert_eq!(self.bank.free(), self.capacity);
        assert!(self.bank.bodies.is_empty() && self.bank.classes.is_empty());
        assert!(self.bank.first.is_empty() && self.bank.only.is_empty());
    }
}

/// Searches all orders in which bodies that need and hold these bytes could finish.
fn can_finish(free: u64, left: &[(u64, u64)]) -> bool {
    left.is_empty()
        || (0..left.len()).any(|first| {
            let (need, held) = left[first];
            let mut others = left.to_vec();
            others.remove(first);
            need <= free && can_finish(free + held, &others)
        })
}

#[test]
fn random_requests_leave_an_order_in_which_all_bodies_finish() {
    for seed in 1..=3000 {
        let capacity = 1 + seed % 15;
        let mut crowd = Crowd {
            bank: Bank::new(capacity),
            capacity,
            readers: Vec::new(),
            contents: Vec::new(),
            seed: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        };
        for _ in 0..100 {
            crowd.step();
        }
        crowd.end();
    }
}
