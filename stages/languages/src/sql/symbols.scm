(create_table (object_reference) @name (column_definitions) @body) @definition.struct
(create_table (object_reference) @name (create_query) @body) @definition.struct
(create_view (object_reference) @name (create_query) @body) @definition.type
(create_materialized_view (object_reference) @name (create_query) @body) @definition.type
(create_function (object_reference) @name (function_body) @body) @definition.function
(create_trigger (object_reference) @name) @definition.block
(create_index column: (identifier) @name) @definition.block
(create_type (object_reference) @name) @definition.type
(create_sequence (object_reference) @name) @definition.block
(create_schema (identifier) @name) @definition.block

(column_definition name: (identifier) @definition.constant)

; Tables and views that a definition reads, and functions that it calls.
(relation (object_reference name: (identifier) @reference.call))
(invocation (object_reference name: (identifier) @reference.call))

(comment) @comment
(marginalia) @comment
(ERROR) @error
(MISSING) @error
