(apply function: [(variable) @reference.call (qualified id: (variable) @reference.call)])
(infix operator: (infix_id [(variable) @reference.call (qualified id: (variable) @reference.call)]))
; f $ x, f . g, x >>= f
(infix left_operand: [(variable) @reference.call (qualified id: (variable) @reference.call)] operator: (operator) @_operator
  (#any-of? @_operator "$" "$!" "<$>" "<$!>" "." "=<<" "<=<"))
(infix right_operand: [(variable) @reference.call (qualified id: (variable) @reference.call)] operator: (operator) @_operator
  (#any-of? @_operator "." ">>=" ">>" ">=>" "&" "<&>"))
; statements of a block
(exp [(variable) @reference.call (qualified id: (variable) @reference.call)])
(bind expression: [(variable) @reference.call (qualified id: (variable) @reference.call)])

[(conditional) (alternative) (guards)] @branch
(infix operator: (operator) @_operator (#any-of? @_operator "&&" "||")) @branch
(list_comprehension) @loop
(apply function: (variable) @_loop (#any-of? @_loop "forM" "forM_" "for_" "forever" "mapM" "mapM_" "traverse_")) @loop
