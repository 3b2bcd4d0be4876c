------------------------------- MODULE Grants -------------------------------
(***************************************************************************)
(* One authorization of Portico: its code, its refresh tokens, its end.    *)
(*                                                                         *)
(* Requests run on several nodes (processes) that share one database row   *)
(* (decision 29). Each action below is one statement or transaction of the *)
(* code, or another event. Anything else may happen between two actions.   *)
(* README.md explains how to read each file.                               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Nodes,       \* The processes.
  K,           \* The number of requests.
  Start,       \* "code": a person has allowed the client. "token": the code was also exchanged.
  Window,      \* Whether there is a window in which a refresh may be repeated (decision 37).
  MaxLosses,   \* How often the connection to the store is lost.
  MaxCrashes,  \* How often a process is killed.
  MaxPauses,   \* How often the account is suspended.
  MaxExpiries, \* How often no one does anything until everything expires.
  Revokes,     \* Whether the client and single access tokens are revoked.
  Offerers,    \* Who offers grants: "own" (its own client), "other" (another client), "wrong" (its own client, with a wrong verifier).
  Fault        \* "none", or the error that is made on purpose (README.md).

VARIABLES
  row,       \* The committed row of oauth_families.
  lock,      \* The request whose transaction has locked the row, or 0.
  draft,     \* The row as that transaction found it.
  issued,    \* The requests whose access token was inserted.
  deleted,   \* The access tokens that were revoked individually.
  fences,    \* The ids that are taken by a row that is never valid (decision 9).
  late,      \* The requests whose statement is still on its way to the database, although the request no longer waits for it.
  rq,        \* The requests.
  suspended, \* Whether the account is suspended at the host.
  revoked,   \* Whether the client is revoked.
  pruner,    \* Whether pruning has found that the row is expired, and will remove it.
  count      \* How often each event has happened, for the bounds.

vars == <<row, lock, draft, issued, deleted, fences, late, rq, suspended, revoked, pruner, count>>
database == <<row, lock, draft, issued, deleted, fences, late>>
around == <<suspended, revoked, pruner, count>>

CODE  == 0          \* Stands for the code in places that may also name a refresh token.
FIRST == 100        \* The refresh token and access token for which the code was exchanged at the start.
NONE  == 101
All == 1..K         \* A token has the number of the request that issued it.

Unborn == [at |-> "unborn", does |-> "use", node |-> CHOOSE n \in Nodes : TRUE, offer |-> NONE, by |-> "own",
           asks |-> NONE, token |-> NONE, after |-> FALSE, stale |-> FALSE, paused |-> FALSE]

Init ==
  /\ row = [there |-> TRUE, spent |-> Start = "token", current |-> IF Start = "token" THEN FIRST ELSE NONE,
            revoked |-> FALSE, previous |-> NONE, open |-> FALSE, expired |-> FALSE, knows |-> TRUE]
  /\ lock = 0
  /\ draft = NONE
  /\ issued = IF Start = "token" THEN {FIRST} ELSE {}
  /\ deleted = {}
  /\ fences = {}
  /\ late = {}
  /\ rq = [r \in All |-> Unborn]
  /\ suspended = FALSE
  /\ revoked = FALSE
  /\ pruner = FALSE
  /\ count = [losses |-> 0, crashes |-> 0, pauses |-> 0, expiries |-> 0]

-----------------------------------------------------------------------------
(* Properties of a state *)

Uses == {r \in All : rq[r].does = "use"}
Is200(r) == rq[r].at = "200"

\* The responses with tokens: pairs of the grant and the number of its tokens.
Answered == {<<rq[r].offer, rq[r].token>> : r \in {u \in Uses : Is200(u)}}
            \cup (IF Start = "token" THEN {<<CODE, FIRST>>} ELSE {})
Known == {pair[2] : pair \in Answered}

\* Whether a use of this grant took effect.
IsUsed(g) == \/ g = CODE /\ Start = "token"
             \/ \E i \in issued \ {FIRST} : rq[i].offer = g

\* Whether a request that offers this grant gets the tokens of the last use again.
AnsweredAgain(g) == /\ Window /\ g # CODE /\ row.there /\ ~row.revoked /\ ~row.expired
                    /\ row.previous = g /\ row.open

\* Whether the access token t is valid now.
Good(t) == /\ t \in issued \ deleted
           /\ row.there /\ ~row.revoked /\ ~row.expired
           /\ ~revoked \/ Fault = "a token is looked up without its client"
           /\ ~suspended \/ Fault = "suspension is not asked at use"

\* Whether a response has said that the authorization has ended: after a revocation, or after a replay.
Ended == \/ revoked
         \/ \E r \in All : rq[r].does = "revoke" /\ Is200(r)
         \/ \E r \in All : rq[r].at = "replay refused"

Active(r) == rq[r].at \in {"read", "claim", "commit", "again", "replay", "end", "burn", "doubt", "settle", "last word", "write"}

-----------------------------------------------------------------------------
(* How a request continues, and how it ends *)

Goes(r, to) == rq' = [rq EXCEPT ![r].at = to]

\* Forgets the details of a request that has ended. They no longer matter, and without them there are fewer states.
Over(request, at) == [request EXCEPT !.at = at, !.node = NONE, !.by = "own", !.asks = NONE,
                                     !.after = FALSE, !.stale = FALSE, !.paused = FALSE]
Stops(r, at) == rq' = [rq EXCEPT ![r] = Over(rq[r], at)]
Given(request, token) == [request EXCEPT !.at = "200", !.node = NONE, !.by = "own", !.asks = NONE, !.token = token]
Answers(r, token) == rq' = [rq EXCEPT ![r] = Given(rq[r], token)]

Revoked(r) == rq' = [rq EXCEPT ![r] = [Over(rq[r], "200") EXCEPT !.offer = NONE]]

\* A second use by the grant's own client is a replay, unless it is in the window. It does not matter why the request was refused.
IsReplay(r) == rq[r].by # "other" /\ IsUsed(rq[r].offer) /\ ~AnsweredAgain(rq[r].offer)
Refuses(r) == Stops(r, IF IsReplay(r) THEN "replay refused" ELSE "refused")

\* The responses that this node could not send, and keeps for the same request (grants/lost-answers.ts).
Kept(node, offer, by) == {e \in All : rq[e].at = "kept" /\ rq[e].node = node /\ rq[e].offer = offer /\ rq[e].by = by}
Oldest(set) == CHOOSE e \in set : \A other \in set : e <= other

-----------------------------------------------------------------------------
(* The beginning: the client is authenticated *)

Begin(r, does, node, offer, by) ==
  LET kept == Kept(node, offer, by)
      isAsked == \E other \in All : rq[other].at \in {"settle", "last word"} /\ rq[other].asks \in kept
      to == CASE revoked -> "401"
              [] does = "revoke" \/ kept = {} -> "read"
              [] isAsked -> "503"
              [] OTHER -> "settle"
  IN /\ rq[r].at = "unborn"
     /\ rq' = [rq EXCEPT ![r] = LET request ==
          [at |-> to, does |-> does, node |-> node, offer |-> offer, by |-> by, token |-> NONE,
           asks |-> IF to = "settle" THEN Oldest(kept) ELSE NONE,
           after |-> Ended,
           stale |-> does = "use" /\ by # "other" /\ IsUsed(offer) /\ offer \in {pair[1] : pair \in Answered}
                     /\ ~AnsweredAgain(offer) /\ kept = {},
           paused |-> suspended]
          IN IF to \in {"401", "503"} THEN Over(request, to) ELSE request]
     /\ UNCHANGED <<database, around>>

\* A code or a token may be offered any number of times, by its client or by a thief who has it.
IsNext(r) == rq[r].at = "unborn" /\ \A before \in 1..(r - 1) : rq[before].at # "unborn"
BeginUse(r) ==
  IsNext(r) /\ \E node \in Nodes, by \in Offerers :
    \E offer \in {CODE} \cup (IF by = "wrong" THEN {} ELSE Known) : Begin(r, "use", node, offer, by)
BeginRevocation(r) ==
  IsNext(r) /\ \E node \in Nodes, token \in Known : Begin(r, "revoke", node, token, "own")

-----------------------------------------------------------------------------
(* Reading and deciding: findCode or findRefreshToken, and then the check of the account. No lock is taken. *)

Decide(r) ==
  LET g == rq[r].offer
      isUnknown == ~row.there \/ (~row.knows /\ row.current # g)
      isOwn == rq[r].by # "other"
  IN /\ rq[r].at = "read"
     /\ CASE rq[r].does = "revoke" -> IF row.there THEN Goes(r, "write") ELSE Revoked(r)
          [] isUnknown -> Refuses(r)
          [] g = CODE /\ row.spent -> IF isOwn THEN Goes(r, "replay") ELSE Refuses(r)
          [] g = CODE -> Goes(r, IF rq[r].by # "own" \/ row.expired \/ suspended THEN "burn" ELSE "claim")
          [] ~isOwn -> Refuses(r)
          [] row.current # g -> Goes(r, IF Window THEN "again" ELSE "replay")
          [] row.expired \/ suspended -> Refuses(r)
          [] OTHER -> Goes(r, "claim")
     /\ UNCHANGED <<database, around>>

-----------------------------------------------------------------------------
(* The claim and its commit: spendCode, rotateRefreshToken. It is one transaction, whose first statement locks the row. *)

IsClaimable(g) == row.there /\ ~row.revoked /\ IF g = CODE THEN ~row.spent ELSE row.current = g

UsedBy(r, before) ==
  LET g == rq[r].offer
  IN [before EXCEPT !.spent = TRUE, !.current = r, !.expired = FALSE,
                    !.previous = IF Window /\ g # CODE THEN g ELSE NONE, !.open = Window /\ g # CODE]

Claim(r) ==
  LET g == rq[r].offer
      isClaimed == IsClaimable(g) \/ (Fault = "the claim trusts what was read" /\ row.there /\ ~row.revoked)
  IN /\ rq[r].at = "claim" /\ lock = 0
     /\ IF isClaimed
        THEN /\ lock' = r /\ draft' = row /\ Goes(r, "commit")
        ELSE /\ UNCHANGED <<lock, draft>> /\ Goes(r, IF Window /\ g # CODE THEN "again" ELSE "end")
     /\ UNCHANGED <<row, issued, deleted, fences, late, around>>

TakesEffect(r) ==
  /\ row' = UsedBy(r, draft) /\ issued' = issued \cup {r}
  /\ lock' = 0 /\ draft' = NONE
  /\ UNCHANGED <<deleted, fences, late>>

Commit(r) == rq[r].at = "commit" /\ TakesEffect(r) /\ Answers(r, r) /\ UNCHANGED around

\* Again(): repeats the response of the last use, if it may be repeated (features/refresh-retry).
Again(r) ==
  LET g == rq[r].offer
      isOpen == row.there /\ ~row.revoked /\ ~row.expired /\ row.open /\ row.current # NONE
      isSame == AnsweredAgain(g)
                \/ (Fault = "the window answers whoever has an old token" /\ isOpen)
                \/ (Fault = "the window never closes" /\ row.there /\ ~row.revoked /\ row.previous = g)
  IN /\ rq[r].at = "again"
     /\ CASE isSame /\ (suspended \/ row.current \in deleted) -> Refuses(r)
          [] isSame -> Answers(r, row.current)
          [] OTHER -> Goes(r, "replay")
     /\ UNCHANGED <<database, around>>

-----------------------------------------------------------------------------
(* Ending the authorization. Each action is one UPDATE of the row, so it waits for a transaction that has locked the row. *)

EndsRow(really) == row' = [row EXCEPT !.revoked = row.revoked \/ (row.there /\ really)]

\* revokeReplayed: the token was already used when the row was read. This revokes the row, unless this token is now the current one.
Replay(r) ==
  /\ rq[r].at = "replay" /\ lock = 0
  /\ EndsRow(row.current # rq[r].offer /\ Fault # "a replay ends nothing")
  /\ Refuses(r)
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, around>>

\* revokeFamily: the claim found no row.
End(r) ==
  /\ rq[r].at = "end" /\ lock = 0
  /\ EndsRow(TRUE)
  /\ Refuses(r)
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, around>>

\* burnCode: uses up a code that was offered with an error.
Burn(r) ==
  /\ rq[r].at = "burn" /\ lock = 0
  /\ IF row.there /\ ~row.spent THEN row' = [row EXCEPT !.spent = TRUE] /\ Refuses(r)
     ELSE IF rq[r].by = "other" THEN UNCHANGED row /\ Refuses(r)
     ELSE UNCHANGED row /\ Goes(r, "end")
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, around>>

\* Revocation by the client (RFC 7009).
Write(r) ==
  /\ rq[r].at = "write" /\ (lock = 0 \/ Fault = "the revocation takes no lock")
  /\ EndsRow(TRUE)
  /\ Revoked(r)
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, around>>

-----------------------------------------------------------------------------
(* The store is lost *)

Often == 99 \* Stands for a number without a limit.
Loses == /\ count.losses < MaxLosses
         /\ count' = IF MaxLosses = Often THEN count ELSE [count EXCEPT !.losses = @ + 1]

\* Nothing was sent, and the response is 503.
NotSent(r) ==
  /\ rq[r].at \in {"read", "claim", "again", "replay", "end", "burn", "write"} /\ Loses
  /\ Stops(r, "503") /\ UNCHANGED <<database, suspended, revoked, pruner>>

\* A revocation took effect, but its acknowledgement is lost. The response is 503, and the revocation can simply be repeated.
EndUnheard(r) ==
  /\ rq[r].at \in {"replay", "end", "write"} /\ lock = 0 /\ Loses
  /\ EndsRow(rq[r].at # "replay" \/ row.current # rq[r].offer)
  /\ Stops(r, "503")
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, suspended, revoked, pruner>>

\* The whole statement is on its way (on PostgreSQL, it is a single one). It may arrive late or never.
ClaimOnItsWay(r) ==
  /\ rq[r].at = "claim" /\ Loses
  /\ late' = late \cup {r} /\ Goes(r, "doubt")
  /\ UNCHANGED <<row, lock, draft, issued, deleted, fences, suspended, revoked, pruner>>

\* The commit is on its way (MariaDB). The row stays locked until the commit arrives, or until the server gives up.
CommitOnItsWay(r) ==
  /\ rq[r].at = "commit" /\ Loses /\ Goes(r, "doubt")
  /\ UNCHANGED <<database, suspended, revoked, pruner>>

\* The commit took effect, but its acknowledgement is lost.
CommitUnheard(r) ==
  /\ rq[r].at = "commit" /\ Loses /\ TakesEffect(r) /\ Goes(r, "doubt")
  /\ UNCHANGED <<suspended, revoked, pruner>>

\* The statement that was on its way arrives. If it meets the row that is never valid, it fails completely.
ArriveClaim(r) ==
  /\ r \in late /\ lock = 0
  /\ late' = late \ {r}
  /\ IF r \notin fences /\ IsClaimable(rq[r].offer)
     THEN row' = UsedBy(r, row) /\ issued' = issued \cup {r}
     ELSE UNCHANGED <<row, issued>>
  /\ UNCHANGED <<lock, draft, deleted, fences, rq, around>>
ArriveCommit(r) == lock = r /\ rq[r].at # "commit" /\ TakesEffect(r) /\ UNCHANGED <<rq, around>>

Vanish(r) ==
  /\ \/ r \in late /\ late' = late \ {r} /\ UNCHANGED <<lock, draft>>
     \/ lock = r /\ rq[r].at # "commit" /\ lock' = 0 /\ draft' = NONE /\ UNCHANGED late
  /\ UNCHANGED <<row, issued, deleted, fences, rq, around>>

\* The query of decision 9. It claims the key, unless the row exists. It waits for a transaction that has the key.
IsThere(r) == r \in issued \ deleted
TakesKey(r) == fences' = IF IsThere(r) \/ Fault = "a lost commit is only looked for" THEN fences ELSE fences \cup {r}
Ask(r) ==
  /\ rq[r].at = "doubt"
  /\ IF Fault = "a lost commit is answered as done"
     THEN Answers(r, r) /\ UNCHANGED fences
     ELSE /\ lock # r
          /\ TakesKey(r)
          /\ IF IsThere(r) THEN Answers(r, r) ELSE Stops(r, "503")
  /\ UNCHANGED <<row, lock, draft, issued, deleted, late, around>>

\* The store remains unavailable. The response is 503, and the node keeps the result for the same request.
GiveUp(r) ==
  /\ rq[r].at = "doubt"
  /\ rq' = [rq EXCEPT ![r] = [Over(rq[r], "kept") EXCEPT !.node = rq[r].node, !.by = rq[r].by]]
  /\ UNCHANGED <<database, around>>

\* The same request reaches the same node again. The node first finds out whether the earlier request took effect.
OnTo(r, settled, as) ==
  LET left == Kept(rq[r].node, rq[r].offer, rq[r].by) \ {settled}
  IN rq' = [rq EXCEPT ![settled] = Over(rq[settled], as), ![r].at = IF left = {} THEN "read" ELSE "settle",
                      ![r].asks = IF left = {} THEN NONE ELSE Oldest(left)]

Settle(r) ==
  LET e == rq[r].asks
  IN /\ rq[r].at = "settle" /\ lock # e
     /\ TakesKey(e)
     /\ IF IsThere(e) THEN Goes(r, "last word") ELSE OnTo(r, e, "503")
     /\ UNCHANGED <<row, lock, draft, issued, deleted, late, around>>

\* Checks isLastWord, and then the account.
LastWord(r) ==
  LET e == rq[r].asks
      isLast == (row.there /\ ~row.revoked /\ row.current = e) \/ Fault = "a kept answer is not the last word"
      others == Kept(rq[r].node, rq[r].offer, rq[r].by) \ {e}
  IN /\ rq[r].at = "last word"
     /\ CASE ~isLast -> OnTo(r, e, "superseded")
          [] isLast /\ suspended ->
               rq' = [rq EXCEPT ![r] = Over(rq[r], "refused"),
                                ![e] = IF rq[r].offer = CODE THEN Over(rq[e], "kept refused") ELSE rq[e]]
          [] OTHER ->
               rq' = [i \in All |-> CASE i = r -> Given(rq[r], e)
                                      [] i = e -> Over(rq[e], "given")
                                      [] i \in others -> Over(rq[i], "503")
                                      [] OTHER -> rq[i]]
     /\ UNCHANGED <<database, around>>

\* The process is killed, and loses its memory. Statements that it had sent to the database are still on their way.
Crash(node) ==
  /\ count.crashes < MaxCrashes /\ count' = [count EXCEPT !.crashes = @ + 1]
  /\ \E r \in All : rq[r].node = node /\ (Active(r) \/ rq[r].at = "kept")
  /\ rq' = [r \in All |-> CASE rq[r].node # node -> rq[r]
                            [] Active(r) -> Over(rq[r], "lost")
                            [] rq[r].at = "kept" -> Over(rq[r], "forgotten")
                            [] OTHER -> rq[r]]
  /\ UNCHANGED <<database, suspended, revoked, pruner>>

-----------------------------------------------------------------------------
(* Other events *)

Suspend ==
  /\ ~suspended /\ count.pauses < MaxPauses /\ count' = [count EXCEPT !.pauses = @ + 1]
  /\ suspended' = TRUE /\ UNCHANGED <<database, rq, revoked, pruner>>
Restore ==
  /\ suspended /\ suspended' = FALSE
  /\ rq' = [r \in All |-> [rq[r] EXCEPT !.paused = FALSE]]
  /\ UNCHANGED <<database, revoked, pruner, count>>

RevokeClient == Revokes /\ ~revoked /\ revoked' = TRUE /\ UNCHANGED <<database, rq, suspended, pruner, count>>
RevokeAccess(token) ==
  /\ Revokes /\ token \in Known /\ token \in issued \ deleted /\ deleted' = deleted \cup {token}
  /\ UNCHANGED <<row, lock, draft, issued, fences, late, rq, around>>

\* The model assumes that each request ends before a lifetime ends, and commits before a window closes.
IsUnderWay(r) == Active(r) \/ r \in late \/ lock = r
IsUsing(r) == rq[r].at \in {"read", "claim", "commit", "doubt"} \/ r \in late \/ lock = r
CloseWindow ==
  /\ row.open /\ ~(\E r \in All : IsUsing(r))
  /\ row' = [row EXCEPT !.open = FALSE] /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, rq, around>>
Expire ==
  /\ row.there /\ ~row.expired /\ ~(\E r \in All : IsUnderWay(r))
  /\ count.expiries < MaxExpiries /\ count' = [count EXCEPT !.expiries = @ + 1]
  /\ row' = [row EXCEPT !.expired = TRUE, !.open = FALSE]
  \* A response is kept for five minutes.
  /\ rq' = [r \in All |-> IF rq[r].at = "kept" THEN Over(rq[r], "forgotten") ELSE rq[r]]
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, suspended, revoked, pruner>>

\* Pruning first reads which rows have expired. Then it removes those that are still expired.
PruneRead == row.there /\ row.expired /\ ~pruner /\ pruner' = TRUE /\ UNCHANGED <<database, rq, suspended, revoked, count>>
PruneRemove ==
  /\ pruner /\ lock = 0 /\ pruner' = FALSE
  /\ IF row.expired THEN row' = [row EXCEPT !.there = FALSE] ELSE UNCHANGED row
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, rq, suspended, revoked, count>>
\* An error of an early version: it forgot a used grant although the tokens from it were still valid.
PruneUsed ==
  /\ Fault = "pruning forgets used grants" /\ lock = 0 /\ row.knows /\ row' = [row EXCEPT !.knows = FALSE]
  /\ UNCHANGED <<lock, draft, issued, deleted, fences, late, rq, around>>

-----------------------------------------------------------------------------
Step(r) ==
  \/ BeginUse(r) \/ BeginRevocation(r) \/ Decide(r) \/ Claim(r) \/ Commit(r) \/ Again(r)
  \/ Replay(r) \/ End(r) \/ Burn(r) \/ Write(r)
  \/ NotSent(r) \/ EndUnheard(r) \/ ClaimOnItsWay(r) \/ CommitOnItsWay(r) \/ CommitUnheard(r)
  \/ ArriveClaim(r) \/ ArriveCommit(r) \/ Vanish(r)
  \/ Ask(r) \/ GiveUp(r) \/ Settle(r) \/ LastWord(r)

Happens ==
  \/ \E node \in Nodes : Crash(node)
  \/ Suspend \/ Restore \/ RevokeClient \/ (\E token \in Known : RevokeAccess(token))
  \/ CloseWindow \/ Expire \/ PruneRead \/ PruneRemove \/ PruneUsed

Next == (\E r \in All : Step(r)) \/ Happens
Spec == Init /\ [][Next]_vars

Interchangeable == Permutations(Nodes)

-----------------------------------------------------------------------------
(* What must hold in every state *)

\* A use has only one result: all responses for a grant contain the same tokens. Without a window, there is only one response.
OneAnswer ==
  /\ \A one, other \in Answered : one[1] = other[1] => one[2] = other[2]
  /\ ~Window => \A one, other \in {u \in Uses : Is200(u)} : rq[one].offer = rq[other].offer => one = other

\* Tokens in a response are in the database.
AnsweredIsThere == Known \subseteq issued

\* After a response has said that the authorization has ended, no token is valid, and no later use gets tokens.
NothingLivesOnceEnded == Ended => \A token \in issued : ~Good(token)
NothingAnsweredOnceEnded == \A r \in Uses : rq[r].after => ~Is200(r)

\* An access token that was revoked individually is not valid.
RevokedAccessIsDead == \A token \in deleted : ~Good(token)

\* While the account is suspended, no token is valid, and no use in that time gets tokens.
NothingWhileSuspended ==
  /\ suspended => \A token \in issued : ~Good(token)
  /\ \A r \in Uses : rq[r].paused => ~Is200(r)

\* A used grant outside of the window gets no tokens.
ReplayIsRefused == \A r \in Uses : rq[r].stale => ~Is200(r)

\* A grant is used up only if a response contains its tokens. Decision 9 lists the exceptions: the process dies, a kept response is
\* refused because the person is suspended, or it is outdated because another process sent it or the authorization has ended.
NothingSpentUnanswered ==
  \A r \in issued \ {FIRST} :
    \/ Is200(r) \/ rq[r].at \in {"doubt", "kept", "given", "lost", "forgotten", "kept refused"}
    \/ r \in Known
    \/ rq[r].at = "superseded" /\ (row.revoked \/ ~row.there)

\* Tokens in a response are not lost: they stay current until they are used, ended, or expire. The authorization ends only for a reason.
NothingLost ==
  /\ ~row.there => row.expired
  /\ row.there /\ ~row.revoked => \A token \in Known : IsUsed(token) \/ row.current = token
  /\ row.revoked => \/ \E r \in All : rq[r].does = "revoke"
                    \/ \E one, other \in Uses : one # other /\ rq[one].offer # NONE /\ rq[one].offer = rq[other].offer
                    \/ Start = "token" /\ \E r \in Uses : rq[r].offer = CODE
=============================================================================
