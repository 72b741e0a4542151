(function_call name: (identifier) @reference.call (#not-any-of? @reference.call "require" "dofile" "loadfile"))
(function_call name: [
  (dot_index_expression field: (identifier) @reference.call)
  (method_index_expression method: (identifier) @reference.call)])

[(if_statement) (elseif_statement)] @branch
(binary_expression ["and" "or"]) @branch
[(for_statement) (while_statement) (repeat_statement)] @loop
