(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration (modifiers (class_modifier) @_enum) name: (identifier) @name (enum_class_body)? @body
  (#eq? @_enum "enum")) @definition.enum
(class_declaration (modifiers (class_modifier) @_data) name: (identifier) @name (class_body)? @body
  (#any-of? @_data "data" "value")) @definition.struct
(class_declaration (modifiers (class_modifier) @_annotation) name: (identifier) @name (class_body)? @body
  (#eq? @_annotation "annotation")) @definition.interface
(class_declaration name: (identifier) @name (class_body)? @body) @definition.class
(object_declaration name: (identifier) @name (class_body)? @body) @definition.class
(companion_object name: (identifier) @name (class_body)? @body) @definition.class
(companion_object "companion" @name !name (class_body)? @body) @definition.class
(type_alias type: (identifier) @name) @definition.type

; `declared_name` reads the name from the whole declaration, because receiver and result type are nodes of the same
; kinds.
(function_declaration (function_body)? @body) @definition.function @name
(secondary_constructor "constructor" @name (block)? @body) @definition.method

; val f = fun(x: Int) { }, val g = { x -> }, val o = object : Base() { }
(property_declaration (variable_declaration . (identifier) @name) (anonymous_function (function_body) @body)) @definition.function
(property_declaration (variable_declaration . (identifier) @name) (lambda_literal) @body) @definition.function
(property_declaration (variable_declaration . (identifier) @name) (object_literal (class_body) @body)) @definition.class
; properties with accessors, extension properties first
(property_declaration
  [(user_type (identifier) @owner .) (user_type (identifier) @owner (type_arguments)) (nullable_type (user_type (identifier) @owner .))]
  (variable_declaration . (identifier) @name) (getter (function_body)) @body) @definition.method
(property_declaration (variable_declaration . (identifier) @name) (getter (function_body)) @body) @definition.method
(property_declaration
  [(user_type (identifier) @owner .) (user_type (identifier) @owner (type_arguments)) (nullable_type (user_type (identifier) @owner .))]
  (variable_declaration . (identifier) @name) (setter (function_body)) @body) @definition.method
(property_declaration (variable_declaration . (identifier) @name) (setter (function_body)) @body) @definition.method

; val f = wrap { }, val f by lazy { }, outside functions, except looping and scope functions, which call their argument
; immediately
[(anonymous_function (function_body) @body) (lambda_literal) @body] @value.function
(call_expression . [(identifier) @_called (navigation_expression (identifier) @_called .) (call_expression)] [
    (annotated_lambda (lambda_literal) @value.wrapped)
    (value_arguments (value_argument [(lambda_literal) (anonymous_function) (call_expression)] @value.wrapped))]
  (#not-any-of? @_called "all" "also" "any" "apply" "associate" "associateBy" "associateWith" "buildList" "buildMap" "buildSet"
    "buildString" "count" "filter" "filterNot" "first" "flatMap" "fold" "forEach" "groupBy" "let" "map" "mapIndexed" "mapNotNull"
    "mapValues" "maxBy" "minBy" "none" "reduce" "repeat" "run" "sortedBy" "sumOf" "takeIf" "use" "with"
    "arrayOf" "listOf" "mapOf" "mutableListOf" "mutableMapOf" "setOf"
    "Array" "BooleanArray" "ByteArray" "IntArray" "List" "LongArray" "MutableList")) @value.wrapper
(property_declaration (variable_declaration . (identifier) @name) [
  (call_expression) @value
  (property_delegate (call_expression) @value)]) @declaration.function

(delegation_specifier [
  (user_type (identifier) @reference.base .)
  (constructor_invocation (user_type (identifier) @reference.base .))
  (explicit_delegation (user_type (identifier) @reference.base .))])
; base types with type arguments; the names of packages, which begin with lower case, are skipped
(delegation_specifier [
  (user_type (identifier) @reference.base (type_arguments))
  (constructor_invocation (user_type (identifier) @reference.base (type_arguments)))
  (explicit_delegation (user_type (identifier) @reference.base (type_arguments)))]
  (#match? @reference.base "^[A-Z]"))

[(annotation) (file_annotation)] @signature.omit
[(line_comment) (block_comment)] @comment
(ERROR) @error
(MISSING) @error
