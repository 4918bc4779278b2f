"""The service: learners of a database over HTTP, with keys, roles and limits. `vambrace serve` starts it.

`app` puts the parts together; `server` listens. `routes` has one module for each group of operations, and `models` what
goes in and out. `access` says who calls and what that key may do, `keys` are in the database. `experiments` is the only
module that touches learners: it hands the calls of many clients to `writer`, which runs each batch in one transaction.
"""
