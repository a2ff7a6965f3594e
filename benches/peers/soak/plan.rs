//! The plan of each call, which follows from its number.

pub(crate) const SIX_MIB: u64 = 6 << 20;

/// The plan of a call. The caller, the function and the wire each derive it from the call number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The length of the event in bytes.
    pub(crate) event: u64,
    /// The length of the response in bytes, if there is one.
    pub(crate) response: u64,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// The handler returns an error.
    Refused,
    /// The handler panics.
    Panics,
    /// The connection is cut within the event, after this many of its bytes.
    EventCut(u64),
    /// The connection is cut within the response, after this many of its bytes.
    ResponseCut(u64),
    /// The connection is cut after the response, before its acknowledgement.
    ReceiptCut,
}

impl Plan {
    pub(crate) fn of(call: u64) -> Self {
        let mut random = Random(call);
        let (event, response) = (random.length(), random.length());
        let fate = match random.below(1000) {
            0 => Fate::Panics,
            1 => return Self::cut(event.max(1), response.max(1), &mut random),
            2..12 => Fate::Refused,
            _ => Fate::Answered,
        };
        Self { event, response, fate }
    }

    fn cut(event: u64, response: u64, random: &mut Random) -> Self {
        let fate = match random.below(3) {
            0 => Fate::EventCut(random.below(event)),
            1 => Fate::ResponseCut(random.below(response)),
            _ => Fate::ReceiptCut,
        };
        Self { event, response, fate }
    }

    /// Returns whether the event reaches the function.
    pub(crate) fn runs(&self) -> bool {
        !matches!(self.fate, Fate::EventCut(_))
    }

    /// Returns the type of the error that the caller receives, if it receives one.
    pub(crate) fn error_type(&self) -> Option<&'static str> {
        match self.fate {
            Fate::Answered | Fate::ReceiptCut => None,
            Fate::Refused => Some(REFUSED),
            Fate::Panics => Some("Function.Panic"),
            Fate::EventCut(_) => Some("Runtime.EventUnreadable"),
            Fate::ResponseCut(_) => Some("Runtime.TruncatedResponse"),
        }
    }
}

/// Returns a number for a call, such that sums over different calls differ.
pub(crate) fn mark(call: u64) -> u64 {
    Random(!call).next()
}

/// The random numbers of SplitMix64.
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

    /// Returns a length of an event or a response. The shortest and the longest are frequent.
    fn length(&mut self) -> u64 {
        match self.below(64) {
            0 => 0,
            1 => SIX_MIB,
            _ => self.below(SIX_MIB + 1),
        }
    }
}

/// The error type of the handler.
pub(crate) const REFUSED: &str = "Soak.Refused";
