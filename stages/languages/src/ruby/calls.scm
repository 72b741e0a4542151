(call method: [(identifier) (constant)] @reference.call)
(call receiver: [(constant) @reference.call (scope_resolution name: (constant) @reference.call)]
  method: (identifier) @_new (#eq? @_new "new"))
; a name without receiver and arguments, unless it is a local variable
(identifier) @reference.name
(body_statement (identifier) @reference.none (#any-of? @reference.none
  "private" "protected" "public" "module_function" "private_class_method" "raise"))
[(method name: (_) @reference.none) (singleton_method name: (_) @reference.none) (alias) @reference.none (undef) @reference.none]
(assignment left: [(identifier) @local.name (left_assignment_list [(identifier) @local.name (rest_assignment (identifier) @local.name)])])
(operator_assignment left: (identifier) @local.name)
[
  (method_parameters (identifier) @local.name)
  (block_parameters (identifier) @local.name)
  (lambda_parameters (identifier) @local.name)
  (destructured_parameter (identifier) @local.name)
  (optional_parameter name: (identifier) @local.name)
  (keyword_parameter name: (identifier) @local.name)
  (splat_parameter name: (identifier) @local.name)
  (hash_splat_parameter name: (identifier) @local.name)
  (block_parameter name: (identifier) @local.name)
  (exception_variable (identifier) @local.name)
  (for pattern: (identifier) @local.name)
  (as_pattern name: (identifier) @local.name)
  (array_pattern (identifier) @local.name)
]

[(if) (elsif) (unless) (when) (in_clause) (rescue) (conditional) (if_modifier) (unless_modifier) (rescue_modifier)] @branch
(binary operator: ["&&" "||" "and" "or"]) @branch
[(while) (until) (for) (while_modifier) (until_modifier)] @loop
