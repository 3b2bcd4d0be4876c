------------------------------ MODULE Recorded ------------------------------
(* A short example, so that History.tla is complete by itself. The test replaces this module with recorded histories. *)
Recorded == <<
  [names |-> 1,
   operations |-> <<[does |-> "use", node |-> "node 1", offer |-> 0, answer |-> "200"],
                    [does |-> "look", node |-> "node 2", offer |-> 1, answer |-> "good"]>>,
   events |-> <<<<"asked", 1>>, <<"answered", 1, "200", 1>>, <<"asked", 2>>, <<"answered", 2, "good", 0>>>>]
>>
=============================================================================
