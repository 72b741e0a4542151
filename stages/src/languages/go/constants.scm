; const a, b = 1, 2
(const_spec (identifier) @constant)
(var_spec (identifier) @constant)
(block) @local
