(assignment left: [
  (identifier) @definition.variable
  (pattern_list (identifier) @definition.variable)
  (tuple_pattern (identifier) @definition.variable)])
; in classes: constants and the members of enums
(assignment left: (identifier) @definition.constant (#match? @definition.constant "^[A-Z]"))
(function_definition) @local.scope
