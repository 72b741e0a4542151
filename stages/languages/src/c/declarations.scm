(type_definition
  type: [(primitive_type) (sized_type_specifier) (type_identifier) (macro_type_specifier) (struct_specifier !body) (union_specifier !body) (enum_specifier !body)]
  declarator: (_) @name) @declaration.type

; prototypes: functions that return a value or a pointer with at most three levels
(declaration declarator: [
  (function_declarator declarator: [(identifier) (parenthesized_declarator . (identifier) .)])
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier))
    (pointer_declarator declarator: [
      (function_declarator declarator: (identifier))
      (pointer_declarator declarator: (function_declarator declarator: (identifier)))])])] @name) @declaration.function
