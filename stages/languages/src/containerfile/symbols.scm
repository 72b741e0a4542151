; A build stage extends to the next build stage.
(source_file (from_instruction as: (image_alias) @name) @definition.block) @open_end
(source_file (from_instruction (image_spec name: (image_name) @name)) @definition.block) @open_end

(from_instruction (image_spec name: (image_name) @reference.base))

(arg_pair name: (_) @definition.constant)
(env_pair name: (_) @definition.constant)

(comment) @comment
(ERROR) @error
(MISSING) @error
