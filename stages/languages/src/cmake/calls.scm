(normal_command (identifier) @reference.call)

(if_condition) @branch
(elseif_command) @branch
(foreach_loop) @loop
(while_loop) @loop
