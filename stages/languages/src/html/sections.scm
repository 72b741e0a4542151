(element
  (start_tag (tag_name) @_tag)
  (#any-of? @_tag "title" "h1" "h2" "h3" "h4" "h5" "h6" "TITLE" "H1" "H2" "H3" "H4" "H5" "H6")) @heading
