//! Terminal escape sequences: where one ends.
//!
//! It does not act on them, but for the one that sets the cursor to the first column.

/// The longest control sequence that is taken out whole, in characters.
const SEQUENCE_LIMIT: u16 = 256;
/// The longest control string (a title, a link, an image) that is taken out whole, in characters.
const STRING_LIMIT: u16 = 4096;

/// Where the text stands in relation to an escape sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Escape {
    /// In plain text.
    #[default]
    Outside,
    /// After ESC.
    Started,
    /// After ESC and an intermediate, as in a character set selection.
    Intermediate { length: u16 },
    /// In a control sequence (CSI).
    Sequence { length: u16, first_column: bool },
    /// In a control string (OSC, DCS, SOS, PM, APC).
    Text { length: u16 },
    /// In a control string, after an ESC that may end it.
    TextEnd { length: u16 },
}

/// What a character means to the sequence it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The character belongs to the sequence.
    Inside,
    /// The character belongs to the sequence, which sets the cursor to the first column.
    Column,
    /// The sequence was cut off before this character, which is text or starts another one.
    Before,
}

impl Escape {
    /// Returns the sequence that `character` starts, if it starts one.
    pub(super) fn start(character: char) -> Option<Self> {
        match character {
            '\u{1b}' => Some(Self::Started),
            '\u{9b}' => Some(Self::SEQUENCE),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => Some(Self::Text { length: 0 }),
            _ => None,
        }
    }

    const SEQUENCE: Self = Self::Sequence {
        length: 0,
        first_column: true,
    };

    /// Takes the next character of an open sequence.
    pub(super) fn step(&mut self, character: char) -> Step {
        let (next, step) = match *self {
            Self::Outside => (Self::Outside, Step::Before),
            Self::Started => started(character),
            Self::Intermediate { length } => intermediate(character, length),
            Self::Sequence {
                length,
                first_column,
            } => sequence(character, length, first_column),
            Self::Text { length } => text(character, length),
            Self::TextEnd { length } => text_end(character, length),
        };
        *self = next;
        step
    }
}

fn started(character: char) -> (Escape, Step) {
    match character {
        '[' => (Escape::SEQUENCE, Step::Inside),
        ']' | 'P' | 'X' | '^' | '_' => (Escape::Text { length: 0 }, Step::Inside),
        ' '..='/' => (Escape::Intermediate { length: 0 }, Step::Inside),
        '0'..='~' => (Escape::Outside, Step::Inside),
        _ => (Escape::Outside, Step::Before),
    }
}

fn intermediate(character: char, length: u16) -> (Escape, Step) {
    match character {
        ' '..='/' if length < SEQUENCE_LIMIT => {
            (Escape::Intermediate { length: length + 1 }, Step::Inside)
        }
        '0'..='~' => (Escape::Outside, Step::Inside),
        _ => (Escape::Outside, Step::Before),
    }
}

fn sequence(character: char, length: u16, first_column: bool) -> (Escape, Step) {
    match character {
        ' '..='?' if length < SEQUENCE_LIMIT => {
            let next = Escape::Sequence {
                length: length + 1,
                first_column: length == 0 && matches!(character, '0' | '1'),
            };
            (next, Step::Inside)
        }
        'G' if first_column => (Escape::Outside, Step::Column),
        '@'..='~' => (Escape::Outside, Step::Inside),
        _ => (Escape::Outside, Step::Before),
    }
}

fn text(character: char, length: u16) -> (Escape, Step) {
    match character {
        '\u{7}' | '\u{9c}' => (Escape::Outside, Step::Inside),
        '\u{1b}' => (Escape::TextEnd { length }, Step::Inside),
        // A string that was never ended must not take the lines after it along.
        '\n' | '\u{18}' | '\u{1a}' => (Escape::Outside, Step::Before),
        _ if length < STRING_LIMIT => (Escape::Text { length: length + 1 }, Step::Inside),
        _ => (Escape::Outside, Step::Before),
    }
}

fn text_end(character: char, _length: u16) -> (Escape, Step) {
    match character {
        '\\' => (Escape::Outside, Step::Inside),
        other => started(other),
    }
}
