use std::cell::RefCell;
use std::collections::HashMap;

use aurora::stage::types::{Column, Values};

wit_bindgen::generate!({ path: "wit", world: "stage" });

thread_local! {
    static TEAMS: RefCell<HashMap<String, String>> = RefCell::default();
}

struct Owner;

impl Guest for Owner {
    fn configure(settings: Settings) -> Result<(), String> {
        let config: serde_json::Value = serde_json::from_str(&settings.config).map_err(|error| error.to_string())?;
        let teams = config.get("teams").cloned().unwrap_or_else(|| {
            println!("no teams are configured");
            serde_json::json!({})
        });
        let teams = serde_json::from_value(teams).map_err(|error| error.to_string())?;
        TEAMS.set(teams);
        Ok(())
    }

    fn process(batch: Batch) -> Result<Output, String> {
        let paths = batch.columns.iter().find_map(|column| match &column.values {
            Values::Texts(values) if column.name == "file.path" => Some(values),
            _ => None,
        });
        let paths = paths.ok_or("the stage reads file.path")?;
        let owner = |file: &u32| {
            let directory = paths[*file as usize].as_ref()?.split('/').next()?;
            TEAMS.with_borrow(|teams| teams.get(directory).cloned())
        };
        let values = Values::Texts(batch.chunk_files.iter().map(owner).collect());
        let columns = vec![Column { name: "chunk.owner".to_owned(), values }];
        Ok(Output { columns, failed: Vec::new(), dropped: Vec::new() })
    }
}

export!(Owner);
