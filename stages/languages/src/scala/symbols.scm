(class_definition "case" name: (_) @name body: (_)? @body) @definition.struct
(class_definition name: (_) @name body: (_)? @body) @definition.class
(trait_definition name: (_) @name body: (_)? @body) @definition.interface
(object_definition name: (_) @name body: (_)? @body) @definition.class
(package_object name: (_) @name body: (_)? @body) @definition.class
(enum_definition name: (_) @name body: (_) @body) @definition.enum
(function_definition name: (_) @name body: (_) @body) @definition.function
; type definitions and abstract methods outside of structural types
(compilation_unit (type_definition name: (_) @name) @definition.type)
(template_body (type_definition name: (_) @name) @definition.type)
(template_body (function_declaration name: (_) @name) @definition.method)
(with_template_body (type_definition name: (_) @name) @definition.type)
(enum_body (type_definition name: (_) @name) @definition.type)
(enum_body (function_declaration name: (_) @name) @definition.method)

; extension (s: String) def …
(extension_definition
  parameters: (parameters (parameter type: [
    (type_identifier) @name
    (generic_type type: (_) @name)
    (stable_type_identifier) @name]))
  body: (_) @body) @definition.implementation
(extension_definition parameters: (parameters (parameter type: (_) @name)) body: (_) @body) @definition.implementation

; given name: Type with …
(given_definition name: (_) @name body: (with_template_body) @body) @definition.class
(given_definition name: (_) @name body: (_) @body) @definition.function
(given_definition return_type: [(type_identifier) @name (generic_type type: (_) @name) (_) @name] body: (with_template_body) @body) @definition.implementation

; val f = x => …, val o = new Base { }
(val_definition pattern: (identifier) @name value: (lambda_expression (_) @body .)) @definition.function
(val_definition pattern: (identifier) @name value: (case_block) @body) @definition.function
(val_definition pattern: (identifier) @name value: (instance_expression (template_body) @body)) @definition.class

; val f = wrap { x => … }, outside functions, except looping methods, which call their argument immediately
(lambda_expression (_) @body .) @value.function
(case_block) @value.function @body
(call_expression
  function: [
    (identifier) @_called
    (field_expression field: (identifier) @_called)
    (generic_function function: [(identifier) @_called (field_expression field: (identifier) @_called)])
    (call_expression)]
  arguments: [
    (arguments [(lambda_expression) (call_expression)] @value.wrapped)
    (block . (lambda_expression) @value.wrapped .)
    (case_block) @value.wrapped]
  (#not-any-of? @_called "collect" "exists" "fill" "filter" "filterNot" "find" "flatMap" "foldLeft" "foldRight" "forall" "foreach"
    "groupBy" "map" "mapValues" "partition" "reduce" "sortBy" "sortWith" "tabulate" "withFilter")) @value.wrapper
(val_definition pattern: (identifier) @name value: (call_expression) @value) @declaration.function

; base types, except the types that the cases of an enum extend
(class_definition extend: (extends_clause [
  (type_identifier) @reference.base
  (generic_type type: (type_identifier) @reference.base)
  (generic_type type: (stable_type_identifier (type_identifier) @reference.base .))
  (stable_type_identifier (type_identifier) @reference.base .)]))
(trait_definition extend: (extends_clause [
  (type_identifier) @reference.base
  (generic_type type: (type_identifier) @reference.base)
  (generic_type type: (stable_type_identifier (type_identifier) @reference.base .))
  (stable_type_identifier (type_identifier) @reference.base .)]))
(object_definition extend: (extends_clause [
  (type_identifier) @reference.base
  (generic_type type: (type_identifier) @reference.base)
  (generic_type type: (stable_type_identifier (type_identifier) @reference.base .))
  (stable_type_identifier (type_identifier) @reference.base .)]))
(package_object extend: (extends_clause [
  (type_identifier) @reference.base
  (generic_type type: (type_identifier) @reference.base)
  (generic_type type: (stable_type_identifier (type_identifier) @reference.base .))
  (stable_type_identifier (type_identifier) @reference.base .)]))
(enum_definition extend: (extends_clause [
  (type_identifier) @reference.base
  (generic_type type: (type_identifier) @reference.base)
  (generic_type type: (stable_type_identifier (type_identifier) @reference.base .))
  (stable_type_identifier (type_identifier) @reference.base .)]))
(given_definition return_type: [
  (type_identifier) @reference.base
  (generic_type type: (type_identifier) @reference.base)
  (generic_type type: (stable_type_identifier (type_identifier) @reference.base .))
  (stable_type_identifier (type_identifier) @reference.base .)] body: (with_template_body))

(annotation) @signature.omit
[(comment) (block_comment)] @comment
(ERROR) @error
(MISSING) @error
