(val_definition pattern: [
  (identifier) @definition.constant
  (identifiers (identifier) @definition.constant)
  (tuple_pattern (identifier) @definition.constant)])
(var_definition pattern: [(identifier) @definition.constant (identifiers (identifier) @definition.constant)])
(val_declaration name: (identifier) @definition.constant)
(var_declaration name: (identifier) @definition.constant)
(class_parameter ["val" "var"] name: (identifier) @definition.constant)
(simple_enum_case name: (_) @definition.constant)
(full_enum_case name: (_) @definition.constant)
(function_definition body: (_) @local.scope)
[(block) (indented_block) (lambda_expression) (case_block)] @local.scope
