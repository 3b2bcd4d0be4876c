------------------------------- MODULE Traces -------------------------------
(***************************************************************************)
(* The model, extended so that it records what happens. The test           *)
(* test/model-traces.test.ts repeats this with real servers. Traces leave  *)
(* out what that test cannot do to a database: a late commit that has the  *)
(* lock. test/lost-uses.test.ts does this.                                 *)
(***************************************************************************)
EXTENDS Grants, Sequences

VARIABLE log

IsOver == \A r \in All : rq[r].at # "unborn" /\ ~Active(r) /\ r \notin late

\* The action and its request, and after it: the request's place, the tokens in its response, and the tokens that are valid.
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

\* Prints the whole trace when it has ended.
Told == IsOver => PrintT(<<"trace", log>>)
=============================================================================
