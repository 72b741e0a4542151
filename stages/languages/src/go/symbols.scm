(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (pointer_type (type_identifier) @owner)
    (generic_type type: (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (field_identifier) @name
  body: (_)? @body) @definition.method

(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (type_identifier) @name) @definition.type
(type_alias name: (type_identifier) @name) @definition.type
(type_declaration . [(type_spec) (type_alias)] @wrapped .) @wrapper
(method_elem name: (field_identifier) @name) @definition.method

; embedded types
(field_declaration !name type: [
  (type_identifier) @reference.base
  (qualified_type name: (type_identifier) @reference.base)
  (generic_type type: [(type_identifier) @reference.base (qualified_type name: (type_identifier) @reference.base)])
  (pointer_type [
    (type_identifier) @reference.base
    (qualified_type name: (type_identifier) @reference.base)
    (generic_type type: [(type_identifier) @reference.base (qualified_type name: (type_identifier) @reference.base)])])])
(interface_type (type_elem . [
  (type_identifier) @reference.base
  (qualified_type name: (type_identifier) @reference.base)
  (generic_type type: [(type_identifier) @reference.base (qualified_type name: (type_identifier) @reference.base)])] .))

; var f = func() {}
(var_spec name: (identifier) @name value: (expression_list . (func_literal body: (_) @body) .)) @definition.function
(var_declaration . (var_spec) @wrapped .) @wrapper

; var f = wrap(func() {}), outside functions
(func_literal body: (_) @body) @value.function
(call_expression arguments: (argument_list [(func_literal) (call_expression)] @value.wrapped)) @value.wrapper
(call_expression function: (func_literal) @value.wrapped) @value.wrapper
(var_spec name: (identifier) @name value: (expression_list . (call_expression) @value .)) @declaration.function

(comment) @comment
(ERROR) @error
(MISSING) @error
