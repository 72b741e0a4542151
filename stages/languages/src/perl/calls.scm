(function_call_expression function: (function) @reference.call)
(ambiguous_function_call_expression function: (function) @reference.call
  (#not-any-of? @reference.call
    "after" "around" "before" "bless" "close" "delete" "die" "each" "exists" "extends" "grep" "has" "join" "keys"
    "map" "open" "pop" "print" "printf" "push" "ref" "reverse" "say" "scalar" "shift" "sort" "splice" "split"
    "sprintf" "substr" "unshift" "values" "warn" "with"))
(method_call_expression method: (method) @reference.call)
; names in variables
[(method (scalar)) (function (varname (scalar))) (function (code_deref_expression))] @reference.none

[(conditional_statement) (elsif) (postfix_conditional_expression) (conditional_expression)] @branch
(binary_expression operator: ["&&" "||" "//"]) @branch
(lowprec_logical_expression operator: ["and" "or"]) @branch
[(for_statement) (cstyle_for_statement) (loop_statement) (postfix_for_expression) (postfix_loop_expression)] @loop
