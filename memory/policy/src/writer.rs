//! Writes a layer of policies as TOML.

use std::fmt::Display;

use crate::layer::PolicyLayer;

impl PolicyLayer {
    /// Writes the layer as TOML. [`PolicyLayer::from_toml`] reads an equal layer from the result. Conditions are
    /// written in canonical form.
    pub fn to_toml(&self) -> String {
        let mut tables = Vec::new();
        if self.enabled.is_some() || self.default.is_some() {
            let enabled = self.enabled.map(|enabled| format!("enabled = {enabled}"));
            let default = text("default", self.default.as_ref().map(|default| &default.name));
            tables.push(table("policies", [enabled, default]));
        }
        for policy in &self.policies {
            let lines = [
                text("condition", policy.condition.as_ref()),
                text("lifespan", policy.lifespan),
                text("decay", policy.decay),
                text("escalation", policy.escalation.as_ref()),
                text("description", policy.description.as_ref()),
            ];
            tables.push(table(&format!("policy.{}", policy.name), lines));
        }
        tables.join("\n")
    }
}

fn table(name: &str, lines: impl IntoIterator<Item = Option<String>>) -> String {
    let mut table = format!("[memory.{name}]\n");
    for line in lines.into_iter().flatten() {
        table.push_str(&line);
        table.push('\n');
    }
    table
}

fn text(key: &str, value: Option<impl Display>) -> Option<String> {
    value.map(|value| format!("{key} = {}", toml::Value::String(value.to_string())))
}
