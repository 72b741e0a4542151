; const a = 1, { b, c: d, e = 2, f: g = 3 } = o, [h, i = 4] = l
(variable_declarator name: [
  (identifier) @definition.constant
  (object_pattern [
    (shorthand_property_identifier_pattern) @definition.constant
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @definition.constant)
    (pair_pattern value: [(identifier) @definition.constant (assignment_pattern left: (identifier) @definition.constant)])])
  (array_pattern [(identifier) @definition.constant (assignment_pattern left: (identifier) @definition.constant)])])

; exports.A = 1
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @definition.constant)
  right: [(string) (template_string) (number) (regex) (true) (false) (object) (array) (new_expression)
    (unary_expression) (binary_expression)]
  (#any-of? @_exports "exports" "module.exports"))

[(function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
  (method_definition) (class_static_block)] @local.scope
[(if_statement) (for_statement) (for_in_statement) (while_statement) (do_statement) (switch_statement) (try_statement)] @local.scope
(program (statement_block) @local.scope)
