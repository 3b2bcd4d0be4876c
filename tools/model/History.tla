------------------------------- MODULE History -------------------------------
(***************************************************************************)
(* Whether the model explains what real clients were answered: histories   *)
(* as test/support/history writes them down. Each is a sequence of events: *)
(*   <<"asked", i>>                operation i of it was sent              *)
(*   <<"answered", i, what, name>> it was answered; tokens have names      *)
(* In between, requests take whatever steps the model has for them. What   *)
(* was answered 503 or never may have been lost at any step.               *)
(***************************************************************************)
EXTENDS Grants, Sequences, Recorded

VARIABLES
  h,    \* Which history.
  at,   \* Its next event.
  slot, \* Whether each operation has begun. It is the request of its number.
  done, \* What came of an operation that is one step.
  names \* The tokens of the model that the names of the history are.

operations == Recorded[h].operations
events == Recorded[h].events
Ops == DOMAIN operations
asked == {events[i][2] : i \in {j \in 1..(at - 1) : events[j][1] = "asked"}}
answered == {events[i][2] : i \in {j \in 1..(at - 1) : events[j][1] = "answered"}}
history == <<h, at, slot, done, names>>

HistoryInit ==
  /\ Init
  /\ h \in DOMAIN Recorded
  /\ at = 1
  /\ slot = [i \in Ops |-> FALSE]
  /\ done = [i \in Ops |-> "no"]
  /\ names = [name \in 1..Recorded[h].names |-> NONE]

TokenOf(name) == IF name = 0 THEN CODE ELSE names[name]
IsRequest(i) == operations[i].does \in {"use", "revoke", "remove"}
Asked == at <= Len(events) /\ events[at][1] = "asked" /\ at' = at + 1 /\ UNCHANGED <<vars, h, slot, done, names>>

Refusals == {"refused", "replay refused"}
Unavailable == {"503", "kept", "given", "superseded", "kept refused"}
Fits(i, what) ==
  IF ~IsRequest(i) THEN done[i] = what
  ELSE IF ~slot[i] THEN what = "503" /\ revoked
  ELSE LET r == i IN
       CASE what = "200" -> Is200(r) \/ (operations[i].does = "remove" /\ rq[r].at = "401")
         [] what = "400" -> rq[r].at \in Refusals
         [] what = "401" -> rq[r].at = "401"
         [] what = "503" -> rq[r].at \in Unavailable

\* The same name is the same token, and another name another.
Names(i, name) ==
  IF name = 0 THEN names' = names
  ELSE LET token == rq[i].token
       IN /\ names[name] \in {NONE, token}
          /\ names[name] = token \/ \A other \in DOMAIN names : names[other] # token
          /\ names' = [names EXCEPT ![name] = token]

CanBeAnswered ==
  /\ at <= Len(events) /\ events[at][1] = "answered"
  /\ LET i == events[at][2] IN Fits(i, events[at][3])
IsAnswered ==
  /\ CanBeAnswered
  /\ Names(events[at][2], events[at][4])
  /\ at' = at + 1 /\ UNCHANGED <<vars, h, slot, done>>

MayBegin(i) == i \in asked \ answered /\ ~slot[i] /\ done[i] = "no"

Begins(i) ==
  /\ MayBegin(i) /\ IsRequest(i)
  /\ slot' = [slot EXCEPT ![i] = TRUE] /\ UNCHANGED done
  /\ LET o == operations[i]
         node == CHOOSE n \in Nodes : n = o.node
     IN IF o.does = "use" THEN Begin(i, "use", node, TokenOf(o.offer), "own")
        ELSE Begin(i, "revoke", node, CODE, "own")

OneStep(i) ==
  /\ MayBegin(i) /\ ~IsRequest(i) /\ operations[i].does # "look"
  /\ UNCHANGED slot
  /\ LET o == operations[i]
         token == TokenOf(o.offer)
     IN CASE o.does = "revoke client" -> /\ done' = [done EXCEPT ![i] = "200"]
                                         /\ IF revoked THEN UNCHANGED vars ELSE RevokeClient
          [] o.does = "revoke access" ->
               /\ done' = [done EXCEPT ![i] = IF revoked THEN "401" ELSE "200"]
               /\ IF revoked \/ token \notin issued \ deleted THEN UNCHANGED vars ELSE RevokeAccess(token)

\* Looking changes nothing: it is done as soon as the answer is the one that was given.
MayLook(i) == /\ MayBegin(i) /\ operations[i].does = "look"
              /\ operations[i].answer = (IF Good(TokenOf(operations[i].offer)) THEN "good" ELSE "dead")
CanLook == \E i \in Ops : MayLook(i)
Looks == LET i == CHOOSE i \in Ops : MayLook(i)
         IN done' = [done EXCEPT ![i] = operations[i].answer] /\ UNCHANGED <<vars, h, at, slot, names>>

\* Whoever was never answered may stop anywhere, so nothing need be lost of theirs. A use that was answered 503 did nothing, or took
\* effect and its answer is kept: it never arrives later than that, which is less than the model allows, and all that was seen.
GoesOn(i) ==
  /\ slot[i]
  /\ \/ Decide(i) \/ Claim(i) \/ Again(i) \/ Replay(i) \/ End(i) \/ Burn(i) \/ Write(i) \/ Settle(i) \/ LastWord(i)
     \/ /\ operations[i].answer = "503" /\ operations[i].does = "use"
        /\ NotSent(i) \/ EndUnheard(i) \/ CommitUnheard(i) \/ GiveUp(i)
  /\ UNCHANGED <<slot, done>>

\* What others see between a claim and its commit they could have seen before the claim.
Commits(i) == slot[i] /\ rq[i].at = "commit" /\ operations[i].answer # "503"
CommitNow == LET i == CHOOSE i \in Ops : Commits(i) IN Commit(i) /\ UNCHANGED history

Inside == (\E i \in Ops : Begins(i) \/ OneStep(i)) /\ UNCHANGED <<h, at, names>>
Onward == (\E i \in Ops \cap All : GoesOn(i)) /\ UNCHANGED <<h, at, names>>

\* What stands in nobody's way comes first: what was sent, a look that fits, a commit, an answer that fits.
HistoryNext ==
  /\ at <= Len(events)
  /\ CASE events[at][1] = "asked" -> Asked
       [] events[at][1] # "asked" /\ CanLook -> Looks
       [] events[at][1] # "asked" /\ ~CanLook /\ (\E i \in Ops \cap All : Commits(i)) -> CommitNow
       [] OTHER -> IF CanBeAnswered THEN IsAnswered ELSE Inside \/ Onward
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, history>>

\* What only the promises look at, and no step of the model, makes no other state.
View == <<row, lock, issued, deleted, fences, late, revoked, history,
          [i \in All |-> <<rq[i].at, rq[i].token, rq[i].asks, rq[i].node>>]>>

\* Tells that a history was explained to its end.
Explained == at > Len(events) => PrintT(<<"explained", h>>)
=============================================================================
