(call_expression . [(identifier) @reference.call (navigation_expression (identifier) @reference.call .)])
(callable_reference (identifier) @reference.call .)

[(if_expression) (when_entry) (catch_block)] @branch
(binary_expression operator: ["&&" "||" "?:"]) @branch
[(for_statement) (while_statement) (do_while_statement)] @loop
