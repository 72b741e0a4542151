(function_declaration name: (identifier) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (pointer_type (type_identifier) @owner)
    (generic_type type: (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (field_identifier) @name
  body: (_)? @body) @method

(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(type_declaration . [(type_spec) (type_alias)] @inner .) @outer
(method_elem name: (field_identifier) @name) @method

; embedded types
(field_declaration !name type: [(type_identifier) @base (qualified_type name: (type_identifier) @base) (pointer_type (type_identifier) @base)])
(interface_type (type_elem . [(type_identifier) @base (qualified_type name: (type_identifier) @base)] .))

; var f = func() {}
(var_spec name: (identifier) @name value: (expression_list . (func_literal body: (_) @body) .)) @function
(var_declaration . (var_spec) @inner .) @outer

(comment) @comment
(ERROR) @error
(MISSING) @error
