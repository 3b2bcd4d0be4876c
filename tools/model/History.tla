------------------------------- MODULE History -------------------------------
(***************************************************************************)
(* Checks whether the model explains the responses that real clients got.  *)
(* test/support/history records them. Each is a sequence of events:        *)
(*   <<"asked", i>>                its operation i was sent                *)
(*   <<"answered", i, what, name>> it was answered; tokens have names      *)
(* Between the events, requests take any steps that the model allows. A    *)
(* request with 503 or without a response may be lost at any step.         *)
(***************************************************************************)
EXTENDS Grants, Sequences, Recorded

VARIABLES
  h,    \* The number of the history.
  at,   \* The position of its next event.
  slot, \* Whether each operation has begun. Operation i is request i.
  done, \* The result of each operation that is a single step.
  names \* The model's token for each name in the history.

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

\* The same name means the same token, and different names mean different tokens.
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

\* A lookup changes nothing. So it happens as soon as the model's answer is the recorded one.
MayLook(i) == /\ MayBegin(i) /\ operations[i].does = "look"
              /\ operations[i].answer = (IF Good(TokenOf(operations[i].offer)) THEN "good" ELSE "dead")
CanLook == \E i \in Ops : MayLook(i)
Looks == LET i == CHOOSE i \in Ops : MayLook(i)
         IN done' = [done EXCEPT ![i] = operations[i].answer] /\ UNCHANGED <<vars, h, at, slot, names>>

\* A request without a response may stop anywhere, so no loss is needed for it. A use with 503 did nothing, or it took effect and its
\* response is kept. It never arrives later. The model allows more than this, but no more was ever observed.
GoesOn(i) ==
  /\ slot[i]
  /\ \/ Decide(i) \/ Claim(i) \/ Again(i) \/ Replay(i) \/ End(i) \/ Burn(i) \/ Write(i) \/ Settle(i) \/ LastWord(i)
     \/ /\ operations[i].answer = "503" /\ operations[i].does = "use"
        /\ NotSent(i) \/ EndUnheard(i) \/ CommitUnheard(i) \/ GiveUp(i)
  /\ UNCHANGED <<slot, done>>

\* What other requests see between a claim and its commit, they could also have seen before the claim. So a commit comes before other steps.
Commits(i) == slot[i] /\ rq[i].at = "commit" /\ operations[i].answer # "503"
CommitNow == LET i == CHOOSE i \in Ops : Commits(i) IN Commit(i) /\ UNCHANGED history

Inside == (\E i \in Ops : Begins(i) \/ OneStep(i)) /\ UNCHANGED <<h, at, names>>
Onward == (\E i \in Ops \cap All : GoesOn(i)) /\ UNCHANGED <<h, at, names>>

\* Steps that affect no other step come first: a sent request, a lookup that fits, a commit, a response that fits.
HistoryNext ==
  /\ at <= Len(events)
  /\ CASE events[at][1] = "asked" -> Asked
       [] events[at][1] # "asked" /\ CanLook -> Looks
       [] events[at][1] # "asked" /\ ~CanLook /\ (\E i \in Ops \cap All : Commits(i)) -> CommitNow
       [] OTHER -> IF CanBeAnswered THEN IsAnswered ELSE Inside \/ Onward
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, history>>

\* What distinguishes two states. It leaves out the values that only the promises use, and no step of the model.
View == <<row, lock, issued, deleted, fences, late, revoked, history,
          [i \in All |-> <<rq[i].at, rq[i].token, rq[i].asks, rq[i].node>>]>>

\* Reports that a history was explained completely.
Explained == at > Len(events) => PrintT(<<"explained", h>>)
=============================================================================
