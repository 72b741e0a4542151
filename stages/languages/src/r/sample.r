#!/usr/bin/env Rscript
# Accounts and their interest.

library(methods)
require("stats")
source("R/format.R")
requireNamespace("jsonlite", quietly = TRUE)
box::use(dplyr, ./local)

DAYS <- 365
rates = c(low = 0.01, high = 0.05)
30 -> month

#' Interest of an amount.
#'
#' @param amount a number
#' @return a number
#' @export
interest <- function(amount, rate = rates["low"], days = DAYS) {
  if (amount < 0 || is.na(amount)) {
    stop("negative")
  } else if (days == 0) {
    return(0)
  }
  total <- 0
  for (day in seq_len(days)) {
    total <- total + stats::runif(1)
  }
  while (total > 100) total <- shrink(total)
  repeat break
  parts <- sapply(rates, function(r) r * amount)
  kind <- switch(class(amount), numeric = "n", "other")
  helper <- function(x) x + 1
  helper(total)
}

.hidden = function(x) x

"%+%" <- function(a, b) paste0(a, b)

# Prints accounts.
`print.account` <- function(x, ...) cat(format(x))

square <- \(x) x^2

cached <- memoise(function(key) {
  fetch(key)
})

function(x) x |> double() -> twice

setClass("Base", representation(id = "numeric"))

# A person.
Person <- setClass("Person", contains = "Base", slots = c(name = "character", age = "numeric"))

setGeneric("describe", function(object, ...) standardGeneric("describe"))

#' Describes a person.
setMethod("describe", "Person", function(object, ...) {
  cat(object@name)
})

setMethod("show", signature(object = "Person"), function(object) describe(object))

#' An account.
Account <- R6::R6Class("Account",
  inherit = Store,
  public = list(
    owner = NULL,
    # Opens the account.
    initialize = function(owner) {
      self$owner <- owner
    },
    deposit = function(x) {
      private$add(x)
      invisible(self)
    }
  ),
  private = list(
    balance = 0,
    add = function(x) private$balance <- private$balance + x
  ),
  active = list(
    total = function() private$balance
  )
)

Queue <- setRefClass("Queue", fields = list(items = "list"), methods = list(
  size = function() length(items)
))
Queue$methods(push = function(x) {
  items[[length(items) + 1]] <<- x
})

GeomBox <- ggproto("GeomBox", Geom, draw = function(data) grid(data))

Account$close <- function() NULL

test_that("accounts can be opened", {
  expect_equal(Account$new("a")$total, 0)
})
