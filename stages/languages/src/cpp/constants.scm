; static const int Limit = 1;
(field_declaration (storage_class_specifier "static") declarator: [
  (field_identifier) @definition.constant
  (array_declarator declarator: (field_identifier) @definition.constant)
  (pointer_declarator declarator: (field_identifier) @definition.constant)])
; int Type::counter = 0;
(declaration declarator: [
  (qualified_identifier name: (identifier) @definition.constant)
  (init_declarator declarator: [
    (qualified_identifier name: (identifier) @definition.constant)
    (pointer_declarator declarator: (qualified_identifier name: (identifier) @definition.constant))
    (array_declarator declarator: (qualified_identifier name: (identifier) @definition.constant))
    (reference_declarator (identifier) @definition.constant)])])
(lambda_expression) @local.scope
