------------------------------- MODULE Traces -------------------------------
(***************************************************************************)
(* The model, writing down what happens: for test/model-traces.test.ts,    *)
(* which does the same to real servers. What their test cannot do to a     *)
(* database is left out: a commit alone that is late, while it holds the   *)
(* lock (test/lost-uses.test.ts does that).                                *)
(***************************************************************************)
EXTENDS Grants, Sequences

VARIABLE log

IsOver == \A r \in All : rq[r].at # "unborn" /\ ~Active(r) /\ r \notin late

\* What was done, by or to which request; then where the request is, its tokens if it was answered, and which tokens are good.
Log(what, r, about) ==
  log' = Append(log, <<what, r, about, rq'[r].at, rq'[r].token, {t \in issued : Good(t)}'>>)

LoggedStep(r) ==
  \/ IsNext(r) /\ \E node \in Nodes, by \in Offerers :
       \E offer \in {CODE} \cup (IF by = "wrong" THEN {} ELSE Known) :
         Begin(r, "use", node, offer, by) /\ Log("use", r, <<node, offer, by>>)
  \/ IsNext(r) /\ \E node \in Nodes, token \in Known :
       Begin(r, "revoke", node, token, "own") /\ Log("revoke", r, <<node, token, "own">>)
  \/ Decide(r) /\ Log("decide", r, <<>>)
  \/ Claim(r) /\ Log("claim", r, <<>>)
  \/ Commit(r) /\ Log("commit", r, <<>>)
  \/ Again(r) /\ Log("again", r, <<>>)
  \/ Replay(r) /\ Log("replay", r, <<>>)
  \/ End(r) /\ Log("end", r, <<>>)
  \/ Burn(r) /\ Log("burn", r, <<>>)
  \/ Write(r) /\ Log("write", r, <<>>)
  \/ NotSent(r) /\ Log("not sent", r, <<>>)
  \/ ClaimOnItsWay(r) /\ Log("claim on its way", r, <<>>)
  \/ CommitUnheard(r) /\ Log("commit unheard", r, <<>>)
  \/ ArriveClaim(r) /\ Log("arrive", r, <<>>)
  \/ r \in late /\ Vanish(r) /\ Log("vanish", r, <<>>)
  \/ Ask(r) /\ Log("ask", r, <<>>)
  \/ GiveUp(r) /\ Log("give up", r, <<>>)
  \/ Settle(r) /\ Log("settle", r, <<>>)
  \/ LastWord(r) /\ Log("last word", r, <<>>)

LoggedEvent ==
  \/ Suspend /\ Log("suspend", 1, <<>>)
  \/ Restore /\ Log("restore", 1, <<>>)
  \/ RevokeClient /\ Log("revoke client", 1, <<>>)
  \/ \E token \in Known : RevokeAccess(token) /\ Log("revoke access", 1, <<token>>)
  \/ CloseWindow /\ Log("close window", 1, <<>>)
  \/ Expire /\ Log("expire", 1, <<>>)
  \/ PruneRead /\ Log("prune reads", 1, <<>>)
  \/ PruneRemove /\ Log("prune removes", 1, <<>>)
  \/ \E node \in Nodes : Crash(node) /\ Log("crash", 1, <<node>>)

LoggedInit == Init /\ log = <<>>
LoggedNext == ~IsOver /\ ((\E r \in All : LoggedStep(r)) \/ LoggedEvent)
LoggedSpec == LoggedInit /\ [][LoggedNext]_<<vars, log>>

\* Prints the whole, once it has come to its end.
Told == IsOver => PrintT(<<"trace", log>>)
=============================================================================
