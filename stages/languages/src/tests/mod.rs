mod directories;
mod highlighting;
mod hostile;
mod misread;
mod outlines;
mod values;
