mod directories;
mod highlighting;
mod hostile;
mod misread;
mod values;
