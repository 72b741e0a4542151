(section (section_name (text) @name)) @definition.block
(setting (setting_name) @definition.constant)

(comment) @comment
(ERROR) @error
(MISSING) @error
