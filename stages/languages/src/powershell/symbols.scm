(function_statement (function_name) @name (script_block)? @body) @definition.function
(class_statement . (simple_name) @name @reference.none "{" @body) @definition.class
(class_statement ":" (simple_name) @reference.base)
(enum_statement (simple_name) @name "{" @body) @definition.enum
(class_method_definition (simple_name) @name (script_block)? @body) @definition.method

(comment) @comment
(ERROR) @error
(MISSING) @error
