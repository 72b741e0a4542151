; typedef struct tag { … } Name: the last name is the name, the tag is part of the signature
(type_definition type: (struct_specifier body: (_) @body) @definition.struct @wrapped declarator: (_) @name) @wrapper
(type_definition type: (union_specifier body: (_) @body) @definition.struct @wrapped declarator: (_) @name) @wrapper
(type_definition type: (enum_specifier body: (_) @body) @definition.enum @wrapped declarator: (_) @name) @wrapper

; struct { … } name;
(declaration type: (struct_specifier !name body: (_) @body) @definition.struct @wrapped declarator: (_) @name) @wrapper
(declaration type: (union_specifier !name body: (_) @body) @definition.struct @wrapped declarator: (_) @name) @wrapper
(declaration type: (enum_specifier !name body: (_) @body) @definition.enum @wrapped declarator: (_) @name) @wrapper
(field_declaration type: (struct_specifier !name body: (_) @body) @definition.struct @wrapped declarator: (_) @name) @wrapper
(field_declaration type: (union_specifier !name body: (_) @body) @definition.struct @wrapped declarator: (_) @name) @wrapper
(field_declaration type: (enum_specifier !name body: (_) @body) @definition.enum @wrapped declarator: (_) @name) @wrapper

(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
; struct name { … } variable;
(declaration type: [(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))] @wrapped) @wrapper
(field_declaration type: [(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))] @wrapped) @wrapper

(function_definition declarator: (_) @name body: (_) @body) @definition.function

(preproc_function_def name: (identifier) @name value: (_)? @body) @definition.function

(comment) @comment
(ERROR) @error
(MISSING) @error
