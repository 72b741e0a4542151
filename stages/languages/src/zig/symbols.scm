; fn Name(comptime T: type) type { return struct { … }; }: a generic type
(function_declaration name: (identifier) @name
  body: (block (expression_statement (return_expression (struct_declaration)))) @body) @definition.struct
(function_declaration name: (identifier) @name
  body: (block (expression_statement (return_expression (union_declaration)))) @body) @definition.struct
(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(test_declaration (string) @name (block) @body) @definition.function
(test_declaration (identifier) @name (block) @body) @definition.function

; const Name = struct { … }
(variable_declaration . (identifier) @name (struct_declaration "{" @body)) @definition.struct
(variable_declaration . (identifier) @name (union_declaration "{" @body)) @definition.struct
(variable_declaration . (identifier) @name (opaque_declaration "{" @body)) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration "{" @body)) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration "{" @body)) @definition.enum
(variable_declaration . (identifier) @name (function_signature)) @definition.type
; field: struct { … }
(container_field name: (identifier) @name type: [(struct_declaration) (union_declaration) (enum_declaration)]) @namespace

(comment) @comment
(ERROR) @error
(MISSING) @error
