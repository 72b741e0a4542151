(type_definition
  type: [(primitive_type) (sized_type_specifier) (type_identifier) (qualified_identifier) (template_type) (dependent_type) (decltype) (struct_specifier !body) (union_specifier !body) (enum_specifier !body) (class_specifier !body)]
  declarator: (_) @name) @declaration.type

; prototypes: functions that return a value, a reference or a pointer with at most three levels
(declaration declarator: [
  (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name) (destructor_name) (template_function) (parenthesized_declarator . (identifier) .)])
  (operator_cast)
  (reference_declarator (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)]))
  (pointer_declarator declarator: [
    (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)])
    (reference_declarator (function_declarator declarator: (_)))
    (pointer_declarator declarator: [
      (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)])
      (pointer_declarator declarator: (function_declarator declarator: (identifier)))])])] @name) @declaration.function
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name) (destructor_name)])
  (operator_cast)
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)]))
  (pointer_declarator declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)])
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)]))
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)]))])] @name) @definition.method
