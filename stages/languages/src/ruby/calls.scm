(call method: [(identifier) (constant)] @reference.call)
(call receiver: [(constant) @reference.call (scope_resolution name: (constant) @reference.call)]
  method: (identifier) @_new (#eq? @_new "new"))

[(if) (elsif) (unless) (when) (in_clause) (rescue) (conditional) (if_modifier) (unless_modifier) (rescue_modifier)] @branch
(binary operator: ["&&" "||" "and" "or"]) @branch
[(while) (until) (for) (while_modifier) (until_modifier)] @loop
