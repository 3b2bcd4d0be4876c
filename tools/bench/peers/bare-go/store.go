package main

import (
	"context"
	"database/sql/driver"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/mattn/go-sqlite3"
)

type value = any

type row map[string]value

// newRow is a row to insert. The values are those of the columns, which are texts, and then those of
// the times, which are numbers.
type newRow struct {
	table          string
	columns, times []string
}

func (n newRow) names() string {
	return strings.Join(append(append([]string{}, n.columns...), n.times...), ", ")
}

func (n newRow) insert() string {
	marks := strings.Repeat("?, ", len(n.columns)+len(n.times))
	return "INSERT INTO " + n.table + " (" + n.names() + ") VALUES (" + strings.TrimSuffix(marks, ", ") + ")"
}

// pair is a row to update, and another row to insert if the update matched. PostgreSQL does both in
// one statement, and SQLite in a transaction.
type pair struct{ claim, insert, together string }

func newPair(claim string, n newRow) *pair {
	marks := strings.Repeat("?, ", len(n.columns)) + strings.Repeat("CAST(? AS BIGINT), ", len(n.times))
	return &pair{claim, n.insert(), "WITH claimed AS (" + claim + " RETURNING 1) INSERT INTO " + n.table +
		" (" + n.names() + ") SELECT " + strings.TrimSuffix(marks, ", ") + " FROM claimed"}
}

// reads are the reads of one request.
type reads interface {
	first(sql string, parameters ...value) row
	end()
}

// store runs statements with the bare driver. They are prepared once.
type store interface {
	read() reads
	write(sql string, parameters ...value)
	claimAndInsert(pair *pair, claim, insert []value)
}

func openStore(url string) (store, error) {
	if file, found := strings.CutPrefix(url, "sqlite:"); found {
		return openSQLite(file)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 10
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	return &postgres{pool, numbered()}, err
}

type postgres struct {
	pool     *pgxpool.Pool
	numbered map[string]string
}

// numbered returns each statement with the placeholders of PostgreSQL.
func numbered() map[string]string {
	made := map[string]string{}
	for _, sql := range []string{readClient, readToken, readFamily, readAccount, readPermission, readSession, readSubject,
		readRequest, keepRequest, addToken, useToken.together, spendCode.together, allowRequest.together,
		"SELECT id FROM host_accounts LIMIT 1"} {
		parts := strings.Split(sql, "?")
		text := parts[0]
		for index, part := range parts[1:] {
			text += "$" + strconv.Itoa(index+1) + part
		}
		made[sql] = text
	}
	return made
}

func (p *postgres) read() reads { return p }
func (p *postgres) end()        {}

func (p *postgres) first(sql string, parameters ...value) row {
	rows, err := p.pool.Query(context.Background(), p.numbered[sql], parameters...)
	check(err)
	found, err := pgx.CollectRows(rows, pgx.RowToMap)
	check(err)
	if len(found) == 0 {
		return row{}
	}
	return found[0]
}

func (p *postgres) write(sql string, parameters ...value) {
	_, err := p.pool.Exec(context.Background(), p.numbered[sql], parameters...)
	check(err)
}

func (p *postgres) claimAndInsert(pair *pair, claim, insert []value) {
	p.write(pair.together, append(claim, insert...)...)
}

// sqlite has one connection that writes and some that read.
type sqlite struct{ readers, writer chan *connection }

// connection is used by one goroutine at a time.
type connection struct {
	driver.Conn
	prepared map[string]driver.Stmt
	pool     chan *connection
}

const readers = 4

func openSQLite(file string) (store, error) {
	made := &sqlite{make(chan *connection, readers), make(chan *connection, 1)}
	for index := range readers + 1 {
		opened, err := (&sqlite3.SQLiteDriver{}).Open("file:" + file + "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000")
		if err != nil {
			return nil, err
		}
		pool := made.readers
		if index == readers {
			pool = made.writer
		}
		pool <- &connection{opened, map[string]driver.Stmt{}, pool}
	}
	return made, nil
}

func (c *connection) statement(sql string) driver.Stmt {
	known, found := c.prepared[sql]
	if !found {
		made, err := c.Prepare(sql)
		check(err)
		known, c.prepared[sql] = made, made
	}
	return known
}

func valuesOf(parameters []value) []driver.Value {
	values := make([]driver.Value, len(parameters))
	for index, parameter := range parameters {
		values[index] = parameter
	}
	return values
}

func (c *connection) run(sql string, parameters ...value) {
	_, err := c.statement(sql).Exec(valuesOf(parameters))
	check(err)
}

func (c *connection) first(sql string, parameters ...value) row {
	rows, err := c.statement(sql).Query(valuesOf(parameters))
	check(err)
	defer func() { check(rows.Close()) }()
	names := rows.Columns()
	values := make([]driver.Value, len(names))
	found := row{}
	if err := rows.Next(values); err == io.EOF {
		return found
	} else {
		check(err)
	}
	for index, name := range names {
		found[name] = values[index]
	}
	return found
}

func (c *connection) end() {
	c.run("COMMIT")
	c.pool <- c
}

// read begins a transaction, so that all reads of one request use the same lock, as in bare.ts.
func (s *sqlite) read() reads {
	reader := <-s.readers
	reader.run("BEGIN")
	return reader
}

func (s *sqlite) write(sql string, parameters ...value) {
	writer := <-s.writer
	writer.run(sql, parameters...)
	writer.pool <- writer
}

func (s *sqlite) claimAndInsert(pair *pair, claim, insert []value) {
	writer := <-s.writer
	writer.run("BEGIN IMMEDIATE")
	writer.run(pair.claim, claim...)
	writer.run(pair.insert, insert...)
	writer.end()
}
