//! Which commands are alike to those that are meant: near by what they do, not by their first word.
//!
//! What is alike is only ever named to a person; it counts for nothing.

use super::{ArgvPattern, Step, Wildcard, follows};

/// What stands between a program and what it is to run, and says nothing by itself.
const GO_BETWEEN: [&str; 2] = ["run", "exec"];

impl ArgvPattern {
    /// Returns how many arguments from the first are as this pattern wants them, with a program
    /// named by a path as good as by its name. `None` where the command does something else: it is
    /// another program, or the same one told to do another thing. What an interpreter does, its
    /// arguments alone say.
    #[must_use]
    pub fn alike(&self, command: &[String], is_interpreter: fn(&str) -> bool) -> Option<usize> {
        let program = command.first()?;
        let name = program.rsplit('/').next().unwrap_or_default();
        let same = self.wanted.iter().zip(command).enumerate();
        let same = same.take_while(|(place, (step, argument))| match step {
            Step::One(wanted) => wanted.fits(argument) || (*place == 0 && wanted.fits(name)),
            Step::Many => false,
        });
        let leading = Some(same.count()).filter(|count| *count > 0)?;
        let fits = follows(&self.wanted, command, |wanted, argument| {
            wanted.fits(argument)
        });
        let does_the_same = fits || self.shares_words(command, is_interpreter(name));
        does_the_same.then_some(leading)
    }

    /// Whether the command is told to do what is meant: the first word behind the program, or most
    /// of them. A program that is told nothing does what it always does.
    fn shares_words(&self, command: &[String], is_interpreter: bool) -> bool {
        let arguments = command.get(1..).unwrap_or_default();
        let is_given = |wanted: &&Wildcard| arguments.iter().any(|given| wanted.fits(given));
        let words = self.words();
        let Some(first) = words.first() else {
            let mut flags = self.arguments();
            return !is_interpreter || flags.any(|flag| flag.has_letter() && is_given(&flag));
        };
        let told_nothing = arguments.iter().all(|given| given.starts_with('-'));
        let given = words.iter().copied().filter(is_given).count();
        is_given(first) || (told_nothing && !is_interpreter) || given * 2 > words.len()
    }

    /// The arguments that say what to do: no flags, and nothing that stands for anything.
    fn words(&self) -> Vec<&Wildcard> {
        let words = self.arguments().filter(|argument| argument.is_word());
        let words: Vec<&Wildcard> = words.collect();
        let goes_between = |word: &&Wildcard| GO_BETWEEN.iter().any(|text| word.fits(text));
        let telling = words.iter().copied().filter(|word| !goes_between(word));
        let telling: Vec<&Wildcard> = telling.collect();
        if telling.is_empty() { words } else { telling }
    }

    fn arguments(&self) -> impl Iterator<Item = &Wildcard> {
        self.wanted.iter().skip(1).filter_map(|step| match step {
            Step::One(argument) => Some(argument),
            Step::Many => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn is_alike(pattern: &str, command: &str) -> bool {
        let pattern = ArgvPattern::try_from(list(pattern)).unwrap();
        let is_interpreter = |name: &str| ["python3", "node", "bash"].contains(&name);
        pattern.alike(&list(command), is_interpreter).is_some()
    }

    #[test]
    fn a_command_is_alike_where_the_same_program_is_told_the_same_thing() {
        for (pattern, command) in [
            ("python3 -m pytest", "python3 -m pytest tests"),
            ("python3 -m pytest tests", "/usr/bin/python3 -m pytest"),
            ("cargo test ** !--no-run", "cargo test --no-run"),
            ("cargo test --workspace", "cargo +nightly test"),
            ("pytest", "pytest -q"),
            ("pytest -q", "pytest tests"),
            ("pytest tests", "pytest -q"),
            ("npm test", "npm run test"),
            ("uv run pytest", "uv run pytest -x"),
            ("node --test", "node --test --watch"),
            ("node ** !--watch", "node --watch a.js"),
            ("make", "make -j4"),
        ] {
            assert!(is_alike(pattern, command), "{pattern}: {command}");
        }
    }

    #[test]
    fn the_same_program_told_another_thing_is_not_alike() {
        for (pattern, command) in [
            ("python3 -m pytest", "python3 setup.py"),
            ("python3 -m pytest", "python3 -m mypy"),
            ("python3 -m pytest", "python3"),
            ("cargo test **", "cargo build"),
            ("go test ./...", "go build ./..."),
            ("npm run lint", "npm run build"),
            ("uv run pytest", "uv run mypy"),
            ("node --test", "node server.js"),
            ("bash ci.sh", "bash -c ls"),
            ("pytest", "cargo test"),
        ] {
            assert!(!is_alike(pattern, command), "{pattern}: {command}");
        }
    }
}
