//! The outline of `sample.sql`.

use super::SQL;
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
    values: id joined id reader
    "#);
}
