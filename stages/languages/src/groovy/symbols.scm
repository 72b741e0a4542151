; the text of the parser has `class` instead of `trait`
(class_declaration "class" @_keyword name: (identifier) @name body: (_) @body (#eq? @_keyword "trait")) @definition.interface
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(record_declaration name: (identifier) @name body: (_) @body) @definition.struct
(method_declaration name: (identifier) @name body: (_)? @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(function_definition name: (identifier) @name body: (_) @body) @definition.function

; def f = { x -> }
(local_variable_declaration declarator: (variable_declarator name: (identifier) @name value: (closure) @body)) @definition.function
(field_declaration declarator: (variable_declarator name: (identifier) @name value: (closure) @body)) @definition.method

; def f = wrap { x -> }, outside functions; looping methods call their argument immediately
(closure) @value.function @body
(method_invocation name: (identifier) @_called body: (closure) @value.wrapped
  (#not-any-of? @_called "any" "collect" "each" "every" "find" "findAll" "inject" "with")) @value.wrapper
(method_invocation name: (identifier) @_called arguments: (argument_list [(closure) (method_invocation)] @value.wrapped)
  (#not-any-of? @_called "any" "collect" "each" "every" "find" "findAll" "inject" "with")) @value.wrapper
(program (local_variable_declaration declarator: (variable_declarator name: (identifier) @name value: (method_invocation) @value)) @declaration.function)
(field_declaration declarator: (variable_declarator name: (identifier) @name value: (method_invocation) @value)) @declaration.method

; plugins { }, project(":core") { }, task name { }
(program (expression_statement (method_invocation !object name: (identifier) @name body: (closure) @body)) @definition.block)
; tasks.register("zip", Zip) { }, stage("Build") { }
(expression_statement (method_invocation
  name: (identifier) @_block
  arguments: (argument_list . [(string_literal) (character_literal)] @name)
  body: (closure) @body
  (#any-of? @_block "register" "create" "named" "stage"))) @definition.block

(superclass [(type_identifier) @reference.base (generic_type . (type_identifier) @reference.base) (scoped_type_identifier (type_identifier) @reference.base .)])
(type_list [(type_identifier) @reference.base (generic_type . (type_identifier) @reference.base) (scoped_type_identifier (type_identifier) @reference.base .)])

[(annotation) (marker_annotation)] @signature.omit
[(line_comment) (block_comment)] @comment
; not MISSING: the grammar misses the `;` of most lines
(ERROR) @error
