"""A web shop under attack, end to end: service, two shops, customers, and the bots of a competitor.

    python examples/web_shop/demo.py [--customers 500]

One shop plays KL-UCB, the other the same policy with armour. The competitor knows when the test begins, and sends bots
in the first minute. They act like customers, except on the best page, where they never pay: 10 times at most. They also
send a second answer with the other reward, and ids that they made up. Everything goes over HTTP; the service is started
and stopped here.
"""

import argparse
import http.client
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from shop import Shop  # type: ignore[import-not-found]  # beside this file

import vambrace as vb

RATES = {"old": 0.88, "short": 0.97, "long": 0.60}  # of customers who pay on each page; nobody knows them
BEST, FAKES, VISITS, TRICKS = "short", 10, 400, 20  # what bots spoil, how often at most, and their visits and tricks
POLICIES = {"plain": "kl-ucb", "armoured": f"kl-ucb-wr:budget={FAKES}"}


class Browser:
    """Connections to a shop, one for each thread."""

    def __init__(self, port: int) -> None:
        self._port, self._own, self._all = port, threading.local(), list[http.client.HTTPConnection]()

    def send(self, method: str, path: str, body: str = "") -> str:
        """The page that the shop answers with."""
        if not hasattr(self._own, "connection"):
            self._own.connection = http.client.HTTPConnection("127.0.0.1", self._port)
            self._all.append(self._own.connection)
        connection: http.client.HTTPConnection = self._own.connection
        connection.request(method, path, body)
        return connection.getresponse().read().decode()

    def close(self) -> None:
        """Close them all."""
        for connection in self._all:
            connection.close()

    def checkout(self) -> tuple[str, str]:
        """The page that is shown, and the id in its form."""
        found = re.search(r'the (\w+) page.*value="([^"]+)"', self.send("GET", "/checkout"), re.DOTALL)
        assert found is not None
        return found[1], found[2]

    def end(self, decision: str, pays: bool) -> str:
        """Pay or leave."""
        return self.send("POST", "/pay" if pays else "/leave", f"decision={decision}")


def attack(browser: Browser, dice: random.Random) -> Counter[str]:
    """The bots: spoil the best page, answer again with the other reward, and make up ids."""
    seen: Counter[str] = Counter()
    for visit in range(VISITS):
        page, decision = browser.checkout()
        if page == BEST and seen["spoiled"] == FAKES:
            break
        pays = page != BEST and dice.random() < RATES[page]
        seen["spoiled"] += page == BEST
        browser.end(decision, pays)
        if visit < TRICKS:
            seen[browser.end(decision, not pays)] += 1  # "conflict": the first answer is kept
            seen[browser.end(f"1-{visit:032x}-{visit:016x}", True)] += 1  # "unknown": nobody can make up an id
    return seen


def serve_customers(browser: Browser, customers: int, dice: random.Random) -> tuple[int, float]:
    """How many paid, and how often the best page was shown."""
    rolls = [dice.random() for _ in range(customers)]

    def visit(roll: float) -> tuple[str, bool]:
        page, decision = browser.checkout()
        browser.end(decision, roll < RATES[page])
        return page, roll < RATES[page]

    with ThreadPoolExecutor(8) as pool:
        visits = list(pool.map(visit, rolls))
    return sum(paid for _, paid in visits), sum(page == BEST for page, _ in visits) / customers


def play(service: str, name: str, customers: int) -> None:
    """One shop: first the bots, then the customers."""
    learner = vb.connect(service, name, policy=POLICIES[name], arms=list(RATES), default="old")
    shop, dice = Shop(learner), random.Random(7)
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    browser = Browser(shop.server_address[1])
    seen = attack(browser, dice)
    paid, share = serve_customers(browser, customers, dice)
    print(f"{name}, {POLICIES[name]}: bots spoiled {seen['spoiled']} orders")
    print(f"  {seen['conflict']} second answers and {seen['unknown']} forged ids changed nothing")
    print(f"  {paid / customers:.1%} of {customers:,} customers paid; {share:.0%} of them saw the best page")
    browser.close()
    shop.shutdown()
    shop.server_close()
    learner.close()


def main() -> None:
    """Start the service, play both shops, and stop it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--customers", type=int, default=500)
    customers = parser.parse_args().customers
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "vambrace.cli", "serve", "--db", f"sqlite:///{folder}/shop.db", "--port", "0"]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert service.stdout is not None
            address = re.search(r"http://\S+", service.stdout.readline())
            assert address is not None
            print(f"the best page would get {RATES[BEST]:.1%}, the old one {RATES['old']:.1%}")
            for name in POLICIES:
                play(address[0], name, customers)
        finally:
            service.terminate()
            service.wait()
            if service.stdout is not None:
                service.stdout.close()


if __name__ == "__main__":
    main()
