; The name of the root, then what names the elements below it.
(document root: (element (STag (Name) @name) (content) @body) @definition.block)
(content (element (content) @body) @definition.block @name)

(Comment) @comment
(ERROR) @error
(MISSING) @error
