package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/mattn/go-sqlite3"
)

type row interface{ Scan(into ...any) error }

// newTokens are the tokens that replace a code or a refresh token.
type newTokens struct {
	grant
	id, hash                string
	expires, refreshExpires int64
	// usedTable names the row that is used up, and used is its key.
	usedTable int
	used      string
}

const (
	usesRequest = iota
	usesRefresh
)

var useUp = []string{
	usesRequest: `DELETE FROM auth_requests WHERE id = $1 AND code_hash IS NOT NULL`,
	usesRefresh: `DELETE FROM refresh_tokens WHERE hash = $1`,
}

type database interface {
	create(ctx context.Context, schema string) error
	row(ctx context.Context, sql string, parameters ...any) row
	// exec returns the number of rows that it changed.
	exec(ctx context.Context, sql string, parameters ...any) (int64, error)
	// exchange uses up a row and adds both tokens in one transaction. It returns false if there was
	// no such row.
	exchange(ctx context.Context, tokens newTokens) (bool, error)
}

func openDatabase(url string) (database, error) {
	if file, found := strings.CutPrefix(url, "sqlite:"); found {
		return openSQLite(file)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	// The other targets have ten connections, too. pgx prepares each statement once by itself.
	config.MaxConns = 10
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	return postgres{pool}, err
}

type postgres struct{ pool *pgxpool.Pool }

func (p postgres) create(ctx context.Context, schema string) error {
	_, err := p.pool.Exec(ctx, schema, pgx.QueryExecModeSimpleProtocol)
	return err
}

func (p postgres) row(ctx context.Context, sql string, parameters ...any) row {
	return p.pool.QueryRow(ctx, sql, parameters...)
}

func (p postgres) exec(ctx context.Context, sql string, parameters ...any) (int64, error) {
	tag, err := p.pool.Exec(ctx, sql, parameters...)
	return tag.RowsAffected(), err
}

func together(use string) string {
	return `WITH used AS (` + use + ` RETURNING 1), access AS (
    INSERT INTO access_tokens (id, client_id, subject, audience, scopes, expires_at)
    SELECT $2, $3, $4, $5, $6, $7::bigint FROM used)
  INSERT INTO refresh_tokens (hash, client_id, user_id, scopes, auth_time, expires_at)
  SELECT $8, $3, $4, $6, $9::bigint, $10::bigint FROM used`
}

var exchanges = []string{usesRequest: together(useUp[usesRequest]), usesRefresh: together(useUp[usesRefresh])}

// exchange is one statement, and so one round trip and one transaction.
func (p postgres) exchange(ctx context.Context, t newTokens) (bool, error) {
	changed, err := p.exec(ctx, exchanges[t.usedTable], t.used, t.id, t.clientID, t.subject, inspector,
		strings.Join(t.scopes, " "), t.expires, t.hash, t.authTime, t.refreshExpires)
	return changed == 1, err
}

// sqlite has one connection that writes and some that read, as is usual with WAL.
type sqlite struct {
	reader, writer *sql.DB
	prepared       sync.Map
}

func openSQLite(file string) (database, error) {
	source := "file:" + file + "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_txlock=immediate"
	writer, err := sql.Open("sqlite3", source)
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	reader, err := sql.Open("sqlite3", source)
	if err != nil {
		return nil, err
	}
	reader.SetMaxOpenConns(4)
	reader.SetMaxIdleConns(4)
	return &sqlite{reader: reader, writer: writer}, nil
}

func (s *sqlite) create(ctx context.Context, schema string) error {
	_, err := s.writer.ExecContext(ctx, schema)
	return err
}

// statement prepares each statement once. A statement either reads or writes.
func (s *sqlite) statement(on *sql.DB, text string) (*sql.Stmt, error) {
	if known, found := s.prepared.Load(text); found {
		return known.(*sql.Stmt), nil
	}
	made, err := on.Prepare(text)
	if err != nil {
		return nil, err
	}
	known, loaded := s.prepared.LoadOrStore(text, made)
	if loaded {
		err = made.Close()
	}
	return known.(*sql.Stmt), err
}

type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

// row and the other methods do not pass the context on. The driver would start a goroutine for each
// statement that can be cancelled.
func (s *sqlite) row(_ context.Context, text string, parameters ...any) row {
	statement, err := s.statement(s.reader, text)
	if err != nil {
		return failed{err}
	}
	return statement.QueryRow(parameters...)
}

func (s *sqlite) exec(_ context.Context, text string, parameters ...any) (int64, error) {
	statement, err := s.statement(s.writer, text)
	if err != nil {
		return 0, err
	}
	return affected(statement.Exec(parameters...))
}

func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

const addRefresh = `INSERT INTO refresh_tokens (hash, client_id, user_id, scopes, auth_time, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6)`

func (s *sqlite) exchange(_ context.Context, t newTokens) (bool, error) {
	// The writer has one connection, so the statements must be prepared before the transaction begins.
	var statements [3]*sql.Stmt
	for index, text := range []string{useUp[t.usedTable], addAccess, addRefresh} {
		statement, err := s.statement(s.writer, text)
		if err != nil {
			return false, err
		}
		statements[index] = statement
	}
	transaction, err := s.writer.Begin()
	if err != nil {
		return false, err
	}
	defer func() { _ = transaction.Rollback() }()
	changed, err := affected(transaction.Stmt(statements[0]).Exec(t.used))
	if err != nil || changed != 1 {
		return false, err
	}
	scopes := strings.Join(t.scopes, " ")
	_, err = transaction.Stmt(statements[1]).Exec(t.id, t.clientID, t.subject, inspector, scopes, t.expires)
	_, again := transaction.Stmt(statements[2]).Exec(t.hash, t.clientID, t.subject, scopes, t.authTime, t.refreshExpires)
	if err := errors.Join(err, again); err != nil {
		return false, err
	}
	return true, transaction.Commit()
}
