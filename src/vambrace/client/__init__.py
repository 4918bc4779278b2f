"""`vb.connect`: a learner that a service runs (`vambrace serve`). It needs nothing but the standard library."""
