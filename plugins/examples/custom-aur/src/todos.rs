//! `[stage.todos]`: counts notes such as `TODO` in every chunk.

use aurora::engine::{
    Access, BatchView, ColumnSpec, DynamicType, Fingerprint, StageContext, StageError, Transform, Value, ValueRef,
};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Todos {
    /// The words to count.
    words: Vec<String>,
}

impl Transform for Todos {
    const TYPE: &'static str = "todos";

    fn access(&self) -> Access {
        Access::transform()
            .reads([ColumnSpec::named("chunk.text")])
            .writes([ColumnSpec::dynamic("todos", DynamicType::Integer)])
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1).with("words", self.words.join(","))
    }

    fn process(&self, batch: &mut BatchView<'_>, _: &StageContext<'_>) -> Result<(), StageError> {
        let count = |text: &str| self.words.iter().map(|word| text.matches(word.as_str()).count()).sum::<usize>();
        let todos = batch.values("chunk.text")?.iter().map(|text| match text {
            Some(ValueRef::String(text)) => Some(Value::Integer(count(&text) as i64)),
            _ => None,
        });
        let todos = todos.collect();
        Ok(batch.write_dynamic("todos", todos)?)
    }
}

#[cfg(test)]
mod tests {
    use aurora::engine::Stateless;
    use aurora_plugins::testkit::{StageTest, TestError};

    use super::*;

    #[test]
    fn notes_are_counted() -> Result<(), TestError> {
        let text = |text: &str| Some(Value::String(text.into()));
        let outcome = StageTest::new::<Stateless<Todos>>("words = ['TODO', 'FIXME']")?
            .dynamic("file.path", DynamicType::String, vec![text("a.py")])
            .chunks([0, 0])
            .dynamic("chunk.text", DynamicType::String, vec![text("# TODO: this; FIXME: that; TODO"), text("fine")])
            .run()?;
        assert_eq!(outcome.values("chunk.todos"), [Some(Value::Integer(3)), Some(Value::Integer(0))]);
        Ok(())
    }
}
