; The outline in Java has `class` instead of `trait`, but predicates compare the text of the Groovy source.
(class_declaration "class" @_keyword name: (identifier) @name body: (_) @body (#eq? @_keyword "trait")) @definition.interface
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(record_declaration name: (identifier) @name body: (_) @body) @definition.struct
(program (method_declaration name: (identifier) @name body: (_) @body) @definition.function)
(method_declaration name: (identifier) @name body: (_)? @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method

; `task name { }` and `stage("name") { }`, `def name = { }`, `name { }`
(labeled_statement (identifier) (labeled_statement (identifier) (labeled_statement (identifier) @name (block) @body))) @definition.block
(labeled_statement (identifier) (labeled_statement (identifier) @name (block) @body)) @definition.function
(labeled_statement (identifier) @name (block) @body) @definition.block

(superclass (type_identifier) @reference.base)
(type_list (type_identifier) @reference.base)

[(annotation) (marker_annotation)] @signature.omit
[(line_comment) (block_comment)] @comment
; MISSING nodes do not count, because the outline has no room for a `;` on most lines
(ERROR) @error
