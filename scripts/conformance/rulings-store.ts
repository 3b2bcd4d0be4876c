import type { Chapter } from './rule.ts';

export const storeRulings: Chapter = {
  source: 'Our rulings',
  about: 'The store, outages and hostile input',
  rules: [
    {
      section: 'Outage',
      rule: 'With the store away it is 503 temporarily_unavailable, with Retry-After, as JSON.',
      tests: [
        'test/another-host.test.ts > a store that cannot be reached > is 503 temporarily_unavailable with Retry-After, as JSON, until it is back',
        'test/outage.test.ts > the database stopped under load, and back: 503 meanwhile, nothing else, nothing spent without an answer',
      ],
    },
    {
      section: 'Outage',
      rule: 'Nothing is spent or issued meanwhile, and the service recovers by itself.',
      tests: [
        'test/outage.test.ts > the database stopped under load, and back: 503 meanwhile, nothing else, nothing spent without an answer',
        'test/another-host.test.ts > a store that cannot be reached > is 503 temporarily_unavailable with Retry-After, as JSON, until it is back',
      ],
    },
    {
      section: 'Outage',
      rule: 'A primary that became read-only is 503, its connection is given up, and connections have a maximum lifetime.',
      tests: [
        'test/failover.test.ts > a primary that became read-only > is 503 with Retry-After, and tokens are issued again as soon as one may be written to',
        'test/failover.test.ts > a primary that became read-only > loses the connection on which %s failed [a statement]',
        'test/failover.test.ts > a primary that became read-only > may be a server that says that it cannot serve, as a node of Galera that has lost its cluster',
        'test/failover.test.ts > a connection > is used for as long as its lifetime, and then another one is made',
        'test/database.test.ts > SQLite > a file that can only be read from is unavailable, and opened anew',
      ],
    },
    {
      section: 'Store',
      rule: 'What a deadlock has undone is done again, a statement by itself too.',
      tests: [
        'test/transactions.test.ts > a statement by itself that a deadlock has undone is done again',
        'test/store-contract.test.ts > pruning > of many at the same moment in two processes none fails',
      ],
    },
    {
      section: 'Guessing',
      rule: 'After some failures of client authentication the next ones wait, and nobody is locked out.',
      tests: [
        'test/failed-attempts.test.ts > failed client authentication > is slowed down per client and address: the wait is told, and doubles',
        'test/failed-attempts.test.ts > failed client authentication > locks nobody out: the right secret is taken from elsewhere, here after the wait, and at once when it was right before',
        'test/failed-attempts.test.ts > failed client authentication > of many clients from one address is slowed down too',
        'test/failed-attempts.test.ts > failed client authentication > cannot keep the right secret out, however the one who guesses has set the counts before',
      ],
    },
    {
      section: 'Guessing',
      rule: 'The first attempt that is slowed is an event of the audit log, once for each series.',
      tests: [
        'test/failed-attempts.test.ts > failed client authentication > is told to the audit log when a series begins to be slowed, once',
      ],
    },
    {
      section: 'Guessing',
      rule: 'An address counts as one, whatever port or spelling a proxy gives it, and what is no address is nobody new.',
      tests: [
        'test/failed-attempts.test.ts > failed client authentication > counts an address %s',
        'test/failed-attempts.test.ts > failed client authentication > reads the addresses of several header fields as one list',
      ],
    },
    {
      section: 'Guessing',
      rule: 'Sign-ins are slowed down by account and network, and by network, and no stranger can lock an account.',
      tests: [
        'test/sign-in.test.ts > guessing passwords > is slowed down for an account and a network, with a page that says when to try again',
        'test/sign-in.test.ts > guessing passwords > is slowed down for an account that nobody has, and for one however it is spelled',
        'test/sign-in.test.ts > guessing passwords > at many accounts from one network is slowed down',
        'test/sign-in.test.ts > guessing passwords > keeps nobody out: the right password is taken from elsewhere, for other accounts, and here after the wait',
        'test/sign-in.test.ts > guessing passwords > cannot keep the right password out from the same network, however long it goes on',
      ],
    },
    {
      section: 'Guessing',
      rule: 'A browser in which somebody signed in to the account before is slowed down by nobody else.',
      tests: [
        'test/sign-in.test.ts > guessing passwords > does not slow down the browser in which somebody signed in to the account before > whoever guesses from the same network',
        'test/sign-in.test.ts > guessing passwords > does not slow down the browser in which somebody signed in to the account before > in another process, and for each of the people who use it',
        'test/sign-in.test.ts > guessing passwords > does not slow down the browser in which somebody signed in to the account before > but for its own guesses',
        'test/sign-in.test.ts > guessing passwords > does not slow down the browser in which somebody signed in to the account before > but for one %s',
      ],
    },
    {
      section: 'Guessing',
      rule: 'A failed sign-in is an event and a line of the log, without what was typed.',
      tests: [
        'test/sign-in.test.ts > guessing passwords > is told: whose account it was, from where, and the first time that it is slowed down; never what was typed',
      ],
    },
    {
      section: 'Floods',
      rule: 'A flood from one network waits behind itself at the password hasher; overload is logged once a second at most.',
      tests: [
        'test/sign-in.test.ts > a flood of sign-ins > from one network keeps nobody of another out, and is told in a line a second',
        'test/failed-attempts.test.ts > a flood of client secrets from one network keeps nobody of another out, and is told in a line a second',
        'src/host/fair-line.test.ts > a line in which networks take turns > a flood from one waits behind itself',
      ],
    },
    {
      section: 'Floods',
      rule: 'The sign-in page stores nothing until somebody is signed in; its form works in several tabs and after hours.',
      tests: [
        'test/sign-in.test.ts > the sign-in page > stores nothing until somebody is signed in',
        'test/sign-in.test.ts > the sign-in page > works in several tabs, also in one that was opened before somebody signed in',
        'test/sign-in.test.ts > the sign-in page > works after hours of waiting, and asks again when a session ended meanwhile',
        'test/sign-in.test.ts > the sign-in page > a form %s signs nobody in, and is answered with a form that does',
      ],
    },
    {
      section: 'Hostile input',
      rule: 'Whatever an endpoint is sent, it answers without a fault, and issues and changes nothing.',
      tests: [
        'test/hostile-input.test.ts > whatever is sent > POST /oauth/token: the answer is JSON, never a fault, never a token',
        'test/hostile-input.test.ts > whatever is sent > GET /oauth/authorize: the answer is a page or a redirect, to the client or to sign in, without a code',
        'test/hostile-input.test.ts > whatever is sent > POST /oauth/revoke: the answer is empty or JSON, and no token that lives is revoked',
        'test/hostile-input.test.ts > afterwards everything that was minted before is good: the session, the code and every token',
      ],
    },
    {
      section: 'Store',
      rule: 'A transaction that asks its own store past its connection is refused at once, and one that waits for anything else holds up nobody and is ended.',
      tests: [
        'test/transactions.test.ts > work that asks its own store past its connection > %s > in a transaction is refused at once, and the transaction may go on',
        'test/transactions.test.ts > work that waits for something else than its statements > keeps nobody waiting: others write, commit and read meanwhile',
        'test/transactions.test.ts > work that waits for something else than its statements > is rolled back and rejected when it has waited for too long',
        'test/transactions.test.ts > an application that reads the request in a transaction lets no slow caller stop the token endpoint',
      ],
    },
    {
      section: 'Store',
      rule: 'A statement after the end of its transaction is refused; the end waits for statements under way.',
      tests: [
        'test/transactions.test.ts > a statement after the end of its transaction > is refused, and does not commit by itself',
        'test/transactions.test.ts > a statement after the end of its transaction > does not land in the transaction of somebody else',
        'test/transactions.test.ts > a statement after the end of its transaction > that is under way is waited for: what it does is done, or the transaction fails with it',
      ],
    },
    {
      section: 'Store',
      rule: 'The files of SQLite and the log are readable by the account of the process alone.',
      tests: [
        'test/database.test.ts > SQLite > its files are for its own account alone, and so are the folders that are made for them',
        'src/host/log.test.ts > the log > is for its own account alone, and so is the folder that is made for it',
      ],
    },
    {
      section: 'Store',
      rule: 'A refusal that must last commits; a fault rolls back.',
      tests: [
        'test/store-contract.test.ts > codes > burnt are never exchanged; burnt after an exchange they end what it gave, in either order',
        'test/store-contract.test.ts > codes > whose tokens cannot be kept are not spent',
        'test/store-contract.test.ts > consent > whose code cannot be kept is not answered',
      ],
    },
    {
      section: 'Store',
      rule: 'Issuing and revoking claim the same row, so neither passes the other.',
      tests: [
        'test/store-contract.test.ts > refresh tokens and families > of a rotation and a revocation at the same moment nothing lives afterwards',
        'test/races.test.ts > two processes, one database > of concurrent uses of one refresh token exactly one is answered, and nothing of the family lives',
        'test/races.test.ts > two processes, one database > of concurrent uses of one code exactly one is answered, and nothing of the family lives',
      ],
    },
    {
      section: 'Store',
      rule: 'Consent is answered once, however many answers come at the same moment.',
      tests: [
        'test/store-contract.test.ts > consent > is answered once, by the person who was asked, in time',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > of many answers at the same moment one is taken',
      ],
    },
    {
      section: 'Store',
      rule: 'Session ids are kept nowhere as they are.',
      tests: [
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > nor does any file of the storage, the store among them when it is a file',
      ],
    },
    {
      section: 'Store',
      rule: 'Times are 64-bit.',
      tests: [
        'src/host/database/database.test.ts > the SQLite store > 64-bit times arrive as numbers',
        'test/store-contract.test.ts > refresh tokens and families > an access token lives until its last millisecond',
      ],
    },
    {
      section: 'Store',
      rule: 'Revoking a family or a client is one row, and every token of it is dead.',
      tests: [
        'test/store-contract.test.ts > clients > revoked once, take every token with them',
        'test/store-contract.test.ts > refresh tokens and families > are revoked once',
      ],
    },
    {
      section: 'Store',
      rule: 'SQLite runs in WAL mode with synchronous=FULL.',
      tests: [
        'src/host/database/database.test.ts > the SQLite store > is durable: WAL with synchronous=FULL',
      ],
    },
    {
      section: 'Store',
      rule: 'What was answered survives a process that is killed, revocations among it.',
      tests: [
        'test/crashes.test.ts > killed under load: what was answered is valid, nothing was spent twice, every revocation holds',
      ],
    },
    {
      section: 'Store',
      rule: 'Processes hold no state: any number of them work on one database and one key directory.',
      tests: [
        'test/races.test.ts > two processes, one database > what one process revokes, suspends or demotes, the other refuses on the next call',
        'test/races.test.ts > two processes, one database > of concurrent uses of one code exactly one is answered, and nothing of the family lives',
        'test/configuration.test.ts > oauth_server:key_path > is shared: a key that one process generates signs in all of them, without a restart',
      ],
    },
    {
      section: 'Store',
      rule: 'One contract holds on every engine.',
      tests: [
        'test/store-contract.test.ts > clients > are found by their id byte by byte: case and spaces at the end count',
        'test/store-contract.test.ts > codes > of many exchanges at the same moment one is issued, and the others end its family',
        'test/store-contract.test.ts > pruning > at the same moment in two processes takes every row once',
      ],
    },
    {
      section: 'Store',
      rule: 'A database engine that is missing under CI fails the run.',
      tests: [],
      notApplicable: 'This is about the test run itself: vitest.config.ts ends it with an error.',
    },
    {
      section: 'Store',
      rule: 'Tables shrink by themselves and by oauth:prune, in small batches.',
      tests: [
        'test/pruning.test.ts > removing expired rows > happens by itself while tokens are issued',
        'test/pruning.test.ts > removing expired rows > happens by itself while requests come in that nobody answers',
        'test/pruning.test.ts > removing expired rows > leaves nothing behind once everything has expired',
        'test/store-contract.test.ts > pruning > takes a batch at a time, keeps what a replay is known by, and leaves nothing behind',
      ],
    },
    {
      section: 'Store',
      rule: 'What a replay is known by outlives the last token of its family.',
      tests: [
        'test/pruning.test.ts > removing expired rows > takes nothing that lives, and nothing that knows a replay',
        'test/states-and-transitions.test.ts > States and transitions > refresh token used, replay detected also after it would have expired, and after rows were pruned',
        'test/store-contract.test.ts > pruning > takes a batch at a time, keeps what a replay is known by, and leaves nothing behind',
      ],
    },
  ],
};
