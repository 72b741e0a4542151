-- The schema of a library.

CREATE SCHEMA library;

-- Everybody who may borrow.
CREATE TABLE IF NOT EXISTS library.readers (
    id bigint PRIMARY KEY,
    "full name" text NOT NULL,
    joined timestamp DEFAULT now()
);

create table `loans` (id int, reader bigint references library.readers (id));

/* Readers with a loan. */
CREATE VIEW active AS
SELECT r.id FROM library.readers r JOIN loans l ON l.reader = r.id;

CREATE MATERIALIZED VIEW counts AS SELECT count(*) FROM loans;

CREATE TYPE mood AS ENUM ('sad', 'happy');

CREATE UNIQUE INDEX loans_reader ON loans (reader);

CREATE SEQUENCE numbers;

-- Ends a loan.
CREATE OR REPLACE FUNCTION library.give_back(loan int) RETURNS int AS $body$
DECLARE
    found int;
BEGIN
    IF loan > 0 THEN
        DELETE FROM loans WHERE id = loan;
    END IF;
    RETURN 1;
END
$body$ LANGUAGE plpgsql;

CREATE FUNCTION twice(n int) RETURNS int AS 'SELECT n + n' LANGUAGE sql;

CREATE TRIGGER notify BEFORE INSERT ON loans FOR EACH ROW EXECUTE FUNCTION library.give_back();

DELIMITER //
CREATE PROCEDURE count_loans(IN reader int, OUT total int)
BEGIN
    DECLARE n int DEFAULT 0;
    IF reader > 0 THEN
        SELECT CASE WHEN n > 0 THEN 1 ELSE 0 END INTO total;
    END IF;
END //
DELIMITER ;

CREATE TRIGGER loans_log AFTER INSERT ON loans
BEGIN
    INSERT INTO log VALUES (new.id);
END;

INSERT INTO loans VALUES (1, 2);
