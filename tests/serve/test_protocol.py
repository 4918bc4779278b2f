"""One packet for headers and body."""

import asyncio
from unittest.mock import MagicMock

from vambrace.serve.protocol import OneWrite


def opened() -> MagicMock:
    transport = MagicMock()
    transport.is_closing.return_value = False
    return transport


def test_what_is_written_in_one_turn_of_the_loop_is_sent_at_once() -> None:
    transport = opened()

    async def two_turns() -> None:
        joined = OneWrite(transport, asyncio.get_running_loop())
        joined.write(b"head ")
        joined.write(b"body")
        transport.write.assert_not_called()
        await asyncio.sleep(0)
        joined.write(b"more")
        await asyncio.sleep(0)

    asyncio.run(two_turns())
    assert [each.args for each in transport.write.call_args_list] == [(b"head body",), (b"more",)]


def test_what_is_written_is_sent_before_the_end() -> None:
    transport = opened()

    async def end() -> None:
        joined = OneWrite(transport, asyncio.get_running_loop())
        joined.write(b"refused")
        joined.close()
        await asyncio.sleep(0)

    asyncio.run(end())
    assert [each[0] for each in transport.method_calls if each[0] != "is_closing"] == ["write", "close"]
    transport.write.assert_called_once_with(b"refused")


def test_nothing_is_sent_to_a_client_that_has_gone() -> None:
    transport = opened()

    async def leave() -> None:
        joined = OneWrite(transport, asyncio.get_running_loop())
        joined.write(b"too late")
        transport.is_closing.return_value = True  # before the loop comes to send it: uvloop would raise then
        await asyncio.sleep(0)

    asyncio.run(leave())
    transport.write.assert_not_called()
