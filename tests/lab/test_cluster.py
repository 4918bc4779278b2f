"""A cluster on this machine is for this machine only."""

import warnings

from vambrace.lab import runner as run


def test_a_local_cluster_listens_on_this_machine_only_and_a_second_one_does_not_mind() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with run._client("local", 1) as client, run._client("local", 1):
            hosts = [
                client.run_on_scheduler(
                    lambda dask_scheduler: [s.getsockname()[0] for s in dask_scheduler.http_server._sockets.values()]
                ),
                *client.run(
                    lambda dask_worker: [s.getsockname()[0] for s in dask_worker.http_server._sockets.values()]
                ).values(),
            ]
            assert hosts == [["127.0.0.1"], ["127.0.0.1"]]
            assert client.scheduler.address.startswith("tcp://127.0.0.1:")
