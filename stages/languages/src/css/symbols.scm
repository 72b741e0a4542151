(rule_set (selectors) @name (block) @body) @definition.block
(keyframes_statement (keyframe_block_list) @body) @definition.block @name
(media_statement (block) @body) @definition.block @name
(supports_statement (block) @body) @definition.block @name
(scope_statement (block) @body) @definition.block @name
(at_rule (block) @body) @definition.block @name

(declaration (property_name) @definition.constant)

(comment) @comment
(js_comment) @comment
(ERROR) @error
(MISSING) @error
