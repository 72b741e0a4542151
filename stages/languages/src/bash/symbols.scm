(function_definition name: (word) @name body: (_) @body) @definition.function

; @test "name" { … } is not shell syntax, so the grammar reads each line as a command
(program (command
  name: (command_name (word) @_test)
  argument: [(string) (raw_string) (word)] @name
  (word) @_open
  (#eq? @_test "@test")
  (#eq? @_open "{")) @definition.function) @open_end

(comment) @comment
(ERROR) @error
(MISSING) @error
