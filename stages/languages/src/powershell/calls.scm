(command !command_elements command_name: (command_name) @reference.call)
(command
  command_name: (command_name) @reference.call
  command_elements: (_)
  (#not-any-of? @reference.call "Context" "Describe" "Import-Module" "It" "context" "describe" "import-module" "it" "using"))
(invokation_expression (member_name (simple_name) @reference.call))

[(if_statement) (elseif_clause) (switch_clause) (catch_clause)] @branch
(logical_expression ["-and" "-or"]) @branch
[(foreach_statement) (for_statement) (while_statement) (do_statement)] @loop
