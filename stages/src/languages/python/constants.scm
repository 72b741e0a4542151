(assignment left: [
  (identifier) @variable
  (pattern_list (identifier) @variable)
  (tuple_pattern (identifier) @variable)])
; in classes: constants and the members of enums
(assignment left: (identifier) @constant (#match? @constant "^[A-Z]"))
(function_definition) @local
