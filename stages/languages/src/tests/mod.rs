mod directories;
mod highlighting;
mod hostile;
