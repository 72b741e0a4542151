(assignment left: [
  (identifier) @definition.variable
  (pattern_list (identifier) @definition.variable)
  (tuple_pattern (identifier) @definition.variable)])
; constants of classes, and members of enums
(assignment left: (identifier) @definition.constant (#match? @definition.constant "^[A-Z]"))
(function_definition) @local.scope
