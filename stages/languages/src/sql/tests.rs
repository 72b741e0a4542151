//! Tests for the outline of `sample.sql`, and for the masking of text that the grammar cannot read.

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
    constants: id full name joined id reader
    "#);
}

/// Compares the masked form of each text with the expected form.
fn assert_masked(texts: &[(&str, &str)]) {
    for (source, expected) in texts {
        let masked = masked(source).unwrap_or_default();
        assert_eq!(masked, *expected, "{source}");
        assert_eq!(masked.len(), source.len());
    }
}

#[test]
fn routines_are_replaced_with_statements_of_the_same_name_and_length() {
    assert_masked(&[
        (
            "CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS $$ SELECT 1; $$; DROP x",
            "CREATE FUNCTION a () RETURNS INT                  AS '             '; DROP x",
        ),
        (
            "DELIMITER //\nCREATE PROCEDURE p(IN n int, OUT m int)\nBEGIN\n  SELECT n; END //\nDELIMITER ;\nDROP x",
            "            \nCREATE FUNCTION  a () RETURNS INT      \nAS ' \n              ' ; \n           \nDROP x",
        ),
        (
            "CREATE OR ALTER PROC [dbo].[p]\nAS BEGIN SELECT 1; END;\nGO\nDROP x",
            "CREATE FUNCTION      aaaaa.aaa\n() RETURNS INT AS '  ';\n  \nDROP x",
        ),
        (
            "CREATE OR REPLACE PROCEDURE p IS n int; BEGIN IF n THEN y; END IF; END p;\n/\nDROP x",
            "CREATE FUNCTION             a () RETURNS INT AS '                      ';\n \nDROP x",
        ),
        (
            "CREATE TRIGGER t AFTER INSERT ON l BEGIN DELETE FROM l; END; DROP x",
            "CREATE INDEX   a ON t              (                     a); DROP x",
        ),
        (
            "CREATE FUNCTION p-q.d.select(a INT64) AS (a + 1234567890)",
            "CREATE FUNCTION aaa.a.aaaaaa () RETURNS INT AS '        '",
        ),
        ("SELECT [a b] FROM [dbo].[t]; SELECT a[1]", "SELECT \"a b\" FROM \"dbo\".\"t\"; SELECT a[1]"),
    ]);
}

#[test]
fn tables_and_views_are_reduced_to_common_syntax() {
    assert_masked(&[
        (
            "CREATE OR REPLACE TABLE p-q.d.t (a INT64) PARTITION BY a OPTIONS (x='y') AS SELECT 1",
            "CREATE            TABLE aaa.a.a (a aaaaa)                                AS SELECT 1",
        ),
        (
            "CREATE TABLE IF NOT EXISTS t (a int)\nENGINE=InnoDB;",
            "CREATE TABLE               a (a int \n            );",
        ),
        ("CREATE EXTERNAL TABLE t LIKE other_table;", "CREATE          TABLE a AS SELECT      1;"),
        ("CREATE VIRTUAL TABLE t USING fts5(a, b);", "CREATE         TABLE a AS SELECT      1;"),
        ("CREATE SECURE VIEW v (a) COMMENT='AS' AS (SELECT 1)", "CREATE        VIEW a                  AS (SELECT 1)"),
        ("CREATE TABLE t / €a in mar", "CREATE TABLE a AS\u{c}\u{c}\u{c}SELECT 1"),
        ("CREATE TABLE h(€ 1536 and so on)", "CREATE TABLE a \u{c}\u{c}\u{c}AS SELECT      1"),
        ("CREATE TABLE t LIKE u; DROP x", "CREATE TYPE  a       ; DROP x"),
        ("CREATE TABLE FUNCTION f(a INT) AS SELECT 123", "CREATE FUNCTION       a () RETURNS INT AS ''"),
    ]);
    // These statements refer to an existing table and do not define one.
    for text in ["CREATE POLICY p ON TABLE t (a b) c", "CREATE TYPE t AS TABLE OF u"] {
        assert_eq!(masked(text), None);
    }
}

#[test]
fn columns_are_reduced_to_supported_syntax() {
    assert_masked(&[
        (
            "CREATE TABLE t (LIKE u, [order] [int] IDENTITY(1, 1), -- Why\n CONSTRAINT c UNIQUE (a, b), `b` enum('x', 'y'))",
            "CREATE TABLE a (        aaaaaaa aaaaa                 -- Why\n                           , aaa aaaa          )",
        ),
        (
            "CREATE TABLE t (a int DEFAULT f(b), b bigint REFERENCES u (c), c int CHECK (c < 1), key text, KEY k (a))",
            "CREATE TABLE a (a int DEFAULT f(b), a bigint REFERENCES u (c), a aaa              , aaa text           )",
        ),
        (
            "CREATE TABLE t (a STRUCT<b INT64, c STRING>, d varchar(80 CHAR), e set('x', 'y'), key nvarchar(max))",
            "CREATE TABLE a (a aaaaaa                   , a aaaaaaa         , a aaa          , aaa aaaaaaaa     )",
        ),
    ]);
}

#[test]
fn unsupported_statements_are_masked() {
    assert_masked(&[
        (
            "SET x ON;\nIF NOT EXISTS (SELECT 1)\nBEGIN\n  CREATE TABLE #t([a] int) ON [PRIMARY]\nEND\nGO\n",
            "         \n                        \n     \n  CREATE TABLE aa(aaa int             )\n   \n; \n",
        ),
        ("DROP TABLE t\n  CREATE TABLE u (a int);", "DROP TABLE t\n ;CREATE TABLE a (a int);"),
        ("ALTER TABLE a ADD b\nEXEC c;", "ALTER TABLE a ADD b\n      ;"),
        ("# it's a note\n\\set a 'b\nSELECT 1", "             \n         \nSELECT 1"),
        ("COPY t (a) FROM stdin;\n1\tdon't\n\\.\nSELECT 1", "                      \n       \n  \nSELECT 1"),
    ]);
}
