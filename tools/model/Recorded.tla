------------------------------ MODULE Recorded ------------------------------
(* A history of its own, so that History.tla can be read by itself: the test puts others in its place. *)
Recorded == <<
  [names |-> 1,
   operations |-> <<[does |-> "use", node |-> "node 1", offer |-> 0, answer |-> "200"],
                    [does |-> "look", node |-> "node 2", offer |-> 1, answer |-> "good"]>>,
   events |-> <<<<"asked", 1>>, <<"answered", 1, "200", 1>>, <<"asked", 2>>, <<"answered", 2, "good", 0>>>>]
>>
=============================================================================
