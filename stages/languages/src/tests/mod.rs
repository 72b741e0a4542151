mod directories;
mod highlighting;
