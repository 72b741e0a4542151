[(atx_heading) (setext_heading)] @heading
