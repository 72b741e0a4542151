//! Tests for the outline of `sample.r`.

use super::R;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&R, include_str!("sample.r")), @r#"
    import methods *
    import stats *
    import R/format.R *
    import jsonlite
    import dplyr
    import ./local
    function interest 19-35 interest <- function(amount, rate = rates["low"], days = DAYS) | Interest of an amount.⏎⏎@param amount a number⏎@return a number⏎@export | is.na stop seq_len runif shrink sapply switch class helper | 4 branches | 4 loops | exported
    function interest.helper 33-33 helper <- function(x) |  |
    function .hidden 37-37 .hidden = function(x) |  |
    function %+% 39-39 "%+%" <- function(a, b) |  | paste0 | exported
    function print.account 42-42 `print.account` <- function(x, ...) | Prints accounts. | cat format | exported
    function square 44-44 square <- \(x) |  |  | exported
    function cached 46-48 cached <- memoise(function(key) |  | memoise fetch | exported
    class Base 52-52 setClass("Base" |  |  | exported
    class Person 55-55 Person <- setClass("Person" | A person. |  | is Base | exported
    function describe 57-57 setGeneric("describe", function(object, ...) |  | standardGeneric | exported
    method describe 60-62 setMethod("describe", "Person", function(object, ...) | Describes a person. | cat | exported
    method show 64-64 setMethod("show", signature(object = "Person"), function(object) |  | describe | exported
    class Account 67-87 Account <- R6::R6Class("Account" | An account. |  | is Store | exported
    method Account.initialize 72-74 initialize = function(owner) | Opens the account. |  | exported
    method Account.deposit 75-78 deposit = function(x) |  | add invisible | exported
    method Account.add 82-82 add = function(x) |  |  | exported
    method Account.total 85-85 total = function() |  |  | exported
    class Queue 89-91 Queue <- setRefClass("Queue" |  |  | exported
    method Queue.size 90-90 size = function() |  | length | exported
    method Queue.push 92-94 push = function(x) |  | length | of Queue | exported
    class GeomBox 96-96 GeomBox <- ggproto("GeomBox" |  |  | is Geom | exported
    method GeomBox.draw 96-96 draw = function(data) |  | grid | exported
    method Account.close 98-98 Account$close <- function() |  |  | of Account | exported
    function accounts can be opened 100-102 test_that("accounts can be opened" |  | expect_equal Account new | exported
    constants: DAYS rates month id name age owner balance items
    calls outside symbols: use double
    "#);
}

#[test]
fn variables_outside_functions_and_fields_are_listed() {
    let source = r#"
LIMIT <- 1
other = 2
3 -> third
`odd name` <- 4
x$y <- 5
run <- function() { inside <- 1 }
P <- setClass("P", slots = c(name = "character"))
setClass("Q", representation(size = "numeric"))
K <- R6Class("K", public = list(field = 1, method = function() { hidden <- 1 }))
"#;
    assert_eq!(constants_of(&R, source), "LIMIT other third odd name name size field");
}
