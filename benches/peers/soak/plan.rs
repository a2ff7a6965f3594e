//! What is to become of a call: its number says.

pub(crate) const SIX_MIB: u64 = 6 << 20;

/// A call, as its caller, the function and the connection between them each work it out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Bytes of the event.
    pub(crate) event: u64,
    /// Bytes of the answer, where there is one.
    pub(crate) answer: u64,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// The handler returns an error.
    Refused,
    /// The handler panics.
    Panics,
    /// The connection is cut in the middle of the event, after so many bytes of it.
    EventCut(u64),
    /// The same with the answer.
    AnswerCut(u64),
    /// The connection is cut when all of the answer has come, before its acknowledgement.
    ReceiptCut,
}

impl Plan {
    pub(crate) fn of(call: u64) -> Self {
        let mut random = Random(call);
        let (event, answer) = (random.length(), random.length());
        let fate = match random.below(1000) {
            0 => Fate::Panics,
            1 => return Self::cut(event.max(1), answer.max(1), &mut random),
            2..12 => Fate::Refused,
            _ => Fate::Answered,
        };
        Self { event, answer, fate }
    }

    fn cut(event: u64, answer: u64, random: &mut Random) -> Self {
        let fate = match random.below(3) {
            0 => Fate::EventCut(random.below(event)),
            1 => Fate::AnswerCut(random.below(answer)),
            _ => Fate::ReceiptCut,
        };
        Self { event, answer, fate }
    }

    /// Whether the function gets to see the event.
    pub(crate) fn runs(&self) -> bool {
        !matches!(self.fate, Fate::EventCut(_))
    }

    /// The type of the error that the caller is told, if it is told one.
    pub(crate) fn error_type(&self) -> Option<&'static str> {
        match self.fate {
            Fate::Answered | Fate::ReceiptCut => None,
            Fate::Refused => Some(REFUSED),
            Fate::Panics => Some("Function.Panic"),
            Fate::EventCut(_) => Some("Runtime.EventUnreadable"),
            Fate::AnswerCut(_) => Some("Runtime.TruncatedResponse"),
        }
    }
}

/// A number that stands for a call in a sum of calls: two sums of different calls differ.
pub(crate) fn mark(call: u64) -> u64 {
    Random(!call).next()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Any length that an event or an answer can have, the shortest and the longest for sure.
    fn length(&mut self) -> u64 {
        match self.below(64) {
            0 => 0,
            1 => SIX_MIB,
            _ => self.below(SIX_MIB + 1),
        }
    }
}

/// What the handler calls its error.
pub(crate) const REFUSED: &str = "Soak.Refused";
