(class_declaration name: (identifier) @name body: (_)? @body) @definition.class
(class_declaration (mixin_application_class . (identifier) @name)) @definition.class
(mixin_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(extension_declaration class: (type . (type_identifier) @name) body: (_) @body) @definition.implementation
(extension_type_declaration name: [(identifier) @name (extension_type_name (identifier) @name)] body: (_)? @body) @definition.struct
(type_alias (type_identifier) @name) @definition.type

(function_declaration signature: (function_signature name: (identifier) @name) body: (_) @body) @definition.function
(getter_declaration signature: (getter_signature name: (identifier) @name) body: (_) @body) @definition.function
(setter_declaration signature: (setter_signature name: (identifier) @name) body: (_) @body) @definition.function
(external_function_declaration signature: (function_signature name: (identifier) @name)) @definition.function
(external_getter_declaration signature: (getter_signature name: (identifier) @name)) @definition.function
(external_setter_declaration signature: (setter_signature name: (identifier) @name)) @definition.function
(local_function_declaration (function_signature name: (identifier) @name) (function_body) @body) @definition.function

; members; `declared_name` reads the name of a constructor from its whole signature
(member_declaration (method_declaration
  signature: (method_signature [
    (function_signature name: (identifier) @name)
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name)
    (operator_signature operator: [(binary_operator) "[]" "[]=" "~"] @name)
    (constructor_signature) @name
    (factory_constructor_signature) @name])
  body: (_) @body)) @definition.method
(member_declaration (declaration [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (operator_signature operator: [(binary_operator) "[]" "[]=" "~"] @name)
  (constructor_signature) @name
  (constant_constructor_signature) @name
  (factory_constructor_signature) @name
  (redirecting_factory_constructor_signature) @name])) @definition.method

; final f = (int x) => …
(top_level_variable_declaration [
  (static_final_declaration_list . (static_final_declaration name: (identifier) @name value: (function_expression body: (_) @body)) .)
  (initialized_identifier_list . (initialized_identifier name: (identifier) @name value: (function_expression body: (_) @body)) .)]) @definition.function
(member_declaration (declaration [
  (static_final_declaration_list . (static_final_declaration name: (identifier) @name value: (function_expression body: (_) @body)) .)
  (initialized_identifier_list . (initialized_identifier name: (identifier) @name value: (function_expression body: (_) @body)) .)])) @definition.method
; final f = wrap((x) => …), outside functions, except looping methods, which call their argument immediately
(function_expression body: (_) @body) @value.function
(call_expression function: [(identifier) @_called (member_expression property: (identifier) @_called) (call_expression)]
  arguments: (arguments [
    (function_expression) @value.wrapped
    (call_expression) @value.wrapped
    (named_argument [(function_expression) (call_expression)] @value.wrapped)])
  (#not-any-of? @_called "any" "every" "expand" "fold" "forEach" "generate" "map" "reduce" "then" "where")) @value.wrapper
(top_level_variable_declaration [
  (static_final_declaration_list . (static_final_declaration name: (identifier) @name value: (call_expression) @value) .)
  (initialized_identifier_list . (initialized_identifier name: (identifier) @name value: (call_expression) @value) .)]) @declaration.function
(member_declaration (declaration [
  (static_final_declaration_list . (static_final_declaration name: (identifier) @name value: (call_expression) @value) .)
  (initialized_identifier_list . (initialized_identifier name: (identifier) @name value: (call_expression) @value) .)])) @declaration.method
(local_variable_declaration (initialized_variable_declaration name: (identifier) @name value: (function_expression body: (_) @body))) @definition.function

(superclass type: (type (type_identifier) @reference.base .))
(superclass type: (type (type_identifier) @reference.base (type_arguments)) (#match? @reference.base "^[A-Z]"))
(mixins (type (type_identifier) @reference.base .))
(mixins (type (type_identifier) @reference.base (type_arguments)) (#match? @reference.base "^[A-Z]"))
(interfaces (type (type_identifier) @reference.base .))
(interfaces (type (type_identifier) @reference.base (type_arguments)) (#match? @reference.base "^[A-Z]"))
(mixin_application . (type (type_identifier) @reference.base .))
(mixin_declaration (type (type_identifier) @reference.base .))

(annotation) @signature.omit
[(comment) (documentation_comment)] @comment
(ERROR) @error
(MISSING) @error
