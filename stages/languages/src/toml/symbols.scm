(table . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.block
(table_array_element) @definition.block @name
(pair . [(bare_key) (quoted_key) (dotted_key)] @name [(array) (inline_table) (string)] @body) @definition.block

(comment) @comment
(ERROR) @error
(MISSING) @error
