; use constant NAME => …, use constant { NAME => …, … }
(use_statement module: (package) @_constant
  [(list_expression . (autoquoted_bareword) @definition.constant)
    (anonymous_hash_expression (list_expression (autoquoted_bareword) @definition.constant))]
  (#eq? @_constant "constant"))

(variable_declaration [
  (scalar (varname) @definition.variable)
  (array (varname) @definition.variable)
  (hash (varname) @definition.variable)])

[(subroutine_declaration_statement) (method_declaration_statement) (anonymous_subroutine_expression)
  (for_statement) (cstyle_for_statement) (loop_statement) (conditional_statement)] @local.scope
