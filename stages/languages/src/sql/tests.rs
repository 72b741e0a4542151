//! The outline of `sample.sql`.

use super::SQL;
use super::masked::masked;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&SQL, include_str!("sample.sql")), @r#"
    block library 3-3 CREATE SCHEMA library |  |  | exported
    struct library.readers 6-10 CREATE TABLE IF NOT EXISTS library.readers | Everybody who may borrow. | now | of library | exported
    struct loans 12-12 create table `loans` |  |  | exported
    type active 15-16 CREATE VIEW active AS | Readers with a loan. | readers loans | exported
    type counts 18-18 CREATE MATERIALIZED VIEW counts AS |  | count loans | exported
    type mood 20-20 CREATE TYPE mood AS ENUM ('sad', 'happy') |  |  | exported
    block loans_reader 22-22 CREATE UNIQUE INDEX loans_reader ON loans (reader) |  |  | exported
    block numbers 24-24 CREATE SEQUENCE numbers |  |  | exported
    function library.give_back 27-36 CREATE OR REPLACE FUNCTION library.give_back(loan int) RETURNS int | Ends a loan. |  | of library | exported
    function twice 38-38 CREATE FUNCTION twice(n int) RETURNS int |  |  | exported
    block notify 40-40 CREATE TRIGGER notify BEFORE INSERT ON loans FOR EACH ROW EXECUTE FUNCTION library.give_back() |  |  | exported
    function count_loans 43-49 CREATE PROCEDURE count_loans(IN reader int, OUT total int) |  |  | exported
    block loans_log 52-55 CREATE TRIGGER loans_log AFTER INSERT ON loans BEGIN INSERT INTO log VALUES (new.id); END |  |  | exported
    values: id joined id reader
    "#);
}

#[test]
fn routines_are_replaced_by_statements_of_the_same_name_and_length() {
    for (source, expected) in [
        (
            "CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS $$ SELECT 1; $$; x",
            "CREATE FUNCTION f () RETURNS INT                  AS '             '; x",
        ),
        (
            "DELIMITER //\nCREATE PROCEDURE p(IN n int, OUT m int)\nBEGIN\n  SELECT n; END //\nDELIMITER ;\nx",
            "            \nCREATE FUNCTION  p () RETURNS INT      \nAS ' \n              ' ; \n           \nx",
        ),
        (
            "CREATE OR ALTER PROC [dbo].[p]\nAS BEGIN SELECT 1; END;\nGO\nx",
            "CREATE FUNCTION      \"dbo\".\"p\"\n() RETURNS INT AS '  ';\n  \nx",
        ),
        (
            "CREATE OR REPLACE PROCEDURE p IS n int; BEGIN IF n THEN y; END IF; END p;\n/\nx",
            "CREATE FUNCTION             p () RETURNS INT AS '                      ';\n \nx",
        ),
        (
            "CREATE TRIGGER t AFTER INSERT ON l BEGIN DELETE FROM l; END; x",
            "CREATE INDEX   t ON t              (                     a); x",
        ),
        ("SELECT [a b] FROM [dbo].[t]; SELECT a[1]", "SELECT \"a b\" FROM \"dbo\".\"t\"; SELECT a[1]"),
    ] {
        let masked = masked(source).unwrap_or_default();
        assert_eq!(masked, expected, "{source}");
        assert_eq!(masked.len(), source.len());
    }
}
